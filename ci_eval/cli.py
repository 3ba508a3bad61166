"""The command line: one command per job and stage, and the one place that catches errors."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from ci_eval import __version__
from ci_eval.config import Config, load, patch
from ci_eval.errors import CiEvalError, PreparationError
from ci_eval.jobs import announcing, listing, ml, presenting, rerank, show, stages, users
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs import doctor as doctor_job
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs import merge as merge_job
from ci_eval.jobs import plan as plan_job
from ci_eval.support import machine, training
from ci_eval.support.ci import Screen
from ci_eval.support.schemes import SCHEMES
from ci_eval.support.shards import Shard

DEMO = Path(__file__).parent / "config" / "demo.yaml"
INTERRUPTED = 130
BUG = 70

EXAMPLES = """\b
Examples:
  ci-eval evaluate                                       the demo: jedi over a small project
  ci-eval evaluate --project pypi:flask==3.0.3           jedi over flask
  ci-eval evaluate --project path:. --engine words       the baseline over your own code
  ci-eval evaluate configs/python.yaml --output night    what a nightly job runs
  ci-eval evaluate --resume --output night               take up a run that was killed
  ci-eval evaluate --engine jedi@0.18.2 --set interpret.sessionProbability=0.2
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(__version__, prog_name="ci-eval")
@click.option(
    "--ci",
    "host",
    type=click.Choice(["auto", "github", "teamcity", "none"]),
    help="Which CI is told of progress and results. Default: the one whose variables are set (or CI_EVAL_CI).",
)
def cli(host: str | None) -> None:
    """Measures how good code completion is: replays the typing of real code against a completion engine."""
    if host:
        os.environ["CI_EVAL_CI"] = host


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What is to be evaluated, as the command line says it."""

    config: Path | None
    language: str | None
    engine: str | None
    project: str | None
    completion_type: str | None
    model: Path | None
    overrides: tuple[str, ...]

    def load(self, screen: Screen, resumed: Path | None = None) -> Config:
        """The configuration they come to; `resumed`: the workspace whose configuration counts where none is named."""
        path = self.config
        if path is None and resumed and (resumed / "config.yaml").is_file():
            path = resumed / "config.yaml"
        elif path is None and self.project is None:
            path = DEMO
        loaded = load(path, overrides=self.overrides)
        for warning in loaded.warnings:
            screen.warn(warning)
        return patch(
            loaded.config,
            language=self.language,
            engine=self.engine,
            project=self.project,
            completion_type=self.completion_type,
            model=self.model,
        )


SPECS = f"One of {', '.join(scheme.example for scheme in SCHEMES.values())}."
MODEL = "What the completion type ML ranks by, made by `ci-eval train-ranker`."
OVERRIDE = "Any key of the configuration, dotted, with a YAML value; may be repeated."


def _choices(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of Choices, and the Choices as its first argument."""

    @wraps(command)
    def gathered(**given: Any) -> None:
        chosen = {field.name: given.pop(field.name) for field in fields(Choices)}
        command(Choices(**chosen), **given)

    decorated: Callable[..., None] = gathered
    for option in (
        click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help=OVERRIDE),
        click.option("--model", type=click.Path(path_type=Path), metavar="FILE", help=MODEL),
        click.option("--completion-type", metavar="T", help="What ranks, see `ci-eval list completion-types`."),
        click.option("--project", metavar="SPEC", help=SPECS),
        click.option("--engine", metavar="NAME[@VERSION]", help="An engine, see `ci-eval list engines`."),
        click.option("--language", metavar="L", help="A language, see `ci-eval list languages`."),
        click.argument("config", type=click.Path(path_type=Path), required=False),
    ):
        decorated = option(decorated)
    return decorated


