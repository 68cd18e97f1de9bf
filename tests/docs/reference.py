#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the comment of each public name is complete, so that the reference has what a reader
needs. docs/site/public_names.py says what a public name is.

Each name has a comment with its purpose. That of a function, or that of its class or of its header,
which holds for all, also says, outside of its examples:
  - what it throws, or it is noexcept;
  - its context: which threads may call it, and, if they are tasks, whether it may suspend;
  - what its parameters are: it names each of them;
  - for a parameter that is a number, what is counted, measured or numbered: "`size` elements",
    "`grain` is the number of iterations", "element i". As the name of a parameter, a word such as
    `bytes`, `seconds` or `place` says so itself. The types of std::chrono have their unit;
  - what it returns, before the words about errors, context and cost: "returns" with the function as
    its subject, or a first sentence that is a noun phrase or an indirect question ("The place that
    has the object.", "Whether p is a member."). A noun phrase is enough only for a function that is
    const or has no parameters, and does not suspend: any other does something besides;
  - for a result that is a number, what is counted, measured or numbered; for a bool, when it is
    true;
  - its cost.

What is not checked, and why:
  - a part that the comment of the class or of the header has for all ("Throws of all:");
  - the cost of constructors and operators, and of functions that have no parameters and do not
    suspend: their declarations say enough, unless the comment says that they throw std::bad_alloc,
    because then they allocate;
  - the result of an operator, which is that of the operator in the language, and its parameters;
  - the result of a function for C that returns int, if the head of its header says what these
    functions return;
  - the parameters of a function that is defaulted, the other object of a copy, and `site`, which
    the compiler fills in; the unit of `argc`, which C defines;
  - the unit of a parameter whose type a template leaves open, unless it is a std::integral.

A comment that begins with "The same", or says "above", continues the one above it. "As resume"
refers to the comment of that name, in the same class or header if there is one, and "as all
algorithms (dist_algorithms.hpp)" to the head of that header.

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
import comments  # noqa: E402
import header_examples  # noqa: E402
import public_names  # noqa: E402

CONTINUES = re.compile(r"^(?:\(S\) )?The same\b|\babove\b")
REFERS = re.compile(r"\b(?:[Aa]s|[Ll]ike) (?:for |if |of |that of )?`?(?!std::)((?:\w+::)*\w+)")
REFERS_FOR_ALL = re.compile(r"\bare as for (\w+)")
REFERS_TO_HEAD = re.compile(r"\bas all [^.;]*\((\w+\.hpp)\)")
PARTS = {
    "Throws": re.compile(r"\bThrows\b|\bErrors\b"),
    "Context": re.compile(r"\bContext\b"),
    "Cost": re.compile(r"\bCost\b"),
}
CONTRACT = re.compile(r"\b(?:Requires|Throws|Context|Cost|Errors)\b(?:[^:.]{0,40}:| nothing)")
SUSPENDS = re.compile(r"\b[Mm]ay suspend\b|\b[Ss]uspends\b|^\(S\)")
# Words about suspension, or that the caller is any thread or one that may block.
SUSPENSION = re.compile(r"\b[Ss]uspend|\b[Aa]ny thread\b|\bContext: (?:a|the) thread\b")
CHEAP = re.compile(r"\boperator|= default|\(\)(?: const)?(?: noexcept)?$")
RETURNS = re.compile(r"(?:(?:^|[.;:,] )(?:[Ii]t |[Tt]hey |[Tt]hese )?|\b(?:and|or|but|forms?) )"
                     r"[Rr]eturns?\b(?! (?:when|once|if|as soon as|nothing)\b|"
                     r" at once(?! an? )|[.,;:]|$)")
# The beginning of a noun phrase, and of an indirect question. A noun phrase has no verb but in the
# clauses that belong to a noun.
NOUN = re.compile(r"(?:The|An?|Its|All)\b")
QUESTION = re.compile(r"(?:Whether|How many|Which)\b")
CLAUSE = re.compile(r"(?:,? (?:at|in|on|to|of|from|by|for))?,? "
                    r"(?:that|which|whose|where|when|what|if|as)\b[^,]*")
VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do|may|must|can|cannot|will|gets?|"
                  r"gives?|makes?|takes?|runs?|returns?)\b")
