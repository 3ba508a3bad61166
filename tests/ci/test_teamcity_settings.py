"""TeamCity's settings.kts of ci-eval, compiled and executed by Kotlin's own compiler against a stub of the DSL."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from runpy import run_path
from typing import Any
from xml.etree import ElementTree

import click
import pytest

from ci_eval.cli.group import find_command
from ci_eval.core.catalogs import languages, metrics
from ci_eval.core.config import load
from ci_eval.jobs.reuse import why_not_reusable
from tests.ci.teamcity_stage import ROOT, builds, executed

SETTINGS = ROOT / ".teamcity" / "settings.kts"
PARAMETERS = {"env.RUNNER_TEMP"}
SHARD = "env.CI_EVAL_SHARD"


def test_maven_finds_the_dsl_of_the_servers_own_plugins() -> None:
    pom = ElementTree.parse(ROOT / ".teamcity" / "pom.xml").getroot()
    space = {"": "http://maven.apache.org/POM/4.0.0"} if pom.tag.startswith("{") else {}
    found = {each.findtext("id", None, space): each for each in pom.iterfind("repositories/repository", space)}
    assert set(found) == {"jetbrains-all", "teamcity-server"}
    assert str(found["teamcity-server"].findtext("url")).endswith("/app/dsl-plugins-repository")
    assert all(each.findtext("snapshots/enabled") == "true" for each in found.values())


def test_the_list_of_languages_is_the_one_of_the_configurations() -> None:
    generate = run_path(str(ROOT / ".teamcity" / "generate.py"))
    block = re.search(r"// begin generated:[^\n]*\n(.*?)// end generated\n", SETTINGS.read_text(), re.DOTALL)
    assert block
    assert block[1] == generate["generated"](), "stale: run python3 .teamcity/generate.py"


def test_every_configuration_of_the_list_may_be_reused() -> None:
    found = re.findall(r'"(configs/[^"]+)"', SETTINGS.read_text())
    assert found
    assert {why_not_reusable(load(ROOT / each).config) for each in found} == {""}


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    code, out, err = executed(SETTINGS)
    assert code == 0, err
    return dict(json.loads(out))


def rules(text: str, shards: Sequence[str] = ()) -> Iterator[tuple[str, str, str]]:
    """Yield source, archive path within it, target of each line; of a matrix for each of its shards."""
    if shards:
        for shard in shards:
            yield from rules(text.replace(f"%{SHARD}%", shard))
        return
    for line in text.splitlines():
        source, _, target = (part.strip() for part in line.strip().partition("=>"))
        path, _, inner = source.removeprefix("?:").partition("!")
        yield path, inner, target


def commands(build: dict[str, Any]) -> list[list[str]]:
    """Return the command lines of a build, of a matrix those of its first part."""
    shard = build["matrix"].get(SHARD, [""])[0]
    scripts = [script.replace("$CI_EVAL_SHARD", shard) for script in build["scripts"]]
    lines = [line for script in scripts for line in script.splitlines() if line.startswith("python3 ")]
    words = [
        shlex.split(re.sub(r"\$\(test -d (\S+) && echo \1(?: \|\| echo --first-night)?\)", r"\1", line))
        for line in lines
    ]
    assert all((ROOT / each[1]).is_file() for each in words)
    return [each[2:] for each in words]


def context_of(name: str, argv: list[str]) -> click.Context:
    """Return what a command line gives a command, or a command of the group `ci`."""
    command = find_command(name)
    if isinstance(command, click.Group):
        subcommand = command.commands[argv[0]]
        return subcommand.make_context(argv[0], argv[1:])
    return command.make_context(name, argv)


@pytest.mark.needs("npm", "java")
@pytest.mark.engine
@pytest.mark.registry
class TestModel:
    """What TeamCity would be told."""

    def test_every_language_has_its_project_and_ids_are_unique_and_valid(self, model: dict[str, Any]) -> None:
        assert model["version"] == "2025.11"
        assert len(model["subProjects"]) == len(languages.CATALOG.names()) - 1
        # A server's free license allows a hundred.
        assert len(list(builds(model))) <= 60
        ids = [each["id"] for each in builds(model)] + [each["id"] for each in model["subProjects"]]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,224}", each) for each in ids)
        for project in model["subProjects"]:
            names = [build["name"] for build in project["buildTypes"]]
            assert {"Evaluate BASIC", "Compare BASIC with the last good night"} <= set(names)
        python = next(each for each in model["subProjects"] if each["id"] == "Language_python")
        assert {"Evaluate ML", "Generate logs"} <= {build["name"] for build in python["buildTypes"]}

    def test_every_consumed_artifact_is_published(self, model: dict[str, Any]) -> None:
        shards = {build["id"]: build["matrix"].get(SHARD, []) for build in builds(model)}
        published = {
            build["id"]: {target for _, _, target in rules(build["artifactRules"], shards[build["id"]])}
            for build in builds(model)
        }
        consumed = [
            (dependency["on"], path)
            for build in builds(model)
            for dependency in build["dependencies"]
            for artifact in dependency["artifacts"]
            for path, _, _ in rules(artifact["rules"], shards[build["id"]])
        ]
        assert len(consumed) > 40
        for on, path in consumed:
            assert path in published[on]
        for project in model["subProjects"]:
            ranked = any(build["name"] == "Compare algorithms" for build in project["buildTypes"])
            assert len(project["tabs"]) == 2 + ranked
            targets = {target for build in project["buildTypes"] for target in published[build["id"]]}
            assert {tab.partition("!")[0] for tab in project["tabs"]} <= targets

    def test_what_is_used_by_a_command_was_made_or_fetched(self, model: dict[str, Any]) -> None:
        for build in builds(model):
            fetched = {
                target
                for dependency in build["dependencies"]
                for artifact in dependency["artifacts"]
                for _, _, target in rules(artifact["rules"])
            }
            made: set[str] = set()
            for name, *argv in commands(build):
                given = context_of(name, argv).params
                inputs = [str(path) for path in given.get("workspaces", ())]
                inputs += [str(given[each]) for each in ("model", "reuse", "workspace") if given.get(each)]
                assert all({path, path.split("/")[0]} & (fetched | made) for path in inputs), (build["id"], inputs)
                made.add(str(given.get("output")))

    def test_every_command_line_is_one_the_real_cli_takes(self, model: dict[str, Any]) -> None:
        seen = set()
        for build in builds(model):
            assert build["vcs"] == ["CiEval_Settings"]
            if build["type"] == "COMPOSITE":
                assert not build["scripts"]
                continue
            assert build["clean"]
            assert 0 < build["timeout"] <= 180
            assert commands(build)
            for name, *argv in commands(build):
                seen.add(name)
                context = context_of(name, list(argv))
                config = getattr(context.params.get("choices"), "config", None) or context.params.get("config")
                assert config is None or (ROOT / str(config)).is_file()
        assert seen == {"evaluate", "merge", "compare", "generate-ml-logs", "train-ranker", "ci", "site"}

    def test_one_build_starts_all_nights_and_shows_them(self, model: dict[str, Any]) -> None:
        (night,) = (build for build in builds(model) if build["type"] == "COMPOSITE")
        shown = {each["on"]: (each["snapshot"], each["reuse"]) for each in night["dependencies"]}
        started = ("Compare_", "Algorithms_", "Trends_")
        assert set(shown) == {build["id"] for build in builds(model) if build["id"].startswith(started)}
        assert set(shown.values()) == {("ADD_PROBLEM", "NO")}
        assert night["artifactRules"] == ""

    def test_trends_of_all_nights_are_a_tab_of_the_project(self, model: dict[str, Any]) -> None:
        (trends,) = (build for build in builds(model) if build["id"].startswith("Trends_"))
        assert model["projectTabs"] == [["Trends", "site.zip!/index.html", f"CiEval_{trends['id']}", "LAST_FINISHED"]]
        taken = [(each["on"], each["snapshot"]) for each in trends["dependencies"]]
        compared = [build["id"] for build in builds(model) if build["id"].startswith("Compare_")]
        # A red night is in the trends, and has failed itself.
        assert sorted(taken) == sorted((name, "IGNORE") for name in compared)

    def test_nights_and_the_logs_of_a_week_start_whether_or_not_something_changed(self, model: dict[str, Any]) -> None:
        schedules = [(build["id"], each) for build in builds(model) for each in build["schedules"]]
        weekly = [build["id"] for build in builds(model) if build["id"].startswith("GenerateLogs_")]
        assert sorted(build for build, _ in schedules) == [*sorted(weekly), "Night_all"]
        for build, each in schedules:
            assert each["weekly"] == (build in weekly)
            assert (each["always"], each["withPendingChangesOnly"]) == (True, False)
            assert each["branchFilter"] == "+:<default>"
            assert 1 <= each["hour"] <= 8
            assert 0 < each["minute"] < 60

    def test_a_comparison_takes_tonight_and_the_last_good_night(self, model: dict[str, Any]) -> None:
        for build in builds(model):
            if not build["id"].startswith("Compare_"):
                continue
            snapshots = [each["on"] for each in build["dependencies"] if each["snapshot"]]
            taken = {
                (each["on"], artifact["from"], artifact["rules"])
                for each in build["dependencies"]
                for artifact in each["artifacts"]
            }
            whole = build["id"].replace("Compare_", "Evaluate_")
            assert snapshots == [whole]
            # Of the evaluations tonight's is the last successful one. A stopped build leaves no history.
            assert taken == {
                (whole, "SameChain", "?:shard1.zip!** => shard1\n?:shard2.zip!** => shard2"),
                (build["id"], "LastSuccessful", "?:workspace.zip!** => base\n?:history.zip!** => history"),
                (build["id"], "LastFinished", "?:history.zip!** => history"),
            }
            assert ("workspace.zip", "workspace") in {
                (target, path) for path, _, target in rules(build["artifactRules"])
            }

    def test_algorithms_are_ranked_from_what_the_night_has_evaluated(self, model: dict[str, Any]) -> None:
        ranked = [build for build in builds(model) if build["name"] == "Compare algorithms"]
        assert len(ranked) > 5
        for build in ranked:
            language = build["id"].removeprefix("Algorithms_")
            wholes = [f"Compare_{language}_{kind}" for kind in ("BASIC", "ML")]
            taken = [
                (each["on"], each["reuse"], artifact["from"], artifact["rules"])
                for each in build["dependencies"]
                for artifact in each["artifacts"]
            ]
            assert taken == [
                *((whole, "NO", "SameChain", f"?:workspace.zip!** => evaluations/CiEval_{whole}") for whole in wholes),
                (build["id"], None, "LastFinished", "?:history.zip!** => history"),
            ]
            ((_, *argv),) = commands(build)
            given = context_of("ci", argv).params
            assert [str(path) for path in given["workspaces"]] == [f"evaluations/CiEval_{whole}" for whole in wholes]
            assert (str(given["history"]), str(given["output"])) == ("history", "algorithms")

    def test_a_shard_reuses_what_it_was_answered_last_by_the_same_commit(
        self, model: dict[str, Any], tmp_path: Path
    ) -> None:
        evaluations = [build for build in builds(model) if build["id"].startswith("Evaluate_")]
        assert len(evaluations) > 10
        archive = f"shard%{SHARD}%.zip"
        for build in evaluations:
            assert build["matrix"] == {SHARD: ["1", "2"]}
            own = [each for each in build["dependencies"] if each["on"] == build["id"]]
            assert [(artifact["from"], artifact["rules"]) for each in own for artifact in each["artifacts"]] == [
                ("LastSuccessful", f"?:{archive}!** => earlier")
            ]
            assert ("commit", "", archive) in set(rules(build["artifactRules"]))
            ((name, *argv),) = commands(build)
            given = context_of(name, argv).params
            assert (str(given["reuse"]), str(given["shard"]), str(given["output"])) == ("earlier", "1/2", "shard1")
        script = (
            evaluations[0]["scripts"][0].replace("%build.vcs.number%", "c0ffee").replace("python3", "test -d earlier #")
        )
        for earlier, left in (("c0ffee", True), ("former", False), (None, False)):
            folder = tmp_path / str(earlier)
            (folder / "earlier").mkdir(parents=True)
            if earlier:
                (folder / "earlier" / "commit").write_text(f"{earlier}\n")
            done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, check=False)
            assert (done.returncode == 0) is left
            assert (folder / "commit").read_text() == "c0ffee\n"

    def test_an_agent_needs_linux_and_python_whatever_it_builds(self, model: dict[str, Any]) -> None:
        wanted = [["teamcity.agent.jvm.os.name", "contains", "Linux"], ["python3.executable", "exists"]]
        assert all(build["requirements"] == wanted for build in builds(model) if build["type"] != "COMPOSITE")

    def test_no_parameter_is_used_that_no_server_defines(self, model: dict[str, Any]) -> None:
        # What is not defined is taken for a requirement, and then no agent fits.
        for build in builds(model):
            texts = [*build["scripts"], *build["params"].values(), build["artifactRules"]]
            texts += [artifact["rules"] for each in build["dependencies"] for artifact in each["artifacts"]]
            named = {name for text in texts for name in re.findall("%([^%]+)%", text)}
            assert named <= {"build.vcs.number", "system.teamcity.build.tempDir", *build["matrix"]}
        assert {name for build in builds(model) for name in build["params"]} == PARAMETERS

    def test_a_language_has_charts_of_what_its_builds_report(self, model: dict[str, Any]) -> None:
        known = {f"ci_eval.{each.info.name}" for each in metrics.load()}
        for project in model["subProjects"]:
            shown = [(chart["title"].split()[0], chart["format"]) for chart in project["charts"]]
            # Shares are reported as 0 to 1.
            assert shown == [("Quality", "PERCENT_BY_1"), ("Latency", None)]
            series = [each for chart in project["charts"] for each in chart["series"]]
            wholes = {f"CiEval_{build['id']}" for build in project["buildTypes"] if build["metrics"]}
            assert {each["of"] for each in series} == wholes
            assert {each["key"] for each in series} <= known

    def test_nobody_is_mailed_unless_somebody_is_named(self, model: dict[str, Any]) -> None:
        assert not any(build["mailed"] for build in builds(model))

    def test_what_was_filled_in_is_asked_of_agents_and_mailed_to(self, tmp_path: Path) -> None:
        text = SETTINGS.read_text()
        text = text.replace('val mailed = ""', 'val mailed = "a@example.org"')
        text = text.replace("val reported = mapOf<String, String>()", 'val reported = mapOf("go" to "env.GOROOT")')
        (tmp_path / "settings.kts").write_text(text)
        code, out, err = executed(tmp_path / "settings.kts")
        assert code == 0, err
        found = list(builds(json.loads(out)))
        assert {build["id"] for build in found if build["mailed"]} == {
            build["id"] for build in found if build["id"].startswith("Compare_")
        }
        asked = {build["id"] for build in found if ["env.GOROOT", "exists"] in build["requirements"]}
        # A ranking asks no engine.
        of_go = {build["id"] for build in found if "_go_" in f"{build['id']}_"}
        assert asked == of_go - {"Algorithms_go"}

    def test_a_failed_evaluation_is_compared(self, model: dict[str, Any]) -> None:
        for build in builds(model):
            if build["id"].startswith("Compare_"):
                assert {each["snapshot"] for each in build["dependencies"]} == {None, "ADD_PROBLEM"}

    def test_rankers_are_those_of_the_last_week_that_trained_them(self, model: dict[str, Any]) -> None:
        taken = [
            (each["snapshot"], artifact["from"])
            for build in builds(model)
            for each in build["dependencies"]
            if each["on"].startswith("GenerateLogs_")
            for artifact in each["artifacts"]
        ]
        assert set(taken) == {(None, "LastSuccessful")}

    def test_a_loss_of_quality_fails_the_build(self, model: dict[str, Any]) -> None:
        # Of a whole evaluation, which the comparison puts together.
        for build in builds(model):
            assert build["metrics"] == (["ci_eval.RecallAt1"] if build["id"].startswith("Compare_") else [])

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("shards = 2", 'shards = "2"'),
            ("ciEvalNight {", "ciEvalNightly {"),
        ],
    )
    def test_a_planted_mistake_does_not_compile(self, old: str, new: str, tmp_path: Path) -> None:
        text = SETTINGS.read_text()
        assert old in text
        (tmp_path / "settings.kts").write_text(text.replace(old, new, 1))
        code, _, err = executed(tmp_path / "settings.kts")
        assert code != 0
        assert "error:" in err
