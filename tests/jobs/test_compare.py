"""The job `compare` as users run it, over real evaluations with the controls and the baseline."""

from __future__ import annotations

import inspect
import json
import sched
import shlex
import shutil
import textwrap
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from ci_eval.rendering.figures import change_between
from ci_eval.workspace import Workspace
from tests.command import command as run
from tests.projects import GREETER, write


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Evaluations of one project: words, twice, in the alphabet's order, and by the controls."""
    root = tmp_path_factory.mktemp("compare")
    files = {f"file{i:02}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" * (1 + i % 3) for i in range(24)}
    project = write(root / "p", **files)
    made = {}
    for name, engine, kind in (
        ("words", "words", "BASIC"),
        ("again", "words", "BASIC"),
        ("alphabet", "words", "ALPHABETICAL"),
        ("oracle", "oracle", "BASIC"),
    ):
        made[name] = root / name
        code, _, err = run(
            "evaluate", "--project", f"path:{project}", "--engine", engine, "--completion-type", kind,
            "--output", made[name], "--jobs", 1,
        )  # fmt: skip
        assert code == 0, err
    return made


def compare(base: Path, new: Path, output: Path, *more: object) -> tuple[int, dict[str, Any], str]:
    code, out, err = run("compare", base, new, "--output", output, *more)
    report = output / "comparison.json"
    return code, json.loads(report.read_text()) if report.exists() else {}, out + err


def test_the_same_engine_twice_is_equivalent(nights: dict[str, Path], tmp_path: Path) -> None:
    code, report, _ = compare(nights["words"], nights["again"], tmp_path / "out")
    assert code == 0
    assert (report["onlyBase"], report["onlyNew"], report["changedText"]) == (0, 0, 0)
    assert report["paired"] > 300
    metrics = report["filters"]["ALL"]["metrics"]
    assert {metrics[name]["verdict"] for name in report["declared"]} == {"equivalent"}
    assert {metrics[name]["difference"] for name in report["declared"]} == {0}


def test_the_control_that_knows_is_better_than_words(nights: dict[str, Path], tmp_path: Path) -> None:
    code, report, said = compare(nights["words"], nights["oracle"], tmp_path / "out")
    found = report["filters"]["ALL"]["metrics"]["RecallAt1"]
    assert code == 0
    assert (found["new"], found["verdict"]) == (1.0, "better")
    assert found["difference"] == pytest.approx(found["new"] - found["base"])
    assert found["low"] <= found["difference"] <= found["high"]
    assert report["losses"] == 0
    assert report["wins"] == sum(sum(row.values()) for band, row in report["transitions"].items() if band != "1")
    assert said.splitlines()[0] or said
    assert (tmp_path / "out" / "html" / "index.html").exists()
    assert len((tmp_path / "out" / "report.md").read_text()) < 65_000


def test_a_broken_gate_ends_with_1_and_its_reports_are_written(nights: dict[str, Path], tmp_path: Path) -> None:
    rules = ("--gate", "RecallAt1 >= -1pp", "--gate", "Recall >= 1%")
    code, report, said = compare(nights["oracle"], nights["words"], tmp_path / "out", *rules)
    assert code == 1
    assert [gate["passed"] for gate in report["gates"]] == [False, True]
    assert "1 of 2 gates failed" in said
    assert "✗ broken" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize(("ref", "number"), [("refs/pull/7/merge", "7\n"), ("refs/heads/pull/7/merge", None)])
def test_the_reports_of_a_pull_request_say_whose_they_are(
    nights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ref: str, number: str | None
) -> None:
    monkeypatch.setenv("GITHUB_REF", ref)
    code, _, said = run("--ci", "github", "compare", nights["words"], nights["words"], "--output", tmp_path / "c")
    assert code == 0, said
    file = tmp_path / "c" / "number.txt"
    assert (file.read_text() if file.exists() else None) == number


def test_a_gate_of_the_configuration_counts(nights: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(nights["words"], tmp_path / "new")
    config = tmp_path / "new" / "config.yaml"
    text = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump(text | {"comparison": {"gates": ["RecallAt1 >= 99%"]}}))
    Workspace(tmp_path / "new").seal()
    code, report, _ = compare(nights["oracle"], tmp_path / "new", tmp_path / "out")
    assert (code, [gate["rule"] for gate in report["gates"]]) == (1, ["RecallAt1 >= 99%"])


