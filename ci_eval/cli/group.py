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


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(__version__, prog_name="ci-eval")
@click.option(
    "--ci",
    "host",
    envvar="CI_EVAL_CI",
    type=click.Choice(["auto", "github", "teamcity", "none"]),
    help="Which CI is told of progress and results. Default: the one whose variables are set (or CI_EVAL_CI).",
)
def cli(host: str | None) -> None:
    """Measures how good code completion is: replays the typing of real code against a completion engine."""
    if host:
        os.environ["CI_EVAL_CI"] = host
