# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs (mkdocs.yml): what the pages need beyond the Markdown that other viewers show.

- A link may lead to any file of the repository. Such a file becomes a page of the site, below
  repository/, so that no link leaves the site.
- An entry `folder/*` of the navigation stands for the pages of the folder that it does not name,
  and `reference/*` for those that reference.py makes from the headers.
- The words that follow the language of a code block are for tests/docs. Only whether a block is
  output remains, as its title.
- A picture is a link to itself, since it may be larger than the page, above all on a phone.
"""

import os
import pathlib
import re
import sys

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import reference  # noqa: E402

FENCE = re.compile(r"^( *)```(\w+) ([^\n]*)$", re.M)
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.M | re.S)
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".h": "c", ".py": "python", ".txt": "text",
             ".cmake": "cmake", ".yaml": "yaml", ".sh": "bash", "": "bash"}
TITLES = {"output": ' title="Output"', "excerpt": ' title="Output, in part"',
          "sample": ' title="Output of one run"', "messages": ' title="Messages"'}
PICTURE = re.compile(r'<img [^>]*src="([^"]+)"[^>]*>')
RAW = (".svg", ".png", ".html", ".json")


def outside_code(text, change):
    """Applies `change` to the parts of a Markdown text that are not code."""
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [change(text[end:code.start()]), code[0]]
        end = code.end()
    return "".join(parts) + change(text[end:])


def links(text):
    """The targets of the links of a text, without anchors."""
    found = []
    outside_code(text, lambda part: found.extend(m[2] for m in LINK.finditer(part)) or part)
    return found


def page_of(path):
    """The name in the site of a file of the repository, a path below ROOT; None if it has none."""
    if (ROOT / path).is_dir():
        readme = path / "README.md"
        if not (ROOT / readme).is_file():
            return f"{path.relative_to('docs')}/index.md" if path.parts[0] == "docs" else None
        path = readme
    if path.parts[0] == "docs":
        return str(path.relative_to("docs"))
    if path.suffix == ".md" or path.suffix in RAW:
        return f"repository/{path}"
    return f"repository/{path}.md"


def target_of(source, link):
    """The path below ROOT to which a link of the file `source` leads; None if outside."""
    path = pathlib.Path(os.path.normpath(source.parent / link))
    return path if path.parts[:1] != ("..",) and (ROOT / path).exists() else None


def listing(path):
    """A page that shows a source file."""
    text = (ROOT / path).read_text()
    language = LANGUAGES.get(path.suffix, "text")
    return f"# {path.name}\n\n`{path}`\n\n~~~~ {language}\n{text}\n~~~~\n"


def folder_index(path):
    """A page that lists the documents of a folder without a README.md; without any, its files."""
    pages = sorted((ROOT / path).glob("*.md"))
    lines = [f"- [{title_of(page)}]({page.name})" for page in pages]
    lines = lines or [f"- `{path / file.name}`" for file in sorted((ROOT / path).iterdir())]
    return f"# {path.name.capitalize()}\n\n" + "\n".join(lines) + "\n"


def title_of(page):
    return re.search(r"^# (.+)$", page.read_text(), re.M)[1].replace("`", "")


@event_priority(50)
def on_files(files, config):
    """Adds the reference, the files outside docs/ that pages lead to, and those these lead to."""
    sources = {}  # page -> file of the repository
    waiting = [pathlib.Path("docs", f.src_uri) for f in files.documentation_pages()]
    while waiting:
        source = waiting.pop()
        for link in links((ROOT / source).read_text()):
            path = target_of(source, link)
            page = page_of(path) if path else None
            if page is None or files.get_file_from_path(page):
                continue
            if page.endswith("/index.md"):
                content = folder_index(path)
            elif page.endswith(path.name) or (ROOT / path).is_dir():
                path = path / "README.md" if (ROOT / path).is_dir() else path
                content = (ROOT / path).read_bytes() if path.suffix in RAW else None
                if content is None:
                    content = (ROOT / path).read_text()
                    sources[page] = path
                    waiting.append(path)
            else:
                content = listing(path)
            files.append(File.generated(config, page, content=content))
    for page, content in reference.pages():
        files.append(File.generated(config, page, content=content))
    config.extra["sources"] = sources
    return files


def on_page_markdown(markdown, page, config, files):
    source = config.extra["sources"].get(page.file.src_uri)
    source = source or pathlib.Path("docs", page.file.src_uri)

    def rewrite(link):
        path = target_of(source, link[2])
        target = page_of(path) if path else link[2]
        if target is None:  # a folder without a page: only its name remains
            return "]" + f"({link[2]})"
        if path:
            target = os.path.relpath(target, pathlib.Path(page.file.src_uri).parent)
        return f"{link[1]}{target}{link[3] or ''}{link[4]}"

    markdown = outside_code(markdown, lambda part: LINK.sub(rewrite, part))
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    if 'class="side-by-side"' in markdown:
        page.meta["hide"] = ["toc"]  # two programs need the width
    return FENCE.sub(lambda m: f"{m[1]}```{m[2]}{TITLES.get(m[3], '')}", markdown)


def on_page_content(html, **_):
    return PICTURE.sub(r'<a href="\1">\g<0></a>', html)


def expand(entries, folder, named):
    """The entries of a part of the navigation, with the pages for which a `folder/*` stands."""
    result = []
    for entry in entries:
        if isinstance(entry, dict):
            (title, value), = entry.items()
            value = expand(value, folder, named) if isinstance(value, list) else value
            result.append({title: value})
        elif entry == "reference/*":
            result += reference.navigation()
        elif entry.endswith("/*"):
            pages = sorted((ROOT / folder / entry[:-2]).glob("*.md"))
            uris = [str(page.relative_to(ROOT / folder)) for page in pages]
            result += [uri for uri in uris if uri not in named]
        else:
            result.append(entry)
    return result


def on_config(config):
    named = set(re.findall(r"[\w/.-]+\.md", str(config.nav)))
    config.nav = expand(config.nav, "docs", named)
    return config
