#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the files that other sites read: workflows, templates, citation, packages of other tools.

    public_files.py [ROOT]

Needs PyYAML. Each problem is a line, and the exit code is then 1.
"""

import ast
import json
import os
import pathlib
import re
import sys

import yaml

SCRIPT = re.compile(r"(?:^|\s)\./([\w./-]+)")
PAPERS = 5


def head_and_body(template):
    """The head of a template of GitHub, and the text that a new issue begins with."""
    _, head, body = template.split("---\n", 2)
    return yaml.safe_load(head), body


class Files:
    def __init__(self, root):
        self.root, self.problems = root, []

    def check(self, condition, name, message):
        if not condition:
            self.problems.append(f"{name}: {message}")

    def parse(self, name, parser):
        """Returns the content of a file, or None after it has reported why there is none."""
        try:
            return parser((self.root / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError, yaml.YAMLError) as error:
            self.check(False, name, str(error).replace("\n", " "))
            return None

    def version(self):
        header = (self.root / "base/include/apgas/version.hpp").read_text(encoding="utf-8")
        return re.search(r'define APGAS_VERSION_STRING "(.*)"', header)[1]

    def check_commands(self, name, commands):
        self.check(commands, name, "runs nothing")
        for script in (script for command in commands for script in SCRIPT.findall(command)):
            path = self.root / script
            self.check(os.access(path, os.X_OK), name, f"{script} is no program of this repository")

    def check_workflows(self):
        all_commands, privileged = [], []
        for path in sorted((self.root / ".github/workflows").glob("*.yml")):
            name = str(path.relative_to(self.root))
            workflow = self.parse(name, yaml.safe_load)
            if workflow is None:
                continue
            for job, content in workflow["jobs"].items():
                self.check("runs-on" in content, name, f"{job} has no runs-on")
                self.check("timeout-minutes" in content, name, f"{job} has no timeout-minutes")
            commands = [step["run"] for content in workflow["jobs"].values()
                        for step in content["steps"] if "run" in step]
            self.check_commands(name, commands)
            all_commands += commands
            privileged += [job for job, content in workflow["jobs"].items()
                           if "--privileged" in str(content.get("container"))]
        name = ".gitlab-ci.yml"
        jobs = self.parse(name, yaml.safe_load) or {}
        commands = [command for job in jobs.values() if isinstance(job, dict)
                    for command in job.get("script", [])]
        self.check_commands(name, commands)
        ours = {command for command in all_commands if SCRIPT.match(command)}
        self.check(ours == set(commands), name, "runs other commands than the workflows of GitHub: "
                   + ", ".join(sorted(ours ^ set(commands))))
        # GitLab's runners decide what is privileged, so only a comment can say it.
        text = (self.root / name).read_text(encoding="utf-8")
        for job in privileged:
            part = re.search(rf"^{job}:\n((?: .*\n?)*)", text, re.MULTILINE)
            self.check(part and "privileged runner" in part[1], name,
                       f"{job} does not say that it needs a privileged runner")

    def check_templates(self):
        """Those of GitHub say what they are for, and those of GitLab have the same contents."""
        request = (self.root / ".github/pull_request_template.md").read_text(encoding="utf-8")
        wanted = {".gitlab/merge_request_templates/Default.md": request}
        for path in sorted((self.root / ".github/ISSUE_TEMPLATE").glob("*.md")):
            name = str(path.relative_to(self.root))
            head, body = self.parse(name, head_and_body) or ({}, "")
            self.check({"name", "about"} <= head.keys(), name, "has no name and about")
            wanted[f".gitlab/issue_templates/{path.name}"] = body
        found = {str(path.relative_to(self.root)): path.read_text(encoding="utf-8")
                 for path in (self.root / ".gitlab").glob("*_templates/*.md")}
        for name in sorted(wanted.keys() | found.keys()):
            self.check(wanted.get(name) == found.get(name), name, "differs from that of GitHub")

    def check_citation(self):
        name = "CITATION.cff"
        citation = self.parse(name, yaml.safe_load) or {}
        for key in ("cff-version", "message", "title", "authors", "version"):
            self.check(key in citation, name, f"has no {key}")
        papers = citation.get("references", [])
        self.check(len(papers) == PAPERS, name, f"names {len(papers)} papers, not {PAPERS}")
        for paper in papers:
            self.check({"type", "title", "authors", "year"} <= paper.keys(), name,
                       f"{paper.get('title')} lacks its type, title, authors or year")
        self.check(citation.get("version") == self.version(), name, "has another version")

    def check_recipes(self):
        port = "packages/vcpkg/ports/apgas/vcpkg.json"
        manifest = self.parse(port, json.loads) or {}
        self.check(manifest.get("version") == self.version(), port, "has another version")
        spack = "packages/spack/spack_repo/apgas/packages/apgas/package.py"
        for name in (spack, "packages/conan/conanfile.py",
                     "packages/conan/test_package/conanfile.py"):
            self.parse(name, ast.parse)
        recipe = (self.root / spack).read_text(encoding="utf-8")
        self.check(f'version("{self.version()}")' in recipe, spack, "has another version")


def problems(root):
    files = Files(pathlib.Path(root))
    files.check_workflows()
    files.check_templates()
    files.check_citation()
    files.check_recipes()
    return files.problems


if __name__ == "__main__":
    found = problems(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    print("\n".join(found) or "public files: no problems")
    sys.exit(bool(found))
