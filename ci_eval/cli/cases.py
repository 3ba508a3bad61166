"""The command that asks an engine about cases that somebody wrote down."""

from __future__ import annotations

from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli import options as cli_options
from ci_eval.cli.completions import add_named_option, add_settings_option
from ci_eval.cli.group import FILE, cli
from ci_eval.core.base.errors import GateFailed
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.misses.cases import run_cases

LANGUAGE = "Ask only about cases in this language. Default: all that the engine knows."
SNAPSHOT = "Compare what each list begins with to this file, and print the differences; they break nothing."
UPDATE = "Write the snapshot, after the comparison."
OUTPUT = "Write cases.json, cases.md, junit.xml and cases/index.html to this folder."


@cli.command()
@click.argument("folder", type=cli_options.FOLDER)
@click.argument("config", type=FILE, required=False)
@add_named_option("--engine", "engines", metavar="NAME[@VERSION]", help=cli_options.ENGINE)
@click.option("--engine-command", metavar="COMMAND", help=cli_options.COMMAND)
@add_named_option("--engine-like", "engines", metavar="NAME", help=cli_options.LIKE)
@add_named_option("--language", "languages", metavar="L", help=LANGUAGE)
@add_settings_option("--set", "overrides", help=cli_options.OVERRIDE)
@click.option("--snapshot", type=FILE, metavar="FILE", help=SNAPSHOT)
@click.option("--update", is_flag=True, help=UPDATE)
@click.option("--output", type=FILE, metavar="DIR", help=OUTPUT)
def cases(
    folder: Path,
    config: Path | None,
    engine: str | None,
    engine_command: str | None,
    engine_like: str | None,
    language: str | None,
    overrides: tuple[str, ...],
    snapshot: Path | None,
    update: bool,
    output: Path | None,
) -> None:
    """Ask an engine about the cases in FOLDER: is offered what must be, and nothing that must not be?

    A case is a comment below a line of code, with a mark below the character that follows the caret:

    \b
      os.pa
      #    ^ expect: path; rank <= 3; not: print

    The directives: expect, rank, not, silent, module, leaves and text. The exit code is 1 if a case is broken.

    \b
    Examples:
      ci-eval cases cases --engine pyright
      ci-eval cases cases --engine-command './build/server --stdio' --snapshot cases/lists.json
      ci-eval cases cases configs/night.yaml --output results
    """
    if update and not snapshot:
        raise click.UsageError("--update writes a snapshot: add --snapshot FILE")
    screen = Screen()
    nothing_else = dict.fromkeys("task dataset dependencies completion_type model sessions seed".split())
    choices = cli_options.Choices(
        config=config,
        language=language,
        engine=engine,
        engine_command=engine_command,
        engine_like=engine_like,
        project=f"path:{folder}",
        overrides=overrides,
        **nothing_else,
    )
    chosen = choices.load(screen, ladder=False)
    done, reports = run_cases(
        folder, chosen, language=language, snapshot=snapshot, update=update, output=output, screen=screen
    )
    presenting.small(done, output, reports, screen)
    if done.broken:
        raise GateFailed(f"{done.broken:,} of {len(done.cases):,} cases are broken")
