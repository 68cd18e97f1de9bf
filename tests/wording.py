# SPDX-License-Identifier: Apache-2.0
"""The check of tests/tidy.py that retired words and bare relatives do not come back, in names or in
text. docs/style.md has the table of the words and the reasons."""

import re

# Files whose subject is the words themselves, and the history of changes.
EXEMPT = ("docs/style.md", "tests/wording.py", "tests/scripts/tidy_test.py", "CHANGELOG.md")

# (pattern, what to use instead, beginning of the paths where it holds). The patterns match whole
# words of plain() text, so that `take_tally`, `TakeTally` and "take tally" are the same.
RETIRED = [(re.compile(rf"\b(?:{pattern})\b"), use, re.compile(scope)) for pattern, use, scope in (
    ("tall(?:y|ies|ied)", "batched arrivals", ""),
    ("settl(?:e|es|ed|ing)", "flush, or release", ""),
    ("gifts?", "loot", ""),
    ("lend(?:s|er|ers|ing)?|lent", "zero-copy argument, cma_process", ""),
    ("seats?", "poller, or entry of the idle list", ""),
    ("poll guards?", "fallback poller", ""),
    ("watchers?", "sleeping poller, or failure detector", ""),
    ("spare fibers?", "cached fiber", ""),
    ("loop level", "the worker's scheduling loop", ""),
    ("injected tasks?|injectors?", "external task, external queue", ""),
    ("units?", "pending count", "scheduler/|sync/"),
    ("prox(?:y|ies)", "remote finish state", ""),
    ("finish replicas?|replicas? of (?:an?|the|its|this|that) finish", "remote finish", ""),
    ("guests?", "escaping spawn", ""),
    ("tickets?|travell(?:er|ers|ing|ed)", "registration in transit", ""),
    ("rolls?|rolled|rolling", "advance, phase advance", "sync/|tests/|docs/"),
    ("phase nodes?", "phaser tree node", ""),
    ("rows? of (?:frames|tasks)|(?:frame|task) rows?", "frame batch", ""),
    ("team stamps?|stamps? of (?:a|the|its) team", "call signature, sequence number", ""),
    ("feeders?", "inverse lifeline", ""),
    ("(?:the|a|its|this) watch|watch of places", "failure detector", ""),
    ("signs? of life", "heartbeat", ""),
    ("verdicts?", "failure notice", ""),
    ("last words", "exit reason", ""),
    ("deput(?:y|ies)", "fallback reporter", ""),
    ("doors?", "acceptor", ""),
    ("strangers?", "unauthenticated peer", ""),
    ("step(?:s|ped|ping)? aside", "yield, block", ""),
    ("(?:within|on) (?:a|one|the same) node", "host", "(?!apps/)"),
)]

# (phrase, beginning of the paths): legitimate uses of these words.
ALLOWED_WORDS = [(re.compile(rf"\b(?:{phrase})\b"), re.compile(scope)) for phrase, scope in (
    ("unit tests?|tests/unit|time units?|units? of (?:time|work)", ""),
    ("tall(?:y|ies)|guests?", "apps/imsuite/"),  # of votes and of committees, in the kernels
    ("units", "scheduler/topology/"),  # processing units of hwloc
)]

WATCH_NAME = re.compile(r"\bwatch_\w+")
WHO = re.compile(r"\bwhom?(?= (?:is|was|has|had|does|did|will|may|can|must|gets|sends|sent|takes|"
                 r"took|holds|waits|waited|calls|sees|finds|comes|came|asks|asked|reads|gives|"
                 r"wants|needs|uses|owns|knows|keeps|leaves|lost|runs|starts|ends|wakes|goes)\b)")
# A noun that "who" may refer to, at most four words before it.
PERSON = re.compile(r"\b(?:(?:user|reader|reviewer|programmer|person|author|attacker)s?|people|"
                    r"those|(?:any|some|every)(?:one|body)|nobody)(?: \w+){0,4},? $")
LINK_TARGET = re.compile(r"\]\([^)]*\)")
COMMENT = re.compile(r"^\s*(?://|#|[-*] )?\s*")


def plain(line):
    """The words of the line in lower case, with the parts of names separated by spaces."""
    line = LINK_TARGET.sub("]", line)
    line = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", line)
    return line.replace("_", " ").lower()


def problems(name, lines):
    """Yields (line number, message) for each retired word and each bare relative of a file."""
    if name in EXEMPT:
        return
    words = [(pattern, use) for pattern, use, scope in RETIRED if scope.match(name)]
    allowed = [pattern for pattern, scope in ALLOWED_WORDS if scope.match(name)]
    shown = [plain(line.rstrip()) for line in lines]
    texts = [COMMENT.sub("", line) for line in shown]
    for i, here in enumerate(shown):
        # With the first words of the next line, since a term or a relative may be broken there.
        text = here + " " + " ".join("".join(texts[i + 1:i + 2]).split()[:3])
        for pattern in allowed:
            text = pattern.sub(lambda m: "." * len(m[0]), text)
        for pattern, use in words:
            for found in pattern.finditer(text):
                if found.start() < len(here):
                    yield i + 1, f"'{found[0]}' is retired: use {use} (docs/style.md)"
        for found in WATCH_NAME.finditer(lines[i]):
            yield i + 1, f"'{found[0]}' is retired: use detector (docs/style.md)"
        for found in WHO.finditer(text):
            before = "".join(texts[i - 1:i]) + " " + COMMENT.sub("", text[:found.start()])
            if found.start() < len(here) and not PERSON.search(before):
                yield i + 1, f"'{found[0]}' has no noun: write the task that, a caller which, ..."
