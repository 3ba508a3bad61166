"""Sessions added up by one process or by several."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.catalogs import metrics
from ci_eval.core.filters import report_filters
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import Evaluation, FiltersConfig, Kind, Session, SessionsFilter
from ci_eval.core.report import evaluate, tallying
from ci_eval.core.report.tallying import index_folders
from ci_eval.core.workers import Workers
from ci_eval.core.workspace import Workspace, pack_sessions
from tests.fickle import Fickle
from tests.projects import GREETER, ask, generate, sessions, setup, write


def told(workspace: Workspace, rounds: int) -> Workspace:
    """With a manifest, as if two workers had asked it."""
    there = msgspec.json.decode((Path(__file__).parents[1] / "jobs" / "manifest.json").read_bytes(), type=Manifest)
    number = len(list(sessions(workspace)))
    known = replace(there, rounds=rounds, generated=number, planned=number, finished=number, jobs=2, projects=())
    workspace.write_manifest(replace(known, shard=None))
    return workspace


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Five files, asked in three rounds that differ."""
    folder = tmp_path_factory.mktemp("tallying")
    root = write(folder / "p", **{f"f{number}__py": GREETER * (number + 1) for number in range(5)})
    made = generate(root, folder / "w")
    ask(made, setup(Fickle("fickle", folder / "notes", forgets="greet"), root), rounds=3)
    return told(made, 3)


def evaluation(workspace: Workspace, *, processes: bool) -> Evaluation:
    calls = SessionsFilter(name="calls", filters=FiltersConfig(statement_types=(Kind.METHOD_CALL,)))
    filters = report_filters(grouped=True, lengths=[0, 1], declared=[calls], headline="names")
    return evaluate(workspace, metrics.load(), filters, metrics.select_metrics if processes else None)


def numbers(found: object) -> list[float]:
    """All numbers in what is found, in order."""
    if isinstance(found, dict | list):
        return [each for part in (found.values() if isinstance(found, dict) else found) for each in numbers(part)]
    return [float(found)] if isinstance(found, int | float) and not isinstance(found, bool) else []


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """However few sessions there are, two processes share them; how many tasks they were given each time."""
    monkeypatch.setattr(tallying, "MANY", 1)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    tasks, mapped = list[int](), Workers.map

    def counting(workers: Workers[Any, Any], waiting: deque[Any]) -> Iterator[Any]:
        tasks.append(len(waiting))
        return mapped(workers, waiting)

    monkeypatch.setattr(Workers, "map", counting)
    return tasks


def test_several_processes_find_what_one_does(
    workspace: Workspace, shared: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallying, "AT_ONCE", 2)
    several, one = (evaluation(workspace, processes=each) for each in (True, False))
    assert shared == [3]
    assert msgspec.json.encode(several) == msgspec.json.encode(one)
    assert one.noise
    assert one.noise.differing
    assert one.filters["ALL"].metrics["Recall"].value is not None


def test_it_does_not_matter_how_many_files_are_added_up_at_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = evaluation(workspace, processes=False)
    monkeypatch.setattr(tallying, "AT_ONCE", 1)
    single = evaluation(workspace, processes=False)
    assert [*single.filters["ALL"].files] == [*whole.filters["ALL"].files]
    assert numbers(msgspec.to_builtins(single)) == pytest.approx(numbers(msgspec.to_builtins(whole)), rel=1e-12)


def test_what_goes_wrong_in_another_process_is_raised_as_what_it_is(tmp_path: Path, shared: list[int]) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    workspace = generate(root, tmp_path / "w")
    ask(workspace, setup(Fickle("fickle", tmp_path / "notes"), root))
    told(workspace, 1)
    (source, asked), *_ = ((source, list(each)) for source, each in workspace.sessions(Session))
    workspace.write_sessions(source.path, pack_sessions(source, [asked[0], asked[0]]))
    shared.clear()
    with pytest.raises(WorkspaceError, match="twice"):
        evaluation(workspace, processes=True)
    assert shared == [1]


def test_folders_are_those_that_tell_files_apart() -> None:
    paths = ["src/main/a/x.py", "src/main/a/y.py", "src/main/b/c/z.py", "src/main/w.py"]
    assert index_folders(paths) == {"src/main/a/": [0, 1], "src/main/b/c/": [2]}
    assert index_folders(["a.py", "b/c.py"]) == {"b/": [1]}
    assert index_folders(["a.py"]) == {}
