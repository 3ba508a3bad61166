"""An executor that plays files on the machines of a Ray cluster, which may join and leave meanwhile."""

from __future__ import annotations

import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.interpret import Asked, Turn
from ci_eval.core.workers import GOODBYE, TICK
from ci_eval.jobs.cluster.node import Done, Errand, Node, Ready, Wanted

DEATHS = 3
"""The number of workers that may be lost with one file before it is given up."""

LOOK = 5.0
"""The seconds between two looks at the machines of the cluster."""

_Reference = Any
"""A reference to the future result of a worker; Ray's classes are unknown to the type checker."""


@dataclass(eq=False)
class _Worker:
    actor: Any
    node: str
    """The name that Ray gives its machine."""
    turn: Turn | None = None
    """The turn that it plays; None while it prepares or waits."""


class RayExecutor:
    """An executor with a worker for each CPU that the machines of a cluster lend."""

    def __init__(self, address: str, wanted: Wanted, *, tell: Callable[[str], None]) -> None:
        """Store the address, without connecting to the cluster.

        `address`: HOST:PORT of the cluster's head; "" = the cluster on this machine, or one that lasts as long as the
        run. `tell`: called with a warning about each machine that cannot take part.
        """
        self.cpus: dict[str, str] = {}
        """The processor of each machine that took part, by Ray's name of the machine."""
        self.workers = 0
        """The number of workers that took part."""
        self._address = address
        self._wanted = wanted
        self._tell = tell

    def pool(self, most: int) -> RayPool:
        """Return a pool of at most `most` workers. Raises PreparationError if the cluster cannot be reached."""
        self.cpus, self.workers = {}, 0
        try:
            # Ray itself waits for minutes if nobody answers.
            if self._address:
                host, _, port = self._address.rpartition(":")
                socket.create_connection((host, int(port)), timeout=GOODBYE).close()
            # By default, Ray prints the output of all workers among that of the command.
            ray.init(address=self._address or None, log_to_driver=False, configure_logging=False)
        except (OSError, RuntimeError, ValueError) as error:
            raise PreparationError(
                f"no Ray cluster answers at {self._address or 'this machine'}: {error}. Start one with "
                "`ray start --head`, and run ci-eval on one of its machines"
            ) from error
        return RayPool(self, most, self._wanted, self._tell)


