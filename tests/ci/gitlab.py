"""GitLab as far as the components need it: a pipeline whose includes are expanded, and whose jobs are executed.

The rule of inputs is that of GitLab's documentation (docs.gitlab.com/ci/inputs) and source (gitlabhq, template.rb and
config.rb in lib/gitlab/ci/config/interpolation): the header's `spec:inputs` says which there are; one without a default
must be given; one that is not there is an error; a value must be of the type, which is a text by default. The rest is
read as YAML first; then `$[[ inputs.NAME ]]` is replaced in every text and key of it, and a text that is nothing else
gets the value with its type. Functions behind a `|` are not ported, and refused; so is a second block in one text,
which some versions leave as it is. Jobs of one name are merged, the later include over the earlier one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPONENT = re.compile(r"\$CI_SERVER_FQDN/OWNER/ci-eval/([a-z-]+)@\S+")
BLOCK = re.compile(r"\$\[\[\s*(\S.*?\S)\s*\]\]")
TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "number": (int, float), "array": (list,)}


class RefusedError(Exception):
    """An error of a pipeline that GitLab does not start."""


def expand(text: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the jobs of a component that is included with these inputs."""
    header, body = text.split("\n---\n")
    declared: dict[str, dict[str, Any]] = yaml.safe_load(header)["spec"]["inputs"]
    if unknown := set(values) - set(declared):
        raise RefusedError(f"unknown input arguments: {', '.join(sorted(unknown))}")
    chosen: dict[str, Any] = {}
    for name, rules in declared.items():
        if name not in values and "default" not in rules:
            raise RefusedError(f"`{name}` input: required value has not been provided")
        chosen[name] = values.get(name, rules.get("default"))
        kind = rules.get("type", "string")
        if not isinstance(chosen[name], TYPES[kind]):
            raise RefusedError(f"`{name}` input: provided value is not a {kind}")

    return {str(_replace(name, chosen)): _replace(job, chosen) for name, job in yaml.safe_load(body).items()}


def _replace(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, dict):
        return {_replace(key, values): _replace(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_replace(item, values) for item in node]
    blocks = list(BLOCK.finditer(node)) if isinstance(node, str) else []
    if not blocks:
        return node
    name = re.fullmatch(r"inputs\.([\w-]+)", blocks[0][1])
    if len(blocks) > 1 or not name or name[1] not in values:
        raise RefusedError(f"unknown interpolation: {node}")
    value = values[name[1]]
    return value if blocks[0][0] == node else node.replace(blocks[0][0], str(value))


def pipeline(text: str) -> dict[str, Any]:
    """Return the jobs of a file .gitlab-ci.yml that includes our components."""
    jobs: dict[str, Any] = {}
    for include in yaml.safe_load(text)["include"]:
        match = COMPONENT.fullmatch(include["component"])
        if not match:
            raise RefusedError(f"{include['component']} is not there")
        component = (ROOT / "templates" / f"{match[1]}.yml").read_text(encoding="utf-8")
        for name, job in expand(component, include.get("inputs", {})).items():
            jobs[name] = {**jobs.get(name, {}), **job}
    return jobs


@dataclass(frozen=True)
class Runner:
    """A runner that keeps caches by their key, and hands the artifacts of a job on to the next one."""

    folder: Path
    project: Path

    def execute(self, jobs: Mapping[str, Any], *, branch: str = "main") -> dict[str, tuple[int, str]]:
        """Run the jobs one after the other; return the exit code and the log of each."""
        artifacts = self.folder / "artifacts"
        shutil.rmtree(artifacts, ignore_errors=True)
        results = {}
        for name, job in jobs.items():
            checkout = self.folder / "builds" / "checkout"
            shutil.rmtree(checkout, ignore_errors=True)
            shutil.copytree(self.project, checkout)
            cache = self.folder / "caches" / job["cache"]["key"].replace("$CI_COMMIT_REF_SLUG", branch)
            for source in (cache, artifacts):
                if source.exists():
                    shutil.copytree(source, checkout, dirs_exist_ok=True)
            script = "set -eo pipefail\n" + "\n".join(job["script"])
            environment = {**os.environ, **self._variables(job, checkout, branch)}
            done = subprocess.run(
                ["bash", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, check=False
            )
            results[name] = (done.returncode, done.stdout + done.stderr)
            kept = [*((cache, path) for path in job["cache"]["paths"])]
            kept += [(artifacts, path) for path in job["artifacts"]["paths"]]
            for target, path in kept:
                if (checkout / path).exists():
                    shutil.rmtree(target / path, ignore_errors=True)
                    shutil.copytree(checkout / path, target / path)
        return results

    def _variables(self, job: Mapping[str, Any], checkout: Path, branch: str) -> dict[str, str]:
        known = {"CI_PROJECT_DIR": str(checkout), "CI_COMMIT_REF_SLUG": branch}
        variables = {
            "PATH": f"{self._programs()}:{os.environ['PATH']}",
            "RECORD": str(self.folder / "installed"),
            **known,
        }
        for name, entry in job["variables"].items():
            text = entry if isinstance(entry, str) else entry["value"]
            if isinstance(entry, str) or entry.get("expand", True):
                text = re.sub(r"\$(\w+)", lambda reference: known[reference[1]], text)
            variables[name] = text
        return variables

    def _programs(self) -> Path:
        """Return a folder with this ci-eval, and a pip that writes down what it should install."""
        folder = self.folder / "bin"
        folder.mkdir(parents=True, exist_ok=True)
        scripts = {
            "ci-eval": f'exec {sys.executable} -m ci_eval "$@"',
            "pip": 'printf "%s\\n" "$*" >> "$RECORD"',
        }
        for name, script in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        return folder


def read(folder: Path, file: str) -> dict[str, Any]:
    """Return a JSON file of an artifact."""
    return dict(json.loads((folder / file).read_text(encoding="utf-8")))
