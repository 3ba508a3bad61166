"""The keys of a configuration and their meanings, as a list and as a JSON schema for editors."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, get_args, get_type_hints

import msgspec

from ci_eval.core.config.checking import choices, describe, find_section, join
from ci_eval.core.config.schema import Config
from ci_eval.core.model import Section, UserModelConfig

SHORT: Mapping[str, dict[str, object]] = {
    "engine": {"type": "string", "description": "NAME or NAME@VERSION"},
    "project": {"type": "string", "description": "A SPEC such as pypi:NAME==VERSION or path:DIR"},
    "dataset": {"type": "string", "description": "A file of JSON lines, or https://HOST/FILE#sha256=HEX"},
    "interpret.userModel": {"enum": [*get_args(get_type_hints(UserModelConfig)["profile"])]},
}

YAML_WORDS = {"None": "null", "True": "true", "False": "false"}


class Key(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    type: str
    default: str
    """The default in YAML; "" if there is none."""
    meaning: str
    choices: tuple[str, ...] = ()


def keys(section: type[Section] = Config, path: str = "") -> Iterator[Key]:
    """Yield all keys below the section in the order of the schema. Sections in lists are not expanded."""
    meanings = read_meanings(section)
    for field in msgspec.structs.fields(section):
        name = join(path, field.encode_name)
        nested, info = find_section(field.type), msgspec.inspect.type_info(field.type)
        value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        if not nested or name in SHORT:
            yield Key(
                name=name,
                type=describe(info) + (", or a text" if name in SHORT else ""),
                default="" if nested or field.required else msgspec.json.encode(value).decode(),
                meaning=meanings[field.encode_name],
                choices=tuple(choices(info)),
            )
        if nested:
            yield from keys(nested, name)


@cache
def read_meanings(section: type[Section]) -> Mapping[str, str]:
    """Return key → docstring of the field, with `None`, `True` and `False` in the spelling of YAML."""
    texts: dict[str, str] = {}
    # A section may inherit fields, whose docstrings are in the source of the base class.
    for cls in reversed(section.__mro__):
        if cls is not Section and issubclass(cls, Section):
            # Python does not keep the docstrings of fields, so they are read from the source.
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
            assert isinstance(tree, ast.ClassDef)
            for at, text in pairwise(tree.body):
                if isinstance(at, ast.AnnAssign) and isinstance(at.target, ast.Name) and isinstance(text, ast.Expr):
                    meaning = " ".join(ast.literal_eval(text.value).split())
                    texts[at.target.id] = re.sub(r"\b(?:None|True|False)\b", lambda word: YAML_WORDS[word[0]], meaning)
    return {field.encode_name: texts[field.name] for field in msgspec.structs.fields(section)}


def schema(known: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of configurations. `known`: dotted key → values that editors suggest."""
    (root,), definitions = msgspec.json.schema_components([Config], ref_template="#/$defs/{name}")
    seen: set[type[Section]] = set()
    waiting: list[tuple[type[Section], str]] = [(Config, "")]
    # The list grows while the loop runs.
    for section, path in waiting:
        if section in seen:
            continue
        seen.add(section)
        _explain(definitions[section.__name__], section, path, known)
        for field in msgspec.structs.fields(section):
            items = (field.type, *get_args(field.type))
            below = [kind for kind in items if isinstance(kind, type) and issubclass(kind, Section)]
            waiting += [(nested, join(path, field.encode_name)) for nested in below]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "ci-eval", **root, "$defs": definitions}


def _explain(written: dict[str, Any], section: type[Section], path: str, known: Mapping[str, Sequence[str]]) -> None:
    for name, meaning in read_meanings(section).items():
        key, value = join(path, name), written["properties"][name]
        forms = value.pop("anyOf", None) or [
            {keyword: value.pop(keyword) for keyword in list(value) if keyword != "default"}
        ]
        if key in known:
            forms = [{"enum": list(known[key])}, *forms]
        # An empty section is null in YAML.
        if any("#/$defs/" in form.get("$ref", "") for form in forms) and {"type": "null"} not in forms:
            forms = [*forms, {"type": "null"}]
        if key in SHORT:
            forms = [*forms, SHORT[key]]
        if key == "reports.sessionsFilters":
            # A filter may also be an expression (see `read_expression` in `text.py`).
            line = {"type": "string", "minLength": 1}
            forms = [{**form, "items": {"anyOf": [form["items"], line]}} for form in forms]
        # YAML reads unquoted `off` and `on` as false and true.
        if key == "interpret.confine":
            forms = [*forms, {"const": False}]
        if key == "interpret.autoImport":
            forms = [*forms, {"type": "boolean"}]
        either = forms[0] if len(forms) == 1 else {"anyOf": forms}
        written["properties"][name] = {"description": meaning, **value, **either}
