"""What workflows and build steps ask: the job with the CI's inputs, the nights before, and one page for a night."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from ci_eval.cli.group import cli
from ci_eval.errors import ConfigError
from ci_eval.jobs import nights, overnight
from ci_eval.support import machine
from ci_eval.support.ci import Announcement, Screen
from ci_eval.support.ci.inputs import arguments, cache_key, given
from ci_eval.support.ci.repository import Repository

FOLDER = click.Path(path_type=Path)


@cli.group("ci")
def ci() -> None:
    """For workflows and build steps. Inputs are the JSON object CI_EVAL_INPUTS, or variables INPUT_NAME."""


@ci.command("run")
@click.argument("job", required=False)
def run_(job: str | None) -> None:
    """Runs JOB (or the input `job`) with the inputs as its options."""
    inputs = given(os.environ)
    cli.main(arguments(job or inputs.get("job", ""), inputs), standalone_mode=False)


@ci.command("key")
def key_() -> None:
    """Under which key the CI may keep the cache, and where it lies: the outputs `key` and `path`."""
    key, path = cache_key(given(os.environ)), str(machine.cache_folder())
    _tell(f"{key} {path}", key=key, path=path)


@ci.command("last-good")
@click.argument("evaluation")
@click.option("--base", type=FOLDER, metavar="DIR", required=True, help="Where its workspace goes.")
@click.option("--history", type=FOLDER, metavar="DIR", required=True, help="Where the figures of all nights go.")
@click.option(
    "--run",
    type=int,
    metavar="ID",
    envvar="CI_EVAL_BASE_RUN",
    help="The base, whatever became of it; CI_EVAL_BASE_RUN.",
)
def last_good(evaluation: str, base: Path, history: Path, run: int | None) -> None:
    """The newest night at GitHub in which EVALUATION kept its gates, whatever became of other evaluations.

    The outputs `base` and `run-id` are empty where there is none. Needs GITHUB_TOKEN.
    """
    screen = Screen()
    repository = Repository(os.environ)
    past = nights.past(repository, evaluation, base=base, history=history, run=run, screen=screen)
    _tell(f"base: {past.base_run or 'none'}", base=str(past.base or ""), **{"run-id": str(past.base_run or "")})


@ci.command("find")
@click.argument("name")
def find(name: str) -> None:
    """The newest run at GitHub, of the default branch, whose artifact NAME still exists: the output `run-id`."""
    found = next(iter(Repository(os.environ).artifacts(name)), None)
    if found is None:
        Screen().warn(f"there is no artifact {name} of the default branch, or it has expired")
    _tell(
        f"{name}: run {found.run}, of {found.created}" if found else f"{name}: none",
        **{"run-id": str(found.run) if found else ""},
    )


@ci.command("summary")
@click.argument("evaluations", metavar="JSON...", nargs=-1, required=True)
def summary(evaluations: tuple[str, ...]) -> None:
    """One page for a night at GitHub: the comparison of each evaluation in the lists JSON, or that there is none.

    Needs GITHUB_TOKEN.
    """
    names = sorted({name for text in evaluations if text for name in _names(text)})
    text = overnight.page(Repository(os.environ), names)
    screen = Screen()
    screen.host.announce(Announcement(status=f"{len(names)} evaluations", summary=text))
    for line in text.splitlines():
        screen.result(line)


def _names(text: str) -> list[str]:
    try:
        return [str(name) for name in json.loads(text)]
    except (ValueError, TypeError):
        raise ConfigError(f"{text!r} is no JSON list of names, such as plan's output `evaluations`") from None


def _tell(status: str, **outputs: str) -> None:
    screen = Screen()
    screen.host.announce(Announcement(status=status, outputs=outputs))
    screen.result(status)
