"""Prints the intervals of a comparison of correlated metrics, after the name of the kernel that multiplied matrices.

python -m tests.compare.kernels, with OPENBLAS_CORETYPE; prints {"kernel": name, "numbers": [...]}.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

import numpy as np

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.statistics.repeated import DETERMINISTIC
from ci_eval.core.statistics.student import Floats

NAMES = ("RecallAt1", "RecallAt5", "Recall", "MeanReciprocalRank", "NDCG")
FILES, SESSIONS = 400, 9


def kernel() -> str:
    """Return OpenBLAS's name of the processor that its kernels are for; "" if numpy has another library."""
    libraries = sorted(Path(np.__file__).parents[1].glob("numpy.libs/*openblas*"))
    for library in libraries:
        name = getattr(ctypes.CDLL(str(library)), "scipy_openblas_get_corename64_", None)
        if name:
            name.restype = ctypes.c_char_p
            return str(name().decode())
    return ""


def observe(ranks: Floats) -> Floats:
    """Return the numerator of each metric in sessions of these ranks (0: absent)."""
    known, ranks = ranks > 0, np.maximum(ranks, 1)
    shares = [known & (ranks <= most) for most in (1, 5, 1000)]
    return np.stack([*shares, known / ranks, known / np.log2(1 + ranks)], axis=1).astype(float)


def numbers(turn: int, asked: float) -> list[float]:
    """Return the bounds, p-values and detectable differences of all metrics, of this project and of other code."""
    random = np.random.default_rng([45, turn])
    sums = FilterSums(figures=len(NAMES))
    for _ in range(FILES):
        base = random.choice([0, 1, 2, 4, 9], p=[0.1, 0.5, 0.2, 0.1, 0.1], size=SESSIONS).astype(float)
        new = np.where(random.random(SESSIONS) < 0.06, random.permutation(base), base)
        seen = np.ones((SESSIONS, len(NAMES), 4))
        seen[:, :, 0], seen[:, :, 2] = observe(base), observe(new)
        sums.rows.append(sums.add(seen))
    known = {metric.info.name: metric for metric in metrics.load()}
    judge = Judge([known[name] for name in NAMES], asked, repeats=DETERMINISTIC)
    differences = judge.filter(sums).values()
    sides = [side for difference in differences for side in (difference, difference.elsewhere)]
    return [float(getattr(side, name)) for side in sides for name in ("low", "high", "p", "detectable")]


if __name__ == "__main__":
    printed = [number for turn in range(5) for number in numbers(turn, 0.3)]
    sys.stdout.write(json.dumps({"kernel": kernel(), "numbers": printed}))
