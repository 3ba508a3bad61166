"""Several comparisons on one page."""

from __future__ import annotations

from pathlib import Path

from tests.command import command


def test_the_ranking_names_each_evaluation_and_links_its_comparison(nights: dict[str, Path], tmp_path: Path) -> None:
    names = ("words", "alphabet", "oracle")
    code, out, err = command("compare", *(nights[name] for name in names), "--output", tmp_path / "out")
    assert code == 0, err
    text = (tmp_path / "out" / "report.md").read_text()
    rows = [line.split(" | ") for line in text.partition("better than")[2].partition("<details>")[0].splitlines()]
    ranked = [row for row in rows if row[0].strip("| ").isdigit()]
    assert [row[0].strip("| ") for row in ranked] == ["1", "2", "3"]
    assert "oracle" in ranked[0][1]
    assert "100.0%" in ranked[0][2]
    assert ranked[0][-4].endswith(" ms")
    assert ranked[0][-3].endswith(" MB")
    page = (tmp_path / "out" / "html" / "index.html").read_text()
    assert "LatencyPercentile95" in page
    assert "LatencyPercentile95" in out
    assert [each in text for each in ("01-alphabet/report.md", "02-oracle/report.md")] == [True, True]
