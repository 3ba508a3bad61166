"""Commands about logs of what users, real or modelled, did."""

from __future__ import annotations

from pathlib import Path

import click

from ci_eval import machine
from ci_eval.ci import Screen
from ci_eval.cli.group import cli
from ci_eval.jobs.exchange import log_comparison as comparing
from ci_eval.learning import training
from ci_eval.learning.model_file import Scores


@cli.group()
def logs() -> None:
    """What can be asked of logs."""


@logs.command()
@click.argument("synthetic", type=click.Path(path_type=Path))
@click.argument("real", type=click.Path(path_type=Path))
@click.option("--label", type=click.Choice(["selected", "expected"]), default="selected", show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=machine.cores, help="Threads.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE.json", help="Also writes the result there.")
def compare(synthetic: Path, real: Path, label: training.Label, seed: int, jobs: int, output: Path | None) -> None:
    """How alike SYNTHETIC and REAL logs are, and how good a ranker each trains, judged on held-out REAL logs.

    Each is a workspace of generate-ml-logs, logs of events as IDEs write them, or recorded editing: neutral=PATH.

    \b
    Examples:
      ci-eval logs compare logs1 completion-stats-data
      ci-eval logs compare logs1 night/logs.tar.gz --output compared.json
    """
    screen = Screen()
    found = comparing.compare(synthetic, real, label=label, seed=seed, threads=jobs, output=output, screen=screen)
    screen.result(f"{found.synthetic:,} synthetic and {found.real:,} real sessions")
    screen.result("")
    rows = [_row(each) for each in found.distributions]
    screen.table(["", "total variation", "chi-square", "df", "p", "n"], rows, numbers=5)
    screen.result("p takes sessions for independent, which those of one user are not: it is too small, if anything.")
    for each in found.distributions:
        screen.result("")
        _shares(each, screen)
    if found.rankers:
        screen.result("")
        _rankers(found.rankers, screen)


def _row(each: comparing.Distribution) -> list[str]:
    n = f"{sum(each.synthetic.values()):,} + {sum(each.real.values()):,}"
    if each.total_variation is None:
        return [each.name, "not told by both", "", "", "", n]
    test = each.chi_square
    tested = [f"{test.statistic:.1f}", str(test.df), f"{test.p:.2g}"] if test else ["", "", ""]
    return [each.name, f"{each.total_variation:.3f}", *tested, n]


def _shares(each: comparing.Distribution, screen: Screen) -> None:
    sizes = [max(sum(side.values()), 1) for side in (each.synthetic, each.real)]
    rows = [
        [name, f"{each.synthetic.get(name, 0) / sizes[0]:.1%}", f"{each.real.get(name, 0) / sizes[1]:.1%}"]
        for name in {**each.synthetic, **each.real}
    ]
    screen.table([each.name, "synthetic", "real"], rows, numbers=2)


def _rankers(found: comparing.Rankers, screen: Screen) -> None:
    def row(name: str, scores: Scores) -> list[str]:
        return [name, f"{scores.top1:.1%}", f"{scores.top5:.1%}", f"{scores.mrr:.4f}"]

    screen.result(f"Rankers of {len(found.features)} features, on {found.real.queries:,} lists of held-out real logs")
    rows = [
        row("as shown", found.shown),
        row("trained on synthetic", found.synthetic),
        row("trained on real", found.real),
    ]
    screen.table(["order", "Top-1", "Top-5", "MRR"], rows, numbers=3)
    gap = found.difference
    reach = f" [{gap.low:+.4f}, {gap.high:+.4f}]" if gap.low is not None else ""
    screen.result(f"MRR of real - synthetic: {gap.value:+.4f}{reach}, {gap.clusters:,} clusters")
