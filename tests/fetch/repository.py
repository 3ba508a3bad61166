"""A small Git repository on this machine, made with git itself."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.needs import need

WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class Repository:
    """Where it is, and how to change it."""

    folder: Path

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def git(self, *arguments: str) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ("git", *arguments), cwd=self.folder, env=clean | WHO, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        """Write files (`__` stands for `/`, `_` for `.`), commit all; the commit's id."""
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=change")
        return self.git("rev-parse", "HEAD")


def create(folder: Path) -> Repository:
    need("git")
    folder.mkdir(parents=True)
    repository = Repository(folder)
    repository.git("init", "--quiet", "--initial-branch=main")
    return repository
