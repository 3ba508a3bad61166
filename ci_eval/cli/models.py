"""The commands for logs, rankers trained on them, and modelled users."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from ci_eval.ci import Screen
from ci_eval.cli import options as cli_options
from ci_eval.cli.completions import add_named_option
from ci_eval.cli.group import COUNT, FILE, cli
from ci_eval.cli.options import Choices
from ci_eval.cli.runs import present_evaluation
from ci_eval.core import machine
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config, load
from ci_eval.core.logs import formats as log_formats
from ci_eval.jobs import evaluate as evaluate_job
from ci_eval.jobs import ml
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.runs import RunOptions
from ci_eval.jobs.workflows import announcements as announcing
from ci_eval.plugins.learning import recommenders

LOG_FORMAT = "May be repeated. Default: parquet, which needs the extra `ml`."


@cli.command("generate-ml-logs")
@cli_options.add_choice_options
@cli_options.add_run_options()
@click.option("--trust", is_flag=True, help=cli_options.TRUST)
@click.option("--shard", metavar="I/N", help="Run only the I-th of N parts; `ci-eval merge` puts them together.")
@click.option("--log-format", "formats", type=click.Choice(log_formats.names()), multiple=True, help=LOG_FORMAT)
def generate_ml_logs(
    choices: Choices, run: RunOptions, trust: bool, shard: str | None, formats: tuple[str, ...]
) -> None:
    """Run stages 1 and 2 with a modelled user, and log every suggestion with its features in WORKSPACE/logs.

    \b
    Examples:
      ci-eval generate-ml-logs --project pypi:flask==3.0.3 --output logs
    """
    screen, resumed = run.screen, run.output if run.resume else None
    # A modelled user types every prefix, so the default ladder of prefixes would only cause a warning.
    chosen = ml.for_logs(choices.load(screen, resumed, trusted=trust, ladder=False), formats, screen)
    workspace, trouble = evaluate_job.only_logs(chosen, run, Shard.parse(shard) if shard else None)
    screen.host.announce(announcing.logs(workspace, trouble))
    presenting.logs(workspace.manifest().logs, screen)
    cli_options.end_with(workspace.folder, trouble, screen)


SETTINGS = "Set trees (the most; 100), leaves (of a tree; 31) or features (a list; all). May be repeated."


LABEL = "Learn from sessions in which the expected text was taken, or from every list that holds it."


@cli.command("train-ranker")
@click.argument("logs", metavar="LOGS...", type=cli_options.FOLDER, nargs=-1, required=True)
@click.option("--output", type=FILE, metavar="MODEL", required=True, help="The model file.")
@click.option("--label", type=click.Choice(["selected", "expected"]), default="selected", show_default=True, help=LABEL)
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", "threads", type=COUNT, metavar="N", default=machine.cores, help="Threads.")
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help=SETTINGS)
def train_ranker(logs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Train a ranker (--completion-type ML) from logs: workspaces of generate-ml-logs, or a folder of such.

    LOGS may also be logs of events, as IDEs write them (a folder, its logs.tar.gz, or single files), and recorded
    editing with the displayed lists (neutral=PATH).

    \b
    Examples:
      ci-eval train-ranker logs1 logs2 --output model.json
    """
    screen = Screen()
    model = ml.train_ranker(logs, output=output, screen=screen, **options)
    screen.host.announce(announcing.ranker(output))
    presenting.model(model, screen)
    screen.line(str(output))


@cli.command("export-ranker")
@click.argument("model", type=FILE)
@click.option("--to", type=click.Choice(["lightgbm", "onnx"]), required=True, help="onnx needs the extra `onnx`.")
@click.option("--output", type=FILE, metavar="FILE", required=True, help="A new file.")
def export_ranker(model: Path, to: Literal["lightgbm", "onnx"], output: Path) -> None:
    """Export a MODEL of train-ranker as a plain LightGBM or ONNX file for other programs.

    The file turns rows of features, in the order of the logs, into scores. The best suggestion has the highest score.

    \b
    Examples:
      ci-eval export-ranker model.json --to lightgbm --output model.txt
    """
    ml.export_ranker(model, to=to, output=output)
    Screen().result(str(output))


@cli.command("import-ranker")
@click.argument("file", type=FILE)
@click.option("--features", metavar="NAME,...", default="", help="Its columns, in order, if FILE does not name them.")
@click.option("--output", type=FILE, metavar="MODEL", required=True, help="The model file.")
def import_ranker(file: Path, features: str, output: Path) -> None:
    """Import a ranker that was trained elsewhere (LightGBM's text, or ONNX).

    The completion type ML ranks by the model. Its features must be among those of the logs (schema.json, in the same
    folder), all or some, in any order. It gives a score for each suggestion, and the best has the highest. LightGBM
    files name their features; ONNX files do if their metadata has `features`, a JSON list. ONNX needs onnxruntime.

    \b
    Examples:
      ci-eval import-ranker model.txt --output model.json
      ci-eval rerank night --completion-type ML --model model.json --output reranked
    """
    names = [name.strip() for name in features.split(",") if name.strip()]
    model = ml.import_ranker(file, features=names, output=output)
    screen = Screen()
    screen.say(f"A ranker with {len(model.features)} features. Its quality is not known: compare it with BASIC")
    screen.line(str(output))


