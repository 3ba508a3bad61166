"""docs/ci.md as a new user goes through it: every block is executed as it stands there, but for OWNER and COMMIT."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_eval import languages
from ci_eval.jobs.workflows.plan import plan
from tests.ci.documentation import PAGE, ROOT, asked_for, blocks, documented
from tests.ci.stand_ins import THEIRS, GitHub, github
from tests.projects import GREETER, write

NIGHTS, NIGHT = "YOU/nights", "completion-jedi-basic"
LEFT = {f"{what}-{NIGHT}" for what in ("workspace", "comparison", "history", "good")}


def test_every_block_is_executed_by_a_test() -> None:
    assert {(block.heading, block.number) for block in blocks()} == asked_for()


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.stem
)
def test_no_page_installs_a_release_while_there_is_none(page: Path) -> None:
    assert re.findall(r"pip install +'?ci-eval\b.*", page.read_text(encoding="utf-8")) == []


PROGRAMS = {"go": "Go", "java": "JDK", "node": "Node.js", "php": "PHP", "ruby": "Ruby"}


@pytest.mark.parametrize("language", [each for each in languages.names() if each != "text"])
def test_the_table_of_languages_says_what_plan_says(language: str) -> None:
    (job,) = plan([ROOT / "configs" / f"{language}.yaml"], completion_types=["BASIC"], shards=1, timings=[])
    title = languages.CATALOG.load(job.language).title
    _, _, table = PAGE.read_text().partition("## What each language needs on a runner\n")
    rows = [line.strip("| ").split(" | ") for line in table.partition("## ")[0].splitlines() if line.startswith("| ")]
    ((_, engine, needs),) = (row for row in rows if title in row[0].split(", "))
    assert engine.removesuffix(" (baseline)") == job.engine
    needed = {program: getattr(job, program) for program in PROGRAMS}
    assert all(f"{PROGRAMS[program]} {version}" in needs for program, version in needed.items() if version)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """With a maintainer's repository, and an empty one for the nights."""
    folder = tmp_path_factory.mktemp("github")
    project = write(folder / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(4)})
    with github(folder, {}, project, {}) as served:
        config = served.repository(THEIRS) / "ci" / "completion.yaml"
        config.parent.mkdir()
        config.write_text(yaml.safe_dump({"language": "python", "engine": "jedi", "project": "path:project"}))
        nights = served.repository(NIGHTS)
        nights.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=nights, check=True)
        # What is pushed lies there at once.
        subprocess.run(["git", "config", "receive.denyCurrentBranch", "updateInstead"], cwd=nights, check=True)
        yield served


# ------------------------------------------------------------------------------------------------- the first section


class Newcomer:
    """Copies block after block into a terminal and an editor, and waits for the nights."""

    def __init__(self, hub: GitHub) -> None:
        self.hub = hub
        self._folder = hub.folder / "desk"
        self._folder.mkdir()
        settings = f'[user]\nname = n\nemail = n@example.org\n[url "file://{hub.repository("")}/"]\n'
        (hub.folder / "gitconfig").write_text(f"{settings}insteadOf = https://github.com/\n")

    def types(self, block: str) -> None:
        """Commands, where the last ones left the terminal."""
        where = self.hub.folder / "where"
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": str(self.hub.folder / "gitconfig")}
        script = f"{block}\npwd > {where}\n"
        subprocess.run(["bash", "-euc", script], cwd=self._folder, env=environment, check=True)
        self._folder = Path(where.read_text().strip())

    def saves(self, path: str, block: str) -> None:
        """A file."""
        (self._folder / path).write_text(self.hub.filled(block))

    def night(self, number: int) -> tuple[int, str]:
        """Exit code and log."""
        caches = self.hub.folder / "caches"
        return self.hub.run("completion", number, event="schedule", repository=NIGHTS, caches=caches)

    def compared(self, night: int) -> dict[str, Any]:
        """What a night's comparison says; of the first night its overview."""
        folder = self.hub.artifact(night, f"comparison-{NIGHT}")
        name = "comparison.json" if (folder / "comparison.json").exists() else "overview.json"
        return dict(json.loads((folder / name).read_text()))

    def base(self, night: int) -> int:
        """The night that it was compared with."""
        started = self.compared(night)["sides"]["base"]["started"]
        (found,) = (each for each in range(1, night) if self.manifest(each)["start"] == started)
        return found

    def manifest(self, night: int) -> dict[str, Any]:
        """The manifest of a night."""
        return dict(json.loads((self.hub.artifact(night, f"workspace-{NIGHT}") / "manifest.json").read_text()))


