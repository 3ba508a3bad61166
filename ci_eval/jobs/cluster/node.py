"""A worker of a cluster: it prepares project and engine on its own machine, and plays the files that it is sent."""

from __future__ import annotations

import shutil
import tempfile
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base.errors import CiEvalError, PreparationError
from ci_eval.core.config import load
from ci_eval.core.interpret import Assignment, Played, Setup, Turn, local_pool
from ci_eval.core.manifest import unlike
from ci_eval.jobs import runs
from ci_eval.jobs.preparation import prepare


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The setup that a machine prepares, and the conditions by which it checks its setup."""

    config: str
    """The configuration as YAML."""
    answers: Mapping[str, object]
    """The values that answers depend on (`runs.same_answers`), including the digests of project and engine."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A worker's report after it has prepared its machine."""

    cpu: str
    trouble: str = ""
    """The reason why it cannot take part; "" if it can."""


@dataclass(frozen=True, kw_only=True)
class Errand:
    """A file to be played, without anything that is only on the machine that sends it."""

    path: str
    name: str
    """The name of the file with its actions."""
    actions: bytes
    sessions: int
    below: float
    among: frozenset[str] | None
    round: int
    twice: float

    @classmethod
    def of(cls, turn: Turn) -> Errand:
        """Return the errand of a file that a single engine is asked about."""
        (assignment,) = turn.assignments
        return cls(
            path=assignment.path,
            name=assignment.actions.name,
            actions=assignment.actions.read_bytes(),
            sessions=assignment.sessions,
            below=assignment.below,
            among=assignment.among,
            round=assignment.round,
            twice=assignment.twice,
        )


@dataclass(frozen=True, kw_only=True)
class Done:
    """The outcome of an errand; `result` is None if the file was given up, for the reason in `trouble`."""

    result: tuple[Played, ...] | None
    trouble: str
    died: bool


class Node:
    """A worker that plays files in a process below its own, as a run on one machine does."""

    def __init__(self, wanted: Wanted, names: bytes) -> None:
        """Write the names of the project to a temporary folder. `names`: the project's names, as
        `interpret.write_names` stores them."""
        self._wanted = wanted
        self._folder = Path(tempfile.mkdtemp(prefix="ci-eval-node-"))
        self._names = self._folder / "names.npz"
        self._names.write_bytes(names)
        # An engine that takes its process down with it costs a session, and not this worker.
        self._pool = local_pool(1)
        self._setup: Setup | None = None

    def prepare(self) -> Ready:
        """Prepare project and engine in this machine's cache, and check that they are those of the run. A failure is
        returned as `trouble`."""
        try:
            self._setup = self._prepare_setup()
        except (CiEvalError, OSError) as error:
            return Ready(cpu=machine.cpu(), trouble=str(error))
        return Ready(cpu=machine.cpu())

    def _prepare_setup(self) -> Setup:
        path = self._folder / "config.yaml"
        path.write_text(self._wanted.config, "utf-8")
        # The variables were filled in on the sending machine, so the configuration gets no environment here.
        prepared = prepare(load(path, environment={}).config, Screen())
        conditions = runs.same_answers(runs.new_manifest(prepared, 1))
        for condition, expected, actual in unlike(self._wanted.answers, conditions):
            raise PreparationError(f"the {condition} is {actual} there, and {expected} in this run")
        return replace(prepared.setup, names=self._names)

    def play(self, errand: Errand) -> Done:
        """Ask about the sessions of one file. `prepare` must have been called before."""
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
        # The pool yields None while it waits.
        (outcome,) = filter(None, self._pool.map(deque([Turn(assignments=(assignment,))])))
        journal.unlink(missing_ok=True)
        actions.unlink()
        return Done(result=outcome.result, trouble=outcome.trouble, died=outcome.died)

    def close(self) -> None:
        """Stop the process with its engine, and delete all its files except the cache."""
        self._pool.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)
