"""Filters that select tokens in stage 1 and sessions in reports. The leading filter of a report is its headline."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from operator import attrgetter, contains, eq
from typing import TypeVar

import msgspec
import re2
from msgspec.structs import asdict, replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model import FiltersConfig, Kind, Properties, SessionScore, SessionsFilter

S = TypeVar("S")
T = TypeVar("T")


def matches(pattern: str, text: str) -> bool:
    """Return whether the pattern matches the whole text. Raises ConfigError if the pattern is invalid."""
    return compile_pattern(pattern).fullmatch(text) is not None


@lru_cache
def compile_pattern(pattern: str) -> re2._Regexp:
    """Return the pattern compiled by RE2. Raises ConfigError if Python or RE2 cannot compile it."""
    options = re2.Options()
    # By default, RE2 also prints errors to stderr.
    options.log_errors = False
    try:
        with warnings.catch_warnings():
            # Python warns about patterns such as `[a-z&&[^b]]`, which have another meaning in Java.
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise ConfigError(f"expected a Python regular expression ({error})") from error
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise ConfigError(
            f"expected a regular expression without lookaround, backreferences and long repetitions ({reason})"
        ) from error


EVERYTHING = "ALL"
NAMES = "names"
GROUPS: dict[str, tuple[Kind, ...]] = {
    NAMES: (Kind.METHOD_CALL, Kind.FIELD, Kind.VARIABLE, Kind.ARGUMENT_NAME, Kind.TYPE_REFERENCE),
    "imports": (Kind.IMPORT,),
    "keywords": (Kind.KEYWORD,),
}
"""Group → its kinds. Each group is a report filter. Keywords are separate, since many engines leave them to editors."""
_STANDARD = re.compile(rf"(?:(?P<group>{'|'.join(GROUPS)}), )?Prefix (?P<typed>\d+)|(?P<alone>{'|'.join(GROUPS)})")


class ReportFilter(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    filters: FiltersConfig | None = None
    typed: int | None = None
    """The number of typed letters; None = any number."""
    file: str | None = None
    text: str | None = None
    kinds: tuple[Kind, ...] | None = None
    """The kinds of tokens; None = all kinds."""
    detailed: bool = True

    def passes(self, session: SessionScore) -> bool | None:
        """Return whether a session passes; None if that depends on an unknown property."""
        if self.typed is not None and session.typed != self.typed:
            return False
        if self.file is not None and not fnmatchcase(session.file, self.file):
            return False
        if self.text is not None and not fnmatchcase(session.expected_text, self.text):
            return False
        if self.kinds is not None and session.properties.kind not in self.kinds:
            return False
        return self.filters is None or decide(session.properties, session.expected_text, self.filters)


def find_alike(filters: Iterable[ReportFilter]) -> Callable[[SessionScore], Hashable]:
    """Return a function of sessions. If it has the same result for two sessions of a file, they pass the same of the
    `filters`, and have the same kind, properties and number of typed letters."""
    if any(part.text is not None or part.filters is not None for part in filters):
        return attrgetter("properties", "typed", "expected_text")
    return attrgetter("properties", "typed")


class ReportFilters(msgspec.Struct, frozen=True, kw_only=True):
    all: tuple[ReportFilter, ...]
    headline: str

    @property
    def leading(self) -> ReportFilter:
        return next(part for part in self.all if part.name == self.headline)

    def over(self, sessions: Mapping[str, int]) -> ReportFilters:
        """Return the filters, led by ALL if the headline has no sessions. `sessions`: filter → number of sessions."""
        return self if sessions.get(self.headline) else self.led_by_all()

    def led_by_all(self) -> ReportFilters:
        return replace(self, headline=EVERYTHING)


def report_filters(
    *, grouped: bool, lengths: Iterable[int], declared: Sequence[SessionsFilter], headline: str
) -> ReportFilters:
    """Return the filters of a report. `grouped`: whether names, imports and keywords have filters. `lengths`: the
    numbers of typed letters, each of which has a filter. `headline`: the setting `reports.headline`."""
    lengths = sorted(set(lengths))
    typed = _leading_length(lengths)
    possible: list[int | None] = [*lengths] or [None]
    leads = resolve(headline if grouped or headline.lower() not in GROUPS else EVERYTHING, lengths)
    filters = [ReportFilter(name=EVERYTHING)]
    filters += [ReportFilter(**asdict(part)) for part in declared]
    filters += [ReportFilter(name=standard_name(None, length), typed=length) for length in lengths]
    for group, kinds in GROUPS.items() if grouped else ():
        for length in possible:
            name = standard_name(group, length)
            if group == NAMES or length == typed or name == leads:
                filters.append(ReportFilter(name=name, typed=length, kinds=kinds, detailed=name == leads))
    return ReportFilters(all=tuple(filters), headline=leads)


def resolve(name: str, lengths: Sequence[int]) -> str:
    """Return a filter's full name. `name`: `all`, a group or a filter. `lengths`: numbers of typed letters, sorted."""
    plain = name.strip()
    if plain.lower() == EVERYTHING.lower():
        return EVERYTHING
    if plain.lower() in GROUPS:
        return standard_name(plain.lower(), _leading_length(lengths))
    return plain


