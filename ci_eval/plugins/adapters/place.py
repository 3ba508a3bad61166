"""The place where an engine's process runs, and the environment variables of that process."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ci_eval.core.base.files import remove_tree
from ci_eval.core.base.workspaces import source_roots
from ci_eval.core.contracts import Surroundings
from ci_eval.core.model import Confine
from ci_eval.plugins.adapters.confinement import Walls, find_installs, interpreter
from ci_eval.plugins.adapters.process import EngineProcess

CANARY = "canary"
"""The name of the file that an engine can read only if it is not confined."""
DRIVERS = Path(__file__).parent.parent / "drivers"


@dataclass(frozen=True, kw_only=True)
class Place:
    """The paths and limits that an engine's command and settings are made from."""

    folder: Path
    """The folder in which the engine is installed."""
    root: Path
    """The root of the project."""
    base: Path
    """A temporary folder for this engine alone; the engine itself may write only to `scratch` below it."""
    surroundings: Surroundings

    @classmethod
    def new(cls, folder: Path, surroundings: Surroundings) -> Place:
        """Return a place with a new temporary folder, which `remove` deletes."""
        base = Path(tempfile.mkdtemp(prefix="ci-eval-"))
        (base / "programs").mkdir()
        (base / CANARY).write_text("An engine that can read this is not confined.\n")
        return cls(folder=folder, root=surroundings.root, base=base, surroundings=surroundings)

    @property
    def scratch(self) -> Path:
        """Return the only folder that the engine may write to. It is emptied when the process starts, and deleted by
        `remove`."""
        return self.base / "scratch"

    @property
    def programs(self) -> Path:
        """Return the folder for programs of ours, which the engine may run but not change."""
        return self.base / "programs"

    @property
    def language(self) -> str:
        return self.surroundings.language

    @property
    def environment(self) -> Path | None:
        return self.surroundings.environment

    @property
    def sources(self) -> tuple[Path, ...]:
        """Return the folders in which a Python project's own packages are."""
        given = self.surroundings.sources
        return source_roots(self.root) if given is None else given

    @property
    def memory(self) -> int:
        """Return the bytes that the engine may use; 0 means no limit."""
        return self.surroundings.memory

    def walls(self, *programs: str, reads: tuple[Path, ...] = (), address_space: int = 0) -> Walls:
        """Return the engine's rights to read, run and write.

        `programs`: the programs that the engine runs. `reads`: the paths that it may read beside the project and its
        own folder. `address_space`: bytes, 0 = no limit.
        """
        runs = [self.folder, self.programs, *self.surroundings.reads]
        runs += [install for program in (interpreter(), *programs) for install in find_installs(program)]
        project = (self.root, *([self.environment] if self.environment else []))
        return Walls(
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
        """Replace the scratch folder by an empty one, for a new process."""
        remove_tree(self.scratch)
        (self.scratch / "home").mkdir(parents=True)

    def remove(self) -> None:
        remove_tree(self.base)


def measure_confinement(confine: Confine) -> str:
    """Return how well an engine would be confined on this machine, tried out with a program that does nothing."""
    surroundings = Surroundings(
        root=DRIVERS, language="", keywords=frozenset(), cache=DRIVERS, timeout=0, memory=0, confine=confine
    )
    place = Place.new(DRIVERS, surroundings)
    place.renew()
    try:
        # With `required`, it would refuse to start where it cannot be confined, and could not report how well it is.
        walls = replace(place.walls(), confine="off" if confine == "off" else "auto")
        # One may be killed before it can tell, such as where memory is short; two in a row are no accident.
        return _probe(place, walls) or _probe(place, walls) or "not confined: it did not start"
    finally:
        place.remove()


def variables(place: Place) -> dict[str, str]:
    """Return the environment variables of an engine's process. Of the user's own variables it gets PATH alone."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        # An engine must neither read the user's own settings nor write to them.
        "HOME": str(place.scratch / "home"),
        "TMPDIR": str(place.scratch),
        "LANG": "C.UTF-8",
        # Interpreters that the engine starts must not import anything from the folder they run in.
        "PYTHONSAFEPATH": "1",
    }


def _probe(place: Place, walls: Walls) -> str:
    """Return the sandbox report of a program that does nothing within these walls, or "" if it ended before it could
    report."""
    process = EngineProcess([interpreter(), "-I", "-S", "-c", ""], cwd=place.scratch, environment={}, walls=walls)
    try:
        return process.confined
    finally:
        process.close()
