# SPDX-License-Identifier: Apache-2.0
"""The jobs that have processes on this host, and the choice of one of them."""

import concurrent.futures
import os

from control_socket import Ended, NotNow, Unanswered, ask, name_of_user, processes

NO_SUCH_JOB = 1
USAGE_ERROR = 2
UNANSWERED = 3


class NoJob(Exception):
    """No job, or not exactly one, is meant. The text is one line; `code` is the exit code."""

    def __init__(self, text, code=NO_SUCH_JOB):
        super().__init__(text)
        self.code = code


class Job:
    """The processes of a job on this host."""

    def __init__(self, members):
        self.members = members  # sorted by place
        self.user, self.name = members[0].user, members[0].job
        self.program = program_of(members[0].pid)

    def ask(self, request):
        """Asks all processes at once. Returns the replies and the Unanswered of the others."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=16) as pool:
            results = list(pool.map(lambda process: ask_quietly(process, request), self.members))
        return ([reply for reply in results if not isinstance(reply, Unanswered)],
                [error for error in results if isinstance(error, Unanswered)])

    def has_ended(self):
        """Whether none of its processes on this host can be asked any more."""
        return not set(self.members) & set(processes())

    def joint_report(self, replies, request="report"):
        """Returns the report that all places, also of other hosts, have made together, and an
        Unanswered for each reason why there is none. `text` has its lines, and with the request
        "groups" `groups` has all groups of waiting tasks. A job of one place needs none."""
        nothing = {"text": "", "groups": []}
        if max((reply["job_places"] for reply in replies), default=1) == 1:
            return nothing, []
        try:
            return ask(self.members[0], f"{request} of all places"), []
        except NotNow:
            return nothing, []  # the run ends
        except Unanswered as error:
            return nothing, [error]

    def edges(self):
        """Returns the edges of the wait-for graph of all places, as lines in `text` and as values.
        Raises Unanswered."""
        try:
            return ask(self.members[0], "edges of all places")
        except NotNow:
            raise Ended(f"job {self.name} ends, so its tasks are not known any more") from None


def ask_quietly(process, request):
    try:
        return ask(process, request)
    except Unanswered as error:
        return error


def program_of(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).removesuffix(" (deleted)")
    except OSError:
        return "?"


def running_jobs(user=None):
    """Returns the jobs of the user; those of all users for root."""
    user = os.geteuid() if user is None else user
    members = {}
    for process in processes():
        if user in (0, process.user):
            members.setdefault((process.user, process.job), []).append(process)
    return [Job(sorted(each, key=lambda process: process.place)) for each in members.values()]


def why_not(word):
    """Returns why no job is meant by the word, which may be the id of a process."""
    others = {each.user for each in processes() if word in (each.job, str(each.pid))}
    if others:
        return (f"job {word} belongs to user {name_of_user(min(others))}; only that user and root "
                "can look at it")
    if not word.isdigit() or not os.path.exists(f"/proc/{word}"):
        ended = " it may have ended;" if word.isdigit() else ""
        return f"there is no job, process or program '{word}' here;{ended} apgas-ps lists the jobs"
    try:
        with open(f"/proc/{word}/environ", "rb") as file:
            off = b"APGAS_CONTROL=off" in file.read().split(b"\0")
    except OSError:
        off = False
        user = os.stat(f"/proc/{word}").st_uid
        if os.geteuid() not in (0, user):
            return (f"process {word} belongs to user {name_of_user(user)}; only that user and root "
                    "can look at it")
    if off:
        return f"process {word} was started with APGAS_CONTROL=off, so nothing can look at it"
    return f"process {word} ({program_of(word)}) is no place of a job; apgas-ps lists the jobs"


def lines_of(jobs):
    return ", ".join(f"{job.name} ({job.program})" for job in jobs)


def choose_job(word=None):
    """Returns the job that is named by its name, by a process or by its program; without a word the
    only one. Raises NoJob."""
    jobs = running_jobs()
    if word is None:
        if not jobs:
            raise NoJob("no job of this user runs on this host")
        if len(jobs) > 1:
            raise NoJob(f"{len(jobs)} jobs run here: {lines_of(jobs)}; name one of them",
                        USAGE_ERROR)
        return jobs[0]
    found = [job for job in jobs if word == job.name
             or word in (str(process.pid) for process in job.members)]
    found = found or [job for job in jobs if word == job.program]
    if not found:
        raise NoJob(why_not(word))
    if len(found) > 1:
        raise NoJob(f"'{word}' means {len(found)} jobs: {lines_of(found)}; name one by its job or "
                    "by a process", USAGE_ERROR)
    return found[0]
