"""The commands that compare evaluations or put them together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.cli import completions
from ci_eval.cli import options as cli_options
from ci_eval.cli.completions import add_settings_option
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.runs import parse_points, present_evaluation, present_suite
from ci_eval.core.config import Config, limit_sessions
from ci_eval.core.config.loading import View
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs import compare_engines as compare_engines_job
from ci_eval.jobs import listings, phases
from ci_eval.jobs import merge as merge_job
from ci_eval.jobs import suites as suite_job
from ci_eval.jobs import sweep as sweep_job
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.compare import Outcome
from ci_eval.jobs.compare_engines import ROUNDS, Side, is_file, make_side, split_arguments
from ci_eval.jobs.runs import RunOptions
from ci_eval.jobs.workflows import announcements as announcing
from ci_eval.jobs.workflows import site as site_job

DETECT = (
    "Ask as many sessions as it takes to find a difference of X points in this project, in the first metric of "
    "comparison.metrics that is a share or a score; such as 1pp. Default: 2pp, unless the number of sessions is "
    "given."
)
BASE_SET = (
    "Set a key for BASE alone, such as `completionType=ML`, `engine.settings.KEY=VALUE`, `dependencies=false`; the "
    "section may be left out if no other key ends like it. May be repeated."
)
NEW_SET = "Set a key for NEW alone, as --base-set does for BASE. May be repeated."
OFTEN = "How often each engine is asked each session; more rounds show smaller differences of time."
POWER = "The probability with which --detect finds such a difference, from 0.5 to 0.99."


COMPARE_HISTORY = "A folder of past workspaces or metrics.json files: draw the trend, and add the figures of NEW."


@cli.command("compare")
@click.argument("workspaces", metavar="BASE NEW [MORE...]", type=cli_options.FOLDER, nargs=-1, required=True)
@cli_options.add_gate_options
@click.option("--output", type=FILE, metavar="DIR", help="Default: a folder named by time.")
@click.option("--history", type=FILE, metavar="DIR", help=COMPARE_HISTORY)
@click.option("--same-ranker", is_flag=True, help="Ignore a base that another ranker ranked, as on a first night.")
@click.option(
    "--first-night", is_flag=True, help="Succeed without a base, although no gate about it can be judged then."
)
@click.option("--expect", "user", metavar="PROFILE|FILE", help="Compare what this modelled user would do on average.")
@cli_options.add_view_options
@cli_options.add_open_option
def compare_(
    workspaces: tuple[Path, ...], history: Path | None, same_ranker: bool, opening: bool, **options: Any
) -> None:
    """Compare NEW with BASE, session by session: better, worse, equivalent, or no difference shown.

    BASE alone may be a folder of past workspaces: the newest one that fits is compared, and the trend is drawn. A gate
    that cannot be judged ends with exit code 1. Two suites (folders that `ci-eval evaluate` made of `projects`) are
    compared project by project, and over all.

    --filter, --title and --set change how NEW is looked at, in this comparison alone; no workspace is changed.

    \b
    Examples:
      ci-eval compare last-night tonight
      ci-eval compare main pull --gate 'RecallAt1 >= -1pp' --gate 'MeanRank <= +5% and +0.2'
      ci-eval compare jedi pyright pylsp                       a ranking, and each with the first
      ci-eval compare last-night tonight --history nights      the trend; a file per night is added to nights
      ci-eval compare jedi pyright --expect thesis --gate 'TypingSaved >= -1pp'     what a user would save on average
    """
    if options["user"] and history:
        raise click.UsageError("a history has no figures of modelled users: leave out --history")
    screen = Screen()
    if any(map(suite_job.is_suite, workspaces)):
        if len(workspaces) != 2 or not all(map(suite_job.is_suite, workspaces)) or history or same_ranker:
            raise click.UsageError("a suite is compared with one other suite, without --history and --same-ranker")
        base, new = workspaces
        present_suite(suite_job.compare_suites(base, new, screen=screen, **options), screen, opening=opening)
        return
    done = compare_job.compare(workspaces, history=history, same_ranker=same_ranker, screen=screen, **options)
    screen.host.announce(announcing.comparison(done, history))
    _present(done, screen, opening=opening)
    cli_options.end_with(done.folder, done.trouble, screen)


def _present(done: Outcome, screen: Screen, *, opening: bool) -> None:
    for comparison in done.comparisons:
        presenting.comparison(comparison, screen, short=done.overview is not None)
    if done.overview:
        presenting.overview(done.overview, done.reports, screen)
    if opening:
        cli_options.show_report(done.reports or done.comparisons[0].reports, screen)


@cli.command("site")
@click.argument("histories", metavar="HISTORY...", type=FILE, nargs=-1, required=True)
@click.option("--output", type=FILE, metavar="DIR", required=True, help="The site; new or empty.")
def site_(histories: tuple[Path, ...], output: Path) -> None:
    """Build a static site of trends from past evaluations: a row, a page and a trend.json for each.

    HISTORY is a folder that `compare --history` wrote, or a folder of such folders.

    \b
    Examples:
      ci-eval site nights --output site
      ci-eval ci histories --output histories && ci-eval site histories --output site     in a workflow at GitHub
    """
    screen = Screen()
    done = site_job.site(histories, output=output)
    screen.host.announce(announcing.site(done))
    count = len(done.result.lines)
    screen.result(f"{count:,} {'evaluation' if count == 1 else 'evaluations'}")
    screen.result(f"html      {done.reports['html']}")
    screen.line(str(done.folder))


ALLOW_CONDITIONS = "Compare the engines even if they get different settings that nobody asked for."


@cli.command("compare-engines")
@click.argument(
    "arguments", metavar="[BASE NEW [MORE...]]", nargs=-1, shell_complete=completions.of(listings.NAMES["engines"])
)
@cli_options.add_choice_options
@cli_options.add_run_options()
@click.option("--rounds", type=click.IntRange(2, 1000), metavar="N", default=ROUNDS, show_default=True, help=OFTEN)
@add_settings_option("--base-set", "base_settings", help=BASE_SET)
@add_settings_option("--new-set", "new_settings", help=NEW_SET)
@click.option("--detect", metavar="Xpp", callback=parse_points, help=DETECT)
@click.option(
    "--power", type=click.FloatRange(0.5, 0.99), metavar="P", default=phases.POWER, show_default=True, help=POWER
)
@click.option("--all", "everything", is_flag=True, help=cli_options.ALL)
@click.option("--allow-conditions", is_flag=True, help=ALLOW_CONDITIONS)
@cli_options.add_gate_options
@cli_options.add_open_option
def compare_engines_(
    choices: cli_options.Choices,
    run: RunOptions,
    arguments: tuple[str, ...],
    base_settings: tuple[str, ...],
    new_settings: tuple[str, ...],
    detect: float | None,
    power: float,
    opening: bool,
    everything: bool,
    **options: Any,
) -> None:
    """Ask two engines about the same code, in turns: which is better, and which is faster?

    BASE, NEW and more are NAME[@VERSION], the command of a language server (configured like the engine whose program it
    starts, or like --engine-like NAME), or configuration files. A file after engines alone is the CONFIG of all. With
    --base-set or --new-set, one engine is compared with itself in another configuration. Only this comparison has
    verdicts on times, since whatever slows the machine slows all engines. Write DIR/base, DIR/new and DIR/comparison;
    if CONFIG has `projects`, these for each, and one table of all. Three or more are ranked (DIR/01-NAME …).

    \b
    Examples:
      ci-eval compare-engines jedi zuban --project pypi:flask==3.0.3 --output pair
      ci-eval compare-engines jedi zuban pyright configs/python.yaml    ranked, and each with each
      ci-eval compare-engines configs/python.yaml --new-set completionType=FREQUENCY
      ci-eval compare-engines gopls './gopls serve' configs/go.yaml --gate 'LatencyPercentile95 <= +20%'
    """
    if choices.engine or choices.engine_command is not None:
        raise click.UsageError("the arguments BASE and NEW name the engines: leave out --engine and --engine-command")
    if detect is None and power != phases.POWER:
        raise click.UsageError("--power belongs to --detect: add --detect, such as --detect 1pp")
    if everything and detect:
        raise click.UsageError("--detect chooses the number of sessions: leave out --all")
    screen = run.screen
    # click takes the last argument as CONFIG, even if it names a side.
    named = (*arguments, *([str(choices.config)] if choices.config else []))
    sides, choices = _make_sides(choices, named, (base_settings, new_settings), screen, everything=everything)
    usual = not (everything or detect or choices.says_how_many())
    if sides[0].config.projects:
        if detect:
            raise click.UsageError("all sessions of a suite are compared: leave out --detect")
        limited = [replace(side, config=limit_sessions(side.config)) for side in sides] if usual else sides
        present_suite(suite_job.compare_engines(limited, run, **options), screen, opening=opening)
        return
    done = compare_engines_job.compare_engines(sides, run, detect=detect, power=power, usual=usual, **options)
    if done.result:
        screen.host.announce(announcing.comparison(done.result))
        _present(done.result, screen, opening=opening)
    cli_options.end_with(done.folder, done.trouble, screen)


def _make_sides(
    choices: cli_options.Choices,
    arguments: Sequence[str],
    settings: tuple[Sequence[str], Sequence[str]],
    screen: Screen,
    *,
    everything: bool,
) -> tuple[list[Side], cli_options.Choices]:
    """Return the sides, and the choices with the configuration that the sides share. `settings` has the settings of
    base, then the settings of all other sides."""
    names, shared = split_arguments(arguments, has_settings=any(settings))
    # Without a shared configuration, engines get the configuration in the first file.
    shared = shared or next((Path(name) for name in names if is_file(name)), None)
    # `Choices.load` refuses --engine-like without --engine-command, but here sides may be commands.
    like, choices = choices.engine_like, replace(choices, engine_like=None, config=shared)

    def load(of: cli_options.Choices) -> Config:
        return of.load_and_limit(screen, everything=True) if everything else of.load(screen)

    common = load(choices)
    sides = []
    for number, name in enumerate(names):
        is_other = is_file(name) and Path(name) != shared
        config = load(replace(choices, config=Path(name))) if is_other else common
        sides.append(make_side(config, name, settings[min(number, 1)], like))
    return sides, choices


@cli.command("merge")
@click.argument("workspaces", metavar="WORKSPACE...", type=cli_options.FOLDER, nargs=-1, required=True)
@click.option("--output", type=cli_options.FOLDER, metavar="DIR", required=True, help="The new workspace.")
@cli_options.add_view_options
def merge_(workspaces: tuple[Path, ...], output: Path, view: View) -> None:
    """Merge the shards of a run, or several projects, into one workspace.

    A folder means all workspaces in it. If a shard has several attempts, the newest counts. With 20 projects or
    more, intervals and tests are over projects. --filter, --title and --set are about the merged workspace, as of
    `ci-eval report`.

    \b
    Examples:
      ci-eval merge shard1 shard2 shard3 shard4 --output night
      ci-eval merge projects --output all-projects             all workspaces directly below the folder
    """
    screen = Screen()
    present_evaluation(merge_job.merge(workspaces, output=output, view=view, screen=screen), screen)


VARY = "A key of the configuration and its values; several keys are combined, each value with each."


@cli.command("sweep")
@cli_options.add_choice_options
@cli_options.add_run_options("sweep")
@click.option(
    "--vary", "varied", metavar="KEY=A,B,C", multiple=True, required=True, help=VARY, shell_complete=completions.setting
)
def sweep_(choices: cli_options.Choices, run: RunOptions, varied: tuple[str, ...]) -> None:
    """Evaluate each value of some keys over the same sessions, and compare each run with the first.

    The metrics are those of `comparison.metrics`. Write a workspace for each run below DIR, the comparisons with
    the first, report.md, sweep.json and a page with charts.

    \b
    Examples:
      ci-eval sweep night.yaml --vary engine.options.order=1,2,3,6 --output sweep
      ci-eval sweep --task tokens --project path:. --vary engine=frequency,recency,ngram
    """

    def configure_choice(choice: sweep_job.Choice) -> Config:
        # The engine is passed as an override, since the option would replace keys that are varied below `engine`.
        engine = (f"engine={choices.engine}",) if choices.engine else ()
        overrides = (*engine, *choices.overrides, *(f"{key}={value}" for key, value in choice.items()))
        return replace(choices, engine=None, overrides=overrides).load(run.screen)

    done = sweep_job.sweep(configure_choice, varied, run)
    presenting.small(done.result, done.folder, done.reports, run.screen)
    if done.trouble:
        raise done.trouble
