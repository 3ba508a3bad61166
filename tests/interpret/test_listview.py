"""What is kept of an answer, and in which order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.contracts import Answer, Edit, Query
from ci_eval.core.interpret.listview import RecordCarets, settle_tail
from ci_eval.core.model import ActionsConfig, Caret, PrefixConfig, StrategyConfig, Suggestion
from ci_eval.core.model.sessions import Offer
from ci_eval.plugins.engines.controls import WORDS
from ci_eval.plugins.rankers.lists import RANKERS
from ci_eval.plugins.tasks.method_calls import TASK
from tests.command import command
from tests.faulty import Faulty
from tests.fetch import repository as origin
from tests.learning.recommenders.trained import trained, usage
from tests.packed import unpacked
from tests.projects import ask, generate, sessions, setup, write


def test_repeated_suggestions_count_once(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="self.a\nreturn_\n")
    ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("repeats itself"), root))
    assert [found.text for found in sessions(workspace)[2].lookups[0].suggestions] == ["self", "return"]


@pytest.mark.slow
def test_of_a_million_suggestions_a_thousand_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="self.a\nname999999\n")
    ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("suggests a million"), root))
    lookup = sessions(workspace)[2].lookups[0]
    assert (len(lookup.suggestions), lookup.total, lookup.rank) == (1000, 1_000_000, 1_000_000)


def test_alphabetical_reorders_and_remembers_the_engines_place(project: Path, tmp_path: Path) -> None:
    wanted = replace(setup(WORDS, project), ranker=RANKERS["ALPHABETICAL"])
    ask(workspace := generate(project, tmp_path / "w"), wanted)
    lookup = sessions(workspace)[-1].lookups[0]
    texts = [found.text.casefold() for found in lookup.suggestions]
    assert texts == sorted(texts)
    assert sorted(found.position or 0 for found in lookup.suggestions) == list(range(1, len(texts) + 1))


def test_typing_narrows_what_an_editor_shows(project: Path, tmp_path: Path) -> None:
    strategy = StrategyConfig(prefix=PrefixConfig(name="SimplePrefix", n=2, emulate_typing=True))
    ask(workspace := generate(project, tmp_path / "w", ActionsConfig(strategy=strategy)), setup(WORDS, project))
    session = next(session for session in sessions(workspace) if session.expected_text == "Greeter")
    assert [lookup.prefix for lookup in session.lookups] == ["", "G", "Gr"]
    assert {found.text for found in session.lookups[-1].suggestions} == {"Greeter", "Greets", "greet"}


@pytest.mark.parametrize(
    ("tail", "settled"),
    [
        ("⌫th", ""),  # the whole word is replaced
        ("", "th"),  # the range ends at the caret: pathth
        ("⌫t", "h"),
        ("()⌫th", "()"),
        ("⌫th(", "⌫("),  # more than the word is replaced
        ("(⌫th(", ""),  # … and written again
        ("⇤.⌫th", "⇤."),
    ],
)
def test_a_tail_is_what_acceptance_changes_beside_the_word(tail: str, settled: str) -> None:
    offer = Offer(text="path", tail=tail)
    assert settle_tail(offer, "th").tail == settled


def test_an_engine_without_ranges_has_the_word_replaced() -> None:
    assert settle_tail(Suggestion(text="path"), "th") == Suggestion(text="path")


HEAD = "import csv\nfrom shop.till import open_till\n\n\ndef save(path, rows):\n"
FIRST = f"{HEAD}    rows = list(rows)\n    out = open(path)\n    table = csv.DictWriter(out, ['a'])\n"
SECOND = f"{FIRST}    table.writeheader()\n"
THIRD = f"{SECOND}    for row in rows:\n        table.writerow(row)\n    out.close()\n"
TILL = "def open_till() -> int:\n    return 1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the histories of a repository, the repository, and a model."""
    folder = tmp_path_factory.mktemp("carets")
    repository = origin.create(folder / "shop")
    repository.commit(shop__till_py=TILL, shop__report_py=HEAD + "    pass\n")
    for text in (FIRST, SECOND, THIRD):
        repository.commit(shop__report_py=text)
    argv = ("--git", repository.folder, "--language", "python", "--output", folder / "histories.jsonl")
    code, _, told = command("dataset", "usages", *argv, "--texts")
    assert code == 0, told
    seen = usage("writeheader writerow", method="x", type_="csv.DictWriter")
    trained(folder, "pbn", [seen] * 4)
    return folder


def evaluate(folder: Path, output: Path, *more: object, code: int = 0, dataset: str = "histories.jsonl") -> str:
    argv = ("--task", "method-calls", "--dataset", folder / dataset, "--jobs", 1, *more, "--output", output)
    ended, said, told = command("evaluate", *argv)
    assert ended == code, told
    return " ".join((said + told).split())


