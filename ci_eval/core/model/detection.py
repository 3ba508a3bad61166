"""The size of the difference that a comparison was to show, if it asked only as many sessions as that takes."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.core.model.tokens import Number, Value


class Detection(Value, frozen=True, kw_only=True):
    """The goal of a comparison: to find a true difference of that size with that probability."""

    metric: str
    wanted: Annotated[float, Meta(gt=0, lt=1)]
    """The true difference of the metric that is to be found, as a share."""
    power: Annotated[float, Meta(ge=0.5, lt=1)]
    """The probability that such a difference is found: called better or worse."""
    most: Number | None = None
    """The most sessions that are asked for that; None = as many as it takes."""


class Detected(Detection, frozen=True, kw_only=True):
    """The goal of a comparison, and how much of it was reached."""

    reached: float | None = None
    """The true difference that the sessions asked find with that power; 0 if all were asked and nothing is uncertain,
    None if the metric has no figure."""