def standard_name(group: str | None, typed: int | None) -> str:
    return ", ".join(filter(None, (group, None if typed is None else f"Prefix {typed}"))) or EVERYTHING


def standard_parts(name: str) -> tuple[str | None, int | None] | None:
    if name == EVERYTHING:
        return None, None
    match = _STANDARD.fullmatch(name)
    return match and (match["group"] or match["alone"], int(match["typed"]) if match["typed"] else None)


def sampling_classes(headline: str) -> tuple[str, ...]:
    """Return the classes; a limited sample is drawn from each class separately. The headline comes first; a session
    belongs to the first class that it passes. Return () if the headline is ALL or a declared filter."""
    if headline == EVERYTHING or standard_parts(headline) is None:
        return ()
    return tuple(dict.fromkeys([headline, *GROUPS]))


@cache
def find_class(classes: tuple[str, ...], kind: Kind, typed: int) -> str:
    """Return the first class that a session with this kind and number of typed letters passes; "" if there is none."""
    for name in classes:
        group, letters_typed = standard_parts(name) or (None, None)
        if (group is None or kind in GROUPS[group]) and letters_typed in {None, typed}:
            return name
    return ""


def collect_letters(names: Iterable[str]) -> list[int]:
    parts = (standard_parts(name) for name in names)
    return sorted({typed for part in parts if part for typed in [part[1]] if typed is not None})


def _leading_length(lengths: Sequence[int]) -> int | None:
    """Return 1 if `lengths` contain 1, otherwise the smallest length that is not 0."""
    # Most editors show the list after the first letter.
    if 1 in lengths:
        return 1
    return next((length for length in lengths if length), lengths[0] if lengths else None)


def needs_resolution(filters: FiltersConfig) -> bool:
    """Return whether the filters use properties that the text of a file may not show."""
    return any(setting is not None for setting in (filters.is_static, filters.package_regex, filters.location))


def decide(known: Properties, text: str, filters: FiltersConfig) -> bool | None:
    """Return whether a token passes the filters; None if that depends on an unknown property."""
    verdicts = [
        filters.statement_types is None or known.kind in filters.statement_types,
        filters.minimum_length is None or len(text) >= filters.minimum_length,
        _passes(known.is_argument, filters.is_argument, eq),
        _passes(known.is_static, filters.is_static, eq),
        _passes(known.first_use, filters.first_use, eq),
        _passes(known.location, filters.location, eq),
        _passes(known.package, filters.package_regex, matches),
        _passes(known.strategy, filters.strategies, contains),
        _passes(known.scenario, filters.scenarios, contains),
        _passes(known.evolution, filters.evolutions, contains),
    ]
    # A single failed condition decides, even if other conditions are unknown.
    return False if False in verdicts else None if None in verdicts else True


def _passes(value: T | None, setting: S | None, test: Callable[[S, T], bool]) -> bool | None:
    if setting is None:
        return True
    return None if value is None else test(setting, value)


def letters(count: int) -> str:
    return {0: "nothing", 1: "one letter"}.get(count, f"{count} letters")


def label(name: str) -> str:
    parts = standard_parts(name)
    if parts is None:
        return name
    group, typed = parts
    return ", ".join(filter(None, (group, None if typed is None else f"{letters(typed)} typed"))) or "all sessions"
