"""The command that leads from a figure to what should be fixed."""

from __future__ import annotations

from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.options import FOLDER, add_open_option, add_view_options, show_report
from ci_eval.core.config.view import View
from ci_eval.jobs import show
from ci_eval.jobs import terminal as presenting

BASE = "List what got worse since this earlier run, over the sessions of both."
OTHER = "A run of another engine over the same sessions, to see whether it has what is missed; may be repeated."


@cli.command()
@click.argument("workspace", type=FOLDER)
@click.option("--base", type=FOLDER, metavar="WORKSPACE", help=BASE)
@click.option("--other", "others", type=FOLDER, metavar="WORKSPACE", multiple=True, help=OTHER)
@click.option("--output", type=FILE, metavar="DIR", help="The folder of the results. Default: WORKSPACE/reports.")
@add_view_options
@add_open_option
def causes(
    workspace: Path, base: Path | None, others: tuple[Path, ...], output: Path | None, view: View, opening: bool
) -> None:
    """List what to fix first: the misses of WORKSPACE by their causes, without asking an engine.

    A cause is what was first instead, whether that can be there at all, or why the expected text is absent. Write
    causes.json, causes.md and causes/index.html. The figures are those of the headline's sessions: with
    `--set reports.headline=all`, keywords and imports count as well.

    \b
    Examples:
      ci-eval causes night
      ci-eval causes night --other pyright-night --set reports.headline=all
      ci-eval causes pull-request --base night
      ci-eval causes night --filter kind=METHOD_CALL --open
    """
    screen = Screen()
    done, reports = show.list_causes(workspace, base=base, others=others, output=output, view=view)
    presenting.small(done, output or workspace / "reports", reports, screen)
    if opening:
        show_report(reports, screen)
