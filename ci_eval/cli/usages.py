"""The command that mines object usages and their histories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli.datasets import dataset
from ci_eval.cli.options import SPECS
from ci_eval.core import machine
from ci_eval.jobs.datasets import usages as mining
from ci_eval.plugins.mining.usages import languages, streams

SOURCES = ("projects", "git", "recordings", "simulate")


def _recordings(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    """Return format and path of each FORMAT=PATH. Raises BadParameter if a format is not known, or a path is
    missing."""
    for value in values:
        name, _, path = value.partition("=")
        if name not in streams.names() or not path:
            raise click.BadParameter(f"{value!r} is not FORMAT=PATH; formats are {', '.join(streams.names())}")
    return tuple((name, Path(path)) for name, _, path in (value.partition("=") for value in values))


@dataset.command("usages", epilog=SPECS)
@click.option("--project", "projects", metavar="SPEC", multiple=True, help="Usages of a project. May be repeated.")
@click.option(
    "--git", metavar="URL_OR_FOLDER[@REVISION]", multiple=True, help="Histories in a repository. May be repeated."
)
@click.option(
    "--stream",
    "recordings",
    metavar="FORMAT=PATH",
    multiple=True,
    callback=_recordings,
    help=f"Histories in recorded editing. Formats: {', '.join(streams.names())}. May be repeated.",
)
@click.option(
    "--simulate", type=click.Path(path_type=Path), metavar="USAGES.jsonl", help="Histories that nobody typed."
)
@click.option("--language", type=click.Choice(languages.names()), default=None, help="Needed but for --simulate, KaVE.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE.jsonl", required=True)
@click.option("--own-types", is_flag=True, help="Also usages of types that the project itself defines.")
@click.option("--infer", is_flag=True, help="Ask jedi where local rules do not tell a type: slow. Python only.")
@click.option(
    "--merge-selection",
    "merge",
    type=click.Choice(["last", "all"]),
    default="last",
    show_default=True,
    help="After which snapshots a proposal that was selected makes a state: the last one, or all.",
)
@click.option(
    "--texts",
    is_flag=True,
    help="--git, --stream: also the texts and where the objects are in them, which completion engines are asked with.",
)
@click.option("--seed", default=0, show_default=True, help="Of --simulate.")
@click.option("--steps", is_flag=True, help="--simulate: also each state between the first and the last.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=machine.cores, help="Worker processes.")
def usages(output: Path, language: str | None, **options: Any) -> None:
    """Object usages of code (--project), or how they came to be (--git, --stream, --simulate).

    A usage is what one method calls on the objects of one type; recommenders are trained on them. A history is a usage
    over time; recommenders are evaluated on them.

    \b
    Examples:
      ci-eval dataset usages --project pypi:requests==2.32.3 --language python --output usages.jsonl
      ci-eval dataset usages --git . --language python --output histories.jsonl
      ci-eval dataset usages --stream neutral=recording.jsonl --language python --output histories.jsonl
      ci-eval dataset usages --stream kave=Events --output histories.jsonl
      ci-eval dataset usages --simulate usages.jsonl --seed 1 --output histories.jsonl
    """
    sources = {name: options.pop(name) for name in SOURCES}
    chosen = [name for name in SOURCES if sources[name]]
    if len(chosen) != 1:
        raise click.UsageError("give one of --project, --git, --stream and --simulate")
    if options["texts"] and chosen[0] not in {"git", "recordings"}:
        raise click.UsageError("--texts stores what files were like over time: give it with --git or --stream")
    makers: dict[str, Callable[..., None]] = {
        "projects": mining.mine_projects,
        "git": mining.mine_git,
        "recordings": mining.mine_streams,
        "simulate": mining.simulate_histories,
    }
    makers[chosen[0]](sources[chosen[0]], output, mining.Choices(language=language or "", **options), Screen())