SET = "An option of training, such as mostUsages=0 or methodContext=name; may be repeated."


@cli.command("train-recommender")
@click.argument("usages", metavar="USAGES.jsonl...", type=FILE, nargs=-1, required=True)
@click.option("--kind", type=click.Choice(recommenders.names()), required=True)
@click.option("--output", type=FILE, metavar="MODEL", required=True, help="The model file.")
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help=SET)
def train_recommender(usages: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Train a model for the engine `recommender`, which proposes method calls, from object usages, one per line.

    \b
    Examples:
      ci-eval train-recommender usages.jsonl --kind pbn --output pbn.model
    """
    screen = Screen()
    ml.train_recommender(usages, output=output, screen=screen, **options)
    screen.line(str(output))


@cli.command("rerank")
@click.argument("workspace", type=cli_options.FOLDER)
@add_named_option(
    "--completion-type", "completion-types", metavar="T", required=True, help="See `ci-eval list completion-types`."
)
@click.option("--model", type=FILE, metavar="FILE", help=cli_options.MODEL)
@click.option("--output", type=cli_options.FOLDER, metavar="DIR", required=True, help="A new workspace.")
@cli_options.add_view_options
def rerank_(workspace: Path, **options: Any) -> None:
    """Rank the stored suggestions of WORKSPACE by another completion type, without asking the engine.

    --filter, --title and --set are about the new workspace, as of `ci-eval report`.

    \b
    Examples:
      ci-eval rerank night --completion-type ML --model model.json --output ml
    """
    screen = Screen()
    present_evaluation(evaluate_job.rerank(workspace, screen=screen, **options), screen)


@cli.command("grade")
@click.argument("what", metavar="WORKSPACE | GRADER", type=cli_options.FOLDER)
@click.argument("pairs", metavar="[PAIRS.jsonl]", type=FILE, required=False)
@click.option("--config", type=FILE, metavar="FILE", help="With PAIRS: a configuration with `judge:` or `run:`.")
@click.option(
    "--trust", is_flag=True, help="Ask the judge, and run the tests, as the workspace's own configuration says."
)
def grade_(what: Path, pairs: Path | None, config: Path | None, trust: bool) -> None:
    """Grade the suggestions of a WORKSPACE again, or each line of PAIRS by GRADER, without an engine.

    \b
    A line of PAIRS is {"reference": "…", "hypothesis": "…", "language": "java"}; graders that read code need the
    language. For each line the command prints {"scores": {…}}, in the same order. See `ci-eval list graders`.

    \b
    Examples:
      ci-eval grade out
      ci-eval grade exact pairs.jsonl
    """
    screen = Screen()
    if pairs:
        chosen = load(config).config if config else Config()
        for line in evaluate_job.grade_pairs(str(what), pairs, chosen.judge, chosen.running):
            screen.line(line.decode())
        return
    done = evaluate_job.grade_workspace(what, trusted=trust)
    presenting.evaluation(done, screen)
    if done.trouble:
        raise done.trouble


@cli.command("fit-user-model")
@click.argument("logs", metavar="LOGS...", type=cli_options.FOLDER, nargs=-1, required=True)
def fit_user_model(logs: tuple[Path, ...]) -> None:
    """Fit a user model to logs, and print its tables as YAML for a configuration.

    LOGS are workspaces of generate-ml-logs, logs of events as IDEs write them, or recorded editing as FORMAT=PATH.

    \b
    Examples:
      ci-eval fit-user-model logs1 logs2 > user.yaml
      ci-eval expect night --user-model user.yaml
    """
    screen = Screen()
    for line in ml.fit(logs, screen):
        screen.line(line)


USER_MODEL = "A profile, or a file such as `ci-eval fit-user-model` prints."


@cli.command()
@click.argument("workspace", type=cli_options.FOLDER)
@click.option("--user-model", "user", metavar="PROFILE|FILE", default="thesis", show_default=True, help=USER_MODEL)
def expect(workspace: Path, user: str) -> None:
    """Compute exactly what a modelled user would do on average, from the ranks at all prefixes.

    WORKSPACE must be evaluated with --set 'actions.strategy.prefix={name: EveryPrefix}'. For two of them, see `ci-eval
    compare --expect`.

    \b
    Examples:
      ci-eval expect night
    """
    screen = Screen()
    rows, sessions = ml.expect(workspace, user)
    screen.result(f"{sessions:,} sessions, user {user}")
    screen.result("")
    screen.table(["per session", "value", "95 % intervals", ""], rows, numbers=2)
