"""Commands that exchange workspaces with the JetBrains evaluation plugin."""

from __future__ import annotations

from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import cli
from ci_eval.exchange import generations
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.exchange import exporting, importing
from ci_eval.jobs.workflows import announcements as announcing

GENERATIONS = click.Choice(generations.names())


@cli.command("import")
@click.argument("workspace", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", required=True, help="A new workspace.")
@click.option("--from", "generation", type=GENERATIONS, help="Which plugin wrote it. Default: told by its config.json.")
@click.option(
    "--engine", metavar="NAME@VERSION", default="jetbrains", help="What answered, of which the plugin keeps no record."
)
def import_(workspace: Path, output: Path, generation: str | None, engine: str) -> None:
    """A WORKSPACE of the JetBrains evaluation plugin → one of ours, with reports.

    report, compare, rerank and trends then work on it as on any other.

    \b
    Examples:
      ci-eval import completion-evaluation/2021-03-01_02-00-00 --output imported
      ci-eval import 2022-05-01_02-00-00 --engine jetbrains@IU-221.5591.52 --output imported
    """
    screen = Screen()
    done = importing.import_workspace(workspace, output=output, generation=generation, engine=engine, screen=screen)
    announcing.evaluation(done, screen)
    presenting.evaluation(done, screen)
    if done.trouble:
        raise done.trouble


@cli.command("export")
@click.argument("workspace", type=click.Path(path_type=Path))
@click.option("--to", "generation", type=GENERATIONS, required=True, help="Which plugin is to read it.")
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", required=True, help="A new folder.")
def export_(workspace: Path, generation: str, output: Path) -> None:
    """A WORKSPACE of ours → one of the JetBrains evaluation plugin.

    `ci-eval import` makes the same workspace of it again.

    \b
    Examples:
      ci-eval export night --to ij23 --output completion-evaluation/2026-11-22_02-00-00
    """
    screen = Screen()
    exporting.export_workspace(workspace, to=generation, output=output)
    screen.result(str(output))
