#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documents, and opens its pages in a browser.

  site.py build MKDOCS FOLDER     builds it strictly into FOLDER: no warning, no broken link
  site.py open CHROMIUM FOLDER    opens every page in the light scheme on a phone, and in the dark
                                  one on a desktop, and then gives the window the other width; fails
                                  on errors of the console, on what is loaded from elsewhere, on
                                  pictures without a text, and on pages that are wider than the
                                  window. Then it searches, in a page that is opened as a file
"""

import functools
import http.server
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSOLE = re.compile(r"CONSOLE[:(]\d+\)?\] (.*)")
SECONDS = 500  # for all pages in one scheme, on a machine of any load
SCHEMES = {"default": 1, "slate": 0}  # those of the theme, and what Chromium calls light and dark
PHONE, DESKTOP = 390, 1280  # the width of the window, in pixels
WIDTHS = {"default": [PHONE, DESKTOP], "slate": [DESKTOP, PHONE]}  # when it opens, and afterwards
# Loads the pages one after the other into a frame, and sends what is wrong to the server.
DRIVER = """<!DOCTYPE html><meta charset="utf-8"><title>driver</title>
<iframe id="frame" style="height: 900px"></iframe>
<script>
const pages = %(pages)s, widths = %(widths)s, frame = document.getElementById("frame"), found = [];
function check(page) {
  return new Promise((done) => {
    frame.onload = () => {
      const inner = frame.contentWindow, all = inner.document;
      const scheme = all.body.getAttribute("data-md-color-scheme");
      if (scheme !== "%(scheme)s") found.push(`${page} is ${scheme}, not %(scheme)s`);
      const style = all.createElement("style");  // widths change at once, without animation
      style.textContent = "* { transition: none !important }";
      all.head.append(style);
      for (const width of widths) {
        frame.style.width = `${width}px`;
        const wide = all.documentElement.scrollWidth;
        if (wide > width) found.push(`${page} is ${wide} pixels wide in a window of ${width}`);
      }
      for (const entry of inner.performance.getEntriesByType("resource")) {
        if (!entry.name.startsWith(location.origin)) found.push(`${page} loads ${entry.name}`);
      }
      for (const picture of all.images) {
        if (!picture.alt) found.push(`${page}: ${picture.src} has no text`);
      }
      const colors = inner.getComputedStyle(all.body);
      if (colors.color === colors.backgroundColor) found.push(`${page}: ${scheme} is unreadable`);
      done();
    };
    frame.style.width = `${widths[0]}px`;
    frame.src = "/" + page;
  });
}
(async () => {
  for (const page of pages) await check(page);
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>
"""


def build(mkdocs, folder):
    result = subprocess.run(
        [mkdocs, "build", "--strict", "--site-dir", folder], cwd=ROOT, check=False,
        capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if result.returncode != 0:
        sys.exit(f"the site does not build:\n{result.stdout}{result.stderr}")
    if "Documentation built" not in result.stderr:
        sys.exit("MkDocs logs nothing, so --strict has seen no warnings")


def browser(chromium, profile, *arguments):
    return [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={profile}", "--enable-logging=stderr", *arguments]


class Server(http.server.SimpleHTTPRequestHandler):
    driver = index = b""
    found = queue.Queue()  # what the driver has sent

    def do_GET(self):  # noqa: N802
        if self.path == "/driver":
            self.answer("text/html", self.driver)
        elif self.path.endswith("search_index.json"):
            self.answer("application/json", self.index)
        else:
            super().do_GET()

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer("text/plain", b"")
        self.found.put(json.loads(body))

    def answer(self, kind, content):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def open_pages(chromium, folder, pages, scheme):
    """What is wrong with the pages in that scheme, and what the console says."""
    Server.driver = (DRIVER % {"widths": WIDTHS[scheme], "pages": json.dumps(pages),
                               "scheme": scheme}).encode()
    index = json.loads((folder / "search/search_index.json").read_text())
    Server.index = json.dumps(index | {"docs": index["docs"][:3]}).encode()  # search() has all
    handler = functools.partial(Server, directory=folder)
    with (http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
          tempfile.TemporaryDirectory() as profile, tempfile.TemporaryFile("w+") as log):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/driver"
        process = subprocess.Popen(
            browser(chromium, profile,
                    f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", url),
            stderr=log, stdout=subprocess.DEVNULL)
        try:
            found = Server.found.get(timeout=SECONDS)
        except queue.Empty:
            found = [f"the browser did not open all pages in {SECONDS} s"]
        process.terminate()
        process.wait()
        server.shutdown()
        log.seek(0)
        return found + CONSOLE.findall(log.read())


def search(chromium, page):
    """What is wrong with the search in a page that is opened as a file."""
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run(
            browser(chromium, profile, "--dump-dom", "--virtual-time-budget=20000",
                    f"{page.as_uri()}?q=phaser"),
            capture_output=True, text=True, check=False, timeout=SECONDS)
    found = CONSOLE.findall(result.stderr)
    if not re.search(r"md-search-result__item", result.stdout):
        found.append(f"the search for phaser finds nothing in {page.as_uri()}")
    return found


def check(chromium, folder):
    pages = sorted(str(page.relative_to(folder)) for page in folder.rglob("*.html"))
    found = [f"{scheme}: {problem}" for scheme in SCHEMES
             for problem in open_pages(chromium, folder, pages, scheme)]
    found += search(chromium, folder / "index.html")
    if len(pages) < 100:
        found.append("these are not all pages")
    print(f"site: {len(pages)} pages in {len(SCHEMES)} schemes, {len(found)} problems", *found,
          sep="\n")
    return bool(found)


def main():
    mode, program, folder = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    if mode == "build":
        build(program, folder)
        return 0
    return check(program, folder)


if __name__ == "__main__":
    sys.exit(main())
