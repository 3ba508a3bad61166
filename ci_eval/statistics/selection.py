"""How much better the best of several looks than it is, only because it was picked for looking best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erf, exp, pi, sqrt
from statistics import median

from ci_eval.model import Difference
from ci_eval.statistics.paired import FOUR_OF_FIVE

STEP = 0.01


def largest_of(count: int) -> float:
    """Return the expected largest of so many independent standard normal variables."""
    points = (-8 + STEP * place for place in range(int(16 / STEP) + 1))
    return STEP * sum(
        x * count * exp(-x * x / 2) / sqrt(2 * pi) * ((1 + erf(x / sqrt(2))) / 2) ** (count - 1) for x in points
    )


def error_of(difference: Difference) -> float | None:
    """Return the standard error of a difference; None if nothing about it is uncertain, or it has no interval."""
    if difference.low is None or difference.high is None or difference.detectable is None:
        return None
    return (difference.detectable - (difference.high - difference.low) / 2) / FOUR_OF_FIVE


def winners_bias(differences: Iterable[Difference | None], count: int) -> float | None:
    """Return by how much the best of so many evaluations is overestimated if all are equally good.

    `differences`: of pairs of them. The error of one figure about what all have in common is that of a difference
    divided by √2. None if nothing is uncertain.
    """
    errors = [error for each in differences if each and (error := error_of(each))]
    return largest_of(count) * median(errors) / sqrt(2) if errors and count > 2 else None


def bias_text(bias: float | None, count: int, unit: str, *, what: Sequence[str] = ("evaluation", "evaluations")) -> str:
    """Return a sentence about it for reports; "" if there is nothing to say."""
    if not bias:
        return ""
    size = f"{bias * 100:.2f} points" if unit == "share" else f"{bias:.3g}"
    return (
        f"if all {count} {what[1]} were equally good, the best one would look about {size} better than it is, only "
        f"because it was picked: evaluate that {what[0]} again on other sessions (another interpret.seed) before you "
        "quote its figure"
    )
