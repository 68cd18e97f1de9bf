#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documents, and opens its pages in a browser.

  site.py build MKDOCS FOLDER     builds it strictly into FOLDER: no warning, no broken link
  site.py open CHROMIUM FOLDER    opens every page at the width of a phone, in the light and in the
                                  dark scheme; fails on errors of the console, on what is loaded from
                                  elsewhere and on pages that are wider than the window. Then it
                                  searches, in a page that is opened as a file
"""

import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSOLE = re.compile(r"CONSOLE[:(]\d+\)?\] (.*)")
WIDTH = 400
# Loads the pages one after the other into a frame, and writes what is wrong into the document.
DRIVER = """<!DOCTYPE html><meta charset="utf-8"><title>driver</title>
<iframe id="frame" style="width: %(width)dpx; height: 900px"></iframe><pre id="found"></pre>
<script>
const pages = %(pages)s, frame = document.getElementById("frame"), found = [];
function check(page, scheme) {
  return new Promise((done) => {
    frame.onload = () => {
      const inner = frame.contentWindow, all = inner.document;
      all.body.setAttribute("data-md-color-scheme", scheme);
      const wide = all.documentElement.scrollWidth;
      if (wide > %(width)d) found.push(`${page} is ${wide} pixels wide`);
      for (const entry of inner.performance.getEntriesByType("resource")) {
        if (!entry.name.startsWith(location.origin)) found.push(`${page} loads ${entry.name}`);
      }
      const colors = inner.getComputedStyle(all.body);
      if (colors.color === colors.backgroundColor) found.push(`${page}: ${scheme} is unreadable`);
      done();
    };
    frame.src = "/" + page + "?" + scheme;
  });
}
(async () => {
  for (const page of pages) await check(page, "default");
  for (const page of pages.filter((_, i) => i %% 10 === 0)) await check(page, "slate");
  document.getElementById("found").textContent =
      "BEGIN\\n" + found.join("\\n") + "\\nEND " + pages.length;
})();
</script>
"""


def build(mkdocs, folder):
    result = subprocess.run(
        [mkdocs, "build", "--strict", "--quiet", "--site-dir", folder], cwd=ROOT, check=False,
        capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if result.returncode != 0:
        sys.exit(f"the site does not build:\n{result.stdout}{result.stderr}")


def browse(chromium, url, milliseconds):
    """The document after a time of the browser, and what the console has said."""
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={profile}", "--enable-logging=stderr", "--dump-dom",
             f"--virtual-time-budget={milliseconds}", url],
            capture_output=True, text=True, check=False, timeout=500)
    return result.stdout, CONSOLE.findall(result.stderr)


class Quiet(http.server.SimpleHTTPRequestHandler):
    driver = b""

    def do_GET(self):  # noqa: N802
        if self.path != "/driver":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.driver)

    def log_message(self, *_):
        pass


def open_pages(chromium, folder):
    pages = sorted(str(page.relative_to(folder)) for page in folder.rglob("*.html"))
    pages = [page for page in pages if page != "404.html"]  # its links are absolute
    Quiet.driver = (DRIVER % {"width": WIDTH, "pages": json.dumps(pages)}).encode()
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        document, console = browse(chromium, f"http://127.0.0.1:{server.server_port}/driver",
                                   1000 * len(pages))
        server.shutdown()
    report = re.search(r"BEGIN\n(.*)\nEND (\d+)", document, re.S)
    if not report or int(report[2]) != len(pages) or len(pages) < 100:
        sys.exit(f"the browser did not open all {len(pages)} pages: {document[-500:]}")
    found = [line for line in report[1].splitlines() if line] + console

    word = "phaser"
    document, console = browse(chromium, f"{(folder / 'index.html').as_uri()}?q={word}", 20_000)
    if not re.search(r"md-search-result__item.*?<mark>", document, re.S):
        found.append(f"the search for {word} finds nothing in a page that is opened as a file")
    found += console
    print(f"site: {len(pages)} pages, {len(found)} problems", *found, sep="\n")
    return bool(found)


def main():
    mode, program, folder = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    if mode == "build":
        build(program, folder)
        return 0
    return open_pages(program, folder)


if __name__ == "__main__":
    sys.exit(main())
