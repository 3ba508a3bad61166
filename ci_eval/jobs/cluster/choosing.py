"""Who asks: what `--executor` names."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Protocol, cast

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.config import Config, dump
from ci_eval.errors import ConfigError
from ci_eval.jobs import runs
from ci_eval.jobs.cluster.node import Wanted
from ci_eval.jobs.preparation import Prepared
from ci_eval.stages.interpret import Executor
from ci_eval.workspace import Workspace


class Cluster(Executor, Protocol):
    """An executor on several machines, which tells afterwards who took part."""

    @property
    def cpus(self) -> dict[str, str]:
        """Name of each machine → its processor."""

    @property
    def workers(self) -> int: ...


@dataclass(frozen=True)
class Choice:
    """A cluster, as `--executor` names it."""

    address: str
    """"" = that of this machine."""

    @classmethod
    def parse(cls, text: str) -> Choice | None:
        """None stands for this machine's processes. Raises ConfigError."""
        kind, colon, address = text.partition(":")
        if text == "local":
            return None
        if kind != "ray" or bool(colon) != bool(address):
            raise ConfigError(f"unknown executor {text!r}: known are local, ray and ray:HOST:PORT")
        return cls(address)

    def check(self, config: Config) -> None:
        """Raises ConfigError if what the configuration asks for is only on this machine, or Ray is not there."""
        why = {
            "the store of answers of an `engine.endpoint` is on this machine": config.engine.endpoint,
            "the store of answers of a `judge` is on this machine": config.judge,
            "`interpret.saveLogs` writes logs on this machine": config.interpret.save_logs,
            "the records of a `dataset` are on this machine": config.dataset.spec,
        }
        if reason := next((text for text, applies in why.items() if applies), ""):
            raise ConfigError(f"--executor ray cannot be used here: {reason}; leave it out")
        _module()

    def cluster(self, workspace: Workspace, prepared: Prepared, screen: Screen) -> Cluster:
        """Return the executor of a run. Raises ConfigError."""
        answers = runs.same_answers(workspace.manifest())
        del answers["shard"]
        wanted = Wanted(config=dump(_elsewhere(prepared)), answers=answers)
        return cast("Cluster", _module().RayExecutor(self.address, wanted, tell=screen.warn))


def _module() -> ModuleType:
    try:
        return import_module(f"{__package__}.on_ray")
    except ImportError as error:
        raise ConfigError(
            f"--executor ray needs the extra `ray` ({error}): pip install '.[ray]' in a checkout"
        ) from error


def _elsewhere(prepared: Prepared) -> Config:
    """Return the configuration, as it means the same in another folder of another machine."""
    config = prepared.config
    if not config.project.spec.startswith("path:"):
        return config
    return replace(config, project=replace(config.project, spec=f"path:{prepared.project.root}"))


def note(workspace: Workspace, cluster: Cluster) -> None:
    """Tell the manifest who took part."""
    if not cluster.workers:
        return
    cpus = "; ".join(dict.fromkeys(cluster.cpus.values()))
    several = f"{len(cluster.cpus)} machines: " if len(cluster.cpus) > 1 else ""
    workspace.write_manifest(replace(workspace.manifest(), jobs=cluster.workers, cpu=several + cpus))
    workspace.seal()
