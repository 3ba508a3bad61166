"""The commands for the store of answers that language models gave."""

from __future__ import annotations

from pathlib import Path

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import FILE, cli
from ci_eval.jobs import models


@cli.group()
def answers() -> None:
    """Export or import stored answers of endpoints (below CI_EVAL_CACHE).

    \b
    Examples:
      ci-eval answers export answers.jsonl               after a run that asked a model
      ci-eval answers import one.jsonl two.jsonl         of two shards, or on a machine without the key …
      ci-eval evaluate config.yaml --offline             … which then asks nobody
    """


@answers.command("export")
@click.argument("path", metavar="FILE.jsonl", type=FILE)
def export(path: Path) -> None:
    """Write all answers to FILE, one per line, with their questions, which contain code."""
    Screen().result(f"{models.export_answers(path):,} answers → {path}")


@answers.command("import")
@click.argument("paths", metavar="FILE.jsonl...", type=FILE, nargs=-1, required=True)
def take(paths: tuple[Path, ...]) -> None:
    """Add the answers in FILEs to the store. Answers that are in the store stay."""
    Screen().result(f"{models.import_answers(paths):,} answers added")
