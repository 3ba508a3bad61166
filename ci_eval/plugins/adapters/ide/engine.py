"""An engine that evaluates whole projects by itself: an IDE with the evaluation plugin, run headless."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, EngineCrash
from ci_eval.core.contracts import Engine, Installation, Running, Surroundings
from ci_eval.core.model import EngineInfo
from ci_eval.plugins.adapters.ide.installation import Ide, find
from ci_eval.plugins.adapters.ide.options import GENERATIONS, IdeOptions
from ci_eval.plugins.adapters.ide.watching import Progress, WatchedProcess, parse_progress
from ci_eval.plugins.adapters.place import Place, variables

CONFIG, PROJECT, OUT = "config.json", "project", "out"
HEAP = 0.75
"""Share of the memory limit that the IDE's heap may take."""


@dataclass(frozen=True)
class IdeEngine:
    """An engine for IDEs of JetBrains; `engine.options` name the IDE."""

    name: str
    summary: str
    options: IdeOptions = field(default_factory=IdeOptions)
    languages: frozenset[str] | None = None
    version: str = "as given"
    source: str = "a folder or an archive of yours"
    licence: str = "LicenseRef-proprietary"
    verified: bool = False
    toolchains: Mapping[str, str] = field(default_factory=dict)
    needs_dependencies: bool = False
    takes_records: bool = False
    needs: tuple[str, ...] = ()
    own_process: bool = True

    @property
    def described(self) -> str:
        """Return the generation and the feature of the plugin, as text."""
        return f"{self.options.generation}, {self.options.feature}"

    def configured(self, options: Mapping[str, object]) -> Engine:
        """Return the engine with these options. Raises ConfigError if one is wrong."""
        return replace(self, options=IdeOptions.read(options))

    def is_ready(self, _cache: Path) -> bool | None:
        """Return None, since there is no default version that could be installed."""
        return None

    def install(self, version: str | None, cache: Path) -> Installation:
        """Find the IDE, or unpack it. `version` must be its product and build. Raises ConfigError or
        PreparationError."""
        ide = find(self.options, cache)
        if version is not None and version != ide.build:
            raise ConfigError(f"engine jetbrains@{version} is asked for, and {ide.folder} is {ide.build}")
        return Installation(info=EngineInfo(name=self.name, version=ide.build), folder=ide.folder)

    def start(self, _installation: Installation, _surroundings: Surroundings) -> Running:
        """Raise ConfigError, since an IDE answers no single question."""
        raise ConfigError("engine jetbrains evaluates whole projects by itself: only `ci-eval evaluate` can use it")

    def evaluate(
        self,
        surroundings: Surroundings,
        write_config: Callable[[Path, Path, Path], None],
        output: Path,
        advance: Callable[[Progress], None],
    ) -> str:
        """Run the plugin's `full` over a copy of the project, and copy the workspace that the IDE made to `output`. If
        the IDE fails or is interrupted, the part of the workspace that exists is copied. Returns how well the IDE was
        confined.

        `write_config`: the file to write, the project's folder, the folder for results. Raises EngineFailure.
        """
        ide = find(self.options, surroundings.cache)
        place = Place.new(ide.folder, surroundings)
        try:
            place.renew()
            # Links stay links, so that nothing from outside the project is copied.
            shutil.copytree(surroundings.root, place.scratch / PROJECT, symlinks=True)
            (place.scratch / PROJECT / ".idea").mkdir(exist_ok=True)
            write_config(place.scratch / CONFIG, place.scratch / PROJECT, place.scratch / OUT)
            confined = self._run(ide, place, advance)
            shutil.copytree(_find_workspace(place.scratch / OUT), output)
            return confined
        except BaseException:
            # What has sessions of a file is kept; `output` may be half written.
            results = (place.scratch / OUT).glob("*")
            workspaces = sorted(path for path in results if any((path / "data").rglob("*.json.gz")))
            if workspaces:
                shutil.rmtree(output, ignore_errors=True)
                shutil.copytree(workspaces[-1], output)
            raise
        finally:
            place.remove()

    def _run(self, ide: Ide, place: Place, advance: Callable[[Progress], None]) -> str:
        command = GENERATIONS[self.options.generation]
        feature = [self.options.feature] if self.options.generation == "ij23" else []
        argv = [str(ide.launcher), command, "full", *feature, str(place.scratch / CONFIG)]
        java = Path(self.options.java).expanduser().absolute() if self.options.java else None
        walls = place.walls(str(ide.launcher), reads=tuple(path for path in (java, ide.plugin) if path))
        process = WatchedProcess(argv, cwd=place.scratch, environment=self._variables(ide, place, java), walls=walls)
        try:
            for line in process.lines(self.options.idle):
                if progress := parse_progress(line):
                    advance(progress)
            if code := process.ended():
                raise process.trouble(code)
            return process.confined
        finally:
            process.close()

    def _variables(self, ide: Ide, place: Place, java: Path | None) -> dict[str, str]:
        # The IDE's folders are below the scratch folder: neither settings nor caches of the user are seen or changed.
        folders = {name: place.scratch / "ide" / name for name in ("config", "system", "plugins", "log")}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        if ide.plugin:
            shutil.copytree(ide.plugin, folders["plugins"] / ide.plugin.name)
        properties, options = place.scratch / "idea.properties", place.scratch / "ide.vmoptions"
        atomic.write(properties, "".join(f"idea.{name}.path={path}\n" for name, path in folders.items()).encode())
        # Beside the heap, Java needs room for classes and compiled code.
        heap = [f"-Xmx{int(place.memory * HEAP) >> 20}m"] if place.memory else []
        atomic.write(options, "\n".join(["-Djava.awt.headless=true", *heap, ""]).encode())
        own = {f"{ide.variables}_PROPERTIES": str(properties), f"{ide.variables}_VM_OPTIONS": str(options)}
        return variables(place) | own | ({"EVALUATION_JAVA": str(java)} if java else {})


def _find_workspace(out: Path) -> Path:
    """Return the workspace among the results. Raises EngineCrash if there is none, or none with sessions."""
    workspaces = sorted(path.parent for path in out.glob("*/config.json"))
    # An IDE that was told to stop ends with exit code 0 as well.
    if not workspaces or not (workspaces[-1] / "data/files.json").is_file():
        raise EngineCrash("the IDE ended without an error, and without sessions: it was told to stop, or closed itself")
    return workspaces[-1]
