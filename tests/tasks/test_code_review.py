"""Code review: how comments are found in answers, and what an evaluation says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.cli.group import cli
from ci_eval.core.model import Record
from ci_eval.plugins.tasks.code_review import comments, comments_of_mera

NOTHING = Record()
CASES = json.loads((Path(__file__).parent / "mera_comments.json").read_text())
"""Answers, and the comments that MERA CODE's own regular expression found in them."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["response"]))
def test_comments_are_cut_as_mera_does(case: dict[str, object]) -> None:
    assert comments_of_mera(str(case["response"]), NOTHING) == case["comments"]


def test_comments_without_a_marker_are_unreadable() -> None:
    assert comments("Looks wrong.", NOTHING) is None
    assert comments("NO COMMENTS", NOTHING) == []


def test_ten_comments_count() -> None:
    answer = "".join(f"{number}. text {number}\n" for number in range(1, 13))
    assert len(comments(answer, NOTHING) or ()) == 10


def figures(folder: Path, engine: str) -> dict[str, float]:
    line = {
        "instruction": "Review: {diff_block}",
        "inputs": {"diff_block": "+ return None"},
        "outputs": "Здесь лучше вернуть пустой список, а не None.",
        "meta": {"id": 1, "language": "Python"},
    }
    (folder / "reviews.jsonl").write_text(json.dumps(line))
    argv = ["evaluate", "--task", "code-review", "--dataset", str(folder / "reviews.jsonl"), "--engine", engine]
    cli.main([*argv, "--jobs", "1", "--output", str(folder / engine)], standalone_mode=False)
    report = json.loads((folder / engine / "reports" / "metrics.json").read_text())
    metrics = report["evaluations"][0]["filters"]["ALL"]["metrics"]
    return {name: metrics[name]["value"] for name in ("ChrF", "BLEU", "ChrFMera", "BLEUMera", "Comments", "HitAt1")}


def test_the_oracle_and_the_empty_control_are_at_the_ends(tmp_path: Path) -> None:
    best = {"ChrF": 1.0, "BLEU": 1.0, "ChrFMera": 1.0, "BLEUMera": 1.0, "Comments": 1.0, "HitAt1": None}
    assert figures(tmp_path, "oracle") == pytest.approx(best)
    assert figures(tmp_path, "empty") == dict.fromkeys(best, 0.0) | {"HitAt1": None}


def test_several_prompts_have_figures_of_their_own(tmp_path: Path) -> None:
    def line(number: int, instruction: str, **meta: str) -> dict[str, object]:
        inputs = {"diff_block": f"+ return {number}"}
        return {
            "instruction": instruction,
            "inputs": inputs,
            "outputs": f"Verify {number}.",
            "meta": {"id": number, **meta},
        }

    lines = [line(number, "Review: {diff_block}", prompt=f"en-{number % 2}") for number in range(6)]
    lines += [line(6, "Look at {diff_block}"), line(7, "Look at {diff_block}"), line(8, "Without a place")]
    (tmp_path / "reviews.jsonl").write_text("\n".join(map(json.dumps, lines)))
    argv = ["evaluate", "--task", "code-review", "--dataset", str(tmp_path / "reviews.jsonl"), "--engine", "oracle"]
    cli.main([*argv, "--jobs", "1", "--output", str(tmp_path / "out")], standalone_mode=False)
    prompts = json.loads((tmp_path / "out/reports/metrics.json").read_text())["evaluations"][0]["prompts"]
    digest = next(name for name in prompts["sessions"] if not name.startswith("en"))
    assert prompts["sessions"] == {"en-0": 3, "en-1": 3, digest: 2}
    chrf = prompts["metrics"]["ChrF"]
    assert chrf["values"] == {"en-0": 1.0, "en-1": 1.0, digest: 1.0}
    assert (chrf["deviation"], chrf["byChance"]) == (0.0, 0.0)
    assert "Figures by prompt" in (tmp_path / "out/reports/report.md").read_text()
    assert "Figures by prompt" in (tmp_path / "out/reports/html/index.html").read_text()
