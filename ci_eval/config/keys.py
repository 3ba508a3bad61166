"""All keys of a configuration with their meanings: as rows, and as a JSON schema for editors."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from ci_eval.config.checking import section_in
from ci_eval.config.schema import Config
from ci_eval.config.wording import choices, describe, join
from ci_eval.model import Section, UserModelConfig

SHORT: Mapping[str, dict[str, object]] = {
    "engine": {"type": "string", "description": "NAME or NAME@VERSION"},
    "project": {"type": "string", "description": "A SPEC such as pypi:NAME==VERSION or path:DIR"},
    "dataset": {"type": "string", "description": "A file of JSON lines, or https://HOST/FILE#sha256=HEX"},
    "interpret.userModel": {"enum": [*get_args(get_type_hints(UserModelConfig)["profile"])]},
}
"""Sections that may also be written as a text."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key."""

    name: str
    """Dotted, as `--set` takes it."""
    type: str
    """What values it allows, in words."""
    default: str
    """As it is written in YAML; "" = there is none."""
    meaning: str
    choices: tuple[str, ...] = ()
    """The values, where they are a few."""


def keys(section: type[Section] = Config, path: str = "") -> Iterator[Key]:
    """All keys below the section, in the order of the configuration; those of lists of sections are not spelled out."""
    meanings = meanings_of(section)
    for field in msgspec.structs.fields(section):
        name = join(path, field.encode_name)
        nested = section_in(field.type)
        if nested and name not in SHORT:
            yield from keys(nested, name)
            continue
        yield Key(
            name=name,
            type=describe(msgspec.inspect.type_info(field.type)) + (", or a text" if name in SHORT else ""),
            default="" if nested else _default(field),
            meaning=meanings[field.encode_name],
            choices=tuple(choices(msgspec.inspect.type_info(field.type))),
        )
        if nested:
            yield from keys(nested, name)


def _default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return "" if field.required else msgspec.json.encode(value).decode()


@cache
def meanings_of(section: type[Section]) -> Mapping[str, str]:
    """Key → what the text below its field says, in the words of YAML."""
    said: dict[str, str] = {}
    for cls in reversed(section.__mro__):
        if cls is not Section and issubclass(cls, Section):
            said |= dict(_texts(cls))
    return {field.encode_name: said[field.name] for field in msgspec.structs.fields(section)}


def _texts(section: type[Section]) -> Iterator[tuple[str, str]]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    assert isinstance(tree, ast.ClassDef)
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            yield field.target.id, _in_yaml(ast.literal_eval(text.value))


def _in_yaml(text: str) -> str:
    words = {"None": "null", "True": "true", "False": "false"}
    return re.sub(r"\b(None|True|False)\b", lambda found: words[found[0]], " ".join(text.split()))


def schema(known: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of configurations in YAML. `known`: for dotted keys, values that editors offer,
    though others are not wrong."""
    (root,), definitions = msgspec.json.schema_components([Config], ref_template="#/$defs/{name}")
    for section, path in _sections(Config, ""):
        _explain(definitions[section.__name__], section, path, known)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "ci-eval", **root, "$defs": definitions}


def _sections(section: type[Section], path: str) -> Iterator[tuple[type[Section], str]]:
    """Each section class, and one path at which it stands."""
    found: dict[type[Section], str] = {}
    waiting = [(section, path)]
    for section, path in waiting:
        if section in found:
            continue
        found[section] = path
        for field in msgspec.structs.fields(section):
            items = (field.type, *get_args(field.type))
            below = [each for each in items if isinstance(each, type) and issubclass(each, Section)]
            waiting += [(each, join(path, field.encode_name)) for each in below]
    yield from found.items()


def _explain(written: dict[str, Any], section: type[Section], path: str, known: Mapping[str, Sequence[str]]) -> None:
    """Give the properties of a section their meanings; a section may be empty (null), or have a short form."""
    types = {field.encode_name: field.type for field in msgspec.structs.fields(section)}
    for name, meaning in meanings_of(section).items():
        key, value = join(path, name), written["properties"][name]
        forms = value.pop("anyOf", None) or [{each: value.pop(each) for each in list(value) if each != "default"}]
        if key in known:
            forms = [{"enum": list(known[key])}, *forms]
        if any("#/$defs/" in form.get("$ref", "") for form in forms) and {"type": "null"} not in forms:
            forms = [*forms, {"type": "null"}]
        if key in SHORT:
            forms = [*forms, SHORT[key]]
        # YAML takes `off` and `on` without quotes for false and true.
        if key == "interpret.confine":
            forms = [*forms, {"const": False}]
        if key == "interpret.autoImport":
            forms = [*forms, {"type": "boolean"}]
        if get_origin(types[name]) is dict and issubclass(names := get_args(types[name])[0], Enum):
            value["propertyNames"] = {"enum": [each.value for each in names]}
        either = forms[0] if len(forms) == 1 else {"anyOf": forms}
        written["properties"][name] = {"description": meaning, **value, **either}
