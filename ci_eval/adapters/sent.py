"""Writes down what an engine is told, by the same calls that start it; so nothing it is told can be missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

from ci_eval.adapters.confinement import interpreter
from ci_eval.adapters.place import CANARY, DRIVERS, Place
from ci_eval.contracts import Installation, Surroundings
from ci_eval.model.engine.sent import SET, AutoImported, SentConfiguration

SECRET = re.compile(
    r"token|secret|passw|credential|api_?key|licen[cs]e_?key|private_?key|(^|_)auth(_|$)", re.IGNORECASE
)
"""Finds names of variables whose values may be secrets."""
HEAP = re.compile(r"-Xmx(\d+)([kmg]?)$|--max-old-space-size=(\d+)$", re.IGNORECASE)
SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
INTERPRETERS = frozenset({"node", "python", "python3", "php", "ruby", "sh", "bash", "deno", "bun"})
"""Programs whose first argument that is a file is the program that matters."""
LONGEST = 4_000
"""Characters of a file that are written down."""
OF_THE_MACHINE = "(the machine's)"
"""Stands for a value that says nothing about the engine and much about the machine."""

T = TypeVar("T")


@runtime_checkable
class Configured(Protocol):
    """An engine that is started with a configuration."""

    def sent(self, installation: Installation, surroundings: Surroundings) -> SentConfiguration:
        """Return what the engine will be told. Nothing is started."""


def beforehand(installation: Installation, surroundings: Surroundings, write: Callable[[Place], T]) -> T:
    """Return what `write` makes of a place like the one that the engine will run in."""
    place = Place.new(installation.folder or DRIVERS, surroundings)
    try:
        place.renew()
        return write(place)
    finally:
        place.remove()


def configuration(
    place: Place,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    auto_import: AutoImported,
    prepared: Sequence[str] = (),
    taken_over: Iterable[str] = (),
    **more: Any,
) -> SentConfiguration:
    """Return the configuration of an engine that is started so at that place, with names for its folders.

    `taken_over`: variables whose values are the user's. `more`: other fields of SentConfiguration.
    """
    secret = frozenset(taken_over)
    plain = {
        name: SET if name in secret or SECRET.search(name) else OF_THE_MACHINE if name == "PATH" else value
        for name, value in environment.items()
    }
    arguments = arguments_of(command)
    limits = {"timeout": place.surroundings.timeout, "memory": float(place.memory)}
    parts = {"arguments": arguments, "prepared": arguments_of(prepared), "environment": plain, **more}
    named = without_paths({**parts, "files": files_of(place)}, place)
    known = {"autoImport": auto_import, "limits": limits | heap(arguments), "dependencies": _dependencies(place, named)}
    return msgspec.convert(named | known, SentConfiguration)


def files_of(place: Place) -> dict[str, str]:
    """Return path → content of the files that were written for the engine: configurations and programs that answer it.

    A content of more than LONGEST characters is represented by its digest.
    """
    contents = {}
    for path in sorted(place.base.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name != CANARY:
            text = path.read_text(errors="replace").replace(f"{sys.base_prefix}/lib", "{python}/lib")
            digest = f"{len(text):,} characters, SHA-256 {sha256(text.encode()).hexdigest()[:12]}"
            contents[str(path)] = text if len(text) <= LONGEST else digest
    return contents


def _dependencies(place: Place, named: Mapping[str, Any]) -> str:
    if place.environment is None:
        return "none"
    return "told" if "{dependencies}" in msgspec.json.encode(named).decode() else "not told"


def arguments_of(command: Sequence[str]) -> list[str]:
    """Return the arguments of the program that a command runs: behind an interpreter, those of its script."""
    program, rest = (Path(command[0]).name if command else ""), list(command[1:])
    if re.sub(r"[\d.]+$", "", program) not in INTERPRETERS:
        return rest
    script = next((place for place, part in enumerate(rest) if Path(part).is_file()), None)
    # Python's `-c CODE` and the options before a script are arguments, too: they decide what runs.
    return rest if script is None else rest[:script] + rest[script + 1 :]


def heap(arguments: Iterable[str]) -> dict[str, float]:
    """Return the bytes that the arguments allow for objects, by the name `heap`; nothing where they do not say."""
    for argument in arguments:
        if match := HEAP.match(argument):
            size = int(match[3]) * 2**20 if match[3] else int(match[1]) * SIZES[match[2].lower()]
            return {"heap": float(size)}
    return {}


def without_paths(value: Any, place: Place) -> Any:
    """Return the value with names in place of the folders of one run, so that two runs can be compared."""
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
    names = sorted(
        ((str(path), name) for path, name in known.items() if path and str(path) != "/"),
        key=lambda pair: -len(pair[0]),
    )
    return _replaced(value, names)


def _replaced(value: Any, names: Sequence[tuple[str, str]]) -> Any:
    if isinstance(value, str | Path):
        text = str(value)
        for path, name in names:
            text = text.replace(path, name)
        return text
    if isinstance(value, Mapping):
        return {_replaced(key, names): _replaced(below, names) for key, below in value.items()}
    return [_replaced(each, names) for each in value] if isinstance(value, list | tuple) else value
