"""The inputs of a job, as GitHub, TeamCity or GitLab hand them over, and the command line they come to."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci_eval import __version__
from ci_eval.errors import ConfigError

VARIABLE = "CI_EVAL_INPUTS"
"""All inputs as one JSON object, which is what GitHub's `toJSON(inputs)` gives."""
PREFIX = "INPUT_"
"""One variable for each input, as TeamCity's parameters and GitLab's variables are."""

OPTIONS = {
    "evaluate": ("language", "engine", "project", "completion-type", "model", "shard", "jobs", "output"),
    "generate-ml-logs": ("language", "engine", "project", "shard", "jobs", "output"),
    "compare": ("history", "output"),
    "plan": ("shards",),
    "plan-logs": (),
}
REPEATED = {
    "evaluate": {"set": "--set"},
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
"""Options without a value, given where the input is `true`."""
PACKAGE = Path(__file__).parents[1]
BETWEEN_BLANKS = ("configs", "completion-types", "projects")
"""Inputs whose values stand between blanks; those of others have a line each, gates a semicolon between them too."""


def given(environment: Mapping[str, str]) -> dict[str, str]:
    """Name → value of the inputs that are not empty. Raises ConfigError."""
    if whole := environment.get(VARIABLE):
        found = _decoded(whole)
    else:
        named = {name: text for name, text in environment.items() if name.startswith(PREFIX)}
        found = {name.removeprefix(PREFIX).lower().replace("_", "-"): text for name, text in named.items()}
    return {name: text.strip() for name, text in found.items() if text.strip()}


def _decoded(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
        return {name: _text(value) for name, value in found.items()}
    except (ValueError, AttributeError):
        raise ConfigError(f"{VARIABLE} is no JSON object: give it toJSON(inputs), or use {PREFIX}NAME") from None


def _text(value: object) -> str:
    """As GitHub writes it: `true`, `2`, and nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def arguments(job: str, inputs: Mapping[str, str]) -> list[str]:
    """The command line of a job. Raises ConfigError."""
    if job not in OPTIONS:
        raise ConfigError(f"there is no job {job or 'without a name'}: it is one of {', '.join(OPTIONS)}")
    return [job, *_options(job, inputs), *_places(job, inputs)]


def _options(job: str, inputs: Mapping[str, str]) -> Iterator[str]:
    yield from (f"--{name}={inputs[name]}" for name in OPTIONS[job] if name in inputs)
    yield from (f"--{name}" for name in FLAGS.get(job, ()) if inputs.get(name) == "true")
    for name, option in REPEATED[job].items():
        yield from (f"{option}={value}" for value in _values(name, inputs))


def configs(inputs: Mapping[str, str]) -> list[Path]:
    """The configurations that the input of that name stands for."""
    return [Path(path) for path in _values("configs", inputs)]


def _places(job: str, inputs: Mapping[str, str]) -> list[str]:
    values = [value for name in PLACES[job] for value in _values(name, inputs)]
    # What looks like an option is none after this.
    return ["--", *values] if values else []


def _values(name: str, inputs: Mapping[str, str]) -> list[str]:
    text = inputs.get(name, "")
    lines = (text.replace(";", "\n") if name == "gates" else text).splitlines()
    values = text.split() if name in BETWEEN_BLANKS else [line.strip() for line in lines if line.strip()]
    return [path for value in values for path in _matching(value)] if name == "configs" else values


def _matching(pattern: str) -> list[str]:
    """The files of a glob, in order; what matches nothing is left for the job to complain about."""
    found = [] if Path(pattern).is_absolute() else sorted(path.as_posix() for path in Path().glob(pattern))
    return found or [pattern]


def cache_key(inputs: Mapping[str, str]) -> str:
    """Changes with everything that decides what is installed and downloaded, so that no old cache grows into a new one.

    Environments in the cache belong to one Python, down to its path; which engine is the default, to this ci-eval.
    """
    system, processor = platform.system(), platform.machine()
    chosen = [inputs.get(name, "") for name in ("language", "engine", "project", "set")]
    digest = hashlib.sha256(json.dumps([system, processor, platform.python_version(), __version__, chosen]).encode())
    config = Path(inputs.get("config", ""))
    for path in (*sorted(PACKAGE.rglob("*.py")), *([config] if config.is_file() else [])):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"ci-eval-{system}-{processor}-{digest.hexdigest()[:16]}"
