"""The stand-ins for GitHub's actions of Pages: what they do is what those do.

Where CI_EVAL_ACTIONS names a folder with checkouts of actions/upload-pages-artifact fc324d3 (v5.0.0) and of
actions/deploy-pages cd2ce8f (v5.0.0), the latter with all dependencies that its lock names, they are asked instead. So
these results were found.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.ci.github_api import Services, served
from tests.ci.stand_ins import NODE, PAGES
from tests.ci.tools import github_actions
from tests.waiting import HANGS

pytestmark = [pytest.mark.registry, pytest.mark.needs("node", "npm")]

ACTIONS = os.environ.get("CI_EVAL_ACTIONS", "")
PUBLISHED = {"status": "succeed", "page_url": "https://pages.invalid/", "id": "1"}


class Published(Services):
    """With GitHub's answers to whoever publishes, which the stand-in does not ask for."""

    def answer(self, method: str, target: str, data: bytes) -> tuple[int, bytes, dict[str, str]]:
        if target.startswith("/id-token"):
            return 200, json.dumps({"value": "a-token"}).encode(), {"content-type": "application/json"}
        if "/pages/deployments" in target:
            return 200, json.dumps(PUBLISHED).encode(), {"content-type": "application/json"}
        return super().answer(method, target, data)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    (tmp_path / "artifacts" / "1").mkdir(parents=True)
    with served(Published(tmp_path / "artifacts")) as found:
        yield found


def store(services: Services, name: str, attempt: int) -> None:
    """An artifact of run 1."""
    path = services.artifacts / "1" / ("" if attempt == 1 else str(attempt)) / f"{name}.zip"
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("artifact.tar", name)


def publish(services: Services, name: str) -> tuple[int, str]:
    """Exit code and log of the step."""
    entry = Path(ACTIONS).resolve() / "deploy-pages" / "src" / "index.js"
    if not ACTIONS:
        entry = services.artifacts.parent / "index.mjs"
        module = github_actions().as_uri()
        entry.write_text(f'import {{ deployPages, run }} from "{module}";\nawait run(deployPages);\n')
    given = {**NODE["deploy-pages"][1], "artifact_name": name, "reporting_interval": "1", "token": "t"}
    environment = {
        **{key: os.environ[key] for key in ("PATH", "HOME")}, "NO_PROXY": "127.0.0.1",
        **{f"INPUT_{key.upper()}": text for key, text in given.items()}, "GITHUB_API_URL": services.address,
        "GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "1", "GITHUB_SHA": "0" * 40, "GITHUB_ACTOR": "a",
        "GITHUB_ACTION": "deploy", "ACTIONS_RESULTS_URL": services.address, "ACTIONS_RUNTIME_TOKEN": services.token(1),
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{services.address}/id-token?api-version=2",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t",
    }  # fmt: skip
    done = subprocess.run(
        ["node", str(entry)], env=environment, capture_output=True, text=True, timeout=HANGS, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("stored", "code", "said"),
    [
        ([], 1, 'No artifacts named "github-pages" were found for this workflow run.'),
        ([("other", 1)], 1, 'No artifacts named "github-pages" were found for this workflow run.'),
        ([("github-pages", 1), ("other", 1)], 0, "Creating Pages deployment"),
        ([("github-pages", 1), ("github-pages", 2)], 1, 'Multiple artifacts named "github-pages" were unexpectedly'),
    ],
)
def test_the_one_artifact_of_the_run_under_the_name_is_published(
    services: Services, stored: list[tuple[str, int]], code: int, said: str
) -> None:
    for name, attempt in stored:
        store(services, name, attempt)
    found, log = publish(services, "github-pages")
    assert found == code, log
    assert said in log


def words(text: str) -> list[str]:
    return re.sub(r"\\\n", " ", text).split()


@pytest.mark.checkouts
def test_inputs_and_steps_are_those_of_the_actions() -> None:
    deploy, upload = (
        yaml.safe_load((Path(ACTIONS) / action / "action.yml").read_text())
        for action in ("deploy-pages", "upload-pages-artifact")
    )
    assert {name: each["default"] for name, each in deploy["inputs"].items()} == NODE["deploy-pages"][1]
    assert {name: each["default"] for name, each in upload["inputs"].items()} == PAGES["inputs"]
    packing, *_, uploading = upload["runs"]["steps"]
    assert packing["if"] == "runner.os == 'Linux'"
    assert words(PAGES["steps"][0]["run"]) == words(packing["run"])[3:-2]
    assert uploading["with"] == PAGES["steps"][1]["with"]