def by_case(workspace: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """By type, strategy and number of the case."""
    texts = [unpacked(path) for path in workspace.glob("sessions/*.zst")]
    found = [json.loads(line) for text in texts for line in text.splitlines()[1:]]
    return {
        (each["properties"]["package"], each["properties"]["strategy"], each["properties"]["case"]): each
        for each in found
    }


def names(session: dict[str, Any]) -> list[str]:
    return [each["text"] for each in session["lookups"][0]["suggestions"]]


@pytest.mark.engine
@pytest.mark.slow
def test_jedi_is_asked_where_the_next_call_would_be_written(folder: Path, tmp_path: Path) -> None:
    project = f"path:{folder / 'shop'}"
    said = evaluate(folder, tmp_path / "jedi", "--engine", "jedi", "--project", project)
    assert "no-place" in said
    assert "F1Real " not in said.partition("Query cases")[0].replace("F1Real —", "")
    found = by_case(tmp_path / "jedi")
    asked = found["csv.DictWriter", "REAL", 1]
    assert (asked["status"], asked["expectedText"]) == ("ok", "writeheader\nwriterow")
    assert {"writeheader", "writerow", "writerows"} <= set(names(asked))
    assert "rPrecision" in asked["lookups"][0]["grades"]
    assert "f1" not in asked["lookups"][0]["grades"]
    # Before the object was there, nothing can be asked about it as the code was.
    assert found["csv.DictWriter", "REAL", 0]["status"] == "no-place"
    assert found["csv.DictWriter", "LINEAR", 0]["status"] == "ok"
    figures = json.loads((tmp_path / "jedi" / "reports" / "metrics.json").read_text())["evaluations"][0]
    metrics = figures["filters"]["ALL"]["metrics"]
    assert metrics["F1"]["value"] is None
    assert metrics["CallReciprocalRank"]["value"] > 0
    assert figures["queries"]["figure"] == "R-precision"
    before = found
    assert command("grade", tmp_path / "jedi")[0] == 0
    assert by_case(tmp_path / "jedi") == before


@pytest.mark.engine
@pytest.mark.slow
def test_a_recommender_orders_what_the_engine_found(folder: Path, tmp_path: Path) -> None:
    model = ("--completion-type", "PBN", "--model", folder / "pbn.model")
    evaluate(folder, tmp_path / "pbn", "--engine", "jedi", *model)
    asked = by_case(tmp_path / "pbn")["csv.DictWriter", "REAL", 1]
    assert names(asked)[:2] == ["writeheader", "writerow"]
    assert asked["lookups"][0]["grades"]["rPrecision"] == 1.0
    started = by_case(tmp_path / "pbn")["csv.DictWriter", "REAL", 2]
    assert names(started)[0] == "writerow"


def test_engines_of_all_kinds_stand_in_one_table(folder: Path, tmp_path: Path) -> None:
    evaluate(folder, tmp_path / "words", "--engine", "words")
    evaluate(folder, tmp_path / "oracle", "--engine", "oracle")
    words, oracle = by_case(tmp_path / "words"), by_case(tmp_path / "oracle")
    assert {key: each["id"] for key, each in words.items()} == {key: each["id"] for key, each in oracle.items()}
    code, _, told = command("compare", tmp_path / "words", tmp_path / "oracle", "--output", tmp_path / "both")
    assert code == 0, told
    comparison = json.loads((tmp_path / "both" / "comparison.json").read_text())
    metrics = comparison["filters"]["ALL"]["metrics"]
    # What one of them was not asked is compared by nobody, and F1 is of choices alone.
    assert metrics["CallReciprocalRank"]["n"] == sum(each["status"] != "no-place" for each in words.values())
    assert metrics["CallReciprocalRank"]["new"] == 1.0
    assert metrics["F1"]["verdict"] == "not-comparable"


def test_a_dataset_without_places_says_how_to_get_them(folder: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (folder / "histories.jsonl").read_text().splitlines()]
    plain = [{key: each[key] for key in each if key != "places"} for each in lines if "packed" not in each]
    (folder / "plain.jsonl").write_text("".join(json.dumps(each) + "\n" for each in plain))
    said = evaluate(folder, tmp_path / "no", "--engine", "words", dataset="plain.jsonl", code=2)
    assert "`ci-eval dataset usages --git … --texts`" in said
    evaluate(folder, tmp_path / "oracle", "--engine", "oracle", dataset="plain.jsonl")


def test_bad_places_and_texts_are_counted_and_named(folder: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (folder / "histories.jsonl").read_text().splitlines()]
    histories = [each for each in lines if "packed" not in each]
    texts = [each for each in lines if "packed" in each]
    place = next(each for each in histories[0]["places"] if each)
    place["line"] = 10**6
    texts[-1]["packed"] = "AAAA"
    (folder / "bad.jsonl").write_text("".join(json.dumps(each) + "\n" for each in [*histories, *texts]))
    evaluate(folder, tmp_path / "out", "--engine", "words", dataset="bad.jsonl", code=2)
    evaluate(folder, tmp_path / "oracle", "--engine", "oracle", dataset="bad.jsonl")
    errors = [json.loads(path.read_text()) for path in (tmp_path / "oracle" / "errors").glob("*.json")]
    said = " ".join(each["message"] for each in errors)
    assert len(errors) == len(histories)
    assert "its places are left out: 0 to 1000000 is not in a text of" in said
    assert "is damaged" in said


def test_files_of_another_language_have_no_place(folder: Path, tmp_path: Path) -> None:
    said = evaluate(folder, tmp_path / "java", "--engine", "words", "--language", "java", code=3)
    assert "none of" in said


@pytest.mark.registry
def test_a_language_server_is_asked_there_too(folder: Path, tmp_path: Path) -> None:
    project = f"path:{folder / 'shop'}"
    evaluate(folder, tmp_path / "out", "--engine", "pyright", "--project", project)
    found = by_case(tmp_path / "out")
    assert {"writeheader", "writerow"} <= set(names(found["csv.DictWriter", "REAL", 1]))
    assert "writerow" in names(found["csv.DictWriter", "LINEAR", 0])


JAVA = "class Cart {{\n    String show(int n) {{\n        StringBuilder text = new StringBuilder();\n{}    }}\n}}\n"


@pytest.mark.registry
def test_java_is_asked_there_too(tmp_path: Path) -> None:
    repository = origin.create(tmp_path / "shop")
    for body in ('        return "";\n', "        text.append(n);\n        return text.toString();\n"):
        repository.commit(Cart_java=JAVA.format(body))
    argv = ("--git", repository.folder, "--language", "java", "--output", tmp_path / "histories.jsonl", "--texts")
    code, _, told = command("dataset", "usages", *argv)
    assert code == 0, told
    java = ("--engine", "jdt", "--language", "java", "--project", f"path:{tmp_path / 'shop'}")
    evaluate(tmp_path, tmp_path / "out", *java)
    found = by_case(tmp_path / "out")
    assert {strategy for _, strategy, _ in found} == {"LINEAR", "RANDOM", "REAL*", "REAL"}
    assert all({"append", "toString"} <= set(names(each)) for each in found.values())


# ------------------------------------------------------------------------------------------------ the open file


@dataclass
class Recording:
    """An engine that remembers what it was shown."""

    confined: str = ""
    text: str = ""
    done: list[str] = field(default_factory=list)

    def open(self, path: str, text: str) -> None:
        self.done.append(f"open {path}")
        self.text = text

    def edit(self, edits: Sequence[Edit]) -> None:
        self.done.append(f"{len(edits)} edits")
        for offset, deleted, inserted in edits:
            self.text = self.text[:offset] + inserted + self.text[offset + deleted :]

    def complete(self, query: Query) -> Answer:
        self.done.append(f"{self.text[: query.offset]}|{self.text[query.offset :]}")
        return Answer(suggestions=[Suggestion(text=each) for each in ("b(", "a()", "b(x)", "")], latency=1.0)

    def restart(self) -> None:
        """Nothing to end."""

    def close(self) -> None:
        """Nothing to end."""


def test_a_file_is_opened_once_and_then_edited(tmp_path: Path) -> None:
    (tmp_path / "t1").write_text("x = 1\n")
    (tmp_path / "t2").write_text("y = 1\n")
    carets = RecordCarets(replace(setup(WORDS, tmp_path), task=TASK, texts=tmp_path))
    engine = Recording()
    first = Caret(path="a.py", text="t1", edits=((5, 0, "\nx."),), offset=8)
    other = Caret(path="a.py", text="t2", edits=((0, 5, ""), (0, 0, "y.")), offset=2)
    elsewhere = Caret(path="b.py", text="t1", offset=0)
    assert carets.open is None
    for each in (first, first, other, elsewhere):
        carets.answer(engine, each, 0)
    carets.open = None
    carets.answer(engine, elsewhere, 0)
    assert engine.done == [
        *("open a.py", "x = 1\nx.|\n", "0 edits", "x = 1\nx.|\n", "1 edits", "y.|\n"),
        *("open b.py", "|x = 1\n", "open b.py", "|x = 1\n"),
    ]
    shown = carets.show(engine.complete(Query(offset=0, prefix="", expected="")).suggestions, first, 0)
    assert [each.text for each in shown.suggestions] == ["b", "a"]


def test_engines_that_fail_at_carets_have_no_f1_either(folder: Path, tmp_path: Path) -> None:
    """A command that is no language server crashes at each question."""
    argv = ("--set", 'engine.command=["false"]', "--set", "interpret.allowedFailures=1")
    evaluate(folder, tmp_path / "out", *argv)
    found = by_case(tmp_path / "out").values()
    assert {each["status"] for each in found} == {"engine-crash", "no-place"}
    figures = json.loads((tmp_path / "out" / "reports" / "metrics.json").read_text())["evaluations"][0]
    metrics = figures["filters"]["ALL"]["metrics"]
    assert (metrics["F1"]["value"], metrics["RPrecision"]["value"]) == (None, 0.0)


def test_a_run_is_not_taken_up_in_another_checkout(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    argv = ("--engine", "words", "--project", f"path:{tmp_path / 'project'}")
    evaluate(folder, tmp_path / "out", *argv)
    (tmp_path / "project" / "other.py").write_text("x = 1\n")
    said = evaluate(folder, tmp_path / "out", *argv, "--resume", code=2)
    assert "the project around was" in said
