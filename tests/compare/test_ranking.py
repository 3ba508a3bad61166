"""More than two evaluations, from the best on, with a verdict on each pair."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.command import command as run
from tests.projects import GREETER, write


def test_more_than_two_are_ranked_and_each_pair_has_its_verdict(nights: dict[str, Path], tmp_path: Path) -> None:
    names = ("words", "alphabet", "oracle", "again")
    code, _, err = run("compare", *(nights[name] for name in names), "--output", tmp_path / "out")
    assert code == 0, err
    ranking = json.loads((tmp_path / "out" / "overview.json").read_text())["ranking"]
    order = [side["workspace"] for side in ranking["sides"]]
    values = [figures["RecallAt1"]["value"] for figures in ranking["figures"]]
    assert order[0] == "oracle"
    assert values == sorted(values, reverse=True)
    assert (values[0], ranking["ahead"][0], ranking["behind"][-1] > 0) == (1.0, 3, True)
    table = ranking["pairs"]["RecallAt1"]
    alike = table[order.index("words")][order.index("again")]
    assert (alike["difference"], alike["verdict"]) == (0, "equivalent")
    for row in range(4):
        assert table[row][row] is None
        for column in range(row):
            assert table[row][column]["difference"] == pytest.approx(-table[column][row]["difference"])
            assert {table[row][column]["verdict"], table[column][row]["verdict"]} in VERDICTS


VERDICTS = [{"better", "worse"}, {"equivalent"}, {"no-difference-shown"}]


def test_a_ranking_has_the_figures_of_each_evaluation(nights: dict[str, Path], tmp_path: Path) -> None:
    run("compare", nights["words"], nights["alphabet"], nights["oracle"], "--output", tmp_path / "out")
    same_figures(tmp_path / "out", nights)


def test_a_ranking_has_the_intervals_of_engines_that_were_asked_once(tmp_path: Path) -> None:
    project = write(tmp_path / "p", **{f"file{i}__py": f"{GREETER}x = {i}\n" for i in range(3)})
    runs = {name: tmp_path / name for name in ("jedi", "ALPHABETICAL", "FREQUENCY")}
    run("evaluate", "--project", f"path:{project}", "--engine", "jedi", "--output", runs["jedi"], "--jobs", 1)
    for name in ("ALPHABETICAL", "FREQUENCY"):
        run("rerank", runs["jedi"], "--completion-type", name, "--output", runs[name])
    run("compare", *runs.values(), "--output", tmp_path / "out")
    same_figures(tmp_path / "out", runs)


def same_figures(compared: Path, runs: Mapping[str, Path]) -> None:
    ranking = json.loads((compared / "overview.json").read_text())["ranking"]
    for side, figures, times in zip(ranking["sides"], ranking["figures"], ranking["times"], strict=True):
        own = json.loads((runs[side["workspace"]] / "reports" / "metrics.json").read_text())
        filters = own["evaluations"][0]["filters"]
        alone = filters["ALL"]["metrics"] | filters[ranking["headline"]]["metrics"]
        assert {"LatencyPercentile50", "LatencyPercentile95", "StartUpLatency", "PeakMemory"} <= times.keys()
        for name, estimate in times.items():
            assert estimate["value"] == alone[name]["value"]
        for name, estimate in figures.items():
            assert estimate["value"] == pytest.approx(alone[name]["value"])
            assert estimate["n"] == alone[name]["n"]
            assert [estimate["low"], estimate["high"]] == pytest.approx([alone[name]["low"], alone[name]["high"]])


def test_a_pair_of_a_ranking_gets_the_mean_rank_of_its_own_comparison(tmp_path: Path) -> None:
    files = {f"file{i:02}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" * (1 + i % 3) for i in range(24)}
    project = write(tmp_path / "p", **files)
    metrics = ("--set", "comparison.metrics=[MeanRank]")
    for name, engine, kind in (
        ("oracle", "oracle", "BASIC"),
        ("words", "words", "BASIC"),
        ("alphabet", "words", "ALPHABETICAL"),
    ):
        code, _, err = run(
            "evaluate", "--project", f"path:{project}", "--engine", engine, "--completion-type", kind,
            "--output", tmp_path / name, "--jobs", 1, "--sessions", 500, *metrics,
        )  # fmt: skip
        assert code == 0, err
    folders = [tmp_path / name for name in ("oracle", "words", "alphabet")]
    run("compare", *folders, "--output", tmp_path / "ranking")
    ranking = json.loads((tmp_path / "ranking" / "overview.json").read_text())["ranking"]
    order = [side["workspace"] for side in ranking["sides"]]
    pair = ranking["pairs"]["MeanRank"][order.index("alphabet")][order.index("words")]
    run("compare", *folders[1:], "--output", tmp_path / "pair")
    comparison = json.loads((tmp_path / "pair" / "comparison.json").read_text())
    own = comparison["filters"][comparison["headline"]]["metrics"]["MeanRank"]
    assert pair["low"] is not None, pair["why"]
    assert pair["low"] == pytest.approx(own["low"])
    assert (pair["verdict"], pair["why"]) == (own["verdict"], own["why"])