@pytest.mark.parametrize(("key", "value"), [("strategy", "another"), ("client", "raw"), ("language", "go")])
def test_what_does_not_mean_the_same_is_refused(nights: dict[str, Path], tmp_path: Path, key: str, value: str) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), **{key: value}))
    workspace.seal()
    code, _, said = compare(nights["words"], tmp_path / "new", tmp_path / "out")
    assert code == 2
    assert f"the {key} is" in said


def test_on_another_machine_times_are_not_compared(nights: dict[str, Path], tmp_path: Path) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), cpu="another"))
    workspace.seal()
    rule = ("--gate", "LatencyPercentile95 <= +500%")
    code, report, said = compare(nights["words"], tmp_path / "new", tmp_path / "out", *rule)
    assert report["filters"]["ALL"]["metrics"]["LatencyPercentile95"]["verdict"] == "not-comparable"
    assert (code, report["gates"][0]["passed"]) == (1, False)
    assert "latencies are not comparable: CPU" in " ".join(said.split())


@pytest.mark.slow
def test_sessions_of_changed_files_are_counted_and_left_out(tmp_path: Path) -> None:
    made = []
    for name, more in (("base", ""), ("new", "x = 1\n")):
        project = write(tmp_path / name / "p", a__py=GREETER, b__py=GREETER + more)
        made.append(tmp_path / f"{name}-night")
        code, _, err = run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", made[-1])
        assert code == 0, err
    code, report, said = compare(*made, tmp_path / "out")
    assert code == 0, said
    assert report["files"] == 1
    assert report["changedText"] >= report["paired"] > 0
    assert "have no partner" in " ".join(said.split())


def test_other_projects_have_no_session_in_common(nights: dict[str, Path], tmp_path: Path) -> None:
    project = write(tmp_path / "other", a__py=GREETER)
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "night")
    code, report, said = compare(nights["words"], tmp_path / "night", tmp_path / "out")
    assert (code, report) == (3, {})
    assert "evaluate both on the same project" in " ".join(said.split())


