#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of pages of the site, in light and dark, to look at.

  screenshots.py CHROMIUM FOLDER OUT [PAGE[@WIDTH]]...

FOLDER is the built site, and each PAGE a file in it, perhaps with an anchor. The pictures of a page
are OUT/<page>-<width>-light.png and -dark.png, 1,280 pixels wide if the page names no other width.
Without a page it takes PAGES. It is run by hand: what looks wrong, only a reader sees.
"""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

HEIGHT, LEAST_WIDTH = 1600, 500
SCHEMES = {"dark": 0, "light": 1}  # the numbers of Chromium
PAGES = ["index.html", "tutorials/lock_step.html", "how_to/tune.html", "reference/clock.hpp.html",
         "performance.html@390"]
# A frame, since a window of Chromium is at least LEAST_WIDTH wide, which exceeds a phone.
FRAME = """<!DOCTYPE html><body style="margin: 0">
<iframe src="{url}" style="border: 0; width: {width}px; height: {height}px"></iframe>"""


def site_tests():
    """The module site.py; Python has one of the same name."""
    path = pathlib.Path(__file__).with_name("site.py")
    spec = importlib.util.spec_from_file_location("site_tests", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def take(browser, chromium, url, width, scheme, picture):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "frame.html")
        page.write_text(FRAME.format(url=url, width=width, height=HEIGHT), encoding="utf-8")
        subprocess.run(
            browser(chromium, folder, "--hide-scrollbars", "--virtual-time-budget=10000",
                    f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
                    f"--window-size={max(width, LEAST_WIDTH)},{HEIGHT}", f"--screenshot={picture}",
                    page.as_uri()),
            check=True, stderr=subprocess.DEVNULL, timeout=100)


def main():
    chromium, site, out, *pages = sys.argv[1:]
    out = pathlib.Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    browser = site_tests().browser
    for page in pages or PAGES:
        name, _, width = page.partition("@")
        path, _, anchor = name.partition("#")
        file = pathlib.Path(site).resolve() / path
        if not file.is_file():
            sys.exit(f"{file} is not there: build the site first, by ./launch/docs")
        url = file.as_uri() + (f"#{anchor}" if anchor else "")
        for scheme in SCHEMES:
            picture = out / f"{file.stem}-{width or 1280}-{scheme}.png"
            take(browser, chromium, url, int(width or 1280), scheme, picture)
            print(picture)


if __name__ == "__main__":
    main()
