"""GitHub's services, and the variables of a step that asks them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ci.github_api import Services, served

NIGHT = ".github/workflows/night.yml"


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """As for run 9 of a workflow; the test stands in an empty folder."""
    (tmp_path / "artifacts").mkdir()
    with served(Services(tmp_path / "artifacts")) as services:
        monkeypatch.chdir(tmp_path)
        for name, value in {
            "API_URL": services.address, "REPOSITORY": "o/r", "TOKEN": "t", "RUN_ID": "9", "SERVER_URL": "https://g",
            "WORKFLOW_REF": f"o/r/{NIGHT}@refs/heads/main", "OUTPUT": str(tmp_path / "outputs"), "ACTIONS": "true",
            "STEP_SUMMARY": str(tmp_path / "summary.md"),
        }.items():  # fmt: skip
            monkeypatch.setenv(f"GITHUB_{name}", value)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield services
