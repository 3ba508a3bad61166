"""The command that makes a small case of a miss."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.options import FOLDER, TRUST
from ci_eval.jobs.misses import reduce as reduce_job

DURATION = re.compile(r"([1-9]\d*)(s|m|h)")
SECONDS = {"s": 1, "m": 60, "h": 3600}
FOR = "How long to search at most, such as 90s or 10m; the best so far is kept, as at Ctrl-C."
AGAINST = "A run of another engine over the same sessions, which has what is missed: it must have it in the case, too."
CASE = "Write the case to this source file as well, marked for `ci-eval cases`."


def _parse_duration(_context: click.Context, _option: click.Parameter, value: str) -> float:
    duration = DURATION.fullmatch(value)
    if not duration:
        raise click.BadParameter(f"{value!r} is no duration: give a number with s, m or h, such as 2m")
    return float(duration[1]) * SECONDS[duration[2]]


@cli.command("reduce")
@click.argument("workspace", type=FOLDER)
@click.argument("session")
@click.option("--output", type=FILE, metavar="DIR", required=True, help="The folder of the result; new or empty.")
@click.option("--for", "seconds", default="2m", show_default=True, callback=_parse_duration, metavar="TIME", help=FOR)
@click.option("--against", type=FOLDER, metavar="WORKSPACE", help=AGAINST)
@click.option("--case", type=FILE, metavar="FILE", help=CASE)
@click.option("--trust", "trusted", is_flag=True, help=TRUST)
def reduce_(
    workspace: Path,
    session: str,
    output: Path,
    seconds: float,
    against: Path | None,
    case: Path | None,
    trusted: bool,
) -> None:
    """Shrink the project around one miss to a few lines, while the engine still shows it.

    SESSION is the beginning of an id, as `ci-eval causes` lists them. Files go first, then members, statements and
    parts of them. Each version must still parse, define the name at the same place, and be missed for the same cause;
    three fresh engines confirm the last one. Write DIR/case, DIR/issue.md for a tracker, and DIR/exchange.txt.

    \b
    Examples:
      ci-eval reduce night 4f0c --output miss
      ci-eval reduce night 4f0c --output miss --for 10m --against pyright-night
      ci-eval reduce night 4f0c --output miss --case cases/operators.py
    """
    screen = Screen()
    done = reduce_job.reduce(
        workspace,
        session,
        output=output,
        seconds=seconds,
        against=against,
        case=case,
        trusted=trusted,
        command=["ci-eval", *sys.argv[1:]],
        screen=screen,
    )
    screen.result(done.title)
    screen.result(
        f"{done.lines_before:,} lines in {done.files_before:,} files became {done.lines:,} in "
        f"{len(done.result.files):,}, by {done.questions:,} questions; ended: {done.ended}"
    )
    screen.result(f"seen in {done.fresh} of {done.fresh} fresh engines; kept the same: {', '.join(done.oracle.kept)}")
    screen.result(f"issue     {output / 'issue.md'}")
    if case:
        screen.result(f"case      {case}")
    screen.result(str(output))
