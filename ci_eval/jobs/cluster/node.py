"""A worker of a cluster: has project and engine ready on its own machine, and plays the files that it is sent."""

from __future__ import annotations

import shutil
import tempfile
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ci_eval import machine
from ci_eval.ci import Screen
from ci_eval.config import load
from ci_eval.errors import CiEvalError, PreparationError
from ci_eval.jobs import runs
from ci_eval.jobs.preparation import prepare
from ci_eval.manifest import unlike
from ci_eval.stages.interpret import Assignment, LocalPool, Played, Setup, Turn


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a machine is to make ready, and how it tells that this is what the run is about."""

    config: str
    """As YAML."""
    answers: Mapping[str, object]
    """Everything that answers depend on (`runs.same_answers`), digests of project and engine among it."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What a worker says of its machine."""

    cpu: str
    trouble: str = ""
    """Why it cannot take part; "" where it can."""


@dataclass(frozen=True, kw_only=True)
class Errand:
    """A file to be played, without anything that is only on the machine that sends it."""

    path: str
    name: str
    """Of the file with its actions."""
    actions: bytes
    sessions: int
    below: float
    among: frozenset[str] | None
    round: int
    twice: float

    @classmethod
    def of(cls, turn: Turn) -> Errand:
        """That of a file about which a single engine is asked."""
        (given,) = turn.assignments
        return cls(
            path=given.path,
            name=given.actions.name,
            actions=given.actions.read_bytes(),
            sessions=given.sessions,
            below=given.below,
            among=given.among,
            round=given.round,
            twice=given.twice,
        )


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of an errand; `result` is None if the file had to be given up, for the reason in `trouble`."""

    result: tuple[Played, ...] | None
    trouble: str
    died: bool


class Node:
    """Plays in a process below its own, as a run on one machine does: an engine that takes its process down with it
    costs a session here, and not the worker."""

    def __init__(self, wanted: Wanted, names: bytes) -> None:
        """`names`: the project's names, as `interpret.write_names` stores them."""
        self._wanted = wanted
        self._folder = Path(tempfile.mkdtemp(prefix="ci-eval-node-"))
        self._names = self._folder / "names.npz"
        self._names.write_bytes(names)
        self._pool = LocalPool(1)
        self._setup: Setup | None = None

    def prepare(self) -> Ready:
        """Make project and engine ready in this machine's cache, and check that they are those of the run."""
        try:
            self._setup = self._prepared()
        except (CiEvalError, OSError) as error:
            return Ready(cpu=machine.cpu(), trouble=str(error))
        return Ready(cpu=machine.cpu())

    def _prepared(self) -> Setup:
        path = self._folder / "config.yaml"
        path.write_text(self._wanted.config, "utf-8")
        prepared = prepare(load(path, environment={}).config, Screen())
        here = runs.same_answers(runs.new_manifest(prepared, 1))
        for what, wanted, found in unlike(self._wanted.answers, here):
            raise PreparationError(f"the {what} is {found} there, and {wanted} in this run")
        return replace(prepared.setup, names=self._names)

    def play(self, errand: Errand) -> Done:
        """Ask about one file. `prepare` has been called."""
        assert self._setup
        actions, journal = self._folder / errand.name, self._folder / "journal.jsonl"
        actions.write_bytes(errand.actions)
        assignment = Assignment(
            setup=self._setup,
            actions=actions,
            path=errand.path,
            sessions=errand.sessions,
            below=errand.below,
            among=errand.among,
            round=errand.round,
            twice=errand.twice,
            journal=journal,
        )
        (outcome,) = filter(None, self._pool.map(deque([Turn(assignments=(assignment,))])))
        journal.unlink(missing_ok=True)
        actions.unlink()
        return Done(result=outcome.result, trouble=outcome.trouble, died=outcome.died)

    def close(self) -> None:
        """End the process with its engine, and leave nothing behind but the cache."""
        self._pool.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)
