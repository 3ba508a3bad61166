"""TeamCity as far as nights need it: builds of a model are executed in chains, with their dependencies and artifacts.

After TeamCity's documentation (Artifact Dependencies, Artifact Paths, Snapshot Dependencies): a rule `X => A.zip` puts
the file X, or what is in the folder X, into the archive; what is not there is left out. A dependency `A.zip!** => D`
unpacks it; where it is not there, the build fails, unless the rule begins with `?:`. A build whose dependency failed
fails to start, runs and fails, or runs as if it had not, as `onDependencyFailure` says. A matrix is a build for each of
its values, with the parameter in rules and environment, and all of them publish to the same place (Matrix Build). A
composite build has no script. Not here: requirements, triggers, conditions on metrics.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Finished:
    """The result of a build that has ended."""

    kind: str
    is_green: bool
    artifacts: Path
    log: str


def _combinations(matrix: Mapping[str, list[str]]) -> list[dict[str, str]]:
    return [dict(zip(matrix, values, strict=True)) for values in itertools.product(*matrix.values())]


def resolve(model: Any, values: Mapping[str, str]) -> Any:
    """Return a model whose parameters are filled in wherever they are named, `%%` as a per cent sign.

    Raises KeyError if nothing defines a parameter: then no agent would run the build.
    """
    if isinstance(model, str):
        return re.sub("%(.*?)%", lambda name: values[name[1]] if name[1] else "%", model, flags=re.DOTALL)
    if isinstance(model, dict):
        return {key: resolve(value, values) for key, value in model.items()}
    return [resolve(value, values) for value in model] if isinstance(model, list) else model


@dataclass
class Server:
    """The builds of a project, what they left, and an agent that keeps its home."""

    folder: Path
    models: Mapping[str, Mapping[str, Any]]
    checkout: Path
    """The files of the VCS root."""
    variables: Mapping[str, str]
    history: list[Finished] = field(default_factory=list)

    def run(self, kind: str, chain: dict[str, Finished] | None = None) -> Finished:
        """Run a build with the builds that it depends on, each of them once."""
        chain = {} if chain is None else chain
        if kind in chain:
            return chain[kind]
        model = self.models[kind]
        snapshots = [edge for edge in model["dependencies"] if edge["snapshot"]]
        failed = [edge["snapshot"] for edge in snapshots if not self.run(edge["on"], chain).is_green]
        problems = [action for action in failed if action != "IGNORE"]
        folder = self.folder / f"build{len(self.history) + 1}"
        artifacts = folder / "artifacts"
        artifacts.mkdir(parents=True)
        results = []
        for number, values in enumerate(_combinations(model["matrix"])):
            build = resolve({**model, "params": {**model["params"], **values}}, values)
            results.append(self._build(build, folder / f"work{number}", artifacts, chain, problems))
        is_green = not problems and not any(code for code, _ in results)
        chain[kind] = Finished(kind, is_green, artifacts, "".join(log for _, log in results))
        self.history.append(chain[kind])
        return chain[kind]

    def _build(
        self, model: Mapping[str, Any], work: Path, artifacts: Path, chain: Mapping[str, Finished], problems: list[str]
    ) -> tuple[int, str]:
        shutil.copytree(self.checkout, work)
        trouble = "a dependency failed" if "FAIL_TO_START" in problems else self._take(model, work, chain)
        code, log = (1, trouble) if trouble else self._execute(model, work)
        self._publish(model["artifactRules"], work, artifacts)
        return code, log

    def _take(self, model: Mapping[str, Any], work: Path, chain: Mapping[str, Finished]) -> str:
        """Unpack what the dependencies left; return what is missing."""
        for edge in model["dependencies"]:
            for artifact in edge["artifacts"]:
                source = self._choose(edge["on"], artifact, chain)
                for rule in artifact["rules"].splitlines():
                    path, _, target = rule.strip().partition(" => ")
                    archive = path.removeprefix("?:").removesuffix("!**")
                    stored = source.artifacts / archive if source else None
                    if stored and stored.exists():
                        with zipfile.ZipFile(stored) as packed:
                            packed.extractall(work / target)
                    elif not path.startswith("?:"):
                        return f"no {archive} of {edge['on']}"
        return ""

    def _choose(self, kind: str, artifact: Mapping[str, str], chain: Mapping[str, Finished]) -> Finished | None:
        if artifact["from"] == "SameChain":
            return chain[kind]
        # A build that takes something of the default branch is of another one, as is its chain.
        others = chain.values() if artifact["branch"] else ()
        builds = [build for build in self.history if build.kind == kind and build not in others]
        builds = [build for build in builds if artifact["from"] == "LastFinished" or build.is_green]
        return builds[-1] if builds else None

    def _execute(self, model: Mapping[str, Any], work: Path) -> tuple[int, str]:
        parameters = {
            name.removeprefix("env."): text for name, text in model["params"].items() if name.startswith("env.")
        }
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(home), "TEAMCITY_VERSION": "2025.11",
            "CI_EVAL_ENVIRONMENT": sys.prefix, "CI_EVAL_CACHE": str(self.folder / "cache"),
            **parameters, **self.variables,
        }  # fmt: skip
        code, log = 0, ""
        for script in model["scripts"]:
            done = subprocess.run(
                ["sh", "-c", script], cwd=work, env=environment, capture_output=True, text=True, check=False
            )
            log += done.stdout + done.stderr
            code = code or done.returncode
        return code, log

    @staticmethod
    def _publish(rules: str, work: Path, artifacts: Path) -> None:
        for rule in rules.splitlines():
            path, _, archive = rule.strip().partition(" => ")
            source = work / path
            if not source.exists():
                continue
            with zipfile.ZipFile(artifacts / archive, "a") as packed:
                for file in (path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]:
                    packed.write(file, file.relative_to(source) if source.is_dir() else file.name)
