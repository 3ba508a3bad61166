"""The check of plain values against the schema. It finds all unknown keys and wrong values at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, get_args, get_origin

import msgspec

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config.schema import Config
from ci_eval.core.config.wording import join, missing, not_a_section, unknown_key, wrong_value
from ci_eval.core.model import Section


def check(raw: object, source: str) -> Config:
    """Return the configuration that `raw` (keys in camelCase) describes. Raises ConfigError that lists all problems."""
    problems = list(_section_problems(raw, Config, ""))
    if problems:
        raise ConfigError("\n".join(f"{source}: {problem}" for problem in problems))
    return msgspec.convert(_fill(raw, Config), Config)


def _section_problems(raw: object, section: type[Section], path: str) -> Iterator[str]:
    if raw is None:
        return
    if not isinstance(raw, dict):
        yield not_a_section(raw, section, path)
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(section)}
    for key, value in raw.items():
        if key in fields:
            yield from _value_problems(value, fields[key].type, join(path, key))
        else:
            yield unknown_key(key, section, path)
    for name, field in fields.items():
        if field.required and name not in raw:
            yield missing(join(path, name), field.type)


def _value_problems(value: object, kind: object, path: str) -> Iterator[str]:
    if nested := find_section(kind):
        yield from _section_problems(value, nested, path)
    elif (item := _item(kind)) is not None and isinstance(value, list | tuple) and value:
        for index, element in enumerate(value):
            yield from _item_problems(element, item, f"{path}[{index}]")
    elif get_origin(kind) is dict and isinstance(value, dict):
        key_kind, item = get_args(kind)
        for key, element in value.items():
            if _fits(key, key_kind):
                yield from _value_problems(element, item, join(path, key))
            else:
                yield wrong_value(key, key_kind, f"key of {path}")
    elif not _fits(value, kind):
        yield wrong_value(value, kind, path)


def _item_problems(element: object, item: object, path: str) -> Iterator[str]:
    nested = find_section(item)
    # A section may be empty, but an entry of a list of sections may not.
    if nested and element is None:
        yield not_a_section(element, nested, path)
    else:
        yield from _value_problems(element, item, path)


def _fits(value: object, kind: object) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def find_section(kind: object) -> type[Section] | None:
    """Return the section class of a type, also of an optional one; None for other types, and for lists of sections."""
    sections = [part for part in (kind, *get_args(kind)) if isinstance(part, type) and issubclass(part, Section)]
    return sections[0] if sections and get_origin(kind) is not tuple else None


def _item(kind: object) -> object:
    if get_origin(kind) is tuple:
        return get_args(kind)[0]
    parts = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
    return next((item for part in parts if (item := _item(part)) is not None), None)


def _fill(raw: object, kind: object) -> object:
    """Return `raw` with {} for empty sections."""
    # YAML reads `actions:` with nothing below it as null.
    if raw is None and type(None) in get_args(kind):
        return None
    if (section := find_section(kind)) is not None:
        types = {field.encode_name: field.type for field in msgspec.structs.fields(section)}
        return {key: _fill(value, types[key]) for key, value in raw.items()} if isinstance(raw, dict) else {}
    if (item := find_section(_item(kind))) is not None and isinstance(raw, list | tuple):
        return [_fill(element, item) for element in raw]
    return raw
