"""The workspace, the environment variables and the configuration of an engine's process."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from ci_eval.core.base.files import remove_tree
from ci_eval.core.base.workspaces import source_roots
from ci_eval.core.contracts import Installation, Surroundings
from ci_eval.core.model import Confine
from ci_eval.core.model.engine import SET, AutoImported, SentConfiguration
from ci_eval.plugins.adapters.process import EngineProcess, SandboxPolicy, find_installs, interpreter

CANARY = "canary"
"""A file that an engine can read only if it is not confined."""
DRIVERS = Path(__file__).parent.parent / "drivers"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    root: Path
    base: Path
    """A temporary folder. The engine may write only to its subfolder `scratch`."""
    surroundings: Surroundings

    @classmethod
    def new(cls, folder: Path, surroundings: Surroundings) -> Place:
        base = Path(tempfile.mkdtemp(prefix="ci-eval-"))
        (base / "programs").mkdir()
        (base / CANARY).write_text("An engine that can read this is not confined.\n")
        return cls(folder=folder, root=surroundings.root, base=base, surroundings=surroundings)

    @classmethod
    @contextmanager
    def temporary(cls, folder: Path, surroundings: Surroundings) -> Iterator[Place]:
        place = cls.new(folder, surroundings)
        try:
            place.renew()
            yield place
        finally:
            place.remove()

    @property
    def scratch(self) -> Path:
        """Return the only folder that the engine may write to. It is emptied when the process starts."""
        return self.base / "scratch"

    @property
    def programs(self) -> Path:
        """Return the folder that the engine may run programs from, but not change."""
        return self.base / "programs"

    @property
    def environment(self) -> Path | None:
        return self.surroundings.environment

    @property
    def sources(self) -> tuple[Path, ...]:
        given = self.surroundings.sources
        return source_roots(self.root) if given is None else given

    @property
    def memory(self) -> int:
        return self.surroundings.memory

    def walls(self, *programs: str, reads: tuple[Path, ...] = (), address_space: int = 0) -> SandboxPolicy:
        """Return the rights of the engine's process. `programs`: the programs that the engine runs. `reads`: paths that
        it may read besides the project and the engine's folder. `address_space`: a limit in bytes, or 0 for none."""
        runs = [self.folder, self.programs, *self.surroundings.reads]
        runs += [install for program in (interpreter(), *programs) for install in find_installs(program)]
        project = (self.root, *([self.environment] if self.environment else []))
        return SandboxPolicy(
            confine=self.surroundings.confine,
            runs=tuple(dict.fromkeys(runs)),
            reads=(*project, *reads),
            writes=(self.scratch,),
            canary=self.base / CANARY,
            memory=self.memory,
            address_space=address_space,
            remains=self.base,
        )

    def renew(self) -> None:
        remove_tree(self.scratch)
        (self.scratch / "home").mkdir(parents=True)

    def remove(self) -> None:
        remove_tree(self.base)


def bare_surroundings(root: Path, *, timeout: float, memory: int, **more: Any) -> Surroundings:
    """Return the surroundings of a program that is not an engine. `more`: further fields of Surroundings."""
    return Surroundings(
        root=root, language="", keywords=frozenset(), cache=root, timeout=timeout, memory=memory, **more
    )


def measure_confinement(confine: Confine) -> str:
    """Start a process that does nothing, and return its sandbox report."""
    # With `required`, an incomplete sandbox would keep the process from starting, and so from reporting.
    confine = "off" if confine == "off" else "auto"
    with Place.temporary(DRIVERS, bare_surroundings(DRIVERS, timeout=0, memory=0, confine=confine)) as place:
        command, walls = [interpreter(), "-I", "-S", "-c", ""], place.walls()
        # A process may be killed before it reports, for example if memory is short, so a second process is tried.
        for _ in range(2):
            with closing(EngineProcess(command, cwd=place.scratch, environment={}, walls=walls)) as process:
                if report := process.confined:
                    return report
        return "not confined: it did not start"


