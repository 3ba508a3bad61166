"""Suggestions are graded where the task asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, EngineRaised
from ci_eval.core.catalogs import graders
from ci_eval.core.contracts import Pairing, Surroundings
from ci_eval.core.interpret.grading import Acceptances, FileChanges, Grading, apply_edits
from ci_eval.core.model import Kind, Lookup, Properties, Record, RemovedImport, Status, Suggestion, UseImport
from ci_eval.core.model.sessions import Offer
from ci_eval.core.scoring import COMPILES, SAME_MODULE, SAME_OBJECT
from ci_eval.plugins.engines.controls import ORACLE
from ci_eval.plugins.languages.python.imports import read
from ci_eval.plugins.tasks.completion import COMPLETION as TASK
from tests.projects import GREETER, ask, generate, sessions, setup, write

GRADED = replace(TASK, graders=("exact",), graded=2)


def lookup(*texts: str) -> Lookup:
    shown = tuple(Suggestion(text=text) for text in texts)
    return Lookup(prefix="", total=len(shown), rank=None, latency=1.0, suggestions=shown)


def test_the_first_suggestions_are_graded_and_the_first_ones_grades_are_the_lookups() -> None:
    found = Grading(GRADED, "python", Path()).grade("b", None, lookup("a", "b", "b"))
    assert [each.grades for each in found.suggestions] == [{"exact": 0.0}, {"exact": 1.0}, None]
    assert found.grades == {"exact": 0.0}


def test_an_empty_list_has_the_grades_of_an_empty_text() -> None:
    assert Grading(GRADED, "python", Path()).grade("b", None, lookup()).grades == {"exact": 0.0}


def test_without_graders_nothing_is_graded_and_an_unknown_one_is_refused() -> None:
    assert Grading(TASK, "python", Path()).grade("b", None, lookup("b")) == lookup("b")
    with pytest.raises(ConfigError, match="unknown grader 'nope'"):
        Grading(replace(TASK, graders=("nope",)), "python", Path())


def test_scores_of_one_name_of_two_graders_are_both_stored() -> None:
    both = replace(TASK, graders=("subtoken-f1", "subtoken-lcs"))
    found = Grading(both, "python", Path()).grade("to_name", None, lookup("name_to")).grades
    assert found
    assert (found["f1"], found["subtoken-lcs.f1"]) == (1.0, 0.5)


class Loud:
    """Says which reference it looked at."""

    name = summary = "loud"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        return {"loud": float(pairing.reference == pairing.hypothesis)}

    def remark(self, pairing: Pairing) -> str:
        return f"against {pairing.reference}"


def test_the_remark_is_on_the_reference_that_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graders, "ready", lambda *_: [Loud()])
    record = Record(context={}, references=("a", "b"))
    found = Grading(GRADED, "python", Path()).grade("a", record, lookup("b", "c"))
    assert [each.remark for each in found.suggestions] == ["against b", "against a"]


class Picky:
    """Grades all but one text; installed once."""

    name = summary = "picky"
    cache = Path()

    def prepare(self, cache: Path) -> None:
        self.cache = cache

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        if pairing.hypothesis == "greet":
            raise EngineRaised("I do not like greetings")
        return {"picky": 1.0}


def test_a_grader_that_must_be_installed_is_where_it_grades(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    picky = Picky()
    monkeypatch.setattr(graders.CATALOG, "load", lambda _: picky)
    Grading(GRADED, "python", tmp_path)
    assert picky.cache == tmp_path


@pytest.mark.usefixtures("in_one_process")
def test_a_text_that_cannot_be_graded_costs_its_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(graders.CATALOG, "load", lambda _: Picky())
    root = write(tmp_path / "p", a__py=GREETER)
    ask(workspace := generate(root, tmp_path / "w"), replace(setup(ORACLE, root), task=GRADED))
    found = {session.expected_text: session for session in sessions(workspace)}
    assert (found["greet"].status, found["greet"].lookups) == (Status.ERROR, ())
    assert found["greet"].message == "not graded: I do not like greetings"
    assert found["sep"].lookups[0].grades == {"picky": 1.0}


TEXT = "from __future__ import annotations\nfrom goods import Box\n\nx = Box\n"
ASKED = "from __future__ import annotations\n\nlimit = 10\nx = Bo\n"
AFTER_FUTURE = len("from __future__ import annotations\n")


def test_edits_name_offsets_in_the_old_text_and_keep_their_order() -> None:
    assert apply_edits("0123", [(1, 1, "a"), (3, 0, "b"), (3, 0, "c"), (0, 0, "d")]) == "d0a2bc3"
    assert apply_edits("0123", [(9, 9, "x")]) == "0123x"


@pytest.mark.parametrize(
    ("edit", "grades"),
    [
        ((AFTER_FUTURE, 0, "from goods import Box\n"), (1, 0, 1)),
        ((AFTER_FUTURE, 0, "from shop import Box\n"), (0, 1, 1)),
        ((AFTER_FUTURE, 0, "from other import Box\n"), (0, 0, 1)),
        ((AFTER_FUTURE, 0, "from goods import Lid\n"), (0, 0, 1)),
        ((0, 0, "from goods import Box\n"), (1, 0, 0)),
        ((AFTER_FUTURE, 0, "from goods import (Box\n"), (0, 0, 0)),
        # Only a type checker reads the first; the second names something else; the third takes a line of the user's.
        ((AFTER_FUTURE, 0, "if TYPE_CHECKING:\n    from goods import Box\n"), (0, 0, 1)),
        ((AFTER_FUTURE, 0, "if not t.TYPE_CHECKING or x:\n    from goods import Box\n"), (1, 0, 1)),
        ((AFTER_FUTURE, 0, "from goods import Box\nfrom other import Box\n"), (0, 0, 1)),
        ((AFTER_FUTURE, len("\nlimit = 10\n"), "from goods import Box\n"), (0, 0, 1)),
        ((0, AFTER_FUTURE, "from __future__ import annotations\nfrom goods import Box\n"), (1, 0, 1)),
    ],
)
def test_grades(tmp_path: Path, edit: tuple[int, int, str], grades: tuple[int, int, int]) -> None:
    write(tmp_path, goods__py="class Box: pass\nclass Lid: pass\n", shop__py="from goods import *\n")
    write(tmp_path, other__py="class Box: pass\n", main__py=TEXT)
    surroundings = Surroundings(
        root=tmp_path, language="python", keywords=frozenset(), cache=tmp_path, timeout=1, memory=0
    )
    call = UseImport(
        session="1",
        offset=TEXT.index("Box\n", 60),
        prefix="Bo",
        expected_text="Box",
        properties=Properties(kind=Kind.VARIABLE),
        removed=RemovedImport(module="goods", offset=AFTER_FUTURE, text="from goods import Box\n"),
    )
    offered = [
        Suggestion(text="Box"),
        Suggestion(text="Boxes", edits=(edit,)),
        Suggestion(text="Box", tail="()", edits=(edit,)),
        Suggestion(text="Box", edits=(edit,)),
    ]
    graded = Acceptances(surroundings, "main.py", TEXT).grade(offered, call, ASKED, len(ASKED) - 1)
    assert [suggestion.grades for suggestion in graded] == [
        None,
        None,
        None,
        dict(zip((SAME_MODULE, SAME_OBJECT, COMPILES), grades, strict=True)),
    ]


SHOP = "from goods import (\n    Box,\n    Lid,\n)\n\nx = Bo\n"
TOKEN = (len(SHOP) - 3, 2, "Box")
"""The edit that completes the typed part of the name."""


def tail_of(*edits: tuple[int, int, str], text: str = "Box") -> str:
    (marked,) = FileChanges("python").mark([Offer(text=text, edits=edits)], TOKEN, SHOP)
    return marked.tail


@pytest.mark.parametrize(
    ("edit", "tail", "adds"),
    [
        ((0, 0, "from other import Box\n"), "⇡from other import Box", True),
        ((0, 0, "import os\n"), "⇡import os", True),
        ((len("from goods import ("), 0, "\n    Tape,"), "⇡Tape,", True),
        ((0, 0, "limit = 10\n"), "⇡limit = 10", False),
        ((0, len(SHOP) - 8, ""), "⇡⌫from goods import ( Box, Lid, )", False),
        # The file has these imports already.
        ((0, 0, "from goods import Box\n"), "", False),
        ((len("from goods import (\n"), 0, "    Box,\n"), "", False),
    ],
)
def test_acceptance_leaves_the_original_file_or_the_tail_says_what_else(
    edit: tuple[int, int, str], tail: str, *, adds: bool
) -> None:
    assert tail_of(edit) == tail
    assert FileChanges("python").adds_import([Offer(text="Box", edits=(edit,))], TOKEN, SHOP) is adds


LINES = (
    '"""Goods.\n\nfrom here on\n"""\nfrom goods import (\n    Box,\n)\n\n\ndef f():\n    from a import b\n'
    '    return b\n\n\nx = Bo\ny = """\nfrom c import d\n"""\nfrom e import g\n'
).splitlines(keepends=True)


@pytest.mark.parametrize("line", range(len(LINES) + 1))
@pytest.mark.parametrize("module", ["goods", "e", "other"])
def test_an_inserted_line_is_an_import_only_where_it_is_code(line: int, module: str) -> None:
    text, inserted = "".join(LINES), f"from {module} import Box\n"
    after = "".join((*LINES[:line], inserted, *LINES[line:]))
    token = (text.index("Bo\n"), 2, "Bo")
    # Elsewhere, the line changes a string, or the text can no longer be read.
    is_code, is_known = len(read(after)) == len(read(text)) + 1, module == "goods"
    offer = Offer(text="Box", edits=((sum(map(len, LINES[:line])), 0, inserted),))
    assert FileChanges("python").adds_import([offer], token, text) is not (is_code and is_known)


def test_suggestions_without_edits_stay_and_imports_of_other_languages_are_lines() -> None:
    plain = [Offer(text="Box"), Suggestion(text="Box")]
    assert FileChanges("python").mark(plain, TOKEN, SHOP) == plain
    include = [Offer(text="Box", edits=((0, 0, "#include <goods>\n"),))]
    assert FileChanges("cpp").adds_import(include, TOKEN, SHOP)
    assert not FileChanges("cpp").adds_import(include, TOKEN, "#include <goods>\n" + SHOP)
