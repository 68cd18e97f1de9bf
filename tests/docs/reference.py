#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the comment of each public name is complete, so that the reference has what a reader
needs. docs/site/public_names.py says what a public name is.

Each name has a comment with its purpose. That of a function, or that of its class or of its header,
which holds for all, also says:
  - what it throws, or it is noexcept;
  - its context: which threads may call it, and whether it may suspend;
  - what its parameters are: it names each of them, but for the other object of a copy and `site`;
  - what it returns, unless that is void, or an object of the class; in a header for C, whose
    functions return codes, the head says it;
  - its cost, unless it is a constructor, an operator or a function without parameters that does not
    suspend, whose declaration says enough.
A comment that begins with "The same" or refers to another one ("as above", "As resume") continues
that one.

Each class, free function and member function is used in an example in a comment of its header; the
test docs_header_examples compiles and runs these. A class is named there, a function is called and
an operator is written. Exempt is what cannot be called by its name, or says nothing when it is:
  - destructors, assignments, conversions, operator(), and operators that are defaulted;
  - begin and end, which a range-based for loop calls; allocate, deallocate and construct, which
    containers call.

tests/scripts/reference_test.py checks that each of these checks can fail.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "docs/site"), str(ROOT / "tests/docs")]
import header_examples  # noqa: E402
import public_names  # noqa: E402

REFERS = re.compile(r"^The same\b|\bas above\b|\bOtherwise as\b|"
                    r"\b[Aa]s (?:for |if |of )?`?\w+(?:\(\))?[.,;:]|"
                    r"\b[Aa]s [`\w:]+(?:\(\))?(?: does| with| without| is|$)")
PARTS = {
    "Throws": re.compile(r"\bThrows\b|\bthrows?\b|\bErrors\b|\bError:"),
    "Context": re.compile(r"\bContext\b"),
    "Cost": re.compile(r"\bCost\b"),
}
RESULT = re.compile(r"\b[Rr]eturns?\b|\bresult|\b[Ww]hether\b|"
                    r"\b(?:value|true|null|number|gives)\b|"
                    r"^(?:\(S\) )?(?:An?|The|Its|All|This|Each|Blocks|Elements?|How|Where|What|"
                    r"Which|Iterators|Makes|Allocates)\b")
SUSPENDS = re.compile(r"\b[Mm]ay suspend\b|\b[Ss]uspends\b")
CHEAP = re.compile(r"\boperator|= default|\(\)(?: const)?(?: noexcept)?$")
# Members that need no example, and how the operators appear that are not written as their symbol.
WITHOUT_EXAMPLE = re.compile(r"~|operator(?:=$|\(\)| )|.* [&*]$|"
                             r"(?:begin|end|allocate|deallocate|construct)$")
WRITTEN = {"operator*": r"\*\w", "operator[]": r"\w\["}


def words_for_all(*comments):
    """The parts of the contract that the comments of a header or a class have."""
    text = "\n".join(row for comment in comments for row in comment)
    found = {part for part in (*PARTS, "Errors")
             if re.search(rf"\b{part}\b(?:[^.:]*:| nothing|[^.]* are as )", text)}
    return found | ({"Throws"} if "Errors" in found else set())


def parameters(declaration):
    """The names of the parameters that a comment must have; `name` for one of that type."""
    text = re.sub(r"^template <.*>\n(?=\S)|^ *requires.*\n", "", declaration, flags=re.M)
    begin = depth = text.find("(") + 1
    parts, nested = [], 0
    for i in range(begin, len(text)):
        nested += (text[i] in "(<[{") - (text[i] in ")>]}")
        if nested < 0 or (text[i] == "," and nested == 0):
            parts.append(text[depth:i])
            depth = i + 1
        if nested < 0:
            break
    for part in parts:
        part = part.split("=")[0].strip()
        found = re.search(r"[\s&*>](\w+)$", part)
        if found and "..." not in part and found[1] not in ("site", "int", "long", "char"):
            yield "name" if re.fullmatch(r"name \w+", part) else found[1]