class RayPool:
    """A pool of workers on a cluster; if a worker or its machine is lost, its file is played again from its
    beginning."""

    def __init__(self, executor: RayExecutor, most: int, wanted: Wanted, tell: Callable[[str], None]) -> None:
        self._executor = executor
        self._most = most
        self._wanted = ray.put(wanted)
        self._names: _Reference = None
        self._tell = tell
        self._at: dict[_Reference, _Worker] = {}
        """The busy and the preparing workers, by the reference to their result."""
        self._idle: list[_Worker] = []
        self._refused: dict[str, str] = {}
        """The reason why a machine cannot take part, by machine."""
        self._losses: Counter[tuple[str, int]] = Counter()
        self._looked = float("-inf")
        self._stopped = False

    def __enter__(self) -> RayPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        workers = [*self._idle, *self._at.values()]
        if self._idle and not (kind or self._stopped):
            # A killed actor cannot delete its temporary folder.
            leaving = [worker.actor.close.remote() for worker in self._idle]
            ray.wait(leaving, num_returns=len(leaving), timeout=GOODBYE)
        for worker in workers:
            ray.kill(worker.actor)
        ray.shutdown()

    @property
    def counted(self) -> int:
        """Return 0, since the sessions of files that are being played are unknown here."""
        return 0

    def stop(self) -> None:
        self._stopped = True

    def map(self, waiting: deque[Turn]) -> Iterator[Asked | None]:
        """Yield the outcome of each turn, and None in between. Raises PreparationError if no machine can take part."""
        while waiting or any(worker.turn for worker in self._at.values()):
            self._recruit(waiting)
            while waiting and self._idle:
                self._send(self._idle.pop(), waiting.popleft())
            ended = [self._collect(reference, waiting) for reference in self._ready()]
            yield from filter(None, ended)
            yield None

    def _ready(self) -> list[_Reference]:
        if not self._at:
            time.sleep(TICK)
            return []
        ready, _ = ray.wait(list(self._at), timeout=TICK)
        return list(ready)

    def _recruit(self, waiting: deque[Turn]) -> None:
        """Start a worker for each CPU, but no more than there are files; the first worker of a machine prepares it."""
        if time.monotonic() - self._looked < LOOK or not waiting:
            return
        self._looked = time.monotonic()
        if self._names is None:
            self._names = ray.put(_read_names(waiting[0]))
        cpus = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]}
        free = {node: count for node, count in cpus.items() if count and node not in self._refused}
        workers = Counter(worker.node for worker in (*self._idle, *self._at.values()))
        if not free and not workers:
            raise PreparationError(f"no machine of the cluster can take part: {self._reasons() or 'none lends a CPU'}")
        # Each machine gets a worker before any gets a second one, so that few files spread over all.
        for number in range(max(free.values(), default=0)):
            for node, count in free.items():
                # The first worker of a machine fills its cache; the others start when that is done.
                allowed = count if node in self._executor.cpus else 1
                if workers[node] <= number < allowed and workers.total() < self._most:
                    self._start(node)
                    workers[node] += 1

    def _reasons(self) -> str:
        return "; ".join(sorted(set(self._refused.values())))

    def _start(self, node: str) -> None:
        strategy = NodeAffinitySchedulingStrategy(node, soft=False)
        actor = ray.remote(Node).options(num_cpus=1, max_restarts=0, scheduling_strategy=strategy)
        worker = _Worker(actor.remote(self._wanted, self._names), node)
        self._at[worker.actor.prepare.remote()] = worker

    def _send(self, worker: _Worker, turn: Turn) -> None:
        worker.turn = turn
        self._at[worker.actor.play.remote(Errand.of(turn))] = worker

    def _collect(self, reference: _Reference, waiting: deque[Turn]) -> Asked | None:
        """Return the outcome of a turn; None if the worker was preparing, or if the file will be played again."""
        worker = self._at.pop(reference)
        turn, worker.turn = worker.turn, None
        try:
            result: Ready | Done = ray.get(reference)
        except RayTaskError as error:
            # The worker lives on: what it was asked raised an error, as a local one's task may.
            reason = str(error.cause)
            if turn is None:
                self._refuse(worker, reason)
                return None
            self._idle.append(worker)
            return Asked(turn, None, reason)
        except RayError as error:
            ray.kill(worker.actor)
            self._looked = float("-inf")
            lost = "its worker" if isinstance(error, RayActorError) else "its answer"
            if turn is None:
                # Round -1 stands for the preparation of a machine.
                self._losses[worker.node, -1] += 1
                if self._losses[worker.node, -1] >= DEATHS:
                    self._refuse(worker, f"{DEATHS} workers were lost while they prepared it")
                return None
            self._losses[turn.path, turn.round] += 1
            if (losses := self._losses[turn.path, turn.round]) >= DEATHS:
                return Asked(turn, None, f"{lost} was lost {losses} times", died=True)
            self._tell(f"{lost} was lost with a machine or process of the cluster: {turn.path} is asked about again")
            waiting.appendleft(turn)
            return None
        if isinstance(result, Ready):
            self._welcome(worker, result)
            return None
        self._idle.append(worker)
        assert turn
        return Asked(turn, result.result, result.trouble, result.died)

    def _welcome(self, worker: _Worker, ready: Ready) -> None:
        if ready.trouble:
            self._refuse(worker, ready.trouble)
            return
        if worker.node not in self._executor.cpus:
            self._executor.cpus[worker.node] = ready.cpu
            # Its other CPUs need not wait.
            self._looked = float("-inf")
        self._executor.workers += 1
        self._idle.append(worker)

    def _refuse(self, worker: _Worker, reason: str) -> None:
        ray.kill(worker.actor)
        # There is one warning for each machine, not for each worker.
        if worker.node not in self._refused:
            self._tell(f"a machine of the cluster is left out: {reason}")
        self._refused[worker.node] = reason
        self._looked = float("-inf")


def _read_names(turn: Turn) -> bytes:
    path: Path | None = turn.assignments[0].setup.names
    return path.read_bytes() if path else b""
