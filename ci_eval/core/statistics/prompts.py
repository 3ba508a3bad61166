"""The figures of a dataset's samples by their prompts, and how far these lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

import numpy as np

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import SessionScore
from ci_eval.core.model.report import PromptFigures, PromptSpread
from ci_eval.core.statistics.student import Floats

MOST = 100
"""The number of prompts above which they are not told apart: such a dataset has a prompt for each sample."""
LEAST = 1.5
"""The sessions per prompt below which most samples have a prompt of their own, and a table by prompt says nothing."""
UNITS = ("share", "score", "number")
"""The units of the metrics that are compared between prompts."""


class Prompts:
    """A sum over the sessions of each prompt, of all metrics that are ratios."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._numbers = [
            number
            for number, metric in enumerate(metrics)
            if metric.statistic == "ratio" and not metric.timed and metric.info.unit in UNITS
        ]
        self._names = [metrics[number].info.name for number in self._numbers]
        # Of each session its numerator x and denominator w: n, x, w, xx, xw, ww; a row for each metric.
        self._sums: dict[str, Floats] = {}
        self._sessions: dict[str, int] = {}

    def add(self, session: SessionScore, seen: Sequence[Sequence[Observation]]) -> None:
        """Count an evaluated session; `seen`: the observations of each metric in it."""
        prompt = session.properties.prompt
        if prompt is None:
            return
        self._sessions[prompt] = self._sessions.get(prompt, 0) + 1
        sums = self._sums.setdefault(prompt, np.zeros((len(self._numbers), 6)))
        for row, number in enumerate(self._numbers):
            if seen[number]:
                x = fsum(above for above, _ in seen[number])
                w = fsum(below for _, below in seen[number])
                sums[row] += (1, x, w, x * x, x * w, w * w)

    def add_all(self, prompts: Prompts) -> None:
        """Add the sums over the sessions of other files."""
        for prompt, sums in prompts._sums.items():
            self._sums[prompt] = self._sums[prompt] + sums if prompt in self._sums else sums
            self._sessions[prompt] = self._sessions.get(prompt, 0) + prompts._sessions[prompt]

    def figures(self) -> PromptFigures | None:
        """Return the figures by prompt; None if the samples share one prompt, or most have their own."""
        if not 2 <= len(self._sums) <= min(MOST, sum(self._sessions.values()) / LEAST):
            return None
        names = sorted(self._sums)
        metrics = {
            metric: spread
            for row, metric in enumerate(self._names)
            if (spread := measure_spread({name: self._sums[name][row] for name in names}))
        }
        return PromptFigures(sessions={name: self._sessions[name] for name in names}, metrics=metrics)


def measure_spread(sums: dict[str, Floats]) -> PromptSpread | None:
    """Return the figure of each prompt and their spread; None if fewer than two prompts have a figure.

    `sums`: the prompt → n, x, w, xx, xw, ww of its sessions, whose figure is x / w. Its standard error is that of a
    ratio (Cochran, Sampling Techniques, 1977, equation 2.39).
    """
    values: dict[str, float] = {}
    variances: list[float | None] = []
    for prompt, (n, x, w, xx, xw, ww) in sums.items():
        if w:
            ratio = x / w
            values[prompt] = float(ratio)
            residuals = max(xx - 2 * ratio * xw + ratio**2 * ww, 0.0)
            variances.append(float(n / (n - 1) * residuals / w**2) if n > 1 else None)
    if len(values) < 2:
        return None
    known = [variance for variance in variances if variance is not None]
    return PromptSpread(
        values=values,
        low=min(values.values()),
        high=max(values.values()),
        deviation=float(np.std([*values.values()], ddof=1)),
        # The variance between means of samples of one population is the mean of their sampling variances.
        by_chance=sqrt(fsum(known) / len(known)) if len(known) == len(values) else None,
    )
