"""Checking of plain values against the schema. All unknown keys and wrong values are reported at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, get_args, get_origin

import msgspec
from msgspec import inspect

from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config.schema import Config
from ci_eval.core.model import Section


def join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def wrong_value(value: object, kind: object, path: str) -> str:
    info = inspect.type_info(kind)
    parts = info.types if isinstance(info, inspect.UnionType) else (info,)
    hint = guess(value, choices(info)) if isinstance(value, str) else ""
    # YAML reads 1.10 as a number and `yes` as a Boolean, although the user may have meant a text.
    if not isinstance(value, str | list | dict | None) and any(isinstance(part, inspect.StrType) for part in parts):
        hint = "; put it in quotes"
    return f"`{path}` is {show(value)}; expected {describe(info)}{hint}"


def not_a_section(value: object, section: type[Section], path: str) -> str:
    subject = f"`{path}`" if path else "the whole content"
    keys = ", ".join(field.encode_name for field in msgspec.structs.fields(section))
    return f"{subject} is {show(value)}; expected a section with the keys {keys}"


def show(value: object) -> str:
    if value is None:
        return "empty (null)"
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str | int | float) else f"the {type(value).__name__} {value}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def describe(info: inspect.Type) -> str:
    match info:
        case inspect.UnionType():
            return " or ".join(describe(part) for part in info.types)
        case inspect.LiteralType() | inspect.EnumType():
            return f"one of {', '.join(choices(info))}"
        case inspect.VarTupleType():
            return f"a list of {describe(info.item_type)}" + (" (at least one)" if info.min_length else "")
        case inspect.IntType():
            return f"a whole number{_bounds(info)}"
        case inspect.FloatType():
            return f"a number{_bounds(info)}"
        case inspect.StrType():
            return "a text that is not empty" if info.min_length else "a text"
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return "null"
        case inspect.DictType():
            return f"a section of {describe(info.key_type)} → {describe(info.value_type)}"
        case _:
            return "a section"


def _bounds(info: inspect.IntType | inspect.FloatType) -> str:
    limits = [("above", info.gt), ("of at least", info.ge), ("below", info.lt), ("of at most", info.le)]
    return " and".join(f" {word} {limit:,}" for word, limit in limits if limit is not None)


def choices(info: inspect.Type) -> list[str]:
    match info:
        case inspect.BoolType():
            return ["false", "true"]
        case inspect.LiteralType():
            return [str(value) for value in info.values]
        case inspect.EnumType():
            return [str(member.value) for member in info.cls]
        case inspect.UnionType():
            return [choice for part in info.types for choice in choices(part)]
        case _:
            return []


def _paths(section: type[Section], path: str) -> Iterator[str]:
    for field in msgspec.structs.fields(section):
        yield join(path, field.encode_name)
        if isinstance(field.type, type) and issubclass(field.type, Section):
            yield from _paths(field.type, join(path, field.encode_name))


def check(raw: object, source: str) -> Config:
    """Return the configuration. `raw`: plain values with keys in camelCase. Raises ConfigError with all problems."""
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
            hint = guess(str(key), fields)
            if not hint:
                start = str(key).lower()
                paths = [name for name in _paths(Config, "") if name.rpartition(".")[2].lower().startswith(start)]
                # Suggest only the least deeply nested keys, since the user probably means one of these.
                depth = min((name.count(".") for name in paths), default=0)
                likely = " or ".join(name for name in paths if name.count(".") == depth)
                hint = f"; did you mean {likely}?" if likely else ""
            scope = f"in `{path}`" if path else "at the top"
            yield f"`{join(path, key)}` is not a known key{hint}; known {scope}: {', '.join(fields)}"
    for name, field in fields.items():
        if field.required and name not in raw:
            yield f"`{join(path, name)}` is missing; expected {describe(inspect.type_info(field.type))}"


def _value_problems(value: object, kind: object, path: str) -> Iterator[str]:
    if nested := find_section(kind):
        yield from _section_problems(value, nested, path)
    elif (item := _item(kind)) is not None and isinstance(value, list | tuple) and value:
        for index, element in enumerate(value):
            location, section = f"{path}[{index}]", find_section(item)
            # An empty section is allowed as the value of a key, but not as an entry of a list.
            if section and element is None:
                yield not_a_section(element, section, location)
            else:
                yield from _value_problems(element, item, location)
    elif get_origin(kind) is dict and isinstance(value, dict):
        key_kind, item = get_args(kind)
        for key, element in value.items():
            if _fits(key, key_kind):
                yield from _value_problems(element, item, join(path, key))
            else:
                yield wrong_value(key, key_kind, f"key of {path}")
    elif not _fits(value, kind):
        yield wrong_value(value, kind, path)


def _fits(value: object, kind: object) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def find_section(kind: object) -> type[Section] | None:
    """Return the section class of a type such as `Section` or `Section | None`; None for any other type."""
    sections = [part for part in (kind, *get_args(kind)) if isinstance(part, type) and issubclass(part, Section)]
    return sections[0] if sections and get_origin(kind) is not tuple else None


def _item(kind: object) -> object:
    if get_origin(kind) is tuple:
        return get_args(kind)[0]
    parts = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
    return next((item for part in parts if (item := _item(part)) is not None), None)


def _fill(raw: object, kind: object) -> object:
    # YAML reads an empty section, such as `actions:` without content, as null.
    if raw is None and type(None) in get_args(kind):
        return None
    if (section := find_section(kind)) is not None:
        types = {field.encode_name: field.type for field in msgspec.structs.fields(section)}
        return {key: _fill(value, types[key]) for key, value in raw.items()} if isinstance(raw, dict) else {}
    if (item := find_section(_item(kind))) is not None and isinstance(raw, list | tuple):
        return [_fill(element, item) for element in raw]
    return raw
