"""The engine jedi, a static analysis library for Python: the release installed with ci-eval, or any from PyPI."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

from ci_eval.core.contracts import Answer, Edit, Engine, Installation, Query, Running, Surroundings
from ci_eval.core.model import EngineInfo, Suggestion
from ci_eval.core.model.engine import SentConfiguration
from ci_eval.plugins.adapters.driven import Reply, RunningProcess
from ci_eval.plugins.adapters.engine import FromRecipe
from ci_eval.plugins.adapters.place import Place, configuration, variables
from ci_eval.plugins.adapters.process import interpreter
from ci_eval.plugins.adapters.python_paths import package_paths
from ci_eval.plugins.adapters.recipes import Pip

DRIVER = Path(__file__).parent.parent / "drivers" / "jedi_driver.py"
OPEN_TIMEOUT = 60.0
"""The time limit for starting jedi and for opening a file, in seconds. Neither counts as a completion."""


class _Reply(Reply):
    ms: float = 0.0
    items: list[tuple[str, str]] = []
    defined: list[tuple[str, int, int]] = []


def _command(place: Place) -> list[str]:
    arguments = [str(place.folder), str(place.root), str(place.scratch / "parsed")]
    arguments += [*map(str, place.sources), *package_paths(place.environment)]
    # Do not pass -I: Python would ignore PYTHONHASHSEED.
    return [interpreter(), "-s", "-S", str(DRIVER), *arguments]


def _environment(place: Place) -> dict[str, str]:
    # The order of jedi's sets decides which of several equally good answers comes first.
    return variables(place) | {"PYTHONHASHSEED": "0"}


class RunningJedi(RunningProcess):
    reads = (DRIVER,)
    limits_address_space = True

    def command(self, place: Place) -> Sequence[str]:
        return _command(place)

    def variables(self, place: Place) -> dict[str, str]:
        return _environment(place)

    def open(self, path: str, text: str) -> None:
        self._pending: list[Edit] = []
        self.ask(["open", path, text], OPEN_TIMEOUT, _Reply)

    def edit(self, edits: Sequence[Edit]) -> None:
        # jedi reads the text only when it gets a request, so edits are sent with the next request.
        self._pending.extend(edits)

    def complete(self, query: Query) -> Answer:
        edits, self._pending = self._pending, []
        clocks = self._process.start_clock()
        reply = self.ask(["complete", edits, query.offset], self._surroundings.timeout, _Reply)
        cpu = self._process.stop_clock(clocks)
        # jedi suggests keyword arguments as `name=`.
        suggestions = [Suggestion(text=name.rstrip("="), kind=kind) for name, kind in reply.items]
        return Answer(suggestions=suggestions, latency=reply.ms, cpu=cpu)

    def define(self, offset: int) -> list[tuple[str, int, int]]:
        reply = self.ask(["define", offset], self._surroundings.timeout, _Reply)
        return [(path.removeprefix(f"{self._place.root}/"), line, column) for path, line, column in reply.defined]


class Jedi(FromRecipe, frozen=True, kw_only=True):
    def is_ready(self, _cache: Path) -> bool | None:
        return None

    def install(self, version: str | None, cache: Path) -> Installation:
        if version is not None:
            return super().install(version, cache)
        packages = {name: installed_version(name) for name in ("jedi", "parso")}
        return Installation(info=EngineInfo(name=self.name, version=packages["jedi"], packages=packages))

    def sent(self, installation: Installation, surroundings: Surroundings) -> SentConfiguration:
        with Place.temporary(installation.folder or _find_own_jedi(), surroundings) as place:
            return configuration(place, _command(place), _environment(place), auto_import="none")

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        return RunningJedi(installation.folder or _find_own_jedi(), surroundings)


def _find_own_jedi() -> Path:
    # Importing jedi would be slower.
    spec = find_spec("jedi")
    assert spec, "it is a dependency of ci-eval"
    return Path(str(spec.origin)).parent.parent


ENGINE: Engine = Jedi(
    name="jedi",
    summary="static analysis for Python; embedded, or any release from PyPI (jedi@0.18.2)",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="jedi", version=installed_version("jedi")),
    verified=True,
)
