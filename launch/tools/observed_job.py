# SPDX-License-Identifier: Apache-2.0
"""A job that apgas-top observes: asks its processes, and remembers what it saw last."""

import time

import job_traces
from activity import Sites, rates
from control_socket import Ended, NotNow, Unanswered, ask
from running_jobs import UNANSWERED, running_jobs
from task_reports import ranges, report_lines


class JobEnded(Exception):
    """No process of the job is left."""


class ObservedJob:
    """The places of this host answer themselves, also while they compute. If there are places on
    other hosts, place 0 asks all of them, which wakes a worker at each."""

    def __init__(self, job):
        self.job, self.last, self.rows = job, {}, []
        self.places, self.started = 0, None  # of the whole job
        self.problem = ""  # one line about what is missing in the rows
        self.trace = ""  # one line about the trace of the job, if there is one
        self.sites = Sites()
        self.refresh_members()
        replies, errors = self.job.ask("summary")
        if not replies:
            self.raise_errors(errors)
        self.places = max(reply["job_places"] for reply in replies)
        self.started = min(reply["started"] for reply in replies)

    def raise_errors(self, errors):
        if not errors or all(isinstance(error, Ended) for error in errors):
            raise JobEnded()
        raise errors[0]

    def refresh_members(self):
        """Processes that end, or that have begun, change the list."""
        for job in running_jobs():
            if (job.user, job.name) == (self.job.user, self.job.name):
                self.job = job
                return
        raise JobEnded()

    def sample(self):
        """Looks at what the workers of this host run."""
        replies, errors = self.job.ask("activity")
        if not replies:
            self.raise_errors(errors)
        here = [place for reply in replies for place in reply["places"]]
        self.sites.add(here)
        return here, errors

    def everywhere(self, here):
        """Adds the places of other hosts, if place 0 is here and they answer."""
        if len(here) >= self.places:
            return here
        first = next((each for each in self.job.members if each.place == 0), None)
        numbers = set(range(self.places)) - {place["place"] for place in here}
        missing = f"place{'' if len(numbers) == 1 else 's'} {ranges(numbers)}"
        if first is None:
            self.problem = f"without {missing}: call apgas-top on the host of place 0"
            return here
        try:
            known = {place["place"] for place in here}
            others = [place for place in ask(first, "activity of all places")["places"]
                      if place["place"] not in known]
        except NotNow:
            self.problem = f"without {missing}, which compute or wait: no answer in time"
            return here
        self.sites.add(others)
        return here + others

    def look(self):
        """Makes the rows anew. Raises JobEnded or Unanswered."""
        self.refresh_members()
        self.problem = ""
        here, errors = self.sample()
        if errors:
            self.problem = str(errors[0])
        places = self.everywhere(here)
        self.rows = [rates(self.last.get(place["place"]), place) for place in places]
        self.last.update({place["place"]: place for place in places})
        try:
            self.trace = job_traces.line_of(job_traces.state_of(self.job))
        except Unanswered:
            self.trace = ""  # place 0 is on another host, or ends

    def toggle_trace(self, path):
        """Starts a trace, or stops the one that is recorded. Returns at once."""
        try:
            if job_traces.state_of(self.job)["state"] in ("recording", "unwritten"):
                state = job_traces.stop(self.job)
            else:
                now = time.strftime("%H%M%S")
                state = job_traces.start(
                    self.job, path or f"{self.job.program}-{self.job.name}-{now}.json")
            self.trace = job_traces.line_of(state)
        except Unanswered as error:
            self.problem = str(error)

    def report(self):
        """The lines of apgas-ps about the job."""
        replies, errors = self.job.ask("report")
        together, more = self.job.joint_report(replies)
        lines = report_lines(self.job, replies, together["text"].splitlines())
        return list(lines) + list(map(str, errors + more))


__all__ = ["JobEnded", "ObservedJob", "UNANSWERED", "Unanswered"]
