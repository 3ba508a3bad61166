"""The commands that list choices, check this machine, and plan the jobs of nightly runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from ci_eval.ci import Screen
from ci_eval.cli.completions import add_named_option
from ci_eval.cli.group import COUNT, FILE, cli
from ci_eval.core.base.errors import PreparationError
from ci_eval.jobs import doctor as doctor_job
from ci_eval.jobs import listings as listing
from ci_eval.jobs.workflows import announcements as announcing
from ci_eval.jobs.workflows import plan as plan_job

SHARDS = "The number of shards per evaluation; a suite has one."
ML_CONFIG = "A configuration that is evaluated by the type ML, too; may be repeated."


@cli.command("plan")
@click.argument("configs", metavar="CONFIG...", type=FILE, nargs=-1, required=True)
@click.option("--shards", type=COUNT, metavar="N", default=1, show_default=True, help=SHARDS)
@add_named_option(
    "--completion-type",
    "completion-types",
    "completion_types",
    metavar="T",
    default=("BASIC",),
    multiple=True,
    help="May be repeated. Default: BASIC.",
)
@click.option("--ml-config", "ml_configs", type=FILE, metavar="CONFIG", multiple=True, help=ML_CONFIG)
@click.option("--name", metavar="NAME", default="", help="The beginning of the names of all evaluations.")
def plan_(configs: tuple[Path, ...], **options: Any) -> None:
    """Print the matrix of jobs (language, engine, completion type, shard) as one line of JSON.

    At GitHub the step has the outputs `matrix` (that line), `evaluations` (their names, a list), `each-evaluation` (a
    matrix of them) and `group` (one name for them all, of at most 80 characters). A matrix has 256 jobs at most.

    \b
    Examples:
      ci-eval plan configs/*.yaml --shards 4
    """
    _announce_plan(plan_job.plan(configs, **options))


PROJECT = "A project in place of trainingProjects; may be repeated."


@cli.command("plan-logs")
@click.argument("configs", metavar="CONFIG...", type=FILE, nargs=-1, required=True)
@click.option("--project", "projects", metavar="SPEC", multiple=True, help=PROJECT)
def plan_logs_(configs: tuple[Path, ...], projects: tuple[str, ...]) -> None:
    """Print the matrix of generate-ml-logs jobs, one per project in trainingProjects, as JSON.

    At GitHub the step has the outputs `matrix` (that line) and `rankers` (a matrix of what the logs train).

    \b
    Examples:
      ci-eval plan-logs configs/*.yaml
    """
    _announce_plan(plan_job.plan_logs(configs, projects))


def _announce_plan(jobs: Sequence[plan_job.PlannedJob]) -> None:
    matrix = msgspec.json.encode({"include": jobs}).decode()
    screen = Screen()
    screen.host.announce(announcing.plan(matrix, jobs))
    screen.line(matrix)


SPARE = (
    "licence", "toolchains", "needsDependencies", "source", "verified", "type", "better", "unit", "version", "default",
)  # fmt: skip
"""The columns that a narrow terminal drops, in this order."""


@cli.command("list")
@click.argument("what", type=click.Choice(sorted(listing.NAMES)))
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def list_(what: str, form: str) -> None:
    """List engines, languages, tasks, metrics and other choices.

    \b
    Examples:
      ci-eval list keys                       the keys of a configuration
    """
    screen, rows = Screen(), listing.rows(what)
    if form == "json":
        _print_json(rows, screen)
        return
    cells = [[", ".join(cell) if isinstance(cell, list) else cell for cell in row.values()] for row in rows]
    screen.table(list(rows[0]), cells, spare=[name for name in SPARE if name in rows[0]])


def _print_json(data: object, screen: Screen) -> None:
    for line in msgspec.json.format(msgspec.json.encode(data), indent=2).decode().splitlines():
        screen.line(line)


@cli.command("schema")
@click.argument("name", type=click.Choice(listing.SCHEMAS))
def schema_(name: str) -> None:
    """Print the JSON schema of configurations, of a file that ci-eval writes, or of a line of a dataset.

    \b
    Examples:
      ci-eval schema configuration > ci/completion.schema.json
    """
    _print_json(listing.schema(name), Screen())


@cli.command()
@click.option("--endpoint", metavar="URL", help="Probe the endpoint of a language model, such as http://HOST/v1.")
@click.option("--model", metavar="NAME", help="With --endpoint: the model to ask (default: the first that it lists).")
@click.option("--key", metavar="VARIABLE", help="With --endpoint: the environment variable that holds the key.")
def doctor(endpoint: str | None, model: str | None, key: str | None) -> None:
    """Check what is installed and what is missing, and print the command that helps.

    ok: tried, and works. untried: installed or available, but not started.

    \b
    Examples:
      ci-eval doctor
      CI_EVAL_CACHE=/data/cache ci-eval doctor
      ci-eval doctor --endpoint https://api.example.org/v1 --model small --key EXAMPLE_KEY
    """
    screen = Screen()
    if endpoint:
        abilities = doctor_job.examine_endpoint(endpoint, model, key)
        rows = [("yes" if ability.good else "no", ability.what, ability.detail) for ability in abilities]
        screen.table(["", "", ""], rows)
        if not any(word == "yes" for word, what, _ in rows if what not in {"list of models", "thoughts"}):
            raise PreparationError(f"{endpoint} answers none of the requests that ci-eval sends; the table says why")
        return
    if model or key:
        raise click.UsageError("--model and --key belong to --endpoint: add --endpoint")
    findings = list(doctor_job.examine())
    rows = []
    for finding in findings:
        word = ("ok" if finding.tried else "untried") if finding.good else "MISSING" if finding.needed else "absent"
        rows.append((word, finding.what, finding.detail))
    screen.table(["", "", ""], rows)
    if any(finding.needed and not finding.good for finding in findings):
        raise PreparationError("something that every evaluation needs is missing; the table shows how to install it")
