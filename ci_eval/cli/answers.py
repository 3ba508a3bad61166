"""The commands for the store of answers that language models gave."""

from __future__ import annotations

from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import FILE, cli
from ci_eval.jobs.models import answers as job


@cli.group()
def answers() -> None:
    """Export, import or drop stored answers of endpoints (below CI_EVAL_CACHE).

    \b
    Examples:
      ci-eval answers export answers.jsonl               after a run that asked a model
      ci-eval answers import one.jsonl two.jsonl         of two shards, or on a machine without the key …
      ci-eval evaluate config.yaml --offline             … which then asks nobody
    """


@answers.command("export")
@click.argument("path", metavar="FILE.jsonl", type=FILE)
def export(path: Path) -> None:
    """Write all answers to FILE, a line each, with the questions, which hold the code that was shown."""
    Screen().result(f"{job.export_answers(path):,} answers → {path}")


@answers.command("drop")
@click.argument("text", metavar="TEXT")
@click.option("--all", "every", is_flag=True, help="Drop all that match, rather than refuse more than one.")
@click.option("--list", "only_list", is_flag=True, help="List what matches, and drop nothing.")
def drop(text: str, every: bool, only_list: bool) -> None:
    """Drop the stored answer whose key begins with TEXT, or whose question or answer holds TEXT: it is asked again.

    \b
    Examples:
      ci-eval answers drop 'def total(prices' --list      what there is, a line each with its key
      ci-eval answers drop 3f9c2a71                       one of them
      ci-eval answers drop 'too long for the model' --all
    """
    screen = Screen()
    matching = job.matching_answers(text)
    if not matching:
        raise click.UsageError(f"no stored answer matches {text!r}")
    if len(matching) > 1 and not every and not only_list:
        raise click.UsageError(
            f"{len(matching):,} stored answers match {text!r}: give the key of one (--list shows the keys), or --all"
        )
    for answer in matching:
        screen.result(f"{answer.key[:16]}  {answer.asked}  {answer.finish:8}  {' '.join(answer.text.split())[:60]}")
    if not only_list:
        job.drop_answers(matching)
        screen.result(f"{len(matching):,} answers dropped")


@answers.command("import")
@click.argument("paths", metavar="FILE.jsonl...", type=FILE, nargs=-1, required=True)
def take(paths: tuple[Path, ...]) -> None:
    """Add the answers in FILEs to the store; a question that has an answer there keeps it."""
    Screen().result(f"{job.import_answers(paths):,} answers added")
