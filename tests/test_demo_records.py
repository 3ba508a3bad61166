"""The demo's records are ones that their tasks can read, and its answers are to these."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from ci_eval.cli.group import cli
from ci_eval.core import machine
from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.contracts import RunSettings
from ci_eval.core.model import RunConfig
from ci_eval.core.records import neutral
from ci_eval.core.workspace import Workspace
from ci_eval.fetch.dataset import prepare
from ci_eval.plugins.adapters.testruns import languages as runners
from ci_eval.plugins.adapters.testruns.trials import Trials
from ci_eval.plugins.learning.recommenders import model as recommenders
from ci_eval.plugins.tasks import code_review, unit_tests
from tests.command import command
from tests.needs import need

FOLDER = Path(__file__).parent.parent / "configs" / "demo"
READERS = {"code-review": code_review.TASK.record, "unit-tests": unit_tests.TASK.record}
LANGUAGES = {
    "code-review": {"python": 10, "java": 10, "go": 5, "scala": 5},
    "unit-tests": dict.fromkeys(("python", "java", "go", "javascript", "csharp"), 6),
}
FOCAL = "#focal function/method here"


def lines(path: Path) -> list[dict[str, object]]:
    found = [line for _, line in prepare(str(path), cache=path.parent).lines()]
    assert [line for line in found if isinstance(line, str)] == []
    return [line for line in found if isinstance(line, dict)]


def records(name: str) -> list[dict[str, object]]:
    return lines(FOLDER / f"{name}.jsonl")


@pytest.mark.parametrize("name", READERS)
def test_a_task_reads_thirty_records_with_their_references(name: str) -> None:
    read = READERS[name]
    assert read is not None
    found = [read(line) for line in records(name)]
    assert Counter(record.language for record in found) == LANGUAGES[name]
    assert all(len(record.references) == 1 and record.references[0].strip() for record in found)


@pytest.mark.parametrize("name", READERS)
def test_records_have_ids_of_their_own_and_come_from_several_repositories(name: str) -> None:
    found = records(name)
    assert len({str(line["id"]) for line in found}) == len(found) == 30
    assert len({str(line["cluster"]) for line in found}) >= 6


@pytest.mark.parametrize("name", READERS)
def test_an_instruction_asks_for_parts_that_the_record_has(name: str) -> None:
    for record in map(neutral, records(name)):
        asked = set(re.findall(r"\{(\w+)\}", record.instruction))
        assert asked <= set(record.context)
        assert asked & {"diff_block", "focal_func"}


@pytest.mark.parametrize("line", records("code-review"), ids=lambda line: str(line["id"]))
def test_the_lines_a_comment_is_about_are_new_ones_of_its_diff(line: dict[str, object]) -> None:
    head, *body = neutral(line).context["diff_block"].splitlines()[2:]
    sizes = re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", head)
    assert sizes is not None
    first, old, _, new = map(int, sizes.groups())
    assert old == sum(each[0] != "+" for each in body)
    assert new == sum(each[0] != "-" for each in body)
    meta = line["meta"]
    assert isinstance(meta, dict)
    begin, end = meta["lines"]
    assert first <= begin <= end < first + new


@pytest.mark.parametrize("line", records("unit-tests"), ids=lambda line: str(line["id"]))
def test_the_tested_code_is_cut_out_of_its_file_and_the_test_out_of_its_own(line: dict[str, object]) -> None:
    record = neutral(line)
    assert record.context["focal_func_context"].count(FOCAL) == 1
    assert record.context["language"] == record.language
    assert record.references[0].splitlines()[0] not in record.context["test_func_context"].splitlines()


def code(block: str) -> list[str]:
    """What stands between fences, without indentation and blank lines."""
    return [each.strip() for each in block.splitlines()[1:-1] if each.strip()]


@pytest.mark.parametrize("line", records("unit-tests"), ids=lambda line: str(line["id"]))
def test_what_is_run_is_what_is_shown(line: dict[str, object]) -> None:
    record = neutral(line)
    assert (record.run is None) == (record.language == "csharp")
    if record.run:
        focal, test, files = record.run.focal, record.run.test, record.run.files
        function = files[focal.path][focal.begin : focal.end]
        assert [each.strip() for each in function.splitlines() if each.strip()] == code(record.context["focal_func"])
        around = files[focal.path].replace(function, FOCAL)
        assert [each.strip() for each in around.splitlines() if each.strip()] == code(
            record.context["focal_func_context"]
        )[1:]
        assert [each.strip() for each in files[test.path].splitlines() if each.strip()] == code(
            record.context["test_func_context"]
        )


@pytest.mark.registry
@pytest.mark.slow
@pytest.mark.parametrize("language", ["go", "java", "javascript", "python"])
def test_the_expected_tests_run_pass_and_fail_on_a_stub(language: str) -> None:
    need(*runners.RUNNERS[language].programs)
    settings = RunSettings(wanted=RunConfig(tests=True, mutants=0), memory=4 << 30)
    trials = Trials(settings, machine.cache_folder())
    found = [record for record in map(neutral, records("unit-tests")) if record.language == language]
    ended = [trials.of(record, language, record.references[0]) for record in found]
    assert [(each.runs, each.passes, each.fails_on_stub) for each in ended] == [(True, True, True)] * 6


@pytest.mark.parametrize("name", READERS)
def test_each_assistant_answers_each_record_once(name: str) -> None:
    given = Counter(
        (line["dataset"], line["id"], line["assistant"]) for line in lines(FOLDER / f"answers/{name}.jsonl")
    )
    assert given == Counter((name, line["id"], who) for line in records(name) for who in ("careful", "hasty"))


def test_what_is_not_recorded_is_an_error_and_asked_of_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER.parent.parent)
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))
    argv = ["evaluate", "configs/code-review.yaml", "--set", "engine.model=unknown", "--jobs", "1"]
    with pytest.raises(
        InstallError,
        match=r"recorded\.jsonl has no answer to this question, and with `recorded` ci-eval asks no",
    ):
        cli.main([*argv, "--output", str(tmp_path / "out")], standalone_mode=False)
    with pytest.raises(ConfigError, match="--record asks the endpoint again"):
        cli.main([*argv, "--record", "--output", str(tmp_path / "again")], standalone_mode=False)


@pytest.mark.parametrize("task", ["code-review", pytest.param("unit-tests", marks=pytest.mark.registry)])
def test_the_demo_runs_without_a_network_from_its_recorded_answers(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER.parent.parent)
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))
    for model in ("careful", "hasty"):
        argv = ["evaluate", f"configs/{task}.yaml", "--set", f"engine.model={model}"]
        cli.main([*argv, "--jobs", "1", "--output", str(tmp_path / model)], standalone_mode=False)
        assert Workspace.open(tmp_path / model).manifest().finished == 30
        page = (tmp_path / model / "reports" / "html" / "index.html").read_text()
        headline = re.findall(r'class="name">(\w+)', page)
        assert headline == {"code-review": ["ChrF"], "unit-tests": ["CodeBLEU"]}[task]
    argv = ["compare", str(tmp_path / "hasty"), str(tmp_path / "careful"), "--output", str(tmp_path / "compared")]
    cli.main(argv, standalone_mode=False)
    metrics = json.loads((tmp_path / "compared" / "comparison.json").read_text())["filters"]["ALL"]["metrics"]
    assert metrics[{"code-review": "ChrF", "unit-tests": "CodeBLEU"}[task]]["verdict"] == "better"


CLOSENESS = {
    "code-review": ("ChrF", "BLEU", "ChrFMera", "BLEUMera"),
    "unit-tests": ("CodeBLEU", "NgramMatch", "WeightedNgramMatch", "SyntaxMatch", "DataflowMatch", "CodeBLEUMera"),
}


@pytest.mark.parametrize("task", ["code-review", pytest.param("unit-tests", marks=pytest.mark.registry)])
@pytest.mark.parametrize(("engine", "end"), [("oracle", 1.0), ("empty", 0.0)])
def test_controls_are_at_their_exact_ends(
    task: str, engine: str, end: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER.parent.parent)
    argv = ["evaluate", f"configs/{task}.yaml", "--engine", engine, "--jobs", "1", "--output", str(tmp_path / "out")]
    cli.main(argv, standalone_mode=False)
    (report,) = json.loads((tmp_path / "out" / "reports" / "metrics.json").read_text())["evaluations"]
    figures = report["filters"]["ALL"]["metrics"]
    assert {name: figures[name]["value"] for name in CLOSENESS[task]} == dict.fromkeys(CLOSENESS[task], end)


def test_the_recommender_of_the_demo_is_trained_on_its_usages(tmp_path: Path) -> None:
    code, _, told = command("train-recommender", FOLDER / "usages.jsonl", "--kind", "pbn", "--output", tmp_path / "m")
    assert code == 0, told
    made, kept = recommenders.load(tmp_path / "m"), recommenders.load(FOLDER / "method-calls.model")
    assert made.facts == kept.facts


def test_the_histories_of_the_demo_have_queries_of_every_kind_and_show_optimism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER.parent.parent)
    code, _, told = command("evaluate", "configs/method-calls.yaml", "--jobs", "1", "--output", tmp_path / "out")
    assert code == 0, told
    (report,) = json.loads((tmp_path / "out" / "reports" / "metrics.json").read_text())["evaluations"]
    queries = report["queries"]
    assert all(each["cases"] >= 5 for each in (*queries["scenarios"], *queries["evolutions"]))
    assert queries["pairs"] == {"evaluated": 74, "only removals": 11, "unchanged": 1}
    assert {each["part"]: round(each["difference"], 3) for each in queries["optimism"][:1]} == {"ALL": 0.062}


@pytest.mark.parametrize(("engine", "end"), [("oracle", 1.0), ("empty", 0.0)])
def test_controls_are_at_their_exact_ends_about_method_calls(
    engine: str, end: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER.parent.parent)
    argv = ("configs/method-calls.yaml", "--engine", engine, "--set", "interpret.allowedEmpty=1", "--jobs", "1")
    code, _, told = command("evaluate", *argv, "--output", tmp_path / "out")
    assert code == 0, told
    (report,) = json.loads((tmp_path / "out" / "reports" / "metrics.json").read_text())["evaluations"]
    figures = report["filters"]["ALL"]["metrics"]
    names = ("F1", "F1Real", "F1RealStar", "F1Random", "F1Linear", "CallRecall", "CallReciprocalRank")
    assert {name: figures[name]["value"] for name in names} == dict.fromkeys(names, end)
