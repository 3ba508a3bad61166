"""The command that finds the versions of an engine in which results changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli import options as cli_options
from ci_eval.cli.group import FILE, cli
from ci_eval.core.model.comparison import Bisection
from ci_eval.jobs.misses import bisect as bisect_job

BUILD = "The shell command that builds a checked-out revision. One that fails is skipped."
REPOSITORY = "The repository of the engine. Default: the current folder."
OUTPUT = "The folder of builds, answers and bisect.json. The same command with it resumes a search."


@cli.command("bisect")
@click.argument("good")
@click.argument("bad")
@cli_options.add_choice_options
@click.option("--build", metavar="COMMAND", default="", help=BUILD)
@click.option("--repository", type=cli_options.FOLDER, metavar="DIR", default=".", help=REPOSITORY)
@click.option("--output", type=FILE, metavar="DIR", required=True, help=OUTPUT)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=1, show_default=True, help="Processes.")
def bisect_(choices: cli_options.Choices, good: str, bad: str, output: Path, **options: Any) -> None:
    """Find the versions between GOOD and BAD in which results changed, and say for each what changed.

    GOOD and BAD are revisions of the engine's repository, or releases NAME@VERSION of an engine from PyPI or npm. Both
    are asked all sessions, the versions between only those that changed. Words of --engine-command that begin with `./`
    are files of the checkout. Versions that do not build are skipped; builds and answers are stored.

    \b
    Examples:
      ci-eval bisect v1.2 HEAD --build make --engine-command './server --stdio' --project path:code --output search
      ci-eval bisect ty@0.0.2 ty@0.0.20 --project pypi:flask==3.0.3 --sessions 200 --output search
    """
    screen = Screen()
    config = choices.load_and_limit(screen)
    _print(bisect_job.bisect(good, bad, config, output=output, screen=screen, **options), screen)
    screen.result(f"json      {output / 'bisect.json'}")
    screen.result(str(output))


def _print(done: Bisection, screen: Screen) -> None:
    if not done.clusters:
        screen.result(f"Nothing changed: {done.sessions:,} sessions have the same ranks in {done.good} and {done.bad}.")
    else:
        screen.result(
            f"{done.changed:,} of {done.sessions:,} sessions changed between {done.good} and {done.bad}; "
            f"{done.questions:,} questions to the {done.versions - 2:,} versions between."
        )
        rows = [
            (
                cluster.title
                if len(cluster.candidates) == 1
                else f"one of {len(cluster.candidates)} up to {cluster.title}",
                f"{cluster.worse:,}",
                f"{cluster.sessions - cluster.worse:,}",
                ", ".join(f"{count} {what}" for what, count in cluster.changes.items()),
                "; ".join(cluster.examples[:1]),
            )
            for cluster in done.clusters
        ]
        screen.table(["version", "worse", "better", "changes", "example"], rows)
    if done.unsteady:
        screen.result(f"Left out: {done.unsteady:,} sessions that an end answered differently when asked again.")
    for name, why in done.skipped.items():
        screen.warn(f"{name} was skipped: {why.splitlines()[0]}")
