"""Takes the README's picture: the report of an evaluation, or of a comparison, in a headless Chromium.

python benchmarks/picture.py WORKSPACE/reports/html/index.html docs/report.png
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1100, 600


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(given.page.absolute().as_uri())
        page.screenshot(path=given.picture)
        browser.close()
    print(f"{given.picture}: {given.picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
