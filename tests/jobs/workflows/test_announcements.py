"""What a CI keeps from run to run: the identity of a problem, the name of an artifact."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from ci_eval.ci import Screen
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.workflows import announcements as announcing
from ci_eval.jobs.workflows.announcements import make_rule_identity

RULES = [
    "MeanRank <= +1", "MeanRank <= 1", "RecallAt1 >= -1pp", "RecallAt1 >= 1%", "RecallAt1 non-inferior 1pp",
    "LatencyPercentile95 <= +20% and +50ms", "LatencyPercentile95 <= +20% and +500ms", "x" * 100, "x" * 101,
]  # fmt: skip


def test_each_rule_has_an_identity_of_its_own_that_teamcity_takes_and_that_stays() -> None:
    identities = [make_rule_identity(rule) for rule in RULES]
    assert all(one != other for one, other in combinations(identities, 2))
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,59}", each) for each in identities)
    assert make_rule_identity("RecallAt1 >= -1pp") == "gate_RecallAt1_1pp_10477b67"


def test_logs_have_a_name_for_their_artifact_made_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("TEAMCITY_VERSION", raising=False)
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    manifest = json.loads((Path(__file__).parent.parent / "manifest.json").read_text())
    manifest["project"]["spec"] = "pypi:requests==2.32.3"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    announcing.logs(Workspace.open(tmp_path), None, Screen())
    (name,) = re.findall(r"^artifact<<.+\n(.+)$", (tmp_path / "outputs").read_text(), re.MULTILINE)
    assert re.fullmatch(r"logs-pypi-requests-2\.32\.3\.[0-9a-f]{8}", name)
