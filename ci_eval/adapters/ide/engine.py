"""An engine that evaluates whole projects by itself: an IDE with the evaluation plugin, run headless."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ci_eval import atomic
from ci_eval.adapters.ide.installation import Ide, find
from ci_eval.adapters.ide.options import GENERATIONS, IdeOptions
from ci_eval.adapters.ide.watching import Progress, WatchedProcess, progress_of
from ci_eval.adapters.place import Place, variables
from ci_eval.contracts import Engine, Installation, Running, Surroundings
from ci_eval.errors import ConfigError, EngineCrash
from ci_eval.model import EngineInfo

CONFIG, PROJECT, OUT = "config.json", "project", "out"
HEAP = 0.75
"""Share of the memory limit that the IDE's heap may take."""


@dataclass(frozen=True)
class IdeEngine:
    """IDEs of JetBrains; which one, `engine.options` says."""

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
        """See Configurable."""
        return f"{self.options.generation}, {self.options.feature}"

    def configured(self, options: Mapping[str, object]) -> Engine:
        """See Configurable."""
        return replace(self, options=IdeOptions.read(options))

    def installed(self, _cache: Path) -> bool | None:
        """There is no default version that could be installed."""
        return None

    def install(self, version: str | None, cache: Path) -> Installation:
        """Find it, or unpack it. `version` must be its product and build. Raises ConfigError, PreparationError."""
        found = find(self.options, cache)
        if version is not None and version != found.build:
            raise ConfigError(f"engine jetbrains@{version} is asked for, and {found.folder} is {found.build}")
        return Installation(info=EngineInfo(name=self.name, version=found.build), folder=found.folder)

    def start(self, _installation: Installation, _surroundings: Surroundings) -> Running:
        """It answers no single question. Raises ConfigError."""
        raise ConfigError("engine jetbrains evaluates whole projects by itself: only `ci-eval evaluate` can use it")

    def evaluate(
        self,
        surroundings: Surroundings,
        write_config: Callable[[Path, Path, Path], None],
        output: Path,
        advance: Callable[[Progress], None],
    ) -> str:
        """Run the plugin's `full` over a copy of the project, and copy the workspace that it made to `output`, also
        what there is of it where the IDE fails or is interrupted; returns how well it was confined.

        `write_config`: the file to write, the project's folder, the folder for results. Raises EngineFailure.
        """
        ide = find(self.options, surroundings.cache)
        place = Place.new(ide.folder, surroundings)
        try:
            place.renew()
            shutil.copytree(surroundings.root, place.scratch / PROJECT, symlinks=True)
            (place.scratch / PROJECT / ".idea").mkdir(exist_ok=True)
            write_config(place.scratch / CONFIG, place.scratch / PROJECT, place.scratch / OUT)
            confined = self._run(ide, place, advance)
            shutil.copytree(_made(place.scratch / OUT), output)
            return confined
        except BaseException:
            _save(place.scratch / OUT, output)
            raise
        finally:
            place.remove()

    def _run(self, ide: Ide, place: Place, advance: Callable[[Progress], None]) -> str:
        command = GENERATIONS[self.options.generation]
        feature = [self.options.feature] if self.options.generation == "ij23" else []
        argv = [str(ide.launcher), command, "full", *feature, str(place.scratch / CONFIG)]
        java = Path(self.options.java).expanduser().absolute() if self.options.java else None
        walls = place.walls(str(ide.launcher), reads=tuple(each for each in (java, ide.plugin) if each))
        process = WatchedProcess(argv, cwd=place.scratch, environment=self._variables(ide, place, java), walls=walls)
        try:
            for line in process.lines(self.options.idle):
                if told := progress_of(line):
                    advance(told)
            if code := process.ended():
                raise process.trouble(code)
            return process.confined
        finally:
            process.close()

    def _variables(self, ide: Ide, place: Place, java: Path | None) -> dict[str, str]:
        """Its folders are below the scratch folder: neither settings nor caches of the user are seen or changed."""
        folders = {name: place.scratch / "ide" / name for name in ("config", "system", "plugins", "log")}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        if ide.plugin:
            shutil.copytree(ide.plugin, folders["plugins"] / ide.plugin.name)
        properties, options = place.scratch / "idea.properties", place.scratch / "ide.vmoptions"
        atomic.write(properties, "".join(f"idea.{name}.path={path}\n" for name, path in folders.items()).encode())
        heap = [f"-Xmx{int(place.memory * HEAP) >> 20}m"] if place.memory else []
        atomic.write(options, "\n".join(["-Djava.awt.headless=true", *heap, ""]).encode())
        told = {f"{ide.variables}_PROPERTIES": str(properties), f"{ide.variables}_VM_OPTIONS": str(options)}
        return variables(place) | told | ({"EVALUATION_JAVA": str(java)} if java else {})


def _save(out: Path, output: Path) -> None:
    """Copy the workspace among the results, if it has sessions of a file; `output` may be half written."""
    found = sorted(path for path in out.glob("*") if any((path / "data").rglob("*.json.gz")))
    if found:
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(found[-1], output)


def _made(out: Path) -> Path:
    """The workspace among the results. An IDE that was told to stop ends with exit code 0 as well."""
    found = sorted(path.parent for path in out.glob("*/config.json"))
    if not found or not (found[-1] / "data/files.json").is_file():
        raise EngineCrash("the IDE ended without an error, and without sessions: it was told to stop, or closed itself")
    return found[-1]