def test_three_workspaces_are_each_compared_with_the_first(nights: dict[str, Path], tmp_path: Path) -> None:
    code, out, err = run("compare", nights["words"], nights["alphabet"], nights["oracle"], "--output", tmp_path / "out")
    assert code == 0, err
    assert {"01-alphabet", "02-oracle", "html", "overview.json", "report.md"} == {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert out.splitlines()[-1] == str(tmp_path / "out")


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
    ranking = json.loads((tmp_path / "out" / "overview.json").read_text())["ranking"]
    for side, figures in zip(ranking["sides"], ranking["figures"], strict=True):
        own = json.loads((nights[side["workspace"]] / "reports" / "metrics.json").read_text())
        alone = own["evaluations"][0]["filters"]["ALL"]["metrics"]
        for name, found in figures.items():
            assert found["value"] == pytest.approx(alone[name]["value"])
            assert found["n"] == alone[name]["n"]
            assert found["low"] == pytest.approx(alone[name]["low"], abs=0.01)


def test_one_workspace_is_a_usage_error_and_no_workspace_is_named(nights: dict[str, Path], tmp_path: Path) -> None:
    assert run("compare", nights["words"])[0] == 2
    code, _, err = run("compare", nights["words"], tmp_path)
    assert (code, "is not a workspace" in err) == (2, True)


# ----------------------------------------------------------------------------------------------------------- history


def aged(night: Path, folder: Path, day: int, **changes: float) -> Path:
    """A night as it would have been on that day, with other figures."""
    report = json.loads((night / "reports" / "metrics.json").read_text())
    (evaluation,) = report["evaluations"]
    evaluation["started"] = f"2020-01-{day:02}T03:00:00+00:00"
    for name, value in changes.items():
        evaluation["filters"]["ALL"]["metrics"][name]["value"] = value
    folder.mkdir(exist_ok=True)
    path = folder / f"night{day}.json"
    path.write_text(json.dumps(report))
    return path


def test_a_night_is_added_to_its_history_and_only_once(nights: dict[str, Path], tmp_path: Path) -> None:
    for name in ("first", "second"):
        code, _, err = run("compare", nights["words"], "--history", tmp_path / "past", "--output", tmp_path / name)
        assert code == 0, err
    (kept,) = (tmp_path / "past").iterdir()
    stored = json.loads(kept.read_text())
    assert (stored["format"], len(stored["evaluations"])) == (1, 1)
    overview = json.loads((tmp_path / "second" / "overview.json").read_text())
    assert len(overview["trend"]["nights"]) == 1


def test_a_change_of_level_is_marked_on_its_night(nights: dict[str, Path], tmp_path: Path) -> None:
    for day in range(1, 25):
        aged(nights["words"], tmp_path / "past", day, RecallAt1=0.9 if day <= 14 else 0.8)
    code, out, err = run(
        "compare", nights["again"], nights["words"], "--history", tmp_path / "past", "--output", tmp_path / "out"
    )
    assert code == 0, err
    trend = json.loads((tmp_path / "out" / "comparison.json").read_text())["trend"]
    assert (len(trend["nights"]), trend["leftOut"]) == (25, 0)
    first = trend["changes"]["RecallAt1"][0]
    assert (first["night"], first["before"], first["good"]) == (14, pytest.approx(0.9), False)
    assert first["after"] < 0.85
    assert "▼ RecallAt1 90.0%" in " ".join(out.split())
    page = (tmp_path / "out" / "html" / "index.html").read_text()
    assert page.count("<svg") >= 5
    assert "from 2020-01-15 on" in page
    assert "▼ RecallAt1 90.0%" in (tmp_path / "out" / "report.md").read_text()


def test_other_engines_and_damaged_files_do_not_enter_a_trend(nights: dict[str, Path], tmp_path: Path) -> None:
    aged(nights["oracle"], tmp_path / "past", 1)
    aged(nights["alphabet"], tmp_path / "past", 2)
    code, _, err = run("compare", nights["words"], "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert code == 0, err
    trend = json.loads((tmp_path / "out" / "overview.json").read_text())["trend"]
    assert (len(trend["nights"]), trend["leftOut"]) == (1, 2)
    (tmp_path / "past" / "x.json").write_text('{"format": 1}')
    code, _, err = run("compare", nights["words"], "--history", tmp_path / "past", "--output", tmp_path / "other")
    assert (code, "x.json is not the metrics.json" in " ".join(err.split())) == (2, True)


def test_a_folder_of_past_workspaces_gives_the_base(nights: dict[str, Path], tmp_path: Path) -> None:
    past = tmp_path / "past"
    for day in (3, 4):
        workspace = Workspace(Path(shutil.copytree(nights["words"], past / f"night{day}")))
        start = f"2020-01-{day:02}T03:00:00+00:00"
        workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), start=start))
        workspace.seal()
        aged(nights["words"], past / f"night{day}" / "reports", day).rename(
            past / f"night{day}" / "reports" / "metrics.json"
        )
    shutil.copytree(nights["alphabet"], past / "other")
    code, report, said = compare(past, nights["again"], tmp_path / "out")
    assert code == 0, said
    assert report["sides"]["base"]["workspace"] == "night4"
    assert len(report["trend"]["nights"]) == 3


def test_without_a_night_before_gates_are_not_judged_and_that_is_said(nights: dict[str, Path], tmp_path: Path) -> None:
    rule = ("--gate", "RecallAt1 >= 0pp", "--history", tmp_path / "past", "--output", tmp_path / "out")
    code, _, err = run("compare", nights["words"], *rule)
    assert (code, "no gate was judged" in err) == (0, True)


# ------------------------------------------------------------------------------------------------------------- digests


def test_a_base_of_another_ranker_is_left_out_where_that_is_asked_for(nights: dict[str, Path], tmp_path: Path) -> None:
    other = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "other")))
    other.write_manifest(replace(other.manifest(), model="0" * 64))
    other.seal()
    gate = ("--gate", "RecallAt1 >= 100%")
    for base, code in ((other.folder, 0), (nights["words"], 1)):
        done, _, said = run(
            "compare", base, nights["words"], "--same-ranker", *gate, "--output", tmp_path / f"out{code}"
        )
        assert done == code, said
        assert ("another ranker ranked its lists" in " ".join(said.split())) == (code == 0)


