"""The job `init`: it writes a configuration, and workflows that measure it every night."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.files import below
from ci_eval.core.catalogs import languages
from ci_eval.core.config import Config, patch
from ci_eval.core.fetch import schemes
from ci_eval.jobs.preparation import load_engine

CONFIG = Path("ci/completion.yaml")
WORKFLOW = Path(".github/workflows/completion.yml")
SITE = Path(".github/workflows/completion-site.yml")
PURPOSES = ("night", "notice", "site")
"""What workflows are written for."""
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


def write(answers: Answers, folder: Path, action: str, purposes: Sequence[str] = ("night",)) -> list[Path]:
    """Write configuration and workflows below the folder; return their paths. `action`: REPOSITORY@COMMIT of ci-eval.
    `purposes`: some of PURPOSES. Raises ConfigError, also if one of the files exists already."""
    check(answers)
    if unknown := [purpose for purpose in purposes if purpose not in PURPOSES]:
        raise ConfigError(f"--for {unknown[0]}{guess(unknown[0], PURPOSES)}: known are {', '.join(PURPOSES)}")
    repository, _, commit = action.partition("@")
    # A notice and a site are about nights.
    files = {CONFIG: _config(answers), WORKFLOW: _night(repository, commit, notice="notice" in purposes)}
    if "site" in purposes:
        files[SITE] = _site(repository, commit)
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


def _night(repository: str, commit: str, *, notice: bool) -> str:
    text = f"""\
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
    return text + _notice(repository, commit) if notice else text


def _notice(repository: str, commit: str) -> str:
    return f"""\
  # A red night opens an issue, a green one closes it.
  notice:
    needs: night
    if: ${{{{ !cancelled() }}}}
    permissions: {{contents: read, actions: read, issues: write}}
    uses: {repository}/.github/workflows/notice.yml@{commit}
    with: {{result: "${{{{ needs.night.result }}}}"}}
"""


def _site(repository: str, commit: str) -> str:
    return f"""\
# After each night: the trends as a site, once Pages is turned on (Settings, Pages, Source: GitHub Actions).
name: completion-site
on:
  workflow_run: # zizmor: ignore[dangerous-triggers] only histories of the default branch are read
    workflows: [completion]
    types: [completed]
permissions: {{}}
jobs:
  site:
    permissions: {{contents: read, actions: read, pages: write, id-token: write}}
    uses: {repository}/.github/workflows/site.yml@{commit}
"""
