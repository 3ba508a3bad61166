"""The command that begins: it asks what is to be measured."""

from __future__ import annotations

import io
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli import completions
from ci_eval.cli.group import cli
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.fetch import identity
from ci_eval.jobs.workflows import origin, starting
from ci_eval.jobs.workflows.plugin_set import CONFIG


@cli.command()
@click.option("--language", metavar="L", help="A language.", shell_complete=completions.make_completer("languages"))
@click.option(
    "--engine", metavar="NAME[@VERSION]", help="An engine.", shell_complete=completions.make_completer("engines")
)
@click.option("--engine-command", metavar="COMMAND", default="", help="A language server of your own, as the engine.")
@click.option("--engine-like", "--like", metavar="NAME", default="", help="Treat the command like this engine.")
@click.option("--endpoint", metavar="URL", default="", help="A language model as the engine, at this address.")
@click.option("--model", metavar="NAME", default="", help="The endpoint's name for the model.")
@click.option("--key", metavar="VARIABLE", default="", help="The variable that holds the endpoint's key.")
@click.option("--project", metavar="SPEC", help="Whose code is completed.", shell_complete=completions.project)
@click.option("--build", metavar="COMMAND", default="", help="Builds the engine in a job before the others.")
@click.option(
    "--build-output", metavar="PATH", default="build", show_default=True, help="What the build leaves for them."
)
@click.option(
    "--ci",
    "system",
    type=click.Choice(list(starting.SYSTEMS)),
    default="github",
    show_default=True,
    help="Whose files are written.",
)
@click.option(
    "--for",
    "purposes",
    metavar="PURPOSE,...",
    default="night",
    show_default=True,
    help="night; pull-request (figures and gates; at GitHub with a comment); logs (weekly, and the ranker they train); "
    "notice (of red nights: an issue at GitHub, mail from TeamCity); site (the trends, at GitHub Pages).",
)
@click.option("--mail", metavar="ADDRESS", default="", help="Whom TeamCity tells of red nights.")
@click.option(
    "--action",
    metavar="REPOSITORY@COMMIT",
    help="The commit of ci-eval that the CI uses. Default: the one that is installed.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path(),
    help="Your repository. Default: the current folder.",
)
def init(action: str | None, purposes: str, output: Path, **options: str | None) -> None:
    """Ask three questions, then write a configuration and the files of your CI.

    Questions that an option answers are left out. Without a terminal, each line of standard input is an answer; the
    default counts if there is none. If ci/completion.yaml is there already and no option describes another engine, it
    stays as it is.

    \b
    Examples:
      ci-eval init
      ci-eval init --for night,notice,site
      ci-eval init --language go --engine gopls --project go:github.com/spf13/cobra@v1.8.1
      ci-eval init --ci teamcity --for night,pull-request --build 'make server' --engine-command 'build/server --stdio'
    """
    screen = Screen()
    request = starting.Request(
        system=options["system"] or "",
        purposes=tuple(name.strip() for name in purposes.split(",")),
        origin=origin.parse(action) if action else origin.find(),
        build=options["build"] or "",
        build_output=options["build_output"] or "",
        mail=options["mail"] or "",
    )
    answers = None if _is_configured(output, options) else _answer(options, output, screen)
    written = starting.write(answers, output, request)
    for path in written:
        screen.result(str(path))
    for line in starting.next_steps(written, request, identity.page(output.resolve())):
        screen.say(line)


def _is_configured(folder: Path, options: Mapping[str, str | None]) -> bool:
    describing = ("language", "engine", "engine_command", "endpoint", "project")
    return (folder / CONFIG).exists() and not any(options[name] for name in describing)


def _answer(options: Mapping[str, str | None], folder: Path, screen: Screen) -> starting.Answers:
    """Return what is to be measured, from options and from answers to questions."""
    lines = _read_stdin()

    def ask(question: str, default: str) -> str:
        return _ask_or_read(question, default, lines, screen)

    engines = [options[name] for name in ("engine", "engine_command", "endpoint") if options[name]]
    if len(engines) > 1:
        raise ConfigError("give one of --engine, --engine-command and --endpoint")
    language = options["language"] or ask("Which language?", starting.guess_language(folder))
    usual = starting.usual_engine(language)
    return starting.Answers(
        language=language,
        engine=options["engine"] or ("" if engines else ask("Which engine completes it?", usual)),
        project=options["project"] or ask("Whose code (a project SPEC)?", "path:."),
        command=options["engine_command"] or "",
        like=options["engine_like"] or "",
        endpoint=options["endpoint"] or "",
        model=options["model"] or "",
        key=options["key"] or "",
    )


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
