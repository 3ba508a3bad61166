"""axe-core finds no fault in any kind of page, on a phone and a screen, light and dark."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from ci_eval.fetch.packages import npm_pack
from ci_eval.plugins.reports.html import REPORTER
from tests.reports.browsing import Browser
from tests.reports.conftest import run
from tests.reports.samples import small

pytestmark = [pytest.mark.browser, pytest.mark.registry, pytest.mark.needs("npm")]

FAULTS = """axe.run().then((found) => found.violations
  .map((each) => `${each.id}: ${each.nodes[0].html}`))"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of the script."""
    with tarfile.open(npm_pack("axe-core@4.10.3", tmp_path_factory.mktemp("axe"))) as packed:
        found = packed.extractfile("package/axe.min.js")
        assert found
        return found.read().decode()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_has_a_fault(
    width: int,
    scheme: str,
    axe: str,
    compared: Path,
    trends: Path,
    suited: Path,
    swept: Path,
    browser: Browser,
    tmp_path: Path,
) -> None:
    own = small().write(REPORTER, tmp_path).parent
    pages = [own / "index.html", own / "sessions.html", min((own / "files").glob("*.html"))]
    pages += [compared / "index.html", compared / "sessions.html", min((compared / "files").glob("*.html"))]
    pages += [compared.parents[1] / name / "html" / "index.html" for name in ("several", "only")]
    run("causes", compared.parents[1] / "BASIC", "--output", tmp_path / "causes")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.py").write_text("word = 1\nprint(word)\n#     ^ expect: word\n")
    run("cases", tmp_path / "cases", "--engine", "words", "--output", tmp_path / "cased")
    pages += [tmp_path / "causes" / "causes" / "index.html", tmp_path / "cased" / "cases" / "index.html"]
    pages += [suited / "index.html", swept / "html" / "index.html", *sorted(trends.rglob("index.html"))]
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    for each in pages:
        page.goto(each.as_uri())
        page.evaluate(axe)
        assert page.evaluate(FAULTS) == [], each
    page.close()
