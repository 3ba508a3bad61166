"""Filters by what is known about a token; the same in stage 1 and in reports."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.model import FiltersConfig, Properties
from ci_eval.patterns import matches


def needs_resolution(filters: FiltersConfig) -> bool:
    """Whether the filters ask for properties that the text of the file alone may not tell."""
    return any(wanted is not None for wanted in (filters.is_static, filters.package_regex, filters.location))


def decide(known: Properties, text: str, filters: FiltersConfig) -> bool | None:
    """Whether a token passes the filters; None where that depends on a property which is not known."""
    verdicts = [
        filters.statement_types is None or known.kind in filters.statement_types,
        filters.minimum_length is None or len(text) >= filters.minimum_length,
        _equal(known.is_argument, filters.is_argument),
        _equal(known.is_static, filters.is_static),
        _equal(known.first_use, filters.first_use),
        _equal(known.location, filters.location),
        _matches(known.package, filters.package_regex),
        _among(known.strategy, filters.strategies),
        _among(known.scenario, filters.scenarios),
        _among(known.evolution, filters.evolutions),
    ]
    return False if False in verdicts else None if None in verdicts else True


def _equal(value: bool | str | None, wanted: bool | str | None) -> bool | None:
    if wanted is None:
        return True
    return None if value is None else value == wanted


def _among(value: str | None, wanted: Sequence[str] | None) -> bool | None:
    if wanted is None:
        return True
    return None if value is None else value in wanted


def _matches(package: str | None, wanted: str | None) -> bool | None:
    if wanted is None:
        return True
    return None if package is None else matches(wanted, package)
