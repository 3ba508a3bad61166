"""report.md as GitHub shows it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from ci_eval.core.model import FileError
from ci_eval.plugins.reports.markdown import LONGEST, REPORTER
from tests.comparing import compare
from tests.reports.samples import NASTY, Sample, hostile, small


def written(sample: Sample, folder: Path, title: str = "jedi on stack") -> str:
    return sample.write(REPORTER, folder, title).read_text(encoding="utf-8")


def test_the_answer_comes_first_then_engine_project_and_share_evaluated(tmp_path: Path) -> None:
    lines = written(small(), tmp_path).splitlines()
    assert lines[2].startswith("`● jedi on stack first in the list 61.2% (58.1–63.6%) among the first 5 ")  # noqa: RUF001
    sentence = lines[lines.index("") + 1 :][lines[lines.index("") + 1 :].index("") + 1]
    evaluated = "`jedi 0.19.2` on `stack 1.0`, client `editor`: 180 of 200 sessions evaluated, the engine failed in 10"
    first = "the expected text was first in 61.2% of 180 sessions (58.1–63.6%; 55.1–66.1% in other code)"  # noqa: RUF001
    assert sentence.startswith(f"{evaluated}. All sessions: {first}, among the first 5 in ")


def test_metrics_come_with_interval_and_meaning(tmp_path: Path) -> None:
    row = "| RecallAt1 | 61.2% | 58.1–63.6% | 55.1–66.1% | 55.0% | 180 | Share with the expected text first (higher"  # noqa: RUF001
    assert row in written(small(), tmp_path)


def test_failed_statuses_stand_out_and_absent_ones_are_left_out(tmp_path: Path) -> None:
    text = written(small(), tmp_path)
    assert "| **timeout** | 7 |" in text
    assert "| `empty` |" not in text


def test_errors_are_listed_up_to_a_limit_and_the_rest_is_counted(tmp_path: Path) -> None:
    sample = small()
    sample.errors = tuple(FileError(path=f"{n}.py", stage="actions", message="bad") for n in range(25))
    text = written(sample, tmp_path)
    assert "## Trouble with 25 files" in text
    assert "5 more are in the workspace" in text


def test_a_run_without_figures_still_gives_a_report(tmp_path: Path) -> None:
    evaluation = msgspec.structs.replace(small().evaluation(), filters={}, errors=(), metrics=())
    text = REPORTER.write(evaluation, small(), tmp_path).read_text()
    assert "0 of 0 sessions evaluated." in text


def test_a_filter_is_listed_although_another_has_equal_figures(tmp_path: Path) -> None:
    names = ["Prefix 1", "Prefix 3", "imports, Prefix 1", "keywords, Prefix 1"]
    equal = dict.fromkeys(names, small().evaluation().filters["ALL"])
    evaluation = msgspec.structs.replace(small().evaluation(), filters=equal, headline="Prefix 1")
    text = REPORTER.write(evaluation, small(), tmp_path).read_text()
    table = text.partition("## By session filter")[2].partition("## ")[0]
    # The columns of another table are the numbers of typed letters.
    assert [line.split("`")[1] for line in table.splitlines() if "`" in line] == [
        "imports, one letter typed",
        "keywords, one letter typed",
    ]


def test_hostile_names_do_not_break_a_table(tmp_path: Path) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", written(hostile(), tmp_path), re.MULTILINE)
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_nothing_hostile_stands_outside_of_code(tmp_path: Path) -> None:
    text = written(hostile(), tmp_path, title=NASTY)
    outside = re.sub(r"`[^`\n]*`|<code>[^<\n]*</code>", "", text)
    assert not re.search(r"[<@\[\u2028\u202e]|http:", outside)


def test_what_matters_most_comes_first(nights: dict[str, Path], tmp_path: Path) -> None:
    _, report, _ = compare(nights["oracle"], nights["words"], tmp_path / "c", "--gate", "RecallAt1 >= -1pp")
    text = (tmp_path / "c" / "report.md").read_text()
    order = ["✗ RED", "▼ WORSE", "✗ broken", "*Detectable*", "How this was decided", "Worst regr", "The other"]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert f"Compared all {report['paired']:,} sessions of the project, in {report['files']:,} files." in text
    assert len(text) < LONGEST