@pytest.mark.parametrize("part", ["sessions", "actions", "logs", "names.npz"])
def test_a_poisoned_artifact_is_refused(nights: dict[str, Path], tmp_path: Path, part: str) -> None:
    new = Path(shutil.copytree(nights["words"], tmp_path / "new"))
    target = next((new / part).glob("*"), new / part / "more") if part != "names.npz" else new / part
    target.write_bytes((target.read_bytes() if target.exists() else b"") + b"x")
    code, _, said = compare(nights["words"], new, tmp_path / "out")
    assert (code, f"{part} changed since" in " ".join(said.split())) == (2, True)


def test_an_artifact_without_digests_is_refused(nights: dict[str, Path], tmp_path: Path) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), digests={}))
    code, _, said = compare(nights["words"], tmp_path / "new", tmp_path / "out")
    assert (code, "its manifest has no digests" in " ".join(said.split())) == (2, True)


def test_of_three_files_a_difference_is_a_fact_here_and_not_shown_elsewhere(tmp_path: Path) -> None:
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER for i in range(3)})
    for name in ("oracle", "empty"):
        command = ("evaluate", "--project", f"path:{project}", "--engine", name, "--output", tmp_path / name)
        assert run(*command)[0] == 0
    rules = ("--gate", "RecallAt1 >= -1pp", "--gate", "RecallAt1 non-inferior 1pp population: code")
    code, report, said = compare(tmp_path / "oracle", tmp_path / "empty", tmp_path / "out", *rules)
    found = report["filters"]["ALL"]["metrics"]["RecallAt1"]
    assert (found["population"], found["verdict"], found["elsewhere"]["verdict"]) == PROJECT_ONLY
    assert (found["low"], found["high"], found["p"]) == (-1, -1, None)
    assert found["elsewhere"]["low"] is None
    assert "too few files: 3, worth 3 of equal size" in found["elsewhere"]["why"]
    assert (code, [gate["passed"] for gate in report["gates"]]) == (1, [False, False])
    text = " ".join(said.split())
    assert f"In this project (all {report['paired']} sessions were asked): ▼ worse" in text
    assert "In other code: ? no difference shown (too few files" in text


PROJECT_ONLY = ("project", "worse", "no-difference-shown")


@pytest.mark.slow
def test_frequency_is_better_on_three_files_and_nothing_is_said_of_others(tmp_path: Path) -> None:
    """Real code in the engine's own order, and in the order of how often names stand in the project."""
    write(tmp_path / "p", **{f"{each.__name__}__py": inspect.getsource(each) for each in (sched, shlex, textwrap)})
    for kind in ("BASIC", "FREQUENCY"):
        given = ("--project", f"path:{tmp_path / 'p'}", "--engine", "words", "--completion-type", kind)
        assert run("evaluate", *given, "--output", tmp_path / kind)[0] == 0
    _, report, said = compare(tmp_path / "BASIC", tmp_path / "FREQUENCY", tmp_path / "out")
    found = report["filters"]["ALL"]["metrics"]["RecallAt1"]
    assert found["difference"] == found["low"] == found["high"] > 0.05
    assert (found["verdict"], found["elsewhere"]["verdict"]) == ("better", "no-difference-shown")
    assert "▲ better. RecallAt1" in said
    assert "In other code: ? no difference shown (too few files: 3" in " ".join(said.split())


def test_a_sample_says_how_much_of_the_project_it_is(nights: dict[str, Path], tmp_path: Path) -> None:
    manifest = Workspace(nights["words"]).manifest()
    for name in ("words", "alphabet"):
        workspace = Workspace(Path(shutil.copytree(nights[name], tmp_path / name)))
        workspace.write_manifest(msgspec.structs.replace(manifest, generated=manifest.generated * 4))
        workspace.seal()
    _, report, said = compare(tmp_path / "words", tmp_path / "alphabet", tmp_path / "out")
    found = report["filters"]["ALL"]["metrics"]["RecallAt1"]
    assert report["population"] == 4 * report["paired"]
    assert found["low"] < found["difference"] < found["high"]
    assert (found["p"] < 0.05) == (found["low"] > 0 or found["high"] < 0)
    interval = change_between(found["low"], found["high"], "share")
    pages = [tmp_path / "out" / name for name in ("report.md", "html/index.html")]
    for text in (said, *(page.read_text() for page in pages)):
        assert f"▼ worse. RecallAt1 4.5% → 0.0%, -4.55 pp ({interval}; p < 0.001" in " ".join(unescape(text).split())


