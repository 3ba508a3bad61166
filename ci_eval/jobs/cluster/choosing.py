"""The choice of an executor: `--executor` names this machine or a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Protocol, cast

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config, dump
from ci_eval.core.interpret import Executor
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs.cluster.node import Wanted
from ci_eval.jobs.preparation import Prepared


class Cluster(Executor, Protocol):
    """An executor on several machines, which names the machines that took part."""

    @property
    def cpus(self) -> dict[str, str]:
        """Return the processor of each machine, by the machine's name."""

    @property
    def workers(self) -> int: ...


@dataclass(frozen=True)
class Choice:
    """A cluster that `--executor` names."""

    address: str
    """The HOST:PORT of the cluster's head; "" is the cluster of this machine."""

    @classmethod
    def parse(cls, text: str) -> Choice | None:
        """Read a value of `--executor`; None stands for this machine's processes. Raises ConfigError if the value is
        unknown."""
        kind, colon, address = text.partition(":")
        if text == "local":
            return None
        if kind != "ray" or bool(colon) != bool(address):
            raise ConfigError(f"unknown executor {text!r}: known are local, ray and ray:HOST:PORT")
        return cls(address)

    def check(self, config: Config) -> None:
        """Check that a cluster can do what the configuration asks for. Raises ConfigError if it needs something that is
        only on this machine, or if Ray is not installed."""
        reasons = {
            "the store of answers of an `engine.endpoint` is on this machine": config.engine.endpoint,
            "the store of answers of a `judge` is on this machine": config.judge,
            "`interpret.saveLogs` writes logs on this machine": config.interpret.save_logs,
            "the records of a `dataset` are on this machine": config.dataset.spec,
        }
        if reason := next((text for text, applies in reasons.items() if applies), ""):
            raise ConfigError(f"--executor ray cannot be used here: {reason}; leave it out")
        _import_ray_module()

    def cluster(self, workspace: Workspace, prepared: Prepared, screen: Screen) -> Cluster:
        """Return the executor of a run. Raises ConfigError if Ray is not installed."""
        answers = runs.same_answers(workspace.manifest())
        # A shard's file is chosen here, before it is sent.
        del answers["shard"]
        setup = Wanted(config=dump(_portable_config(prepared)), answers=answers)
        return cast("Cluster", _import_ray_module().RayExecutor(self.address, setup, tell=screen.warn))


def _import_ray_module() -> ModuleType:
    try:
        return import_module(f"{__package__}.on_ray")
    except ImportError as error:
        raise ConfigError(
            f"--executor ray needs the extra `ray` ({error}): pip install '.[ray]' in a checkout"
        ) from error


def _portable_config(prepared: Prepared) -> Config:
    config = prepared.config
    if not config.project.spec.startswith("path:"):
        return config
    # A relative path would mean another folder on another machine.
    return replace(config, project=replace(config.project, spec=f"path:{prepared.project.root}"))


def note(workspace: Workspace, cluster: Cluster) -> None:
    """Write the machines that took part into the manifest, and seal the workspace again."""
    if not cluster.workers:
        return
    cpus = "; ".join(dict.fromkeys(cluster.cpus.values()))
    prefix = f"{len(cluster.cpus)} machines: " if len(cluster.cpus) > 1 else ""
    workspace.write_manifest(replace(workspace.manifest(), jobs=cluster.workers, cpu=prefix + cpus))
    workspace.seal()
