"""The IDE of JetBrains as an engine: its options, how it is found and installed, and how it is run and watched."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import ConfigError, EngineCrash, EngineFailure, EngineTimeout, InstallError
from ci_eval.core.contracts import Engine, Installation, Running, Surroundings
from ci_eval.core.model import EngineInfo
from ci_eval.fetch.archive import Limits, find_top_folder, unpack
from ci_eval.fetch.download import check_digest, check_sha256, download
from ci_eval.plugins.adapters.place import Place, variables
from ci_eval.plugins.adapters.process import ENDING, EngineProcess

GENERATIONS = {"k19": "evaluate-completion", "ij21": "ml-evaluate", "ij23": "ml-evaluate"}


class IdeOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    ide: str = ""
    """A folder, or an archive: its path, or https://…"""
    sha256: str = ""
    plugin: str = ""
    """A folder or an archive, likewise; "" = the IDE has the plugin."""
    plugin_sha256: str = ""
    generation: str = "ij23"
    feature: str = "token-completion"
    java: str = ""
    """The JDK of projects that have none."""
    idle: float = 900.0
    """Seconds without output after which the IDE is taken to be stuck."""

    @classmethod
    def read(cls, given: Mapping[str, object]) -> IdeOptions:
        """Raises ConfigError if an option is unknown or wrong."""
        try:
            options = msgspec.convert(dict(given), cls)
        except msgspec.ValidationError as error:
            known = ", ".join(field.encode_name for field in msgspec.structs.fields(cls))
            raise ConfigError(f"`engine.options` of jetbrains: {error}; known are {known}") from error
        if options.generation not in GENERATIONS:
            raise ConfigError(
                f"`engine.options.generation` is {options.generation!r}; it is one of {', '.join(GENERATIONS)}"
            )
        if not options.idle > 0:
            raise ConfigError(f"`engine.options.idle` is {options.idle:g}; it is a number of seconds")
        for digest in filter(None, (options.sha256, options.plugin_sha256)):
            check_digest(digest)
        return options


MARKER = ".ci-eval-complete"
LARGEST = Limits(entries=500_000, file_bytes=4 << 30, total_bytes=16 << 30)
LARGEST_DOWNLOAD = 4 << 30


class _Launch(msgspec.Struct, rename="camel"):
    os: str = ""
    launcher_path: str = ""


class _Product(msgspec.Struct, rename="camel"):
    product_code: str
    build_number: str
    env_var_base_name: str = "IDEA"
    launch: list[_Launch] = []


class Ide(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    build: str
    """The product and build, such as IU-233.11799.241."""
    launcher: Path
    variables: str
    """The prefix of the IDE's variables, such as IDEA in IDEA_PROPERTIES."""
    plugin: Path | None


def find(options: IdeOptions, cache: Path) -> Ide:
    """An archive is unpacked below `cache`. Raises ConfigError or PreparationError."""
    if not options.ide:
        raise ConfigError(
            "engine jetbrains needs an IDE: add --set engine.options.ide=FOLDER, or an archive with "
            "--set engine.options.sha256=HEX"
        )
    folder = _folder("ide", options.ide, options.sha256, cache)
    plugin = _folder("plugin", options.plugin, options.plugin_sha256, cache) if options.plugin else None
    path = folder / "product-info.json"
    if not path.is_file():
        raise InstallError(f"{folder} is no IDE of JetBrains: it has no product-info.json; give the folder that has")
    try:
        product = msgspec.json.decode(stored.read(path, stored.MANIFEST), type=_Product)
    # JSON that is nested too deeply raises a RecursionError.
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InstallError(f"{path} is damaged: {error}; install the IDE again") from error
    launcher = folder / next((launch.launcher_path for launch in product.launch if launch.os == "Linux"), "")
    if not launcher.is_file():
        raise InstallError(f"{folder} has no launcher for Linux: product-info.json names none that is there")
    return Ide(
        folder=folder,
        build=f"{product.product_code}-{product.build_number}",
        launcher=launcher,
        variables=product.env_var_base_name,
        plugin=plugin,
    )


def _folder(option: str, location: str, sha256: str, cache: Path) -> Path:
    if location.startswith(("https://", "http://")):
        _need_digest(option, location, sha256)
        archive = download(location, sha256=sha256, cache=cache, max_bytes=LARGEST_DOWNLOAD)
        return _unpack(archive, sha256, cache)
    path = Path(location).expanduser().absolute()
    if path.is_dir():
        return path
    if not path.is_file():
        raise ConfigError(f"`engine.options.{option}` is {location}, where there is neither a folder nor an archive")
    _need_digest(option, location, sha256)
    check_sha256(path, sha256, path.name)
    return _unpack(path, sha256, cache)


def _need_digest(option: str, location: str, sha256: str) -> None:
    if not sha256:
        key = "sha256" if option == "ide" else "pluginSha256"
        raise ConfigError(
            f"`engine.options.{option}` is the archive {location}: add its SHA-256 as `engine.options.{key}`"
        )


def _unpack(archive: Path, sha256: str, cache: Path) -> Path:
    home = cache / "ides" / sha256[:32]
    if not (home / MARKER).is_file():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=home.parent) as new:
            # The folder is filled and marked before it is moved, so that no other process sees a part of it.
            whole = Path(new, "whole")
            unpack(archive, whole / "files", LARGEST)
            (whole / MARKER).touch()
            # Another process may have been faster.
            if not (home / MARKER).is_file():
                whole.rename(home)
    return find_top_folder(home / "files")


