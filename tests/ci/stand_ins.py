"""GitHub as far as our workflows need it, on this machine: act runs them, stand-ins take the place of GitHub's actions.

Artifacts lie in folders, one per run and name; as at GitHub, a name can be used once in a run. What is not shown here:
GitHub's own scheduling, permissions, caches and limits.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.ci.tools import ACT, go_tool

ROOT = Path(__file__).parents[2]
USES = re.compile(r"uses: (actions/[\w-]+@[0-9a-f]{40})")

STAND_INS = {
    "checkout": {"inputs": ["persist-credentials", "path", "ref"], "run": "true"},
    "cache": {"inputs": ["path", "key", "restore-keys"], "run": "true"},
    "setup-python": {
        "inputs": ["python-version", "update-environment"],
        "outputs": ["python-path"],
        "run": 'echo "python-path=$(command -v python3)" >> "$GITHUB_OUTPUT"',
    },
    "upload-artifact": {
        "inputs": ["name", "path", "if-no-files-found", "retention-days", "compression-level"],
        "run": """
            target="$ARTIFACTS/$GITHUB_RUN_ID/$INPUT_NAME"
            if [ -e "$target" ]; then echo "409: an artifact of that name is there: $INPUT_NAME"; exit 1; fi
            if [ ! -e "$INPUT_PATH" ]; then echo "no files at $INPUT_PATH"; exit 1; fi
            mkdir -p "$(dirname "$target")"
            cp -R "$INPUT_PATH" "$target"
        """,
    },
    "download-artifact": {
        "inputs": ["name", "path", "pattern", "github-token", "run-id"],
        "run": """
            source="$ARTIFACTS/${INPUT_RUN_ID:-$GITHUB_RUN_ID}"
            mkdir -p "$INPUT_PATH"
            if [ -n "$INPUT_NAME" ]; then
                cp -R "$source/$INPUT_NAME/." "$INPUT_PATH"
            else
                for each in "$source"/$INPUT_PATTERN; do cp -R "$each" "$INPUT_PATH"; done
            fi
        """,
    },
    "github-script": {"inputs": ["script"], "run": "exit 1"},
}
GH = """#!/usr/bin/env bash
# `gh api …/workflows/NAME.yml/runs?…status=success…`: the newest run that was good.
name=${2##*/workflows/}
cat "$ARTIFACTS/last-good-${name%%.yml*}" 2>/dev/null || true
"""


@dataclass(frozen=True)
class GitHub:
    """A repository with our workflows, and what its runs left behind."""

    folder: Path

    @property
    def artifacts(self) -> Path:
        """RUN-ID/NAME/…"""
        return self.folder / "artifacts"

    def run(self, workflow: str, run_id: int, event: str = "workflow_dispatch", **inputs: str) -> tuple[int, str]:
        """Exit code and log of a run."""
        repository = self.folder / "repository"
        argv = [
            str(go_tool(ACT)), event, "-W", f".github/workflows/{workflow}.yml", "-P", "ubuntu-latest=-self-hosted",
            "--no-cache-server", "--concurrent-jobs", "2",
        ]  # fmt: skip
        for name, text in inputs.items():
            argv += ["--input", f"{name.replace('_', '-')}={text}"]
        for name, text in self._environment(run_id).items():
            argv += ["--env", f"{name}={text}"]
        for reference in sorted({found for path in repository.rglob(".github/**/*.yml") for found in _uses(path)}):
            name = reference.partition("@")[0].removeprefix("actions/")
            argv += ["--local-repository", f"{reference}={self.folder / 'actions' / name}"]
        environment = {**os.environ, "HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "home")}
        environment.pop("CI", None)
        done = subprocess.run(
            argv, cwd=repository, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
        log = (done.stdout + done.stderr).splitlines()
        return done.returncode, "\n".join(
            line for line in log if "read cachedir" not in line and "Run Post" not in line
        )

    def _environment(self, run_id: int) -> dict[str, str]:
        return {
            "ARTIFACTS": str(self.artifacts),
            "GITHUB_RUN_ID": str(run_id),
            "CI_EVAL_ENVIRONMENT": sys.prefix,
            "CI_EVAL_CACHE": str(self.folder / "cache"),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
        }


def _uses(path: Path) -> list[str]:
    return USES.findall(path.read_text())


def github(folder: Path, configs: dict[str, dict[str, object]], project: Path) -> GitHub:
    """The repository with these configurations instead of ours, over a project that is part of it."""
    repository = folder / "repository"
    shutil.copytree(ROOT / ".github", repository / ".github")
    (repository / "configs").mkdir()
    shutil.copytree(project, repository / "project")
    for name, config in configs.items():
        (repository / "configs" / f"{name}.yaml").write_text(yaml.safe_dump(config))
    for name, action in STAND_INS.items():
        _stand_in(folder / "actions" / name, name, action)
    for part in (repository, *(folder / "actions").iterdir()):
        _committed(part)
    (folder / "bin").mkdir()
    (folder / "bin" / "gh").write_text(GH)
    (folder / "bin" / "gh").chmod(0o755)
    (folder / "artifacts").mkdir()
    (folder / "home").mkdir()
    return GitHub(folder)


def _stand_in(folder: Path, name: str, action: Mapping[str, object]) -> None:
    folder.mkdir(parents=True)
    inputs, outputs = action["inputs"], action.get("outputs", [])
    assert isinstance(inputs, list)
    assert isinstance(outputs, list)
    step = {
        "id": "run",
        "shell": "bash",
        "env": {f"INPUT_{each.upper().replace('-', '_')}": f"${{{{ inputs.{each} }}}}" for each in inputs},
        "run": action["run"],
    }
    text = {
        "name": name,
        "description": "A stand-in.",
        "inputs": {each: {"description": each, "default": ""} for each in inputs},
        "outputs": {each: {"description": each, "value": f"${{{{ steps.run.outputs.{each} }}}}"} for each in outputs},
        "runs": {"using": "composite", "steps": [step]},
    }
    (folder / "action.yml").write_text(yaml.safe_dump(text))


def _committed(folder: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