def _placement(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say where and how wide it runs."""
    command = click.option(
        "--output",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The workspace; new or empty. Default: a folder named by time.",
    )(command)
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        default=machine.cores,
        help="Worker processes; the results do not depend on it. Default: one per core.",
    )(command)


@cli.command(epilog=EXAMPLES)
@_choices
@_placement
@click.option("--resume", is_flag=True, help="Take up the run in --output where it was interrupted.")
@click.option("--shard", metavar="I/N", help="Only the I-th of N parts; `ci-eval merge` puts them together.")
def evaluate(choices: Choices, output: Path | None, jobs: int, resume: bool, shard: str | None) -> None:
    """All stages: project and engine → a workspace with reports.

    CONFIG is a YAML file, or a config.json of the JetBrains plugin. Without CONFIG and --project a demo runs.
    """
    screen = Screen()
    if resume and output is None:
        raise click.UsageError("--resume needs --output DIR, the workspace to take up")
    chosen = choices.load(screen, output if resume else None)
    part = Shard.parse(shard) if shard else None
    done = evaluate_job.evaluate(chosen, output=output, jobs=jobs, resume=resume, screen=screen, shard=part)
    announcing.evaluation(done, screen)
    presenting.evaluation(done, screen)
    if done.trouble:
        raise done.trouble


@cli.command("generate-ml-logs")
@_choices
@_placement
@click.option("--resume", is_flag=True, help="Take up the run in --output where it was interrupted.")
@click.option("--shard", metavar="I/N", help="Only the I-th of N parts; `ci-eval merge` puts them together.")
@click.option(
    "--log-format",
    "formats",
    type=click.Choice(["parquet", "jsonl", "jetbrains"]),
    multiple=True,
    help="May be repeated. Default: parquet, which needs the extra `ml`.",
)
def generate_ml_logs(
    choices: Choices, output: Path | None, jobs: int, resume: bool, shard: str | None, formats: tuple[str, ...]
) -> None:
    """Stages 1 and 2 with a modelled user and logs on: every suggestion with its features, in WORKSPACE/logs.

    \b
    Examples:
      ci-eval generate-ml-logs --project pypi:flask==3.0.3 --output logs
      ci-eval generate-ml-logs --project pypi:flask==3.0.3 --set interpret.userModel=calibrated --log-format jetbrains
    """
    screen = Screen()
    if resume and output is None:
        raise click.UsageError("--resume needs --output DIR, the workspace to take up")
    chosen = ml.with_logs(choices.load(screen, output if resume else None), formats)
    part = Shard.parse(shard) if shard else None
    folder, trouble = stages.only_logs(chosen, output=output, jobs=jobs, resume=resume, shard=part, screen=screen)
    announcing.logs(folder, trouble, screen)
    presenting.logs(folder, screen)
    screen.result(str(folder))
    if trouble:
        raise trouble


@cli.command("train-ranker")
@click.argument("logs", metavar="LOGS...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--output", type=click.Path(path_type=Path), metavar="MODEL", required=True, help="The model file.")
@click.option(
    "--label",
    type=click.Choice(["selected", "expected"]),
    default="selected",
    show_default=True,
    help="Learn from sessions in which the expected text was taken, or from every list that holds it.",
)
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=machine.cores, help="Threads.")
def train_ranker(logs: tuple[Path, ...], output: Path, label: training.Label, seed: int, jobs: int) -> None:
    """Logs (workspaces of generate-ml-logs) → a model for --completion-type ML."""
    screen = Screen()
    model = ml.train_ranker(logs, output=output, label=label, seed=seed, threads=jobs, screen=screen)
    presenting.model(model, screen)
    screen.result(str(output))


@cli.command("rerank")
@click.argument("workspace", type=click.Path(path_type=Path))
@click.option("--completion-type", metavar="T", required=True, help="See `ci-eval list completion-types`.")
@click.option("--model", type=click.Path(path_type=Path), metavar="FILE", help=MODEL)
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", required=True, help="A new workspace.")
def rerank_(workspace: Path, completion_type: str, model: Path | None, output: Path) -> None:
    """The stored suggestions of WORKSPACE in another order, without the engine: the cheap what-if."""
    screen = Screen()
    done = rerank.rerank(workspace, completion_type=completion_type, model=model, output=output, screen=screen)
    announcing.evaluation(done, screen)
    presenting.evaluation(done, screen)
    if done.trouble:
        raise done.trouble


@cli.command("fit-user-model")
@click.argument("logs", metavar="LOGS...", type=click.Path(path_type=Path), nargs=-1, required=True)
def fit_user_model(logs: tuple[Path, ...]) -> None:
    """Logs → the tables of the user who made them, as YAML for a configuration."""
    screen = Screen()
    for line in users.fit(logs):
        screen.result(line)


@cli.command()
@click.argument("workspace", type=click.Path(path_type=Path))
@click.option("--user-model", "profile", metavar="PROFILE", default="thesis", show_default=True)
def expect(workspace: Path, profile: str) -> None:
    """What a modelled user would do on average, exactly, from the places at all prefixes.

    WORKSPACE must be evaluated with --set 'actions.strategy.prefix={name: EveryPrefix}'.
    """
    screen = Screen()
    rows, sessions = users.expect(workspace, profile)
    screen.result(f"{sessions:,} sessions, user {profile}")
    screen.result("")
    screen.table(["per session", "value", "95 % interval", ""], rows, numbers=2)


@cli.command()
@_choices
@_placement
def actions(choices: Choices, output: Path | None, jobs: int) -> None:
    """Stage 1 alone: source files → actions, in a new workspace for `ci-eval interpret`."""
    screen = Screen()
    chosen = choices.load(screen)
    screen.result(str(stages.only_actions(chosen, output=output, jobs=jobs, screen=screen)))


@cli.command()
@click.argument("workspace", type=click.Path(path_type=Path))
@click.option("--engine", metavar="NAME[@VERSION]", help="Another engine; needs --output.")
@click.option("--completion-type", metavar="T", help="Another completion type; needs --output.")
@click.option("--model", type=click.Path(path_type=Path), metavar="FILE", help=MODEL)
@_placement
def interpret(
    workspace: Path, engine: str | None, completion_type: str | None, model: Path | None, output: Path | None, jobs: int
) -> None:
    """Stage 2 alone: the actions of WORKSPACE + engine → sessions.

    \b
    Examples:
      ci-eval interpret night                                        go on where it was interrupted
      ci-eval interpret night --engine jedi@0.18.2 --output old      the same actions, another engine
    """
    if output is None and (engine or completion_type):
        raise click.UsageError("another engine or completion type goes into a workspace of its own: add --output DIR")
    screen = Screen()
    folder = stages.only_sessions(
        workspace, engine=engine, completion_type=completion_type, model=model, output=output, jobs=jobs, screen=screen
    )
    screen.result(str(folder))


@cli.command()
@click.argument("workspaces", metavar="WORKSPACE...", type=click.Path(path_type=Path), nargs=-1, required=True)
def report(workspaces: tuple[Path, ...]) -> None:
    """Stage 3 alone: write the reports of each WORKSPACE anew."""
    screen = Screen()
    for done in stages.only_reports(workspaces):
        presenting.evaluation(done, screen)


@cli.command("compare")
@click.argument("workspaces", metavar="BASE NEW [MORE...]", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--gate", "gates", metavar="RULE", multiple=True, help="Such as 'RecallAt1 >= -1pp'; may be repeated.")
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Default: a folder named by time.")
@click.option(
    "--history",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Past workspaces or metrics.json files: draws the trend, and adds the figures of NEW to DIR.",
)
def compare_(workspaces: tuple[Path, ...], gates: tuple[str, ...], output: Path | None, history: Path | None) -> None:
    """Is NEW better than BASE, worse, or can one not tell? Session by session, over the sessions on both sides.

    A folder of past workspaces may stand for BASE: the newest one that fits is taken, and the trend is drawn.

    \b
    Examples:
      ci-eval compare last-night tonight
      ci-eval compare main pull --gate 'RecallAt1 >= -1pp' --gate 'LatencyPercentile95 <= +20% and +50ms'
      ci-eval compare main pull --gate 'RecallAt5 non-inferior 0.5pp'
      ci-eval compare jedi pyright pylsp                       a ranking, and each with the first
      ci-eval compare last-night tonight --history nights      the trend; a file per night is added to nights
    """
    screen = Screen()
    done = compare_job.compare(workspaces, gates=gates, output=output, history=history, screen=screen)
    announcing.comparison(done, screen)
    for each in done.comparisons:
        presenting.comparison(each, screen)
    if done.overview:
        presenting.overview(done.overview, screen)
    for name, path in done.reports.items():
        screen.result(f"{name:9} {path}")
    screen.result(str(done.folder))
    for trouble in filter(None, [each.trouble for each in done.comparisons]):
        raise trouble


@cli.command("merge")
@click.argument("workspaces", metavar="WORKSPACE...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", required=True, help="A new workspace.")
def merge_(workspaces: tuple[Path, ...], output: Path) -> None:
    """The shards of one run → the workspace that the run would have made on one machine; or several projects → one.

    Of several attempts of a shard the newest counts. From 20 projects on, intervals and tests are over projects.
    """
    screen = Screen()
    done = merge_job.merge(workspaces, output=output, screen=screen)
    announcing.evaluation(done, screen)
    presenting.evaluation(done, screen)
    if done.trouble:
        raise done.trouble


@cli.command("show")
@click.argument("workspace", type=click.Path(path_type=Path))
@click.argument("session_id", metavar="SESSION-ID")
@click.option("--replay", is_flag=True, help="Ask the engine again, and show what it answers now.")
def show_(workspace: Path, session_id: str, replay: bool) -> None:
    """One session of WORKSPACE: where, what was expected, what was suggested. The beginning of the id is enough."""
    screen = Screen()
    for line in show.describe(workspace, session_id):
        screen.result(line)
    if replay:
        screen.result("")
        for line in show.replay(workspace, session_id, screen):
            screen.result(line)


@cli.command("plan")
@click.argument("configs", metavar="CONFIG...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--shards", type=click.IntRange(min=1), metavar="N", default=1, show_default=True, help="Of each, on average."
)
@click.option("--completion-type", "kinds", metavar="T", multiple=True, help="May be repeated. Default: BASIC.")
@click.option(
    "--timings",
    type=click.Path(path_type=Path),
    metavar="WORKSPACE",
    multiple=True,
    help="Of earlier runs, by which shards are dealt out; may be repeated.",
)
def plan_(configs: tuple[Path, ...], shards: int, kinds: tuple[str, ...], timings: tuple[Path, ...]) -> None:
    """The matrix of jobs (language, engine, completion type, shard) as one line of JSON.

    \b
    Examples:
      ci-eval plan configs/*.yaml --shards 4
      ci-eval plan configs/python.yaml --completion-type BASIC --completion-type FREQUENCY
    """
    jobs = plan_job.plan(configs, completion_types=kinds or ("BASIC",), shards=shards, timings=timings)
    Screen().result(msgspec.json.encode({"include": jobs}).decode())


@cli.command("list")
@click.argument("what", type=click.Choice(["languages", "engines", "completion-types", "metrics"]))
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def list_(what: str, form: str) -> None:
    """What there is to choose from."""
    screen = Screen()
    rows = listing.rows(what)
    if form == "json":
        screen.result(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return
    screen.table(
        list(rows[0]), [[", ".join(cell) if isinstance(cell, list) else cell for cell in row.values()] for row in rows]
    )


@cli.command()
def doctor() -> None:
    """What is installed, what is missing, and the command that helps."""
    screen = Screen()
    findings = list(doctor_job.examine())
    screen.table(
        ["", "", ""], [("ok" if f.good else "MISSING" if f.needed else "absent", f.what, f.detail) for f in findings]
    )
    if any(finding.needed and not finding.good for finding in findings):
        raise PreparationError("something that every evaluation needs is missing; the table says what helps")


def main() -> None:
    """Run the command line, and turn what goes wrong into one message and one exit code."""
    try:
        code = cli.main(standalone_mode=False)
    except CiEvalError as error:
        Screen().fail(str(error))
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except (KeyboardInterrupt, click.Abort):
        Screen().fail("interrupted; the workspace is kept: repeat with --resume --output and its folder")
        code = INTERRUPTED
    except Exception:  # noqa: BLE001  the last line of defence: whatever it is, it is a bug of ours
        Screen().fail(
            f"this is a bug in ci-eval {__version__}; please report it with these lines:\n{traceback.format_exc()}"
        )
        code = BUG
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else os.EX_OK)