def constructs(name):
    return re.search(r"::(\w+)::~?\1\b", "::" + name.name) is not None


def returns(name):
    """Whether the result of a function needs words."""
    last = name.name.rpartition("::")[2]
    if constructs(name) or "operator" in last or name.header.suffix != ".hpp":
        return False
    return not re.search(rf"\bvoid(?: \w+::)? {re.escape(last)}\(", name.declaration)


def missing(name, previous, above, comments):
    """The parts that the comment of a function lacks. `previous` is the text that it may refer to,
    `above` what its class and header have for all, in their `comments`."""
    text = " ".join(name.comment)
    whole = text + (" " + previous if REFERS.search(text) else "")
    lacks = {part for part, word in PARTS.items() if not word.search(whole)} - above
    if "noexcept" in name.declaration or "= default" in name.declaration:
        lacks.discard("Throws")
    cheap = CHEAP.search(name.declaration)
    if (cheap and ("operator" in name.name or not SUSPENDS.search(whole))) or constructs(name):
        lacks.discard("Cost")
    if "= default" not in name.declaration and "operator" not in name.name:
        lacks |= {f"`{each}`" for each in parameters(name.declaration)
                  if not re.search(rf"\b{each}\b", f"{comments} {whole}")
                  and not (each == "other" and constructs(name))}
    if returns(name) and not RESULT.search(whole):
        lacks.add("Returns")
    return lacks


def check_group(names, comments, report):
    """The names of a class or a namespace in a header, in their order. `comments` are those of the
    header and the class."""
    above = words_for_all(*comments)
    words = " ".join(row for comment in comments for row in comment)
    previous = ""
    for name in names:
        if not name.comment:
            report(name, "has no comment")
        elif name.kind == "function":
            lacks = missing(name, previous, above, words)
            if lacks:
                report(name, f"its comment does not say: {', '.join(sorted(lacks))}")
        if name.comment and not name.shared:
            text = " ".join(name.comment)
            previous = text + (" " + previous if REFERS.search(text) else "")


def is_shown(name, scope, code):
    """Whether the examples `code` of a header show a name. `scope` is the class of a member."""
    last = name.name.rpartition("::")[2]
    if name.kind == "class" or last == scope:
        return re.search(rf"\b{last}\b", code) is not None
    if name.kind != "function" or (scope and WITHOUT_EXAMPLE.match(last)):
        return True
    if last.startswith("operator"):
        symbol = WRITTEN.get(last, re.escape(last.removeprefix("operator")))
        return "= default" in name.declaration or re.search(symbol, code) is not None
    before = r"(?:\.|->|::)" if scope else r"\b"
    return re.search(rf"{before}{last}(?:<[^;(]*>)?\(", code) is not None


def not_shown(names, code):
    """The names of a header, and their members, that no example shows."""
    for name in names:
        missing = [] if is_shown(name, "", code) else [name]
        scope = name.name.rpartition("::")[2]
        missing += [m for m in name.members if not is_shown(m, scope, code)]
        yield from missing


def problems(names, sources):
    """Yields (name, message)."""
    found = []
    by_header = {}
    for name in names:
        by_header.setdefault(name.header, []).append(name)
    for header, group in by_header.items():
        head = sources[header].head_comment()
        check_group(group, [head], lambda *args: found.append(args))
        for each in group:
            check_group(each.members, [head, each.comment], lambda *args: found.append(args))
        code = header_examples.code_of(header)
        found += [(each, "no example uses it") for each in not_shown(group, code)]
    return found


def main():
    names, sources = public_names.collect()
    found = problems(names, sources)
    for name, message in found:
        print(f"{name.header.relative_to(ROOT)}:{name.line}: {name.name}: {message}")
    count = len(names) + sum(len(name.members) for name in names)
    print(f"reference: {count} names, {len(found)} problems")
    return 1 if found or count < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