def test_a_mean_rank_is_over_sessions_found_by_both(nights: dict[str, Path], tmp_path: Path) -> None:
    _, report, _ = compare(nights["oracle"], nights["words"], tmp_path / "out")
    found = report["filters"]["ALL"]["metrics"]["MeanRank"]
    lost = sum(row["absent"] for row in report["transitions"].values())
    assert (found["base"], found["n"], found["over"]) == (1.0, report["paired"] - lost, "found by both")
    assert f"MeanRank ({found['n']} found by both)" in (tmp_path / "out" / "report.md").read_text()


def test_times_have_figures_and_no_verdict(nights: dict[str, Path], tmp_path: Path) -> None:
    _, report, _ = compare(nights["words"], nights["again"], tmp_path / "out")
    for name in ("MeanLatency", "MaxLatency", "LatencyPercentile50", "LatencyPercentile95"):
        found = report["filters"]["ALL"]["metrics"][name]
        assert found["difference"] == pytest.approx(found["new"] - found["base"])
        assert {found["verdict"], found["elsewhere"]["verdict"]} == {"not-comparable"}
        assert "in turns" in found["why"]


def test_sessions_of_a_file_that_one_side_lacks_are_that_sides_alone(nights: dict[str, Path], tmp_path: Path) -> None:
    lacking = Path(shutil.copytree(nights["words"], tmp_path / "lacking"))
    gone = sorted((lacking / "sessions").iterdir())[0]
    gone.unlink()
    Workspace.open(lacking).seal()
    for base, new, side in ((nights["words"], lacking, "onlyBase"), (lacking, nights["words"], "onlyNew")):
        _, report, _ = compare(base, new, tmp_path / side)
        counts = {name: report[name] for name in ("onlyBase", "onlyNew", "changedText")}
        assert counts.pop(side) > 0
        assert set(counts.values()) == {0}


def test_broken_gates_of_all_comparisons_are_named(nights: dict[str, Path], tmp_path: Path) -> None:
    given = (nights["oracle"], nights["words"], nights["alphabet"], "--output", tmp_path / "out")
    code, _, err = run("compare", *given, "--gate", "RecallAt1 >= -1pp", "--gate", "Recall >= 1%")
    assert code == 1
    said = " ".join(err.split())
    assert "2 of 4 gates failed" in said
    assert "words 0" in said
    assert "BASIC: RecallAt1 >= -1pp: the difference is" in said
    assert "ALPHABETICAL: RecallAt1 >= -1pp: the difference is" in said


@pytest.mark.parametrize(
    ("key", "said"),
    [("comparison.metrics=[Foo]", "'Foo' cannot be compared"), ("comparison.gates=['Foo >= 1']", "unknown metric")],
)
def test_what_cannot_be_compared_is_refused_before_the_night_runs(key: str, said: str, tmp_path: Path) -> None:
    project = write(tmp_path / "p", file__py=GREETER)
    code, _, err = run(
        "evaluate", "--project", f"path:{project}", "--engine", "words", "--set", key, "--output", tmp_path / "out"
    )
    assert code == 2
    assert said in " ".join(err.split())
    assert not (tmp_path / "out").exists()


def test_a_first_night_says_that_no_gate_was_judged_and_refuses_a_bad_one(
    nights: dict[str, Path], tmp_path: Path
) -> None:
    given = ("compare", nights["words"], "--history", tmp_path / "history")
    code, _, err = run(*given, "--gate", "Recall >= 1%", "--output", tmp_path / "out")
    assert (code, "no gate was judged" in err) == (0, True)
    code, _, err = run(*given, "--gate", "Foo >= 1%", "--output", tmp_path / "other")
    assert (code, "unknown metric" in err) == (2, True)
