"""What a CI keeps from run to run: the identity of a problem, the name of an artifact."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from ci_eval.ci import Screen
from ci_eval.ci.host import make_rule_identity
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.workflows import announcements as announcing
from tests.command import command
from tests.projects import write

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
    Screen().host.announce(announcing.logs(Workspace.open(tmp_path), None))
    (name,) = re.findall(r"^artifact<<.+\n(.+)$", (tmp_path / "outputs").read_text(), re.MULTILINE)
    assert re.fullmatch(r"logs-pypi-requests-2\.32\.3\.[0-9a-f]{8}", name)


@pytest.mark.parametrize(("engine", "is_baseline"), [("words", True), ("oracle", False)])
def test_a_baseline_is_called_so_in_every_headline(
    engine: str, is_baseline: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAMCITY_VERSION", "2026.1")
    project = write(tmp_path / "p", a__php="<?php\n$name = 1; echo $name; $other = $name;\n")
    options = ("--language", "php", "--project", f"path:{project}", "--engine", engine, "--jobs", 1)
    code, out, err = command("evaluate", *options, "--output", tmp_path / "w")
    assert code == 0, err
    (status,) = [line for line in out.splitlines() if line.startswith("##teamcity[buildStatus")]
    (terminal,) = [line for line in out.splitlines() if line.startswith(f"{engine} ") and " sessions evaluated" in line]
    page = (tmp_path / "w" / "reports" / "html" / "index.html").read_text()
    report = (tmp_path / "w" / "reports" / "report.md").read_text()
    assert command("compare", tmp_path / "w", tmp_path / "w", "--output", tmp_path / "c")[0] == 0
    compared = (tmp_path / "c" / "html" / "index.html").read_text()
    (tmp_path / "nights").mkdir()
    (tmp_path / "w" / "reports" / "metrics.json").rename(tmp_path / "nights" / "1.json")
    code, _, err = command("site", tmp_path / "nights", "--output", tmp_path / "site")
    assert code == 0, err
    site = (tmp_path / "site" / "index.html").read_text()
    headlines = {
        "status": status,
        "terminal": terminal,
        "page": page[page.index("<h1>") : page.index("</h1>")],
        "report.md": report.split("\n\n")[1],
        "comparison": compared[compared.index('<div class="answer">') :][:500],
        "site": site,
    }
    assert {name for name, text in headlines.items() if "a baseline" in text} == set(headlines if is_baseline else ())
