"""The command that begins: it asks what is to be measured."""

from __future__ import annotations

import io
import select
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli import completions
from ci_eval.cli.group import cli
from ci_eval.jobs.workflows import starting

UNFILLED = "OWNER/ci-eval@COMMIT"


@cli.command()
@click.option("--language", metavar="L", help="A language.", shell_complete=completions.make_completer("languages"))
@click.option(
    "--engine", metavar="NAME[@VERSION]", help="An engine.", shell_complete=completions.make_completer("engines")
)
@click.option("--project", metavar="SPEC", help="Whose code is completed.", shell_complete=completions.project)
@click.option(
    "--action",
    metavar="REPOSITORY@COMMIT",
    default=UNFILLED,
    show_default=True,
    help="The repository that the workflow takes ci-eval from.",
)
@click.option(
    "--for",
    "purposes",
    metavar="PURPOSE,...",
    default="night",
    show_default=True,
    help="night; notice (an issue while nights are red); site (the trends, at GitHub Pages).",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path(),
    help="Your repository. Default: the current folder.",
)
def init(
    language: str | None, engine: str | None, project: str | None, action: str, purposes: str, output: Path
) -> None:
    """Ask three questions, then write a configuration and workflows for nightly runs.

    Questions that an option answers are left out. Without a terminal, each line of standard input is an answer; the
    default counts if there is none.

    \b
    Examples:
      ci-eval init
      ci-eval init --for night,notice,site
      ci-eval init --language go --engine gopls --project go:github.com/spf13/cobra@v1.8.1
    """
    screen = Screen()
    lines = _read_stdin()

    def ask(question: str, default: str) -> str:
        return _ask_or_read(question, default, lines, screen)

    chosen = language or ask("Which language?", starting.guess_language(output))
    answers = starting.Answers(
        language=chosen,
        engine=engine or ask("Which engine completes it?", starting.usual_engine(chosen)),
        project=project or ask("Whose code (a project SPEC)?", "path:."),
    )
    written = starting.write(answers, output, action, [name.strip() for name in purposes.split(",")])
    for path in written:
        screen.result(str(path))
    screen.say(f"Try it: ci-eval evaluate {written[0]}")
    if action == UNFILLED:
        workflows = " and ".join(map(str, written[1:]))
        screen.say(f"In {workflows}, write the repository and the commit of ci-eval in place of {UNFILLED}")


def _ask_or_read(question: str, default: str, lines: Iterator[str], screen: Screen) -> str:
    if sys.stdin.isatty():
        answer: str = click.prompt(question, default=default, err=True)
        return answer
    answer = next(lines, "").strip()
    screen.say(f"{question} {answer or f'{default} (the default, since nothing was answered)'}")
    return answer or default


def _read_stdin() -> Iterator[str]:
    """Yield the lines of standard input; none if nothing arrives within a second."""
    # Some CIs leave standard input open, but never write to it.
    with suppress(io.UnsupportedOperation):  # a test's standard input is no file
        if not select.select([sys.stdin], [], [], 1)[0]:
            return
    yield from sys.stdin
