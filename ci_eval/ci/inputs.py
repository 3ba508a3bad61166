"""Read the inputs of a job in a CI, and turn them into a command line and the key of a cache.

inputs.json declares the inputs. From it, `benchmarks/ci_files.py` writes action.yml, the workflows' inputs, TeamCity's
recipes, GitLab's components and the table in docs/ci.md."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ci_eval import __version__
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError


class Input(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    jobs: tuple[str, ...]
    label: str
    description: str
    passing: Literal["option", "flag", "argument"] = "option"
    option: str = ""
    """The option that passes the value; "" for `--NAME`. It is repeated for each value if there are several."""
    several: Literal["", "lines", "blanks"] = ""
    """The separator of the values; "" if the input has a single value."""
    required: tuple[str, ...] = ()


class WorkflowInput(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    workflows: tuple[str, ...]
    description: str
    type: Literal["string", "number", "boolean"] = "string"
    default: str | int | bool | None = ""
    """The default; None if the input is required."""
    defaults: dict[str, str | int] = {}
    """Workflow → its default."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    makes: str
    """The file or folder that the job makes, unless the input `output` names another."""
    asks: bool
    summary: str


class _Declaration(msgspec.Struct, frozen=True, rename="camel"):
    jobs: dict[str, Job]
    inputs: tuple[Input, ...]
    workflows: dict[str, tuple[str, ...]]
    workflow_inputs: tuple[WorkflowInput, ...]


_DECLARED = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=_Declaration)
EVALUATE, LOGS, COMPARE, ENGINES, MERGE, TRAIN, CASES = STEPS = tuple(_DECLARED.jobs)
DESCRIBED = _DECLARED.jobs
INPUTS = _DECLARED.inputs
ASKING = tuple(name for name, job in DESCRIBED.items() if job.asks)
WORKFLOWS = _DECLARED.workflows
"""Workflow → its inputs when started by hand; empty if it has the same inputs when another workflow calls it."""
WORKFLOW_INPUTS = _DECLARED.workflow_inputs
JOBS = tuple(dict.fromkeys(job for entry in INPUTS for job in entry.jobs))


def inputs_of(job: str) -> Iterator[Input]:
    return (entry for entry in INPUTS if job in entry.jobs)


VARIABLE = "CI_EVAL_INPUTS"
"""The variable that has all inputs as one JSON object, as GitHub's `toJSON(inputs)` writes it."""
PREFIX = "INPUT_"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*\b")
JOB = "CI_EVAL_JOB"
COMMON = ("job", "working-directory", "cache", "python-version", "source", "commit")
"""Inputs that every job has. None of them reaches the command line. The last two exist in TeamCity's recipes."""
PACKAGE = Path(__file__).parents[1]


