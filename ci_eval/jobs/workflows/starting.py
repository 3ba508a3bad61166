"""The job `init`: it writes a configuration, and a workflow that measures it every night."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.files import below
from ci_eval.core.catalogs import languages
from ci_eval.core.config import Config, patch
from ci_eval.core.fetch import schemes
from ci_eval.jobs.preparation import load_engine

CONFIG = Path("ci/completion.yaml")
WORKFLOW = Path(".github/workflows/completion.yml")
SESSIONS = 1000
"""The number of sessions to ask: some minutes, and an interval of about three points."""
ENGINES = {
    "cpp": "clangd",
    "go": "gopls",
    "java": "jdt",
    "javascript": "typescript",
    "kotlin": "kotlin-ide-services",
    "python": "jedi",
    "scala": "scala-presentation-compiler",
    "typescript": "typescript",
}
"""The engine that is proposed for a language; `words`, the baseline, for any other."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The user's choice of what to measure."""

    language: str
    engine: str
    """The engine as NAME or NAME@VERSION."""
    project: str
    """The project as a SPEC."""


def guess_language(root: Path) -> str:
    """Return the language of most files below the folder; Python if there are none."""
    names = {suffix: language.name for language in languages.CATALOG.all() for suffix in language.suffixes if suffix}
    counts = Counter(names[path[path.rindex(".") :]] for path in below(root, root, tuple(names)) if "." in path)
    return counts.most_common(1)[0][0] if counts else "python"


def usual_engine(language: str) -> str:
    """Return the engine to propose for a language."""
    return ENGINES.get(language, "words")


def check(answers: Answers) -> Config:
    """Return the configuration that the answers make. Raises ConfigError if an answer is impossible."""
    config = patch(Config(), language=answers.language, engine=answers.engine, project=answers.project)
    languages.CATALOG.load(answers.language)
    engine = load_engine(config)
    if engine.languages and answers.language not in engine.languages:
        raise ConfigError(
            f"engine {engine.name} completes {', '.join(sorted(engine.languages))}, not {answers.language}; "
            f"the usual one is {usual_engine(answers.language)}"
        )
    scheme, colon, _ = answers.project.partition(":")
    if not colon or (scheme not in schemes.names() and scheme not in {"http", "https"}):
        raise ConfigError(f"project {answers.project!r}: expected a SPEC such as pypi:flask==3.0.3 or path:.")
    return config


def write(answers: Answers, folder: Path, action: str) -> list[Path]:
    """Write configuration and workflow below the folder; return their paths. `action`: REPOSITORY@COMMIT of ci-eval.
    Raises ConfigError, also if one of the files exists already."""
    check(answers)
    files = {CONFIG: _config(answers), WORKFLOW: _workflow(action)}
    if existing := [str(folder / path) for path in files if (folder / path).exists()]:
        raise ConfigError(f"{' and '.join(existing)} would be written over: move it away, or give another --output")
    return [atomic.write(folder / path, text.encode()) for path, text in files.items()]


def _config(answers: Answers) -> str:
    return f"""\
# What `ci-eval evaluate {CONFIG}` measures. `ci-eval list keys` has all keys.
language: {answers.language}
engine: {answers.engine}
project: {answers.project}
interpret:
  sessionsLimit: {SESSIONS}   # as many places in the code; without this line, all
"""


def _workflow(action: str) -> str:
    repository, _, commit = action.partition("@")
    return f"""\
# Every night: evaluate {CONFIG}, and compare with the last good night.
name: completion
on:
  schedule: [{{cron: "23 2 * * *"}}]
  workflow_dispatch:
permissions: {{}}
jobs:
  night:
    permissions: {{contents: read, actions: read}}
    uses: {repository}/.github/workflows/nightly.yml@{commit}
    with: {{configs: {CONFIG}, gates: "RecallAt1 >= -2pp"}}
"""
