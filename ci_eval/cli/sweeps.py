"""The command that evaluates many runs of one configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli import completions
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.options import Choices, add_choice_options, add_placement_options, require_output
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config
from ci_eval.jobs import sweep as sweep_job
from ci_eval.jobs import terminal as presenting

VARY = "A key of the configuration and its values; several keys are combined, each value with each."
HOLD_OUT = "Choose the best run in one half of the files, and report it in the other half: without selection bias."
MERGE = "Merge the shards of a sweep in these folders, and evaluate nothing; may be repeated."


@cli.command("sweep")
@add_choice_options
@add_placement_options
@click.option(
    "--vary", "varied", metavar="KEY=A,B,C", multiple=True, required=True, help=VARY, shell_complete=completions.setting
)
@click.option("--resume", is_flag=True, help="Resume the interrupted sweep in --output.")
@click.option("--shard", metavar="I/N", help="Run only the I-th of N parts of each run; see --merge.")
@click.option("--hold-out", "holds_out", is_flag=True, help=HOLD_OUT)
@click.option("--merge", "merged", type=FILE, metavar="DIR", multiple=True, help=MERGE)
def sweep_(choices: Choices, varied: tuple[str, ...], shard: str | None, **options: Any) -> None:
    """Evaluate each value of some keys over the same sessions, and compare each run with the first.

    The metrics are those of `comparison.metrics`. Write a workspace for each run below DIR, the comparisons with
    the first, report.md, sweep.json and a page with charts.

    \b
    Examples:
      ci-eval sweep night.yaml --vary engine.options.order=1,2,3,6 --output sweep
      ci-eval sweep night.yaml --vary engine.options.order=1,2,3,6 --hold-out
      ci-eval sweep --task tokens --project path:. --vary engine=frequency,recency,ngram
      ci-eval sweep night.yaml --vary 'engine.options.scopes=[file],[file, folder, project]' --shard 1/4
      ci-eval sweep night.yaml --vary engine.options.order=1,2 --merge one --merge two --output whole
    """
    require_output(options["output"], resume=options["resume"], what="folder")
    if options["merged"] and (shard or options["resume"]):
        raise click.UsageError("--merge evaluates nothing: leave --shard and --resume out")
    screen = Screen()

    def configure_choice(choice: sweep_job.Choice) -> Config:
        # The engine is an override: the option would replace what is varied below `engine`.
        engine = (f"engine={choices.engine}",) if choices.engine else ()
        overrides = (*engine, *choices.overrides, *choice.overrides)
        return replace(choices, engine=None, overrides=overrides).load(screen)

    part = Shard.parse(shard) if shard else None
    done = sweep_job.sweep(configure_choice, varied, shard=part, screen=screen, **options)
    presenting.small(done.sweep, done.folder, done.reports, screen)
    if done.trouble:
        raise done.trouble
