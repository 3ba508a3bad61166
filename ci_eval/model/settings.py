"""The parts of the configuration that stages work with."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ci_eval.model.tokens import Kind

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The base of all sections."""


class PrefixConfig(Section, frozen=True):
    """How much of a token is typed before completion is asked for."""

    name: Literal["NoPrefix", "SimplePrefix", "CapitalizePrefix"] = "NoPrefix"
    """Nothing; the first `n` characters; or the capitals that start the words of the name."""
    n: Count | None = None
    """Number of characters; SimplePrefix needs it, the others must not have it."""
    emulate_typing: bool = False
    """Whether completion is asked for after each typed character, not only after the last one."""


class FiltersConfig(Section, frozen=True):
    """Which tokens take part: those that pass every filter; None lets everything through."""

    statement_types: Annotated[tuple[Kind, ...], Meta(min_length=1)] | None = None
    """The kinds of tokens."""
    is_static: bool | None = None
    """Only static members (True), or only others (False)."""
    is_argument: bool | None = None
    """Only arguments of a call (True), or only others (False)."""
    package_regex: str | None = None
    """A Python regular expression that the whole package name of the declaration must match."""


class StrategyConfig(Section, frozen=True):
    """Which tokens are completed, and how they are typed."""

    context: Literal["ALL", "PREVIOUS"] = "ALL"
    """What of the file the engine sees: all but the token, or only what stands before it."""
    prefix: PrefixConfig = PrefixConfig()
    """What is typed before completion is asked for."""
    filters: FiltersConfig = FiltersConfig()
    """Which tokens are completed."""


class ActionsConfig(Section, frozen=True):
    """Stage 1: source to actions."""

    evaluation_roots: tuple[Text, ...] = ()
    """Files and folders, relative to the project; none = the whole project."""
    ignore_file_names: tuple[Text, ...] = ()
    """Names of files and folders that are left out, wherever they stand."""
    max_file_size: Count = 1_000_000
    """Bytes; larger files are left out."""
    strategy: StrategyConfig = StrategyConfig()
    """What is completed in a file."""


class SessionsFilter(Section, frozen=True):
    """One more report over the sessions that pass `filters`."""

    name: Text
    """Name of the report; unique, and not ALL, which always stands for every session."""
    filters: FiltersConfig = FiltersConfig()
    """Which sessions it covers."""
