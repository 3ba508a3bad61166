"""The command `init`, which asks what to measure."""

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
from ci_eval.cli.completions import add_named_option
from ci_eval.cli.group import FILE, cli
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.fetch import identity
from ci_eval.jobs.workflows import origin, starting
from ci_eval.jobs.workflows.origin import CONFIG, Request

ENGINE = "An engine; with --for algorithms several, separated by commas."
INIT_CI = "Whose files are written. Default: what the repository's server reads."
FOR = (
    "night; pull-request (figures and gates; at GitHub with a comment; needs --build and --engine-command); logs "
    "(weekly, and the ranker they train); notice (of red nights: an issue at GitHub, mail from TeamCity); site (the "
    "trends, at GitHub Pages); algorithms (nights that rank several engines)."
)
ACTION = "The commit of ci-eval that the CI uses. Default: the one that is installed."


@cli.command()
@add_named_option("--language", "languages", metavar="L", default="", help="A language.")
@add_named_option("--engine", "engines", metavar="NAME[@VERSION]", default="", help=ENGINE)
@click.option("--engine-command", metavar="COMMAND", default="", help="The command of your own language server.")
@click.option("--engine-like", "--like", metavar="NAME", default="", help="Treat the command like this engine.")
@click.option("--endpoint", metavar="URL", default="", help="A language model as the engine, at this address.")
@click.option("--model", metavar="NAME", default="", help="The endpoint's name for the model.")
@click.option("--key", metavar="VARIABLE", default="", help="The variable that holds the endpoint's key.")
@click.option(
    "--project", metavar="SPEC", default="", help="Whose code is completed.", shell_complete=completions.project
)
@click.option("--build", metavar="COMMAND", default="", help="Builds the engine in a job before the others.")
@click.option("--build-output", metavar="PATH", default="", help="What the build leaves for them. Default: build.")
@click.option("--ci", "system", type=click.Choice(list(starting.SYSTEMS)), help=INIT_CI)
@click.option("--for", "purposes", metavar="PURPOSE,...", default="night", show_default=True, help=FOR)
@click.option("--mail", metavar="ADDRESS", default="", help="The address that TeamCity sends mail about red nights to.")
@click.option("--action", metavar="OWNER/NAME@COMMIT", default="", help=ACTION)
@click.option(
    "--output", type=FILE, metavar="DIR", default=Path(), help="Your repository. Default: the current folder."
)
def init(action: str, purposes: str, output: Path, system: str | None, **options: str) -> None:
    """Ask three questions, then write a configuration and the files of your CI.

    Questions that an option answers are left out. Without a terminal, each line of standard input is an answer; the
    default counts if there is none. If ci/completion.yaml is there already and no option describes another engine, it
    stays as it is. In a folder of a repository, the files of the CI go to the repository's top, and name the folder.

    \b
    Examples:
      ci-eval init
      ci-eval init --language go --engine gopls --project go:github.com/spf13/cobra@v1.8.1
      ci-eval init --ci teamcity --for night,pull-request --build 'make server' --engine-command 'build/server --stdio'
    """
    screen = Screen()
    pairs = {"model": "endpoint", "key": "endpoint", "engine_like": "engine_command", "build_output": "build"}
    for name, other in pairs.items():
        if options[name] and not options[other]:
            option = "--like" if name == "engine_like" else f"--{name.replace('_', '-')}"
            raise ConfigError(f"{option} needs --{other.replace('_', '-')}")
    if options["endpoint"] and not options["model"]:
        raise ConfigError("--endpoint needs --model NAME, the endpoint's name for the model")
    options["engine"], *rivals = options["engine"].split(",")
    inside, system = starting.locate(output, system or "")
    request = Request(
        system=system,
        folder=inside,
        rivals=tuple(rivals),
        purposes=tuple(name.strip() for name in purposes.split(",")),
        origin=origin.parse(action) if action else origin.find(),
        build=options["build"],
        build_output=options["build_output"] or "build",
        mail=options["mail"],
    )
    starting.check_request(request, output.joinpath(*[".."] * len(Path(inside).parts)))
    describing = ("language", "engine", "engine_command", "endpoint", "project")
    is_configured = (output / CONFIG).exists() and not any(options[name] for name in describing)
    if not is_configured:
        starting.check_command(options["engine_command"], request)
    written = starting.write(None if is_configured else _answer(options, output, screen), output, request)
    for path in written:
        screen.line(str(path))
    if output != Path():
        screen.advise(f"In {output}:")
    files = [path.relative_to(output) for path in written]
    key = load(output / CONFIG).config.engine.key or ""
    for line in starting.next_steps(files, request, identity.page(output.resolve()), key):
        screen.advise(line)


def _answer(options: Mapping[str, str], folder: Path, screen: Screen) -> starting.Answers:
    lines = _read_stdin()

    def ask(question: str, default: str) -> str:
        if sys.stdin.isatty():
            answer: str = click.prompt(question, default=default, err=True)
            return answer
        answer = next(lines, "").strip()
        screen.say(f"{question} {answer or f'{default} (the default, since nothing was answered)'}")
        return answer or default

    engines = [options[name] for name in ("engine", "engine_command", "endpoint") if options[name]]
    if len(engines) > 1:
        raise ConfigError("give one of --engine, --engine-command and --endpoint")
    language = options["language"] or ask("Which language?", starting.guess_language(folder))
    usual = starting.usual_engine(language)
    asked = {
        "language": language,
        "engine": options["engine"] or ("" if engines else ask("Which engine completes it?", usual)),
        "project": options["project"] or ask("Whose code (a project SPEC)?", "path:."),
    }
    given = ("engine_command", "engine_like", "endpoint", "model", "key")
    return starting.Answers(**asked, **{name: options[name] for name in given})


def _read_stdin() -> Iterator[str]:
    # Some CIs leave standard input open but never write to it.
    with suppress(io.UnsupportedOperation):  # a test's standard input is not a file
        if not select.select([sys.stdin], [], [], 1)[0]:
            return
    yield from sys.stdin
