"""The inputs of a job in a CI (GitHub, TeamCity, GitLab), and the command line that they make."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval import __version__
from ci_eval.core.base.errors import ConfigError

VARIABLE = "CI_EVAL_INPUTS"
"""A variable with all inputs as one JSON object, as GitHub's `toJSON(inputs)` writes it."""
PREFIX = "INPUT_"
"""Beginning of the names of variables that hold one input each, as TeamCity and GitLab pass them."""

OPTIONS = {
    "evaluate": (
        *("language", "engine", "project", "completion-type", "model"),
        *("shard", "jobs", "reuse", "precision", "expect", "output"),
    ),
    "generate-ml-logs": ("language", "engine", "project", "shard", "jobs", "output"),
    "compare": ("history", "output"),
    "plan": ("shards",),
    "plan-logs": (),
}
REPEATED = {
    "evaluate": {"set": "--set", "gates": "--gate"},
    "generate-ml-logs": {"set": "--set", "log-formats": "--log-format"},
    "compare": {"gates": "--gate"},
    "plan": {"completion-types": "--completion-type"},
    "plan-logs": {"projects": "--project"},
}
PLACES = {
    "evaluate": ("config",),
    "generate-ml-logs": ("config",),
    "compare": ("base", "new", "more"),
    "plan": ("configs",),
    "plan-logs": ("configs",),
}
FLAGS = {"compare": ("same-ranker",)}
"""Job → inputs that become an option without a value, if they are `true`."""
PACKAGE = Path(__file__).parents[1]
BETWEEN_BLANKS = ("configs", "completion-types", "projects")
"""Inputs whose values are separated by blanks. Other inputs have one value per line; gates may also be separated by
semicolons."""


def given(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the inputs that are not empty, by name. Raises ConfigError."""
    if whole := environment.get(VARIABLE):
        inputs = _decode(whole)
    else:
        named = {name: text for name, text in environment.items() if name.startswith(PREFIX)}
        inputs = {name.removeprefix(PREFIX).lower().replace("_", "-"): text for name, text in named.items()}
    return {name: text.strip() for name, text in inputs.items() if text.strip()}


def _decode(text: str) -> dict[str, str]:
    try:
        fields = json.loads(text)
        return {name: _text(value) for name, value in fields.items()}
    except (ValueError, AttributeError, RecursionError):
        raise ConfigError(f"{VARIABLE} is no JSON object: give it toJSON(inputs), or use {PREFIX}NAME") from None


def _text(value: object) -> str:
    """Return the value as GitHub writes it into a text: `true`, `2`, and "" for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def arguments(job: str, inputs: Mapping[str, str]) -> list[str]:
    """Return the command line of a job. Raises ConfigError."""
    if job not in OPTIONS:
        raise ConfigError(f"there is no job {job or 'without a name'}: it is one of {', '.join(OPTIONS)}")
    return [job, *_options(job, inputs), *_places(job, inputs)]


def _options(job: str, inputs: Mapping[str, str]) -> Iterator[str]:
    yield from (f"--{name}={inputs[name]}" for name in OPTIONS[job] if name in inputs)
    yield from (f"--{name}" for name in FLAGS.get(job, ()) if inputs.get(name) == "true")
    for name, option in REPEATED[job].items():
        yield from (f"{option}={value}" for value in _values(name, inputs))


def configs(inputs: Mapping[str, str]) -> list[Path]:
    """Return the configurations that the input `configs` names, by paths or globs."""
    return [Path(path) for path in _values("configs", inputs)]


def _places(job: str, inputs: Mapping[str, str]) -> list[str]:
    values = [value for name in PLACES[job] for value in _values(name, inputs)]
    # Behind `--`, a value that looks like an option is taken as a value.
    return ["--", *values] if values else []


def _values(name: str, inputs: Mapping[str, str]) -> list[str]:
    text = inputs.get(name, "")
    lines = (text.replace(";", "\n") if name == "gates" else text).splitlines()
    values = text.split() if name in BETWEEN_BLANKS else [line.strip() for line in lines if line.strip()]
    return [path for value in values for path in _expand_glob(value)] if name == "configs" else values


def _expand_glob(pattern: str) -> list[str]:
    """Return the files that match a glob, in order. A pattern without a match is returned itself, so that the job
    reports it."""
    paths = [] if Path(pattern).is_absolute() else sorted(path.as_posix() for path in Path().glob(pattern))
    return paths or [pattern]


def cache_key(inputs: Mapping[str, str]) -> str:
    """Return a cache key that changes with everything that decides what is installed and downloaded: an old cache is
    never reused for something else.

    Environments in the cache belong to one Python at one path, and the default version of an engine to one ci-eval, so
    these are part of it.
    """
    system, processor = platform.system(), platform.machine()
    chosen = [inputs.get(name, "") for name in ("language", "engine", "project", "set")]
    digest = hashlib.sha256(json.dumps([system, processor, platform.python_version(), __version__, chosen]).encode())
    config = Path(inputs.get("config", ""))
    for path in (*sorted(PACKAGE.rglob("*.py")), *([config] if config.is_file() else [])):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"ci-eval-{system}-{processor}-{digest.hexdigest()[:16]}"
