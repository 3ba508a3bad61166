"""Checks plain values against the schema, and makes a Config of them; finds all unknown keys and wrong values at
once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, get_args, get_origin

import msgspec

from ci_eval.config.schema import Config
from ci_eval.config.wording import join, missing, not_a_section, unknown_key, wrong_value
from ci_eval.errors import ConfigError
from ci_eval.model import Section


def check(raw: object, source: str) -> Config:
    """The configuration that `raw` (keys in camelCase) describes. Raises ConfigError with everything that is wrong in
    it."""
    problems = list(_in_section(raw, Config, ""))
    if problems:
        raise ConfigError("\n".join(f"{source}: {problem}" for problem in problems))
    return msgspec.convert(_filled(raw, Config), Config)


def _in_section(raw: object, section: type[Section], path: str) -> Iterator[str]:
    if raw is None:
        return
    if not isinstance(raw, dict):
        yield not_a_section(raw, section, path)
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(section)}
    for key, value in raw.items():
        if key in fields:
            yield from _in_value(value, fields[key].type, join(path, key))
        else:
            yield unknown_key(key, section, path)
    for name, field in fields.items():
        if field.required and name not in raw:
            yield missing(join(path, name), field.type)


def _in_value(value: object, kind: object, path: str) -> Iterator[str]:
    if nested := section_in(kind):
        yield from _in_section(value, nested, path)
    elif (item := _item(kind)) is not None and isinstance(value, list | tuple) and value:
        for index, element in enumerate(value):
            yield from _in_item(element, item, f"{path}[{index}]")
    elif get_origin(kind) is dict and isinstance(value, dict):
        key_kind, item = get_args(kind)
        for key, element in value.items():
            if _fits(key, key_kind):
                yield from _in_value(element, item, join(path, key))
            else:
                yield wrong_value(key, key_kind, f"key of {path}")
    elif not _fits(value, kind):
        yield wrong_value(value, kind, path)


def _in_item(element: object, item: object, path: str) -> Iterator[str]:
    nested = section_in(item)
    if nested and element is None:
        yield not_a_section(element, nested, path)
    else:
        yield from _in_value(element, item, path)


def _fits(value: object, kind: object) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def section_in(kind: object) -> type[Section] | None:
    """The section class that a type means, also where the section is optional; None if it means none, or a list of
    them."""
    found = [part for part in (kind, *get_args(kind)) if isinstance(part, type) and issubclass(part, Section)]
    return found[0] if found and get_origin(kind) is not tuple else None


def _may_be_nothing(kind: object) -> bool:
    return type(None) in get_args(kind)


def _item(kind: object) -> object:
    """The X of `tuple[X, ...]`, also where the tuple is optional or annotated; None for other types."""
    if get_origin(kind) is tuple:
        return get_args(kind)[0]
    parts = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
    return next((item for part in parts if (item := _item(part)) is not None), None)


def _filled(raw: object, kind: object) -> object:
    """`raw` with {} for empty sections, since YAML takes `actions:` with nothing below it for null."""
    if raw is None and _may_be_nothing(kind):
        return None
    if (section := section_in(kind)) is not None:
        types = {field.encode_name: field.type for field in msgspec.structs.fields(section)}
        return {key: _filled(value, types[key]) for key, value in raw.items()} if isinstance(raw, dict) else {}
    if (item := section_in(_item(kind))) is not None and isinstance(raw, list | tuple):
        return [_filled(element, item) for element in raw]
    return raw
