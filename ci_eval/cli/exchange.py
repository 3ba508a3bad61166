"""The commands that exchange workspaces with other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.options import FOLDER, add_view_options
from ci_eval.cli.runs import present_evaluation
from ci_eval.core.config.loading import View
from ci_eval.jobs.jetbrains import conversion
from ci_eval.plugins.exports.tables import FORMATS
from ci_eval.plugins.jetbrains import generations

TO = "Write a workspace for this version of the plugin."
ENGINE = "The engine that answered; the plugin does not store it."


@cli.command("import")
@click.argument("workspace", type=FILE)
@click.option("--output", type=FOLDER, metavar="DIR", required=True, help="A new workspace.")
@click.option("--engine", metavar="NAME@VERSION", default="jetbrains", help=ENGINE)
def import_(workspace: Path, **options: Any) -> None:
    """Import a WORKSPACE of the JetBrains evaluation plugin, and write its reports.

    report, compare, rerank and trends then work on the result.

    \b
    Examples:
      ci-eval import completion-evaluation/2021-03-01_02-00-00 --output imported
    """
    screen = Screen()
    present_evaluation(conversion.import_workspace(workspace, screen=screen, **options), screen)


@cli.command("export")
@click.argument("workspace", type=FOLDER)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="The format of the tables; parquet needs the extra `ml`."
)
@click.option("--to", "generation", type=click.Choice(generations.names()), help=TO)
@click.option("--output", type=FILE, metavar="DIR", required=True, help="A new folder.")
@add_view_options
def export_(workspace: Path, form: str | None, generation: str | None, output: Path, view: View) -> None:
    """Export the answers in WORKSPACE: as tables, or as a workspace of the JetBrains plugin.

    --format writes three tables: a row per session, per lookup (an answer of the engine), and per suggestion.
    --to writes a folder that `ci-eval import` turns into the same workspace again.
    With --format, --filter chooses the sessions: those that pass at least one. A filter is an expression, or the name
    of a filter in the reports, such as 'Prefix 1'. With --to, --title and --set change the stored configuration.

    \b
    Examples:
      ci-eval export night --format parquet --output tables
      ci-eval export night --to ij23 --output completion-evaluation/2026-11-22_02-00-00
    """
    if generation and view.filters:
        raise click.UsageError(
            "--filter chooses sessions for --format, and --to writes all sessions: leave one of them out"
        )
    if form and (view.title or view.overrides):
        raise click.UsageError("tables have no title and no settings: leave out --title and --set")
    screen = Screen()
    if generation and not form:
        conversion.export_workspace(workspace, to=generation, output=output, view=view)
    elif form and not generation:
        written = conversion.export_tables(workspace, form=form, output=output, filters=view.filters, screen=screen)
        screen.table(["table", "rows"], [[str(path), f"{rows:,}"] for path, rows in written.items()], numbers=1)
    else:
        raise click.UsageError("give either --format, for tables, or --to, for the plugin")
    screen.line(str(output))
