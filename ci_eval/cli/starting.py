"""The command that begins: it asks what is to be measured."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli import completions
from ci_eval.cli.group import cli
from ci_eval.jobs.workflows import starting

UNFILLED = "OWNER/ci-eval@COMMIT"


@cli.command()
@click.option("--language", metavar="L", help="A language.", shell_complete=completions.of("languages"))
@click.option("--engine", metavar="NAME[@VERSION]", help="An engine.", shell_complete=completions.of("engines"))
@click.option("--project", metavar="SPEC", help="Whose code is completed.", shell_complete=completions.project)
@click.option(
    "--action",
    metavar="REPOSITORY@COMMIT",
    default=UNFILLED,
    show_default=True,
    help="Where the workflow gets ci-eval from.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", default=Path(), help="Your repository. Default: here."
)
def init(language: str | None, engine: str | None, project: str | None, action: str, output: Path) -> None:
    """Asks three questions, and writes a configuration and a workflow for every night.

    Whatever an option answers is not asked. Without a terminal nothing is asked, and defaults are taken.

    \b
    Examples:
      ci-eval init
      ci-eval init --language go --engine gopls --project go:github.com/spf13/cobra@v1.8.1
    """
    screen = Screen()
    chosen = language or _asked("Which language?", starting.guess_language(output), screen)
    answers = starting.Answers(
        language=chosen,
        engine=engine or _asked("Which engine completes it?", starting.usual_engine(chosen), screen),
        project=project or _asked("Whose code (a project SPEC)?", "path:.", screen),
    )
    written = starting.write(answers, output, action)
    for path in written:
        screen.result(str(path))
    screen.say(f"Try it: ci-eval evaluate {written[0]}")
    if action == UNFILLED:
        screen.say(f"In {written[1]}, write the repository and the commit of ci-eval in place of {UNFILLED}")


def _asked(question: str, default: str, screen: Screen) -> str:
    if not sys.stdin.isatty():
        screen.say(f"{question} {default}")
        return default
    answer: str = click.prompt(question, default=default, err=True)
    return answer
