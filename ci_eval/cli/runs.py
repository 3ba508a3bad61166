"""The commands that evaluate: all stages, one stage, or a single session again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli import options as cli_options
from ci_eval.cli.completions import add_named_option
from ci_eval.cli.group import EXAMPLES, FILE, cli
from ci_eval.core.base.shards import Shard
from ci_eval.core.config.loading import View
from ci_eval.core.model import Evaluation, Suite
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs import phases, show
from ci_eval.jobs import suites as suite_job
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.pipeline import Done, Evaluated
from ci_eval.jobs.runs import RunOptions
from ci_eval.jobs.workflows import announcements as announcing

REUSE = (
    "Reuse the answers of an earlier run if project, engine and settings are the same. 2 % are asked again; if "
    "one of them differs, all are. Times are of the questions that were asked."
)
PRECISION = (
    "Ask as many sessions as it takes to know Recall (or the first metric that is a share) of this project within "
    "plus or minus X points, with 95 % confidence; such as 1pp."
)
REPEAT = "Ask each session N times, each time with a fresh engine, to see how far answers and times vary."


def parse_points(_: click.Context, __: click.Parameter, given: str | None) -> float | None:
    """Parse 1pp as 0.01. Return None if the option is not given."""
    return phases.parse(given) if given else None


@cli.command(epilog=EXAMPLES)
@cli_options.add_choice_options
@cli_options.add_run_options()
@click.option("--trust", is_flag=True, help=cli_options.TRUST)
@click.option("--shard", metavar="I/N", help="Run only the I-th of N parts; `ci-eval merge` puts them together.")
@click.option("--repeat", "rounds", type=click.IntRange(1, 1000), metavar="N", default=1, help=REPEAT)
@click.option("--reuse", type=cli_options.FOLDER, metavar="WORKSPACE", help=REUSE)
@click.option("--all", "everything", is_flag=True, help=cli_options.ALL)
@click.option("--precision", metavar="Xpp", callback=parse_points, help=PRECISION)
@cli_options.add_gate_options
@cli_options.add_open_option
def evaluate(
    choices: cli_options.Choices,
    run: RunOptions,
    trust: bool,
    shard: str | None,
    reuse: Path | None,
    opening: bool,
    precision: float | None,
    everything: bool,
    **options: Any,
) -> None:
    """Run all stages: project and engine → a workspace with reports.

    CONFIG is a YAML file, or a config.json of the JetBrains plugin. Without CONFIG and --project a demo runs. If CONFIG
    has `projects`, each gets a workspace below DIR, and one table shows all.
    """
    screen, resumed = run.screen, run.output if run.resume else None
    if precision:
        _refuse("--precision chooses the number of sessions", all=everything)
        chosen = choices.load(screen, resumed, trusted=trust)
    else:
        chosen = choices.load_and_limit(screen, resumed, trusted=trust, everything=everything)
    part = Shard.parse(shard) if shard else None
    if part:
        _refuse("a gate judges a whole evaluation (`ci-eval report --gate` after `merge`)", gate=options["gates"])
    if chosen.projects:
        why = "each project of a suite is evaluated whole"
        _refuse(why, reuse=reuse, precision=precision, shard=shard)
        present_suite(suite_job.evaluate(chosen, run, **options), screen, opening=opening)
        return
    done = evaluate_job.evaluate(chosen, run, shard=part, reuse=reuse, precision=precision, **options)
    present_evaluation(done, screen, opening=opening)


def present_evaluation(done: Evaluated, screen: Screen, *, opening: bool = False) -> None:
    screen.host.announce(announcing.evaluation(done))
    presenting.evaluation(done, screen)
    _end(done, screen, opening=opening)


def present_suite(done: Done[Suite], screen: Screen, *, opening: bool) -> None:
    screen.host.announce(announcing.suite(done))
    presenting.small(done.result, done.folder, done.reports, screen)
    _end(done, screen, opening=opening)


def _end(done: Done[Evaluation] | Done[Suite], screen: Screen, *, opening: bool) -> None:
    if opening:
        cli_options.show_report(done.reports, screen)
    if done.trouble:
        raise done.trouble


def _refuse(why: str, **options: object) -> None:
    if named := [f"--{name}" for name, value in options.items() if value]:
        raise click.UsageError(f"{why}: leave out {' and '.join(named)}")


@cli.command()
@cli_options.add_choice_options
@cli_options.add_placement_options
def actions(choices: cli_options.Choices, output: Path | None, jobs: int) -> None:
    """Run stage 1 alone: source files → actions, in a new workspace for `ci-eval interpret`.

    \b
    Examples:
      ci-eval actions configs/python.yaml --output night && ci-eval interpret night
    """
    screen = Screen()
    chosen = choices.load(screen)
    screen.line(str(evaluate_job.only_actions(chosen, output=output, jobs=jobs, screen=screen)))


@cli.command()
@click.argument("workspace", type=cli_options.FOLDER)
@add_named_option("--engine", "engines", metavar="NAME[@VERSION]", help="Ask another engine; needs --output.")
@click.option("--engine-command", metavar="COMMAND", help="Ask your own language server; needs --output.")
@add_named_option(
    "--completion-type", "completion-types", metavar="T", help="Use another completion type; needs --output."
)
@click.option("--model", type=FILE, metavar="FILE", help=cli_options.MODEL)
@click.option("--trust", "trusted", is_flag=True, help=cli_options.TRUST)
@click.option(
    "--shard", metavar="I/N", help="Run only the I-th of N parts; needs --output. `ci-eval merge` puts them together."
)
@click.option("--reuse", type=cli_options.FOLDER, metavar="WORKSPACE", help=REUSE)
@cli_options.add_placement_options
def interpret(workspace: Path, engine_command: str | None, shard: str | None, **options: Any) -> None:
    """Run stage 2 alone: actions of WORKSPACE and an engine → sessions.

    \b
    Examples:
      ci-eval interpret night                                        go on where it was interrupted
      ci-eval interpret night --engine jedi@0.18.2 --output old      the same actions, another engine
      ci-eval interpret night --shard 1/4 --output quarter           stage 1 done once, for all shards
    """
    if options["engine"] and engine_command is not None:
        raise click.UsageError("only one engine can be asked: leave out --engine or --engine-command")
    others = engine_command is not None or shard or options["engine"] or options["completion_type"]
    if options["output"] is None and others:
        raise click.UsageError(
            "another engine or completion type, or a shard, needs another workspace: add --output DIR"
        )
    screen = Screen()
    folder = evaluate_job.only_sessions(
        workspace, command=engine_command, screen=screen, shard=Shard.parse(shard) if shard else None, **options
    )
    screen.say(f"No report was written; to write it: ci-eval report {shlex.quote(str(folder))}")
    screen.line(str(folder))


@cli.command()
@click.argument("workspaces", metavar="WORKSPACE...", type=cli_options.FOLDER, nargs=-1, required=True)
@cli_options.add_gate_options
@cli_options.add_view_options
@cli_options.add_open_option
def report(workspaces: tuple[Path, ...], gates: tuple[str, ...], view: View, opening: bool) -> None:
    """Run stage 3 alone: write the reports of each WORKSPACE again.

    No engine is asked. --filter, --title and --set change how the sessions are looked at, not what was measured:
    they are kept in WORKSPACE/view.yaml, which later reports, comparisons and exports follow. To look as before,
    delete that file.

    The report of an interrupted run covers the finished files, and says so.

    \b
    Examples:
      ci-eval report night
      ci-eval report night --gate 'Recall >= 90%' --open
      ci-eval report night --filter 'kind=METHOD_CALL static=true' --set 'reports.recallAt=[3]'
    """
    screen = Screen()
    broken = None
    for done in evaluate_job.only_reports(workspaces, gates, view):
        presenting.evaluation(done, screen)
        if opening:
            cli_options.show_report(done.reports, screen)
        if gates:
            broken = broken or done.trouble
    if broken:
        raise broken


@cli.command("show")
@click.argument("workspace", type=cli_options.FOLDER)
@click.argument("session_id", metavar="SESSION-ID")
@click.option("--replay", is_flag=True, help="Ask the engine again, and show what it answers now.")
@click.option(
    "--trace",
    is_flag=True,
    help="Show each message to and from the engine, as stored by the run (interpret.trace). If none are stored, or "
    "with --replay, ask the engine now.",
)
@click.option("--full", is_flag=True, help="With --trace: ask the engine now, and print long texts and lists in full.")
@click.option("--trust", is_flag=True, help=cli_options.TRUST)
@cli_options.add_answer_options
def show_(workspace: Path, session_id: str, replay: bool, trace: bool, full: bool, trust: bool) -> None:
    """Show one session of WORKSPACE: location, expected text, suggestions. The first characters of its id suffice.

    \b
    Examples:
      ci-eval show night 3f2a9c
      ci-eval show night 3f2a9c --replay        also show what the engine answers now
      ci-eval show night 3f2a9c --trace         also show the messages to and from the engine
    """
    if full and not trace:
        raise click.UsageError("--full changes what --trace shows: add --trace")
    screen = Screen()
    for line in show.describe(workspace, session_id):
        screen.line(line)
    if trace or replay:
        screen.result("")
    if trace:
        show.trace(workspace, session_id, screen, trusted=trust, full=full, again=replay)
    elif replay:
        for line in show.replay(workspace, session_id, screen, trusted=trust):
            screen.line(line)
