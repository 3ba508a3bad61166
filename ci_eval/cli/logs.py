"""The commands about logs of what users, real or modelled, did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.options import Choices, add_choice_options, add_placement_options
from ci_eval.core.config import Config
from ci_eval.jobs.jetbrains import calibration as calibrating
from ci_eval.jobs.jetbrains.calibration import Difference, Judged


@cli.group()
def logs() -> None:
    """Hold completion logs of modelled users against those of real ones."""


TRY = "A file with keys of the configuration, as fit-user-model prints, in place of the known ones; may be repeated."


@logs.command()
@click.argument("real", type=FILE)
@add_choice_options
@add_placement_options
@click.option("--try", "own", metavar="FILE", type=FILE, multiple=True, help=TRY)
@click.option("--threshold", type=click.FloatRange(0, 1), default=calibrating.THRESHOLD, show_default=True)
@click.option("--all", "every", is_flag=True, help="Try all settings, also when one was close enough.")
@click.option("--label", type=click.Choice(["selected", "expected"]), default="selected", show_default=True)
@click.option("--resume", is_flag=True, help="Go on in --output where it was interrupted.")
def calibrate(choices: Choices, real: Path, output: Path | None, **options: Any) -> None:
    """Find settings whose synthetic logs train as good a ranker as REAL ones: the procedure of the thesis.

    REAL are logs of events as IDEs write them, or recorded editing (neutral=PATH). They are divided into two groups. A
    ranker is trained on the first. Then, setting by setting, logs are made and a ranker trained on them, until its
    Top-1 in the second group differs by no more than --threshold from that of the first ranker; exit code 1 if no
    setting is that close.

    \b
    Examples:
      ci-eval logs calibrate completion-stats-data --project pypi:flask==3.0.3 --output calibrated
      ci-eval logs calibrate neutral=typed.jsonl night.yaml --output calibrated --try user.yaml
    """
    if output is None:
        raise click.UsageError("logs calibrate needs --output DIR, a folder for the logs of all settings")
    screen = Screen()

    def apply_overrides(overrides: Sequence[str]) -> Config:
        # A modelled user is asked about at every prefix, so the default ladder would only cause a warning.
        return replace(choices, overrides=(*choices.overrides, *overrides)).load(screen, ladder=False)

    calibration = calibrating.calibrate(apply_overrides, real, output=output, screen=screen, **options)
    _calibration(calibration, output, screen)
    if calibration.trouble:
        raise calibration.trouble


def _calibration(calibration: calibrating.Calibration, output: Path, screen: Screen) -> None:
    def row(name: str, lists: str, scores: Judged, gap: Difference | None) -> list[str]:
        gap_text = _difference(gap) if gap else ""
        return [name, lists, f"{scores.top1:.1%}", f"{scores.top5:.1%}", f"{scores.mean_rank:.3f}", gap_text]

    last = calibration.attempts[-1].rankers
    rows = [row("the first group itself", "", last.real, None)]
    for attempt in calibration.attempts:
        judged = attempt.rankers
        rows += [row(attempt.name, f"{judged.lists:,}", judged.synthetic, judged.top1)]
    screen.result(f"Trained on each, judged on {last.real.queries:,} lists of the second group")
    columns = ["logs", "lists", "Top-1", "Top-5", "mean rank", "Top-1 - first group's"]
    screen.table(columns, rows, numbers=5)
    if calibration.chosen:
        chosen = next(attempt for attempt in calibration.attempts if attempt.close)
        screen.result(f"Within {calibration.threshold:.1%}: {chosen.name}")
        screen.result(f"Its configuration: {output / chosen.workspace / 'config.yaml'}")
    screen.line(str(output))


def _difference(gap: Difference) -> str:
    """Return how far synthetic logs are from real ones, with the interval; worse ones have a minus."""
    # A `Difference` is real minus synthetic; the table shows the reverse.
    reach = f" [{-(gap.high or 0):+.1%}, {-gap.low:+.1%}]" if gap.low is not None else ""
    return f"{-gap.value:+.1%}{reach}"
