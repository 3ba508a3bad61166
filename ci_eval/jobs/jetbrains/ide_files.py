"""The files of a project that an IDE is to evaluate: those of a shard, or those that an interrupted run has left."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.actions import source_files
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate, WorkspaceError
from ci_eval.core.base.shards import Shard, deal_whole
from ci_eval.core.catalogs import languages
from ci_eval.core.config import Config
from ci_eval.core.fetch.project import Project
from ci_eval.plugins.jetbrains import parts
from ci_eval.plugins.jetbrains.contract import Generation

ACCOUNT = "of.json"


@dataclass(frozen=True)
class Parts:
    """The folder beside the output that holds the results of interrupted runs of the IDE, each a workspace of the
    plugin."""

    folder: Path

    def found(self) -> list[Path]:
        """Return the workspaces, the oldest first."""
        # By name, 10 would come before 9.
        return sorted((path for path in self.folder.glob("*") if path.is_dir()), key=lambda path: int(path.name))

    def next(self) -> Path:
        """Return the folder for the next workspace."""
        return self.folder / str(len(self.found()) + 1)

    def done(self) -> frozenset[str]:
        """Return the source files that are evaluated."""
        return frozenset().union(*map(parts.find_complete_files, self.found()))

    def of(self, account: bytes, *, resume: bool) -> None:
        """Write the account of the run, which says what it is of. With `resume`, raises WorkspaceError if the
        interrupted run had another account."""
        path = self.folder / ACCOUNT
        if not resume:
            shutil.rmtree(self.folder, ignore_errors=True)
        elif path.is_file() and path.read_bytes() != account:
            raise WorkspaceError(
                f"{self.folder} is of a run with another configuration, IDE, project or shard: give the command as it "
                "was, or leave out --resume to begin anew"
            )
        atomic.write(path, account)

    def remove(self) -> None:
        """Delete the parts, after they were put into the workspace."""
        shutil.rmtree(self.folder)


def make_account(config: Config, generation: Generation, found: Project, build: str, shard: Shard | None) -> bytes:
    """Return what two runs must share, so that one can continue the other, as JSON."""
    plugin_config = generation.config(replace(config, output_dir=""), "")
    return msgspec.json.encode([plugin_config, found.info.checksum, build, str(shard)])


def roots(config: Config, found: Project, shard: Shard | None, done: frozenset[str]) -> Sequence[str]:
    """Return the value of `evaluationRoots`: that of the configuration, or single files if only some are to be
    evaluated. It is empty if all are `done`. Raises ConfigError, NothingToEvaluate."""
    if shard is None and not done:
        return config.actions.evaluation_roots or (".",)
    language = languages.CATALOG.load(config.language)
    files = list(source_files(found.root, language, config.actions))
    if shard:
        if config.interpret.sessions_limit is not None:
            raise ConfigError("an IDE takes interpret.sessionsLimit in each shard anew: leave it out, or --shard")
        files = deal_whole({path: (found.root / path).stat().st_size for path in files}, shard.of)[shard.index]
        if not files:
            raise NothingToEvaluate(f"shard {shard} has no file: an IDE evaluates whole files; take fewer shards")
    # Where there are several projects, the plugin writes the name of one before each file.
    known = done | {path.partition(":")[2] for path in done}
    return [path for path in files if path not in known]