PROGRESS = re.compile(r"(?P<title>[^:\r\n]{1,80}):\s*(?P<percent>\d{1,3})% \[=*>? *\] ?(?P<text>.*)")
"""A line of the plugin's `CommandLineProgress`: title, percent, a bar of twenty characters, text."""
LAST = 40  # lines that are remembered, for the error
LONGEST = 1 << 20


class Progress(msgspec.Struct, frozen=True):
    title: str
    percent: int
    text: str


def parse_progress(line: str) -> Progress | None:
    match = PROGRESS.match(line.strip("\r\n"))
    return Progress(match["title"].strip(), min(int(match["percent"]), 100), match["text"]) if match else None


class WatchedProcess(EngineProcess):
    def lines(self, idle: float) -> Iterator[str]:
        """Yield lines until the program closes its output. Raises EngineTimeout after `idle` seconds without output."""
        self.said: deque[str] = deque(maxlen=LAST)
        partial = b""
        while True:
            try:
                self._await(self._stdout, selectors.EVENT_READ, time.monotonic() + idle)
            except EngineTimeout:
                words = " | ".join([*self.said][-3:]) or "none"
                raise EngineTimeout(
                    f"the IDE said nothing for {idle:g} seconds and was ended; its last words: {words}. "
                    "If it was at work, raise engine.options.idle"
                ) from None
            chunk = os.read(self._stdout, 1 << 16)
            # A bar of progress ends with a carriage return, not with a new line. A line without an end is cut to
            # LONGEST.
            *whole, partial = re.split(rb"[\r\n]+", (partial + chunk)[-LONGEST:])
            for line in (*whole, *([partial] if not chunk else [])):
                if line.strip():
                    self.said.append(line.decode(errors="replace"))
                    yield self.said[-1]
            if not chunk:
                return

    def ended(self) -> int:
        """Raises EngineTimeout if the program has closed its output and goes on."""
        try:
            code = self._process.wait(timeout=ENDING)
        except subprocess.TimeoutExpired:
            raise EngineTimeout("the IDE closed its output and did not end") from None
        # Its last words may still be on their way to us.
        self._listener.join(timeout=ENDING)
        return code

    def trouble(self, code: int) -> EngineFailure:
        words = [*self.said, *self.last_words()]
        shown = "\n".join(words[-10:])
        for pattern, advice in REASONS.items():
            if any(re.search(pattern, line, re.IGNORECASE) for line in words):
                return EngineCrash(f"the IDE ended with exit code {code}: {advice}\n{shown}")
        return EngineCrash(f"the IDE ended with exit code {code}\n{shown}")


REASONS = {
    r"Project SDK not found|Java SDK not configured|JDK .*(not found|not configured)|no (project )?SDK": (
        "the project has no SDK; name a JDK's folder as engine.options.java, or configure the project in the IDE once"
    ),
    r"licen[cs]e": "it asks for a licence; activate it on this machine, or take a community edition",
    r"(cannot find|unknown|no) (application )?(starter|command)|(evaluate-completion|ml-evaluate).*not found": (
        "it does not know the plugin's command; give the evaluation plugin of its build as engine.options.plugin"
    ),
    r"Error for loading config|Existing keys|Unexpected type in config|Config file .* (created|not found)": (
        "it does not understand the configuration; engine.options.generation must be that of the plugin"
    ),
    r"Project could not be loaded|is not a project": "it could not load the project",
    r"No files for .* found": "it found no file of the language below actions.evaluationRoots",
    r"OutOfMemoryError": "it ran out of memory; raise interpret.memoryLimit",
    r"Only one instance|already running": "another IDE runs with the same folders; end it first",
}
"""Pattern of a line of the plugin or the platform → its meaning. The plugin's texts are those of its source; those of
licences and of the platform are not verified against an IDE."""


CONFIG, PROJECT, OUT = "config.json", "project", "out"
HEAP = 0.75  # share of the memory limit


class IdeEngine(msgspec.Struct, frozen=True):
    name: str
    summary: str
    options: IdeOptions = msgspec.field(default_factory=IdeOptions)
    languages: frozenset[str] | None = None
    version: str = "as given"
    source: str = "a folder or an archive of yours"
    licence: str = "LicenseRef-proprietary"
    verified: bool = False
    toolchains: Mapping[str, str] = msgspec.field(default_factory=dict)
    needs_dependencies: bool = False
    takes_records: bool = False
    needs: tuple[str, ...] = ()
    own_process: bool = True

    @property
    def described(self) -> str:
        return f"{self.options.generation}, {self.options.feature}"

    def configured(self, options: Mapping[str, object]) -> Engine:
        return replace(self, options=IdeOptions.read(options))

    def is_ready(self, _cache: Path) -> bool | None:
        return None

    def install(self, version: str | None, cache: Path) -> Installation:
        """Find or unpack it. `version` must be its product and build. Raises ConfigError or PreparationError."""
        ide = find(self.options, cache)
        if version is not None and version != ide.build:
            raise ConfigError(f"engine jetbrains@{version} is asked for, and {ide.folder} is {ide.build}")
        return Installation(info=EngineInfo(name=self.name, version=ide.build), folder=ide.folder)

    def start(self, _installation: Installation, _surroundings: Surroundings) -> Running:
        # An IDE answers no single question.
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
            written = sorted(path.parent for path in (place.scratch / OUT).glob("*/config.json"))
            # An IDE that was told to stop ends with exit code 0 as well.
            if not written or not (written[-1] / "data/files.json").is_file():
                raise EngineCrash(
                    "the IDE ended without an error, and without sessions: it was told to stop, or closed itself"
                )
            shutil.copytree(written[-1], output)
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
