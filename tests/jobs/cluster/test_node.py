"""What a worker of a cluster does on its machine, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace

import pytest

from ci_eval.ci import Screen
from ci_eval.core.config import Config, dump, load, patch
from ci_eval.core.interpret import Assignment, Turn
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.cluster.node import Errand, Node, Wanted
from ci_eval.jobs.preparation import prepare
from tests.projects import GREETER, write


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    project = write(tmp_path_factory.mktemp("node") / "p", a__py=GREETER)
    return patch(load(None).config, project=f"path:{project}", engine="words")


@pytest.fixture(scope="module")
def workspace(config: Config, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a workspace with the actions and sessions that processes of this machine made; tests only read it."""
    prepared = prepare(config, Screen())
    made = runs.begin(prepared, tmp_path_factory.mktemp("run") / "o", 1)
    pipeline.make_actions(made, prepared, 1, Screen())
    pipeline.make_sessions([(made, prepared)], 1, Screen())
    return made


def wanted(config: Config, workspace: Workspace, **changed: object) -> Wanted:
    answers = {**runs.same_answers(workspace.manifest()), **changed}
    del answers["shard"]
    return Wanted(config=dump(config), answers=answers)


@contextmanager
def node(given: Wanted) -> Iterator[Node]:
    made = Node(given, b"")
    try:
        yield made
    finally:
        made.close()


def errand(config: Config, workspace: Workspace) -> Errand:
    (file,) = workspace.action_files()
    head = next(workspace.action_heads())
    assignment = Assignment(
        setup=prepare(config, Screen()).setup, actions=file, path=head.path, sessions=head.sessions, below=1.0
    )
    return Errand.of(Turn(assignments=(assignment,)))


def test_it_plays_a_file_to_the_sessions_of_a_run_on_one_machine(config: Config, workspace: Workspace) -> None:
    with node(wanted(config, workspace)) as made:
        assert made.prepare().trouble == ""
        sent = errand(config, workspace)
        again = [made.play(each) for each in (sent, replace(sent, round=1))]
    assert [each.trouble for each in again] == ["", ""]
    (first,), (_,) = (each.result or () for each in again)
    assert sum(first.statuses.values()) == sum(1 for _ in workspace.decode_sessions("a.py", Session))
    assert first.path == "a.py"


@pytest.mark.parametrize(
    ("what", "value"), [("project", "0" * 64), ("engine", "words 9"), ("ci-eval", "0.0"), ("Python", "CPython 2.7")]
)
def test_it_refuses_what_would_be_answered_in_another_way(
    config: Config, workspace: Workspace, what: str, value: str
) -> None:
    with node(wanted(config, workspace, **{what: value})) as made:
        trouble = made.prepare().trouble
    assert trouble.startswith(f"the {what} is ")
    assert value in trouble


def test_it_says_what_it_cannot_make_ready(config: Config, workspace: Workspace) -> None:
    elsewhere = patch(config, project="path:/nowhere/p")
    with node(wanted(elsewhere, workspace)) as made:
        assert "there is no folder" in made.prepare().trouble


def test_nothing_but_the_cache_is_left(config: Config, workspace: Workspace) -> None:
    with node(wanted(config, workspace)) as made:
        made.prepare()
        made.play(errand(config, workspace))
        folder = made._folder
        assert {path.name for path in folder.iterdir()} == {"config.yaml", "names.npz"}
    assert not folder.exists()


def test_an_errand_carries_all_of_an_assignment_that_decides_what_is_asked() -> None:
    carried = {field.name for field in fields(Errand)} & {field.name for field in fields(Assignment)}
    # A node has its own setup and journal; one session alone, sides and lost sessions are for its own processes.
    left = {"setup", "journal", "only", "side", "given_up"}
    assert carried == {field.name for field in fields(Assignment)} - left
