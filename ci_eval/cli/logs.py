"""The commands about logs of what users, real or modelled, did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import COUNT, FILE, cli
from ci_eval.cli.options import FOLDER, Choices, add_choice_options, add_placement_options
from ci_eval.core import machine
from ci_eval.core.config import Config
from ci_eval.jobs.jetbrains import calibration as calibrating
from ci_eval.jobs.jetbrains import log_comparison as comparing
from ci_eval.jobs.jetbrains.judging import Difference, Judged, Rankers
from ci_eval.plugins.learning.model_file import Scores


@cli.group()
def logs() -> None:
    """Inspect and compare completion logs."""


@logs.command()
@click.argument("synthetic", type=FOLDER)
@click.argument("real", type=FOLDER)
@click.option("--label", type=click.Choice(["selected", "expected"]), default="selected", show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", "threads", type=COUNT, metavar="N", default=machine.cores, help="Threads.")
@click.option("--output", type=FILE, metavar="FILE.json", help="Also writes the result there.")
def compare(synthetic: Path, real: Path, **options: Any) -> None:
    """How alike SYNTHETIC and REAL logs are, and how good a ranker each trains, judged on held-out REAL logs.

    Each is a workspace of generate-ml-logs, logs of events as IDEs write them, or recorded editing: neutral=PATH.

    \b
    Examples:
      ci-eval logs compare logs1 completion-stats-data
      ci-eval logs compare logs1 night/logs.tar.gz --output compared.json
    """
    screen = Screen()
    comparison = comparing.compare(synthetic, real, screen=screen, **options)
    screen.result(f"{comparison.synthetic:,} synthetic and {comparison.real:,} real sessions")
    screen.result("")
    rows = [_row(distribution) for distribution in comparison.distributions]
    screen.table(["", "total variation", "chi-square", "df", "p", "n"], rows, numbers=5)
    screen.result("p takes sessions for independent, which those of one user are not: it is too small, if anything.")
    for distribution in comparison.distributions:
        screen.result("")
        _shares(distribution, screen)
    if comparison.rankers:
        screen.result("")
        _rankers(comparison.rankers, screen)


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

    REAL (see `logs compare`) is divided into two groups. A ranker is trained on the first. Then, setting by setting,
    logs are made and a ranker trained on them, until its Top-1 in the second group differs by no more than
    --threshold from that of the first ranker; exit code 1 if no setting is that close.

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
    screen.result(str(output))


def _difference(gap: Difference) -> str:
    """Return how far synthetic logs are from real ones, with the interval; worse ones have a minus."""
    # A `Difference` is real minus synthetic; the table shows the reverse.
    reach = f" [{-(gap.high or 0):+.1%}, {-gap.low:+.1%}]" if gap.low is not None else ""
    return f"{-gap.value:+.1%}{reach}"


def _row(distribution: comparing.Distribution) -> list[str]:
    n = f"{sum(distribution.synthetic.values()):,} + {sum(distribution.real.values()):,}"
    if distribution.total_variation is None:
        return [distribution.name, "not told by both", "", "", "", n]
    test = distribution.chi_square
    tested = [f"{test.statistic:.1f}", str(test.df), f"{test.p:.2g}"] if test else ["", "", ""]
    return [distribution.name, f"{distribution.total_variation:.3f}", *tested, n]


def _shares(distribution: comparing.Distribution, screen: Screen) -> None:
    sizes = [max(sum(side.values()), 1) for side in (distribution.synthetic, distribution.real)]
    rows = [
        [
            name,
            f"{distribution.synthetic.get(name, 0) / sizes[0]:.1%}",
            f"{distribution.real.get(name, 0) / sizes[1]:.1%}",
        ]
        for name in {**distribution.synthetic, **distribution.real}
    ]
    screen.table([distribution.name, "synthetic", "real"], rows, numbers=2)


def _rankers(rankers: Rankers, screen: Screen) -> None:
    def row(name: str, scores: Scores) -> list[str]:
        return [name, f"{scores.top1:.1%}", f"{scores.top5:.1%}", f"{scores.mrr:.4f}"]

    screen.result(
        f"Rankers of {len(rankers.features)} features, on {rankers.real.queries:,} lists of held-out real logs"
    )
    rows = [
        row("as shown", rankers.shown),
        row("trained on synthetic", rankers.synthetic),
        row("trained on real", rankers.real),
    ]
    screen.table(["order", "Top-1", "Top-5", "MRR"], rows, numbers=3)
    gap = rankers.difference
    reach = f" [{gap.low:+.4f}, {gap.high:+.4f}]" if gap.low is not None else ""
    screen.result(f"MRR of real - synthetic: {gap.value:+.4f}{reach}, {gap.clusters:,} clusters")
