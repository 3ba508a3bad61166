"""Formatting of figures, differences and intervals with their units."""

from __future__ import annotations

from math import floor, isfinite, log10

from ci_eval.core.model.comparison import Difference, Elsewhere
from ci_eval.core.model.engine import State
from ci_eval.core.model.report import Estimate, OtherCode

NOTHING = "\N{EM DASH}"
TO = "\N{EN DASH}"

TRENDS = ("LatencyPercentile50", "LatencyPercentile95")
COSTS = ("CostPerSession",)


def amount(value: float | None, unit: str) -> str:
    if value is None or not isfinite(value):
        return NOTHING
    match unit:
        case "share":
            return f"{value:.1%}"
        case "score" | "nats":
            return f"{value:.3f}"
        case "ms" | "MB":
            return f"{value:,.1f} {unit}"
        case "count":
            return f"{value:,.0f}"
        case "money":
            return money(value)
        case _:
            return f"{value:.2f}"


def money(value: float) -> str:
    """Return the amount with two decimals, or with two significant digits if it is below 1."""
    decimals = 2 if abs(value) >= 1 or not value else min(max(2, 1 - floor(log10(abs(value)))), 12)
    return f"{value:,.{decimals}f}"


def change(difference: float | None, unit: str) -> str:
    """Return the difference with its sign, or a dash for None. Differences of shares are in percentage points."""
    if difference is None or not isfinite(difference):
        return NOTHING
    match unit:
        case "share":
            text = f"{difference * 100:+.2f} pp"
        case "score" | "nats":
            text = f"{difference:+.4f}"
        case "ms" | "MB":
            text = f"{difference:+,.1f} {unit}"
        case "money":
            text = f"{'-' if difference < 0 else '+'}{money(abs(difference))}"
        case _:
            text = f"{difference:+.2f}"
    # A difference that is rounded to 0 has no sign.
    return text if any(digit in text for digit in "123456789") else f"±{text[1:]}"


def change_between(low: float | None, high: float | None, unit: str) -> str:
    return "" if low is None or high is None else f"{change(low, unit)} to {change(high, unit)}"


def interval(estimate: Estimate | OtherCode, unit: str) -> str:
    """Return the 95 % interval; "exact" or "all asked" if its ends are equal; "" without an interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.low == estimate.high:
        # All sessions were asked. An exact figure also requires that the engine gave equal answers when asked again.
        checked = isinstance(estimate, OtherCode) or estimate.state in {"exact", "none"}
        return "exact" if checked else "all asked"
    low, high = amount(estimate.low, unit), amount(estimate.high, unit)
    text = "" if NOTHING in (low, high) else f"{low.removesuffix('%').removesuffix(' ms')}{TO}{high}"
    return append_state(text, estimate.state) if isinstance(estimate, Estimate) else text


def append_state(interval: str, state: State) -> str:
    return f"{interval}, {state}" if interval and state in {"exact", "once", "noisy", "weighted"} else interval


def interval_text(difference: Difference | Elsewhere, unit: str) -> str:
    if difference.low is None or difference.high is None:
        return "no interval"
    state = difference.state if isinstance(difference, Difference) else "none"
    if difference.low == difference.high:
        return "exact" if state in {"exact", "none"} else "all sessions"
    return append_state(change_between(difference.low, difference.high, unit), state)
