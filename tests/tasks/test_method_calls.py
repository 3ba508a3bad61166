"""The task method-calls: histories become queries, and all jobs take them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ci_eval.core.contracts import Split
from ci_eval.core.model import Definition, History, ObjectUsage, QueriesConfig, Status, Suggestion
from ci_eval.core.model.sessions import LookupScore
from ci_eval.plugins.adapters.endpoints.engine import fill_instruction
from ci_eval.plugins.tasks.method_calls import TASK, calls, format_definition, lookup, splitter
from tests.command import command
from tests.learning.recommenders.trained import CREATE, FIGURE_3, NEW, trained, usage
from tests.packed import unpacked

FIGURE = History(
    project="p", file="a.py", user="u", type="T", method="M",
    states=(usage("m1 mX mY", NEW), usage("m2 m1", CREATE)),
)  # fmt: skip
GROWN = History(
    project="p", file="b.py", type="T", method="M", states=(None, usage("m1", NEW), usage("m1 m2", NEW), None)
)


def fields(history: History) -> dict[str, object]:
    return dict(msgspec.to_builtins(history))


def split(history: History, wanted: QueriesConfig = QueriesConfig(), *others: History) -> Split:  # noqa: B008
    lines = [(number, fields(each)) for number, each in enumerate((history, *others), 1)]
    return splitter(lines, wanted, 0)(fields(history))


def test_each_case_is_an_item_by_each_strategy() -> None:
    found = split(FIGURE).items
    assert [each.properties.strategy for each in found] == ["LINEAR", "RANDOM", "REAL*", "REAL"]
    properties = {(each.properties.scenario, each.properties.evolution, each.properties.change) for each in found}
    assert properties == {("1|2", "-M+dD", "3-2+1")}
    assert [each.expected for each in found] == ["m1", "m2\nm1", "m2", "m2"]
    assert {(each.properties.package, each.properties.case) for each in found} == {("T", 0)}


def test_the_subsets_of_random_are_its_lookups_each_with_what_it_lacks() -> None:
    record = split(FIGURE).items[1].record
    asked = [lookup(record, number) for number in range(2)]
    assert [(each.queries[0].calls, each.references) for each in asked] == [(("m2",), ("m1",)), (("m1",), ("m2",))]
    assert [each.context["calls"] for each in asked] == ["m2", "m1"]
    assert record.context["calls"] == "m2 | m1"


def test_pairs_that_nothing_is_asked_about_are_counted() -> None:
    assert split(GROWN).fates == {"unchanged": 1, "only removals": 2}
    assert split(GROWN).items == []
    until_there = split(GROWN, QueriesConfig(goal="last_nonempty", strategies=("REAL",)))
    assert until_there.fates == {"evaluated": 2}
    assert [each.properties.scenario for each in until_there.items] == ["NEW", "1|2"]
    step_by_step = split(GROWN, QueriesConfig(goal="next", strategies=("REAL",)))
    assert [each.expected for each in step_by_step.items] == ["m1", "m2"]


def test_definitions_are_replaced_by_those_of_the_dataset() -> None:
    wanted = QueriesConfig(replace_definition=1.0)
    linear, *_, real = split(FIGURE, wanted, GROWN).items
    assert linear.record.queries[0].definition == NEW
    assert real.record.queries[0].definition == NEW
    dropped = split(FIGURE, QueriesConfig(drop_definition=1.0)).items[0]
    assert dropped.record.queries[0].definition == Definition()


def test_a_name_that_is_expected_is_found_as_it_is_whatever_it_looks_like() -> None:
    names = ["add(int)", "operator ()", "<init>", "-x"]
    end = ObjectUsage(type="T", calls=tuple(names))
    record = split(History(type="T", states=(None, end))).items[0].record
    assert [each.text for each in calls("\n".join(names), record)] == names


@pytest.mark.parametrize("call", ["", " a", "a\nb", "a\tb", "a\u2028b", "\ufeffa", "a\0"])
def test_a_name_that_no_line_could_hold_costs_its_history(call: str) -> None:
    history = History(type="T", states=(None, ObjectUsage(type="T", calls=(call,))))
    with pytest.raises(ValueError, match="is not the name of a type"):
        split(history)


@pytest.mark.parametrize("line", [{}, {"type": "", "states": []}, {"type": "T"}, {"type": "T", "states": [1]}])
def test_a_line_that_is_no_history_says_why(line: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"states|type|Object|Expected|name"):
        splitter([], QueriesConfig(), 0)(line)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("add\t0.9000\nremove\t0.5", [("add", "0.9000"), ("remove", "0.5")]),
        ("1. `add`\n2. remove(x)\n- clear()\n* get;", [("add", ""), ("remove", ""), ("clear", ""), ("get", "")]),
        ("add\n\nadd\n", [("add", "")]),
        ("Here is what will be called:\nadd", [("add", "")]),
        ("m1 (int)\t0.5\noperator new\t0.4", [("m1 (int)", "0.5"), ("operator new", "0.4")]),
        ("m1\n  \n", [("m1", "")]),
        ("", []),
    ],
)
def test_the_names_of_an_answer_stand_on_lines_of_their_own(answer: str, found: list[tuple[str, str]]) -> None:
    record = split(FIGURE).items[0].record
    assert calls(answer, record) == [Suggestion(text=text, kind=kind) for text, kind in found]


@pytest.mark.parametrize(
    ("lookups", "status"),
    [
        ([(3, None), (3, 2)], Status.OK),
        ([(3, None), (0, None)], Status.NO_MATCH),
        ([(0, None)], Status.EMPTY),
    ],
)
def test_a_session_is_ok_if_an_expected_call_is_among_those_proposed(
    lookups: list[tuple[int, int | None]], status: Status
) -> None:
    scores = [LookupScore(prefix="", total=total, rank=rank, latency=0.0) for total, rank in lookups]
    assert TASK.status(scores) == status


def test_a_language_model_is_asked_for_names() -> None:
    asked = fill_instruction(lookup(split(FIGURE).items[1].record, 1))
    assert "object of the type T, in the method M. Where the object comes from: RETURN T.create." in asked
    assert "called on it so far: m1. Which" in asked
    assert "1|2" not in asked


def test_definitions_are_spelled_for_people() -> None:
    of_parameter = Definition(kind="PARAM", member="f", argument=0)
    assert [format_definition(each) for each in (NEW, of_parameter, Definition())] == [
        "NEW T",
        "PARAM 0 of f",
        "UNKNOWN",
    ]
    assert TASK.splitting


HISTORIES = [FIGURE, *(msgspec.structs.replace(GROWN, file=f"{name}.py", states=GROWN.states[:3]) for name in "bcd")]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a dataset with histories and bad lines, and of a model."""
    folder = tmp_path_factory.mktemp("calls")
    lines = [msgspec.json.encode(each) for each in HISTORIES] + [b'{"type": "T"}', b"no JSON"]
    (folder / "histories.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    trained(folder, "pbn", FIGURE_3)
    return folder


def evaluate(folder: Path, engine: str, output: Path, *more: object, code: int = 0) -> str:
    argv = ("--task", "method-calls", "--dataset", folder / "histories.jsonl", "--engine", engine, "--jobs", 1)
    ended, said, told = command("evaluate", *argv, *more, "--output", output)
    assert ended == code, told
    return said + told


def figures(workspace: Path) -> dict[str, Any]:
    (found,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    return {name: each["value"] for name, each in found["filters"]["ALL"]["metrics"].items()}


def sessions(workspace: Path) -> list[dict[str, Any]]:
    paths = sorted(workspace.glob("sessions/*.zst"))
    return [json.loads(line) for path in paths for line in unpacked(path).splitlines()[1:]]


OF_STRATEGIES = ("F1", "F1Real", "F1RealStar", "F1Random", "F1Linear")


@pytest.mark.parametrize(("engine", "end"), [("oracle", 1.0), ("empty", 0.0)])
def test_controls_are_at_their_exact_ends(engine: str, end: float, dataset: Path, tmp_path: Path) -> None:
    evaluate(dataset, engine, tmp_path / "out", "--set", "interpret.allowedEmpty=1")
    found = figures(tmp_path / "out")
    wanted = (*OF_STRATEGIES, "CallRecall", "RPrecision", "CallRecallAt5", "CallReciprocalRank")
    assert {name: found[name] for name in wanted} == dict.fromkeys(wanted, end)
    assert found["CallPrecision"] == 1.0


PBN = "engine.options.model={}"


@pytest.fixture(scope="module")
def evaluated(dataset: Path) -> Path:
    evaluate(dataset, "recommender", dataset / "pbn", "--set", PBN.format(dataset / "pbn.model"))
    evaluate(dataset, "oracle", dataset / "oracle")
    return dataset


def test_figure_3_comes_out(evaluated: Path) -> None:
    of_figure = [each for each in sessions(evaluated / "pbn") if each["properties"]["evolution"] == "-M+dD"]
    grades = {
        each["properties"]["strategy"]: [lookup["grades"]["f1"] for lookup in each["lookups"]] for each in of_figure
    }
    assert grades == {"LINEAR": [1.0], "RANDOM": [1.0, 0.0], "REAL*": [0.0], "REAL": [0.0]}


def test_random_counts_once_as_the_mean_of_its_lookups(evaluated: Path) -> None:
    random = [each for each in sessions(evaluated / "pbn") if each["properties"]["strategy"] == "RANDOM"]
    means = [sum(of["grades"]["f1"] for of in each["lookups"]) / len(each["lookups"]) for each in random]
    assert figures(evaluated / "pbn")["F1Random"] == pytest.approx(sum(means) / len(means))


def test_bad_lines_are_errors_and_pairs_are_counted(evaluated: Path) -> None:
    errors = [json.loads(path.read_text()) for path in sorted((evaluated / "pbn" / "errors").iterdir())]
    assert [each["path"] for each in errors] == ["line 5", "line 6"]
    manifest = json.loads((evaluated / "pbn" / "manifest.json").read_text())
    assert manifest["pairs"] == {"evaluated": 7}
    assert manifest["clustered"] == "file"


def test_sessions_have_the_same_ids_with_any_engine_and_are_compared(evaluated: Path) -> None:
    ids = [{each["id"] for each in sessions(evaluated / name)} for name in ("pbn", "oracle")]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 4 * 7
    output = evaluated / "compared"
    code, said, _ = command(
        "compare", evaluated / "pbn", evaluated / "oracle", "--gate", "F1Real >= 0pp", "--output", output
    )
    assert code == 0, said
    found = json.loads((output / "comparison.json").read_text())
    before = figures(evaluated / "pbn")["F1Real"]
    assert found["filters"]["ALL"]["metrics"]["F1Real"]["difference"] == pytest.approx(1 - before)


def test_reports_have_the_papers_tables_and_the_class_mix(evaluated: Path) -> None:
    reports = evaluated / "pbn" / "reports"
    found = json.loads((reports / "metrics.json").read_text())["evaluations"][0]["queries"]
    assert [each["cases"] for each in found["evolutions"]] == [3, 3, 0, 0, 1]
    assert found["optimism"][0]["more"] == "REAL*"
    page = (reports / "html" / "index.html").read_text()
    for text in ("F1 by scenario", "F1 by how the context changes", "Optimism of artificial queries", "F1 by type"):
        assert f"## {text}" in (reports / "report.md").read_text()
        assert f">{text}</h2>" in page
    assert "share in the paper" in page
    assert "pbn model: of 12 usages of 1 types" in page


def test_results_have_the_users_the_lengths_and_the_next_state(tmp_path: Path) -> None:
    users = ("grizzly", "bob", "grizzly", "")
    histories = [msgspec.structs.replace(history, user=user) for history, user in zip(HISTORIES, users, strict=True)]
    (tmp_path / "histories.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, histories)))
    evaluate(tmp_path, "oracle", tmp_path / "last")
    queries = json.loads((tmp_path / "last" / "reports" / "metrics.json").read_text())["evaluations"][0]["queries"]
    ada, bob, nobody = queries["histories"]["users"].values()
    for name in ("metrics.json", "report.md", "html/index.html"):
        assert "grizzly" not in (tmp_path / "last" / "reports" / name).read_text()
    assert [len(user) for user in queries["histories"]["users"]] == [16, 16, 0]
    states = [len(history.states) for history in HISTORIES]
    assert [user["histories"] for user in (ada, bob, nobody)] == [2, 1, 1]
    assert [user["states"] for user in (ada, bob, nobody)] == [states[0] + states[2], states[1], states[3]]
    assert sum(user["evaluated"] for user in (ada, bob, nobody)) == 7
    assert queries["histories"]["lengths"] == {str(length): states.count(length) for length in dict.fromkeys(states)}
    # The oracle proposes the calls of the goal: all of them, of which the next state has only some.
    steps = queries["steps"]
    assert (steps["goal"], steps["difference"] > 0) == (1.0, True)
    text = (tmp_path / "last" / "reports" / "report.md").read_text()
    assert "## F1 about the goal, and about the next state" in text
    evaluate(tmp_path, "oracle", tmp_path / "next", "--set", "queries.goal=next")
    following = json.loads((tmp_path / "next" / "reports" / "metrics.json").read_text())["evaluations"][0]["queries"]
    assert following["steps"] is None


def test_merged_datasets_add_up_the_same_user(tmp_path: Path) -> None:
    histories = [msgspec.structs.replace(history, user="grizzly") for history in HISTORIES]
    for name, part in (("one", histories[:1]), ("two", histories[1:])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "histories.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, part)))
        evaluate(tmp_path / name, "oracle", tmp_path / name / "out")
    merged = tmp_path / "merged"
    code, _, message = command("merge", tmp_path / "one" / "out", tmp_path / "two" / "out", "--output", merged)
    assert code == 0, message
    (evaluation,) = json.loads((merged / "reports" / "metrics.json").read_text())["evaluations"]
    (user,) = evaluation["queries"]["histories"]["users"].values()
    assert user["histories"] == len(HISTORIES)


def test_a_filter_makes_figures_of_a_scenario(evaluated: Path, tmp_path: Path) -> None:
    wanted = "reports.sessionsFilters=[{name: New, filters: {scenarios: [NEW], strategies: [REAL]}}]"
    evaluate(evaluated, "oracle", tmp_path / "out", "--set", wanted)
    (found,) = json.loads((tmp_path / "out" / "reports" / "metrics.json").read_text())["evaluations"]
    assert found["filters"]["New"]["sessions"] == 3


def test_grades_are_made_anew_from_the_workspace_alone(evaluated: Path, tmp_path: Path) -> None:
    evaluate(evaluated, "recommender", tmp_path / "copy", "--set", PBN.format(evaluated / "pbn.model"))
    before = sessions(tmp_path / "copy")
    assert command("grade", tmp_path / "copy")[0] == 0
    assert sessions(tmp_path / "copy") == before


def test_one_session_is_shown(evaluated: Path) -> None:
    session = next(each for each in sessions(evaluated / "pbn") if each["properties"]["strategy"] == "RANDOM")
    code, said, _ = command("show", evaluated / "pbn", session["id"])
    assert code == 0
    assert "RANDOM" in said


def test_shards_are_merged(evaluated: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        evaluate(evaluated, "oracle", tmp_path / f"{number}", "--shard", f"{number}/2")
    code, _, told = command("merge", tmp_path / "1", tmp_path / "2", "--output", tmp_path / "merged")
    assert code == 0, told
    assert sorted(each["id"] for each in sessions(tmp_path / "merged")) == sorted(
        each["id"] for each in sessions(evaluated / "oracle")
    )
    assert json.loads((tmp_path / "merged" / "manifest.json").read_text())["pairs"] == {"evaluated": 7}


def test_runs_that_asked_otherwise_are_not_compared(evaluated: Path, tmp_path: Path) -> None:
    evaluate(evaluated, "oracle", tmp_path / "steps", "--set", "queries.goal=next")
    code, _, told = command("compare", evaluated / "oracle", tmp_path / "steps", "--output", tmp_path / "no")
    assert code == 2
    assert "queries" in told or "strategy" in told


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--engine", "recommender"), "the engine recommender needs a model"),
        (("--engine", "words"), "does not store the texts and positions of its objects"),
        (
            ("--engine", "oracle", "--set", "queries.dropDefinition=0.6", "--set", "queries.replaceDefinition=0.6"),
            "exceeds 1",
        ),
        (("--engine", "oracle", "--set", "queries.goal=best"), "last_nonempty"),
    ],
)
def test_what_does_not_fit_is_refused(given: tuple[str, ...], said: str, dataset: Path, tmp_path: Path) -> None:
    argv = ("--task", "method-calls", "--dataset", dataset / "histories.jsonl", *given, "--output", tmp_path / "out")
    code, _, told = command("evaluate", *argv)
    assert code == 2, told
    assert said in " ".join(told.split())


def test_queries_are_nothing_to_other_tasks(tmp_path: Path) -> None:
    argv = ("--engine", "words", "--project", f"path:{tmp_path}", "--set", "queries.subsets=6")
    code, _, told = command("evaluate", *argv, "--output", tmp_path / "out")
    assert code == 2
    assert "`queries` has no effect" in " ".join(told.split())


def test_histories_where_nothing_is_added_say_so(tmp_path: Path) -> None:
    line = History(type="T", states=(usage("a", NEW), ObjectUsage(type="T")))
    (tmp_path / "histories.jsonl").write_bytes(msgspec.json.encode(line))
    assert "1 only removals" in " ".join(evaluate(tmp_path, "oracle", tmp_path / "out", code=3).split())