NUMBER = (r"(?:const )?(?:unsigned(?: int| long)?|int|short|long(?: long)?|float|double|"
          r"(?:std::)?(?:size_t|ptrdiff_t|u?int\d+_t){})")
COUNTED = (r"(?:bytes|elements|values|permits|places|workers|tasks|members|iterations|levels|"
           r"children|phases|buckets|rows|columns|arrivals|(?:milli|micro|nano)?seconds)")
NUMBERED = r"(?:element|member|place|worker|index|id|number|row|column|bucket|code|phase|color|key)"
ITS_OWN_UNIT = re.compile(rf"(?:{COUNTED}|{NUMBERED}|argc)$")
MEASURED = re.compile(rf"\b(?:[Nn]umbers of|[Hh]ow many|[Ss]hare of|indices|{NUMBERED}|{COUNTED})"
                      r"\b")
# Members that need no example, and how the operators appear that are not written as their symbol.
WITHOUT_EXAMPLE = re.compile(r"~|operator(?:=$|\(\)| )|.* [&*]$|"
                             r"(?:begin|end|allocate|deallocate|construct)$")
WRITTEN = {"operator*": r"\*\w", "operator[]": r"\w\["}


def last_of(name):
    return name.name.rpartition("::")[2]


def prose(rows):
    """The text of a comment without its examples."""
    return " ".join(row.strip() for kind, _, lines in comments.paragraphs(rows) if kind != "code"
                    for row in lines)


def before_contract(text):
    return CONTRACT.split(text)[0].strip()


class Comments:
    """The comments of all names, with those that they refer to."""

    def __init__(self, groups, heads):
        self.heads = heads  # by the names of the headers
        self.group, self.previous, self.named = {}, {}, {}
        for group in groups:
            entry = previous = None
            for name in group:
                if not name.shared:
                    entry, previous = name, entry
                    self.named.setdefault(last_of(name), []).append(name)
                self.group[id(name)], self.previous[id(name)] = group, previous

    def meant(self, name, word):
        """The names that a word in the comment of `name` means."""
        others = [each for each in self.named.get(word.rpartition("::")[2], [])
                  if each.comment != name.comment]
        if "::" in word:
            return others
        near = [each for each in others if any(each is one for one in self.group[id(name)])]
        return near or [each for each in others if each.header == name.header] or others

    def whole(self, name, part=str, seen=()):
        """`part` of the comment of a name, with those that it continues or refers to."""
        text = part(prose(name.comment))
        found = [self.previous[id(name)]] if CONTINUES.search(text) else []
        for word in REFERS.findall(text):
            found += self.meant(name, word)
        texts = [text] + [part(self.heads.get(head, "")) for head in REFERS_TO_HEAD.findall(text)]
        seen = (*seen, id(name))
        return ". ".join(texts + [self.whole(each, part, seen) for each in found
                                  if each and id(each) not in seen])

    def of_class(self, name):
        """The comment of a class, with that whose words for all are those of this class, too."""
        text = prose(name.comment)
        others = [each for word in REFERS_FOR_ALL.findall(text) for each in self.meant(name, word)]
        return " ".join([text, *(prose(each.comment) for each in others)])


def words_for_all(text):
    """The parts of the contract that the comments of a header or a class have."""
    found = {part for part in (*PARTS, "Errors")
             if re.search(rf"\b{part}\b(?:[^.:]*:| nothing|[^.]* are as )", text)}
    return found | ({"Throws"} if "Errors" in found else set())


def without_template(declaration):
    text, depth = re.sub(r"^ *requires.*\n", "", declaration, flags=re.M), 0
    for i, char in enumerate(text if text.startswith("template") else ""):
        depth += (char == "<") - (char == ">")
        if char == ">" and depth == 0:
            return text[i + 1:].lstrip()
    return text


def parameters(declaration):
    """(type, name) of each parameter; the name of an apgas::name is `name`."""
    text = without_template(declaration)
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
        found = re.fullmatch(r"(.*[\s&*>])(\w+)", part.split("=")[0].strip(), re.S)
        if found and "..." not in part and found[2] not in ("site", "int", "long", "char"):
            kind = found[1].strip()
            yield kind, "name" if kind == "name" else found[2]


