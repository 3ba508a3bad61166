"""Reading and writing of YAML and JSON, with limits against hostile files, and parsing of filter expressions."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from pathlib import Path

import yaml

from ci_eval.core.base.errors import ConfigError

MAX_BYTES = 200_000
"""The largest size of a file, in bytes: there is room for 2,000 file names, and reading takes at most 2 seconds."""
MAX_DEPTH = 50
MAX_VALUES = 100_000
"""The largest number of values in a file. The values of an alias count for each use."""


class _Loader(yaml.SafeLoader):
    """A loader that reads 1e-3 as a number, like JSON. PyYAML by itself reads 1e-3 as a text."""


class _Dumper(yaml.SafeDumper):
    """A dumper that quotes texts such as 1e-3, so that `_Loader` reads them as texts."""


for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
    )


def read(path: Path) -> object:
    """Return the content of a file, which is JSON if its suffix is `.json`, and YAML otherwise. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            # One more byte than allowed shows that the file is too large.
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if re.match(r"[a-z]+:.", str(path)):
            raise ConfigError(f"{path} is a project's SPEC, not a file: did you mean --project {path}?") from None
        raise ConfigError(
            f"{path}: there is no such file; give the path of a YAML or JSON configuration, "
            "or leave the path out to use the defaults"
        ) from None
    except IsADirectoryError:
        raise ConfigError(f"{path} is a folder, not a configuration: did you mean --project path:{path}?") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); a configuration is a readable file") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: a configuration has at most {MAX_BYTES:,} bytes, and this file is larger")
    try:
        # The file may begin with a byte order mark, which editors on Windows write.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from None
    return _parse_json(text, str(path)) if path.suffix.lower() == ".json" else parse_yaml(text, str(path))


def parse_yaml(text: str, source: str) -> object:
    """Return the content of a YAML text. `source`: the name of the text in errors. Raises ConfigError."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _count_values(node, {}, source)
        return _copy(loader.construct_document(node))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        location = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ConfigError(f"{source}: {location}broken YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{source}: character {error.position + 1} is not allowed in YAML") from None
    except RecursionError:
        raise ConfigError(f"{source}: the content is nested too deeply") from None
    # PyYAML lets exceptions of its scalar constructors through, such as for the date 2024-13-45.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(f"{source}: a value cannot be read ({error}); if a text is meant, put it in quotes") from None


def _copy(value: object, depth: int = 0) -> object:
    """Return a deep copy in which no value is shared. Raises RecursionError if the value is nested too deeply, and
    ValueError if it contains a number beyond 64 bits or a lone surrogate."""
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a number beyond 64 bits")
    if isinstance(value, str):
        value.encode()  # raises ValueError for a lone surrogate, which a JSON escape can produce
    if isinstance(value, dict):
        return {_copy(key, depth + 1): _copy(below, depth + 1) for key, below in value.items()}
    return [_copy(below, depth + 1) for below in value] if isinstance(value, list) else value


def _count_values(node: yaml.Node, sizes: dict[int, int], source: str) -> int:
    """Count a node's values with aliases expanded. Raises ConfigError for cycles, repeated keys or too many values."""
    if (known := sizes.get(id(node))) is not None:
        if known == 0:
            raise ConfigError(f"{source}: {_location(node)}: the value contains itself through an alias")
        return known
    # The size 0 marks a node whose values are being counted. An alias to such a node is a cycle.
    sizes[id(node)] = 0
    children: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if first := seen.get(key.value):
                raise ConfigError(
                    f"{source}: {_location(key)}: `{key.value}` occurs twice (first in {_location(first)})"
                )
            seen[key.value] = key
        children = [part for pair in node.value for part in pair]
    elif isinstance(node, yaml.SequenceNode):
        children = node.value
    size = 1 + sum(_count_values(child, sizes, source) for child in children)
    if size > MAX_VALUES:
        raise ConfigError(f"{source}: {_location(node)}: the aliases here expand to more than {MAX_VALUES:,} values")
    sizes[id(node)] = size
    return size


def _location(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}"


_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def _parse_json(text: str, source: str) -> object:
    # The README of the JetBrains plugin shows comments, which are not JSON. Replacing them with blanks keeps positions.
    text = _STRING_OR_COMMENT.sub(lambda part: part[0] if part[0][0] == '"' else re.sub(r"\S", " ", part[0]), text)

    def mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys = Counter(key for key, _ in pairs)
        if twice := next((key for key, times in keys.items() if times > 1), None):
            raise ConfigError(f"{source}: `{twice}` occurs twice in the same section")
        return dict(pairs)

    try:
        return _copy(json.loads(text, object_pairs_hook=mapping))
    except json.JSONDecodeError as error:
        location = f"line {error.lineno}, column {error.colno}"
        raise ConfigError(f"{source}: {location}: broken JSON: {error.msg}") from None
    except RecursionError:
        raise ConfigError(f"{source}: the content is nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from None


def write_yaml(value: object) -> str:
    """Return the value as YAML, with keys in their given order. `parse_yaml` returns an equal value."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=120))


def read_expression(text: str) -> dict[str, object]:
    """Return the entry of `reports.sessionsFilters` for an expression, with unchecked values. Raises ConfigError."""
    try:
        # Values with spaces may be quoted as in a shell.
        conditions = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"filter {text!r}: {error}") from None
    if not conditions:
        raise ConfigError(f"a filter is empty: expected conditions such as kind=METHOD_CALL; {_KNOWN}")
    filters: dict[str, object] = {}
    entry: dict[str, object] = {"name": text.strip(), "filters": filters}
    for condition in conditions:
        name, equals, value = condition.partition("=")
        if not equals or not value or name not in CONDITIONS:
            raise ConfigError(f"filter {text!r}: {condition!r} is not a condition; {_KNOWN}")
        key, read = CONDITIONS[name]
        section = entry if key in _OF_SESSIONS else filters
        if key in section:
            raise ConfigError(f"filter {text!r}: {name} occurs twice")
        section[key] = read(value)
    return entry


_list, _value = methodcaller("split", ","), partial(parse_yaml, source="filter")
CONDITIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "kind": ("statementTypes", _list),
    "prefix": ("typed", _value),
    "file": ("file", str),
    "text": ("text", str),
    "static": ("isStatic", _value),
    "argument": ("isArgument", _value),
    "first": ("firstUse", _value),
    "length": ("minimumLength", _value),
    "location": ("location", str),
    "package": ("packageRegex", str),
    "strategy": ("strategies", _list),
    "scenario": ("scenarios", _list),
    "evolution": ("evolutions", _list),
}
"""Name of a condition → key in the configuration, and a function that reads the value."""
_OF_SESSIONS = ("typed", "file", "text")
_KNOWN = f"the conditions are {', '.join(CONDITIONS)}, each with `=` and a value, separated by spaces"
