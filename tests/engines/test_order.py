"""An answer depends on the question alone: not on what was asked before, nor on how often, nor on how many ask, nor on
whether the engine is confined."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from ci_eval.ci import Screen
from ci_eval.core.contracts import Query
from ci_eval.jobs import pipeline, runs
from ci_eval.plugins.engines.servers import CLANGD_FLAGS
from tests.engines.dossiers import Dossier
from tests.engines.ordering import SESSIONS, answers, differing, prepare_engine, sessions_of, some_actions
from tests.projects import ask, write

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.slow(minutes=2)]


@pytest.mark.usefixtures("complete_walls")
def test_an_answer_depends_on_the_question_alone(dossier: tuple[str, str, Dossier]) -> None:
    name, _, seen = dossier
    assert len(seen.ordered) == sessions_of(name)
    assert any(answer.startswith("ok ") for answer in seen.ordered.values())
    assert differing(seen.ordered, seen.shuffled) == []


def test_an_answer_that_is_another_and_one_that_is_missing_are_noticed() -> None:
    assert differing({"a": "ok 1", "b": "ok 2", "c": "ok 3"}, {"a": "ok 1", "b": "ok 9"}) == ["b", "c"]


@pytest.mark.parametrize("engine", [pytest.param("pyright", marks=pytest.mark.needs("node", "npm")), "basedpyright"])
def test_a_first_list_has_what_only_another_file_imports(engine: str, tmp_path: Path) -> None:
    handlers = "import logging.handlers\n\n\nclass RotatingHere(logging.handlers.RotatingFileHandler): ...\n"
    project = write(tmp_path / "p", a__py=handlers, b__py="Rotating")
    for imports, expected in (("default", True), ("off", False)):
        setup = prepare_engine(engine, "python", f"project=path:{project}", f"interpret.autoImport={imports}").setup
        with closing(setup.engine.start(setup.installation, setup.surroundings)) as running:
            running.open("b.py", "Rotating")
            names = running.complete(Query(offset=8, prefix="Rotating", expected="")).suggestions
        listed = {name.text for name in names}
        assert listed >= {"RotatingFileHandler", "RotatingHere"} if expected else not listed


PYRIGHT = pytest.param("pyright", marks=pytest.mark.needs("node", "npm"))
PYTHON = ("jedi", "jedi-language-server", "pylsp", "ty", "pyrefly", "basedpyright")


@pytest.mark.parametrize("engine", [PYRIGHT, "zuban", *PYTHON])
def test_a_package_in_src_is_seen_from_the_tests_beside_it(engine: str, tmp_path: Path) -> None:
    assert "add_item" in names_after_a_dot(engine, tmp_path, "src/shop/cart.py", "tests/test_a.py")


@pytest.mark.parametrize("engine", [PYRIGHT, *PYTHON])
def test_a_member_of_a_workspace_is_seen_from_the_others(engine: str, tmp_path: Path) -> None:
    write(tmp_path / "p", **{"pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n'})
    for name in ("shop", "web"):
        write(tmp_path / "p" / "packages" / name, **{"pyproject.toml": f"[project]\nname = '{name}'\n"})
    shop, web = "packages/shop/src/shop/cart.py", "packages/web/src/web/page.py"
    assert "add_item" in names_after_a_dot(engine, tmp_path, shop, web)


def names_after_a_dot(engine: str, folder: Path, imported: str, importing: str) -> set[str]:
    """The members that the engine lists of a class in `imported`, in the file `importing`."""
    cart = "class Cart:\n    def add_item(self, name): ...\n\n    def total_price(self): ...\n"
    text = "from shop.cart import Cart\n\nCart().a"
    project = write(folder / "p", **{imported: cart, importing: text})
    setup = prepare_engine(engine, "python", f"project=path:{project}").setup
    with closing(setup.engine.start(setup.installation, setup.surroundings)) as running:
        running.open(importing, text)
        suggestions = running.complete(Query(offset=len(text), prefix="a", expected="")).suggestions
    return {suggestion.text.partition("(")[0] for suggestion in suggestions}


def test_clangd_by_a_command_of_ones_own_answers_as_ours(tmp_path: Path) -> None:
    made = prepare_engine("clangd", "cpp")
    assert made.installation.folder
    program = made.installation.folder / "clangd" / "data" / "bin" / "clangd"
    other = prepare_engine(json.dumps({"command": [str(program), *CLANGD_FLAGS]}), "cpp")
    ours = some_actions(made, tmp_path / "ours")
    theirs = runs.copy_actions(ours, other, tmp_path / "theirs", 1)
    ask(ours, made.setup, limit=SESSIONS)
    ask(theirs, other.setup, limit=SESSIONS)
    assert differing(answers(ours, "clangd"), answers(theirs, "clangd")) == []


def test_clangd_lists_a_name_that_is_a_struct_and_an_alias_the_same_in_each_process(tmp_path: Path) -> None:
    keys = (
        "evaluationRoots=[deps/leveldb/leveldb-1.20/db/c.cc]",
        "strategy.prefix={name: NoPrefix}",
        "strategy.filters.statementTypes=[VARIABLE]",
    )
    made = prepare_engine("clangd", "cpp", *(f"actions.{key}" for key in keys))
    runs_seen = []
    for number in range(3):
        workspace = runs.begin(made, tmp_path / str(number), 1)
        pipeline.make_actions(workspace, made, 1, Screen())
        ask(workspace, made.setup, limit=8)
        runs_seen.append(answers(workspace))
    assert len(runs_seen[0]) == 8
    assert runs_seen[0] == runs_seen[1] == runs_seen[2]