def read_inputs(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs that are not empty; flags are `true` or `false`. Raises ConfigError, also for unknown names."""
    known = [*dict.fromkeys(entry.name for entry in INPUTS), *COMMON]
    if whole := environment.get(VARIABLE):
        try:
            inputs = {
                name: "" if value is None else value if isinstance(value, str) else json.dumps(value)
                for name, value in json.loads(whole).items()
            }
        except (ValueError, AttributeError, RecursionError):
            raise ConfigError(f"{VARIABLE} is no JSON object: set it to toJSON(inputs), or use {PREFIX}NAME") from None
        _check_names(inputs, known, "there is no input")
    else:
        named = {name: text for name, text in environment.items() if name.startswith(PREFIX)}
        _check_names(named, [PREFIX + name.upper().replace("-", "_") for name in known], "there is no input")
        inputs = {name.removeprefix(PREFIX).lower().replace("_", "-"): text for name, text in named.items()}
    inputs = {name: text.strip() for name, text in inputs.items() if text.strip()}
    for name in {entry.name for entry in INPUTS if entry.passing == "flag"} & inputs.keys():
        # Other words are an error: if `yes` counted as false, something else would be measured.
        if (said := inputs[name].lower()) not in {"true", "false"}:
            raise ConfigError(f"the input {name} is {inputs[name]}: give true or false")
        inputs[name] = said
    return inputs


def _check_names(inputs: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raises ConfigError for the first unknown input. If it were ignored, something else would be measured."""
    known_names = ", ".join(known)
    for name in inputs:
        if name not in known:
            raise ConfigError(f"{what} {name}{guess(name, known) or f': known are {known_names}'}")


def is_first_night(job: str, inputs: Mapping[str, str]) -> bool:
    """Return whether a comparison with a history has neither a base nor past figures. Without a history, as in a pull
    request, a missing base is a mistake. Raises ConfigError unless the inputs confirm that this is a first night, since
    the base may be lost."""
    if job != COMPARE or "history" not in inputs:
        return False
    base, history = inputs.get("base"), Path(inputs["history"])
    if Path(base).exists() if base else any(history.glob("*.json")):
        return False
    if inputs.get("first-night") != "true":
        raise ConfigError(
            f"there is no base ({base or history}): put the last good night's workspace there. If there was no good "
            "night yet, set the input first-night: true"
        )
    return True


def command_line(job: str, inputs: Mapping[str, str]) -> list[str]:
    """Return the arguments of ci-eval for a job. On a first night, `compare` gets no base. Raises ConfigError."""
    if job not in JOBS:
        raise ConfigError(f"there is no job {job!r}: jobs are {', '.join(JOBS)}")
    _check_names(inputs, [*(entry.name for entry in inputs_of(job)), *COMMON], f"the job {job} has no input")
    if job in ASKING and job != CASES and not {"config", "project"} & inputs.keys():
        raise ConfigError(f"the job {job} has nothing to measure: give the input config, a YAML file, or project")
    if is_first_night(job, inputs):
        inputs = {name: text for name, text in inputs.items() if name != "base"} | {"first-night": "true"}
    places = [value for entry in inputs_of(job) if entry.passing == "argument" for value in _values(entry, inputs)]
    # After `--`, a value that looks like an option is taken as a value.
    options = []
    for entry in inputs_of(job):
        if entry.passing == "option":
            options += [f"{entry.option or f'--{entry.name}'}={value}" for value in _values(entry, inputs)]
        elif entry.passing == "flag" and inputs.get(entry.name) == "true":
            options.append(f"--{entry.name}")
    return [job, *options, *(["--", *places] if places else [])]


def advise(text: str, job: str) -> str:
    """Replace options in a text by the job's inputs, and name options without input. Without a job, change nothing."""
    names = {entry.option or f"--{entry.name}": entry.name for entry in inputs_of(job) if entry.passing != "argument"}
    options = set(OPTION.findall(text)) if names else set()
    text = OPTION.sub(lambda option: f"the input {names[option[0]]}" if option[0] in names else option[0], text)
    others = ", ".join(sorted(options - names.keys()))
    return f"{text} ({job} has no input {others}: call `ci-eval {job}` in your own step)" if others else text


def configs(inputs: Mapping[str, str]) -> list[Path]:
    """Return the paths in the input `configs`, with patterns expanded."""
    (entry,) = (entry for entry in INPUTS if entry.name == "configs")
    return [Path(path) for path in _values(entry, inputs)]


def _values(entry: Input, inputs: Mapping[str, str]) -> list[str]:
    text = inputs.get(entry.name, "")
    if not entry.several:
        return [text] if text else []
    if entry.several == "blanks":
        values = text.split()
    else:
        # Semicolons separate gates too, since no gate contains a semicolon.
        lines = (text.replace(";", "\n") if entry.name == "gates" else text).splitlines()
        values = [line.strip() for line in lines if line.strip()]
    if not entry.name.endswith("configs"):
        return values
    paths = []
    for value in values:
        matches = [] if Path(value).is_absolute() else sorted(path.as_posix() for path in Path().glob(value))
        # A pattern without a match stays as it is, so that the job reports it.
        paths += matches or [value]
    return paths


def cache_key(inputs: Mapping[str, str]) -> str:
    """Return a key that changes with everything that is installed or downloaded, so that an old cache is not used for
    something else. Environments depend on the Python version, and default versions of engines on ci-eval's version."""
    system, processor = platform.system(), platform.machine()
    parts = ("language", "engine", "engine-command", "project", "set", "base", "new")
    chosen = [inputs.get(name, "") for name in parts]
    digest = hashlib.sha256(json.dumps([system, processor, platform.python_version(), __version__, chosen]).encode())
    config = Path(inputs.get("config", ""))
    for path in (*sorted(PACKAGE.rglob("*.py")), *([config] if config.is_file() else [])):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"ci-eval-{system}-{processor}-{digest.hexdigest()[:16]}"
