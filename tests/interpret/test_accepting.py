"""The text that acceptance leaves: edits are applied, imports read, modules graded."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.contracts import Surroundings
from ci_eval.core.equality import COMPILES, SAME_MODULE, SAME_OBJECT
from ci_eval.core.interpret.accepting import Acceptances, apply_edits
from ci_eval.core.model import Kind, Properties, RemovedImport, Suggestion, UseImport
from tests.projects import write

TEXT = "from __future__ import annotations\nfrom goods import Box\n\nx = Box\n"
ASKED = "from __future__ import annotations\n\nx = Bo\n"
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