def is_number(kind, declaration=""):
    integral = re.findall(r"\bstd::integral (\w+)", declaration)
    return re.fullmatch(NUMBER.format("".join(f"|{each}" for each in integral)), kind) is not None


def has_unit(parameter, text):
    """Whether a text says what a parameter counts, measures or numbers."""
    if ITS_OWN_UNIT.match(parameter.rpartition("_")[2]):
        return True
    return re.search(rf"\b{parameter}`?(?: \w+)? {COUNTED}\b|"
                     rf"\b{parameter}\b[^.]* is the {NUMBERED} of\b|"
                     rf"\b{NUMBERED} (?:\((?:\w, )?)?`?{parameter}\b", text) is not None


def constructs(name):
    return re.search(r"::(\w+)::~?\1\b", "::" + name.name) is not None


def result_of(name):
    """The type of the result; empty if there is none, or none that needs words."""
    last = last_of(name)
    if constructs(name) or "operator" in last:
        return ""
    text = " ".join(without_template(name.declaration).split())
    kind = re.split(rf"\b(?:\w+::)?{last}\(", text)[0]
    kind = re.sub(r"\[\[\w+\]\]|\b(?:static|constexpr|inline)\b", "", kind).strip()
    return "" if kind == "void" else kind


def says_result(name, text):
    """Whether a comment says what a function returns. `text` has what it refers to, too."""
    if RETURNS.search(text) or re.search(rf"\b{last_of(name)}\(\) returns\b", text):
        return True
    own = prose(name.comment)
    looks = re.search(r"\) const\b|\(\)(?: noexcept)?$", name.declaration)
    first = re.split(r"[.;:](?: |$)", own)[0]
    return QUESTION.match(own) is not None or (
        looks is not None and not SUSPENDS.search(own) and NOUN.match(own) is not None
        and not VERB.search(CLAUSE.sub("", first)))


def lacks_of_parameters(name, text):
    if "= default" in name.declaration or "operator" in name.name:
        return
    for kind, each in parameters(name.declaration):
        if each == "other" and constructs(name):
            continue
        if not re.search(rf"\b{each}\b", text):
            yield f"`{each}`"
        elif is_number(kind, name.declaration) and not has_unit(each, text):
            yield f"unit of `{each}`"


def lacks_of_result(name, known, head):
    kind = result_of(name)
    codes = name.header.suffix == ".h" and "Functions that return int return" in head
    if not kind or (kind == "int" and codes):
        return
    text = known.whole(name, before_contract)
    if not says_result(name, text):
        yield "Returns"
    elif is_number(kind) and not MEASURED.search(text):
        yield "unit of the result"
    elif kind == "bool" and not re.search(r"\b(?:[Ww]hether|true|false)\b", text):
        yield "when the result is true"


def missing(name, known, head):
    """The parts that the comment of a function lacks. `known` has all comments; `head` is the text
    of those of its header and its class."""
    own, text = prose(name.comment), known.whole(name)
    lacks = {part for part, word in PARTS.items() if not word.search(text)} - words_for_all(head)
    if "noexcept" in name.declaration or "= default" in name.declaration:
        lacks.discard("Throws")
    cheap = CHEAP.search(name.declaration) and (
        "operator" in name.name or not SUSPENDS.search(text))
    if (cheap or constructs(name)) and "bad_alloc" not in own:
        lacks.discard("Cost")
    if "Context" not in lacks and not SUSPENSION.search(f"{head} {text}"):
        lacks.add("whether it may suspend")
    return {*lacks, *lacks_of_parameters(name, f"{head} {text}"),
            *lacks_of_result(name, known, head)}


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
    heads = {path.name: prose(source.head_comment()) for path, source in sources.items()}
    by_header = {}
    for name in names:
        by_header.setdefault(name.header, []).append(name)
    known = Comments([*by_header.values(), *(name.members for name in names)], heads)
    for header, group in by_header.items():
        head = heads[header.name]
        for scope, text in ((group, head),
                            *((n.members, f"{head} {known.of_class(n)}") for n in group)):
            for name in scope:
                if not name.comment:
                    found.append((name, "has no comment"))
                elif name.kind == "function" and (lacks := missing(name, known, text)):
                    found.append((name, f"its comment does not say: {', '.join(sorted(lacks))}"))
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