@pytest.fixture(scope="module")
def newcomer(hub: GitHub) -> Newcomer:
    """After three nights, of which the third is red, and with all as it was."""
    newcomer = Newcomer(hub)
    newcomer.types(documented("From nothing to a nightly", 0))
    newcomer.saves(".github/workflows/completion.yml", documented("From nothing to a nightly", 1))
    newcomer.types(documented("From nothing to a nightly", 2))
    codes = [newcomer.night(number) for number in (1, 2)]
    newcomer.types(documented("From nothing to a nightly", 3))
    codes.append(newcomer.night(3))
    newcomer.types(documented("From nothing to a nightly", 4))
    # A text, which pytest shows whole.
    told = "\n".join(f"night {number}: {code}\n{said}" for number, (code, said) in enumerate(codes, 1))
    assert [code != 0 for code, _ in codes] == [False, False, True], told
    return newcomer


@pytest.mark.slow(minutes=3)
@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.needs("go", "node", "npm")
def test_from_nothing_to_a_nightly(newcomer: Newcomer) -> None:
    """One test, since another process that took over a part of several would need three nights of its own."""
    the_first_night_has_no_base_and_leaves_what_the_next_ones_need(newcomer)
    for night in (2, 3):
        each_further_night_is_compared_with_the_one_before_it(newcomer, night)
    the_second_night_keeps_its_gates(newcomer)
    a_red_night_leaves_all_but_the_mark_of_a_good_one(newcomer)
    what_was_asked_for_to_see_a_red_night_is_taken_back(newcomer)


def the_first_night_has_no_base_and_leaves_what_the_next_ones_need(newcomer: Newcomer) -> None:
    assert {name for name in newcomer.hub.names(1) if not name.startswith("shard-")} == LEFT
    assert len(newcomer.compared(1)["trend"]["nights"]) == 1
    assert "sides" not in newcomer.compared(1)


def each_further_night_is_compared_with_the_one_before_it(newcomer: Newcomer, night: int) -> None:
    assert newcomer.base(night) == night - 1
    assert len(newcomer.compared(night)["trend"]["nights"]) == night
    assert len(list(newcomer.hub.artifact(night, f"history-{NIGHT}").iterdir())) == night
    assert newcomer.manifest(night).get("reused", 0) > 0


def the_second_night_keeps_its_gates(newcomer: Newcomer) -> None:
    assert newcomer.hub.names(2) >= LEFT
    assert [gate["passed"] for gate in newcomer.compared(2)["gates"]] == [True]


def a_red_night_leaves_all_but_the_mark_of_a_good_one(newcomer: Newcomer) -> None:
    left = {name for name in newcomer.hub.names(3) if not name.startswith("shard-")}
    assert left == LEFT - {f"good-{NIGHT}"}
    assert [gate["rule"] for gate in newcomer.compared(3)["gates"] if not gate["passed"]] == ["RecallAt1 >= 100%"]


def what_was_asked_for_to_see_a_red_night_is_taken_back(newcomer: Newcomer) -> None:
    workflow = newcomer.hub.repository(NIGHTS) / ".github" / "workflows" / "completion.yml"
    assert workflow.read_text() == newcomer.hub.filled(documented("From nothing to a nightly", 1))


# ---------------------------------------------------------------------------------------------------------- one line

EACH_JOB = """
on: push
jobs:
  each:
    runs-on: ubuntu-latest
    permissions: {contents: read}
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
DOCUMENTED
      - uses: OWNER/ci-eval@COMMIT
        with: {job: compare, base: workspace, new: workspace, gates: "RecallAt1 >= -1pp", output: comparison}
      - uses: OWNER/ci-eval@COMMIT
        with: {job: generate-ml-logs, config: ci/completion.yaml, log-formats: jsonl, output: logs}
      - uses: actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a
        with: {name: all, path: "workspace\\ncomparison\\nlogs"}
"""


@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.needs("go", "node", "npm")
def test_the_action_evaluates_compares_and_logs_in_one_job_of_another_repository(hub: GitHub) -> None:
    hub.call(THEIRS, "each", EACH_JOB.replace("DOCUMENTED", documented("GitHub: one line")))
    code, log = hub.run("each", 60, event="push", repository=THEIRS)
    assert code == 0, log
    folder = hub.artifact(60, "all")
    (evaluation,) = json.loads((folder / "workspace" / "reports" / "metrics.json").read_text())["evaluations"]
    assert evaluation["filters"]["ALL"]["sessions"] > 0
    assert json.loads((folder / "comparison" / "comparison.json").read_text())["gates"][0]["passed"]
    assert list((folder / "logs" / "logs").glob("*.jsonl*"))
