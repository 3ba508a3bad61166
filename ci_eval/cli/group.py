"""The group all commands belong to."""

from __future__ import annotations

import os

import click

from ci_eval import __version__

EXAMPLES = """\b
Examples:
  ci-eval evaluate                                       the demo: jedi over a small project
  ci-eval evaluate --project pypi:flask==3.0.3           jedi over flask
  ci-eval evaluate --project path:. --engine words       the baseline over your own code
  ci-eval evaluate configs/python.yaml --output night    what a nightly job runs
  ci-eval evaluate --resume --output night               take up a run that was killed
  ci-eval evaluate --engine jedi@0.18.2 --set interpret.sessionProbability=0.2
"""


def _told(_context: click.Context, _option: click.Parameter, host: str | None) -> None:
    if host:
        os.environ["CI_EVAL_CI"] = host


def _ci(*, hidden: bool = False) -> click.Option:
    return click.Option(
        ["--ci"],
        envvar="CI_EVAL_CI",
        type=click.Choice(["auto", "github", "teamcity", "none"]),
        expose_value=False,
        hidden=hidden,
        callback=_told,
        help="Which CI is told of progress and results. Default: the one whose variables are set (or CI_EVAL_CI).",
    )


class Commands(click.Group):
    """A group that takes --ci behind its commands, too, and whose help has each summary whole."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """See click.Group."""
        if not isinstance(cmd, click.Group):
            cmd.params.append(_ci(hidden=True))
        super().add_command(cmd, name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """See click.Group, which cuts summaries to a line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(WHOLE)) for name, each in sorted(self.commands.items())])


WHOLE = 1_000
"""More characters than any summary has."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(__version__, prog_name="ci-eval")
def cli() -> None:
    """Measures how good code completion is: replays the typing of real code against a completion engine."""


cli.params.append(_ci())
