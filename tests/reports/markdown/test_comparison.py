"""The comparison as a comment on a pull request shows it."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.rendering.verdicts import amount_of_change
from ci_eval.plugins.reports.markdown.comparison import LONGEST
from tests.comparing import compare


def test_what_matters_most_comes_first(nights: dict[str, Path], tmp_path: Path) -> None:
    _, report, _ = compare(nights["oracle"], nights["words"], tmp_path / "c", "--gate", "RecallAt1 >= -1pp")
    text = (tmp_path / "c" / "report.md").read_text()
    order = ["▼ worse. RecallAt1", "✗ broken", "*Detectable*", "Worst regressions", "How sessions moved"]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert f"Compared all {report['paired']:,} sessions of the project, in {report['files']:,} files." in text
    assert len(text) < LONGEST


def test_a_change_without_its_sign_is_an_amount() -> None:
    assert [amount_of_change(value, "share") for value in (0.01, 0.0)] == ["1.00 pp", "0.00 pp"]