def variables(place: Place) -> dict[str, str]:
    """Return the environment variables of an engine's process. Of the user's variables, only PATH is passed on."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        # An engine must neither read the user's own settings nor write to them.
        "HOME": str(place.scratch / "home"),
        "TMPDIR": str(place.scratch),
        "LANG": "C.UTF-8",
        # Without this, Python would import modules from the current folder.
        "PYTHONSAFEPATH": "1",
    }


# --------------------------------------------------------------------------------------------- configuration sent

SECRET = re.compile(
    r"token|secret|passw|credential|api_?key|licen[cs]e_?key|private_?key|(^|_)auth(_|$)", re.IGNORECASE
)
HEAP = re.compile(r"-Xmx(\d+)([kmg]?)$|--max-old-space-size=(\d+)$", re.IGNORECASE)
SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
INTERPRETERS = frozenset({"node", "python", "python3", "php", "ruby", "sh", "bash", "deno", "bun"})
"""Programs that run the first file among their arguments."""
LONGEST = 4_000
"""A file with more characters is stored as its size and digest."""
OF_THE_MACHINE = "(the machine's)"
"""A placeholder for a value that differs between machines."""


@runtime_checkable
class Configured(Protocol):
    def sent(self, installation: Installation, surroundings: Surroundings) -> SentConfiguration:
        """Return the configuration that the engine will get. No engine is started."""


def configuration(
    place: Place,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    auto_import: AutoImported,
    taken_over: Iterable[str] = (),
    **more: Any,
) -> SentConfiguration:
    """Return the configuration with placeholders for paths and secrets. `taken_over`: variables whose values come from
    the user's environment and are not stored. `more`: further fields of SentConfiguration."""
    secret = frozenset(taken_over)
    plain = {
        name: SET if name in secret or SECRET.search(name) else OF_THE_MACHINE if name == "PATH" else value
        for name, value in environment.items()
    }
    arguments = extract_arguments(command)
    limits = {"timeout": place.surroundings.timeout, "memory": float(place.memory)}
    files = {}
    for path in sorted(place.base.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name != CANARY:
            # The search paths of Python differ between machines.
            text = path.read_text(errors="replace").replace(f"{sys.base_prefix}/lib", "{python}/lib")
            digest = f"{len(text):,} characters, SHA-256 {sha256(text.encode()).hexdigest()[:12]}"
            files[str(path)] = text if len(text) <= LONGEST else digest
    named = replace_paths({"arguments": arguments, "environment": plain, **more, "files": files}, place)
    known: dict[str, Any] = {"autoImport": auto_import, "limits": limits | heap(arguments), "dependencies": "none"}
    if place.environment is not None:
        is_named = "{dependencies}" in msgspec.json.encode(named).decode()
        known["dependencies"] = "told" if is_named else "not told"
    return msgspec.convert(named | known, SentConfiguration)


def extract_arguments(command: Sequence[str]) -> list[str]:
    """Return the arguments without the program. If the program is an interpreter, its script is also removed."""
    arguments = list(command[1:])
    if not (command and interprets(command[0])):
        return arguments
    script = next((index for index, part in enumerate(arguments) if Path(part).is_file()), None)
    return arguments if script is None else arguments[:script] + arguments[script + 1 :]


def interprets(program: str) -> bool:
    # The version is removed: `python3.12` is `python`.
    return re.sub(r"[\d.]+$", "", Path(program).name) in INTERPRETERS


def heap(arguments: Iterable[str]) -> dict[str, float]:
    """Return the size of the heap in bytes as `{"heap": SIZE}`, or {} if the arguments do not set a size."""
    for argument in arguments:
        if match := HEAP.match(argument):
            size = int(match[3]) * 2**20 if match[3] else int(match[1]) * SIZES[match[2].lower()]
            return {"heap": float(size)}
    return {}


def replace_paths(value: Any, place: Place) -> Any:
    known = {
        place.environment: "{dependencies}",
        place.scratch: "{scratch}",
        place.base: "{base}",
        place.root: "{root}",
        place.surroundings.root: "{root}",
        place.folder: "{engine}",
        place.surroundings.cache: "{cache}",
        DRIVERS: "{drivers}",
        Path(interpreter()): "{python}",
    }
    # Replacing `/` would change every path.
    names = [(str(path), name) for path, name in known.items() if path and str(path) != "/"]
    # The longest path is replaced first, since one folder may be within another.
    return replace_texts(value, dict(sorted(names, key=lambda pair: -len(pair[0]))))


def replace_texts(value: Any, texts: Mapping[str, str]) -> Any:
    """Replace texts one after the other in all strings of a nested value. Tuples become lists, paths become strings."""
    if isinstance(value, str | Path):
        changed = str(value)
        for old, new in texts.items():
            changed = changed.replace(old, new)
        return changed
    if isinstance(value, Mapping):
        return {replace_texts(key, texts): replace_texts(member, texts) for key, member in value.items()}
    return [replace_texts(element, texts) for element in value] if isinstance(value, list | tuple) else value
