"""The pages about CI as a new user goes through them: each block is executed as it is, but for OWNER and COMMIT."""

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

from ci_eval.core.catalogs import languages
from ci_eval.jobs.workflows.plan import plan
from tests.ci.documentation import PAGE, ROOT, asked_for, blocks, documented
from tests.ci.stand_ins import GitHub, github
from tests.ci.test_workflows import zizmor
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


def workflows() -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield the documented workflows, as text and as YAML."""
    for block in blocks():
        if block.language == "yaml" and "\njobs:" in block.text:
            yield block.text, yaml.safe_load(block.text)


def test_a_workflow_that_starts_after_another_one_is_started_by_no_other() -> None:
    # The night is shown three times: alone, of an own engine, and with a notice.
    names = [workflow["name"] for _, workflow in workflows()]
    assert {name: names.count(name) for name in names} == {
        "completion": 3, "completion-pull-request": 1, "completion-comment": 1, "completion-site": 1,
        "completion-logs": 1,
    }  # fmt: skip
    # YAML takes `on` for true.
    started = {workflow["name"]: workflow[True] for _, workflow in workflows()}
    assert started["completion-comment"]["workflow_run"]["workflows"] == ["completion-pull-request"]
    assert started["completion-site"]["workflow_run"]["workflows"] == ["completion"]
    assert started["completion-pull-request"] == "pull_request"


def test_a_pull_request_that_is_pushed_to_ends_its_earlier_run() -> None:
    (group,) = (workflow["concurrency"] for _, workflow in workflows() if workflow[True] == "pull_request")
    assert "github.event.pull_request.number" in group["group"]
    assert group["cancel-in-progress"]


@pytest.mark.parametrize("number", range(7))
def test_zizmor_lets_a_documented_workflow_pass_as_it_is_pasted(number: int, tmp_path: Path) -> None:
    text, workflow = list(workflows())[number]
    assert len(text.splitlines()) <= 15
    assert "concurrency" in workflow
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "a.yml").write_text(text.replace("COMMIT", "0" * 40))
    code, said = zizmor(tmp_path, ".github")
    assert code == 0, f"{workflow['name']}: {said}"


def test_there_are_seven_documented_workflows() -> None:
    assert len(list(workflows())) == 7


PROGRAMS = {"go": "Go", "java": "JDK", "node": "Node.js", "php": "PHP", "ruby": "Ruby"}


@pytest.mark.parametrize("language", [each for each in languages.names() if each != "text"])
def test_the_table_of_languages_says_what_plan_says(language: str) -> None:
    (job,) = plan([ROOT / "configs" / f"{language}.yaml"], completion_types=["BASIC"], shards=1)
    title = languages.CATALOG.load(job.language).title
    _, _, table = PAGE.read_text().partition("## What each language needs on a runner\n")
    rows = [line.strip("| ").split(" | ") for line in table.partition("## ")[0].splitlines() if line.startswith("| ")]
    ((_, engine, needs),) = (row for row in rows if title in row[0].split(", "))
    assert engine.removesuffix(" (baseline)") == job.engine
    needed = {program: getattr(job, program) for program in PROGRAMS}
    assert all(f"{PROGRAMS[program]} {version}" in needs for program, version in needed.items() if version)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """Return a stand-in of GitHub with an empty repository for the nights."""
    folder = tmp_path_factory.mktemp("github")
    with github(folder, {}, write(folder / "p", main__py=GREETER), {}) as served:
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

    def manifest(self, night: int) -> dict[str, Any]:
        """The manifest of a night."""
        return dict(json.loads((self.hub.artifact(night, f"workspace-{NIGHT}") / "manifest.json").read_text()))


@pytest.fixture(scope="module")
def newcomer(hub: GitHub) -> Newcomer:
    """Return the newcomer after three nights: the first one, a red one, and the next."""
    newcomer = Newcomer(hub)
    newcomer.types(documented("From nothing to a nightly", 0))
    newcomer.saves(".github/workflows/completion.yml", documented("From nothing to a nightly", 1))
    newcomer.types(documented("From nothing to a nightly", 2))
    codes = [newcomer.night(1)]
    newcomer.types(documented("From nothing to a nightly", 3))
    codes.append(newcomer.night(2))
    newcomer.types(documented("From nothing to a nightly", 4))
    codes.append(newcomer.night(3))
    # A text, which pytest shows whole.
    told = "\n".join(f"night {number}: {code}\n{said}" for number, (code, said) in enumerate(codes, 1))
    assert [code != 0 for code, _ in codes] == [False, True, False], told
    return newcomer


@pytest.mark.slow(minutes=3)
@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.needs("go", "node", "npm")
def test_from_nothing_to_a_nightly(newcomer: Newcomer) -> None:
    """Go through the nights in one test: parts in other processes would each need two nights of their own."""
    the_first_night_has_no_base_and_leaves_what_the_next_ones_need(newcomer)
    the_second_night_is_compared_with_the_first(newcomer)
    a_red_night_leaves_all_but_the_mark_of_a_good_one(newcomer)
    what_was_asked_for_to_see_a_red_night_is_taken_back(newcomer)
    the_next_night_is_compared_with_the_last_good_one(newcomer)


def the_first_night_has_no_base_and_leaves_what_the_next_ones_need(newcomer: Newcomer) -> None:
    assert {name for name in newcomer.hub.names(1) if not name.startswith("shard-")} == LEFT
    assert len(newcomer.compared(1)["trend"]["nights"]) == 1
    assert "sides" not in newcomer.compared(1)


def the_second_night_is_compared_with_the_first(newcomer: Newcomer) -> None:
    started = newcomer.compared(2)["sides"]["base"]["started"]
    assert started == newcomer.manifest(1)["start"]
    assert len(newcomer.compared(2)["trend"]["nights"]) == 2
    assert len(list(newcomer.hub.artifact(2, f"history-{NIGHT}").iterdir())) == 2
    assert newcomer.manifest(2).get("reused", 0) > 0


def a_red_night_leaves_all_but_the_mark_of_a_good_one(newcomer: Newcomer) -> None:
    left = {name for name in newcomer.hub.names(2) if not name.startswith("shard-")}
    assert left == LEFT - {f"good-{NIGHT}"}
    assert [gate["rule"] for gate in newcomer.compared(2)["gates"] if not gate["passed"]] == ["RecallAt1 >= 100%"]


def what_was_asked_for_to_see_a_red_night_is_taken_back(newcomer: Newcomer) -> None:
    workflow = newcomer.hub.repository(NIGHTS) / ".github" / "workflows" / "completion.yml"
    assert workflow.read_text() == newcomer.hub.filled(documented("From nothing to a nightly", 1))


def the_next_night_is_compared_with_the_last_good_one(newcomer: Newcomer) -> None:
    assert {name for name in newcomer.hub.names(3) if not name.startswith("shard-")} == LEFT
    compared = newcomer.compared(3)
    assert compared["sides"]["base"]["started"] == newcomer.manifest(1)["start"]
    assert [gate["passed"] for gate in compared["gates"]] == [True]
    assert len(compared["trend"]["nights"]) == 3
