"""TeamCity: recipes, and settings.kts compiled and executed by Kotlin's own compiler against a stub of the DSL."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given

from ci_eval.ci import Announcement, Problem
from ci_eval.ci.arguments import command_line, read_inputs
from ci_eval.ci.inputs import STEPS
from ci_eval.ci.teamcity import TeamCity, escape, message
from ci_eval.cli.group import find_command
from ci_eval.core.catalogs import languages, metrics
from ci_eval.core.config import load
from ci_eval.jobs.nights.reuse import why_not_reusable
from tests.ci.documentation import documented
from tests.ci.marketplace import refused
from tests.ci.parsers import ANY_TEXT, service_messages
from tests.ci.tools import LIBRARY, kotlinc, teamcity_library
from tests.waiting import HANGS

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / ".teamcity" / "settings.kts"


PARAMETERS = {"env.RUNNER_TEMP"}


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


def executed(path: Path) -> tuple[int, str, str]:
    done = kotlinc(["-cp", teamcity_library(), "-script", str(path)], path.parent)
    return done.returncode, done.stdout, done.stderr


# ------------------------------------------------------------------------------------------------------------- recipes

RECIPES = sorted((ROOT / ".teamcity" / "pluginData" / "_Self" / "metaRunners").glob("*.yml"))
PYTHON = """#!/bin/sh
test "$2" = -c && exit
for each in "$@"; do printf "%s\\0" "$each"; done > called
"""
GIVEN = {"SET": "interpret.seed=1\n\ninterpret.client=raw", "GATES": "RecallAt1 >= -1pp\nRecall >= 90%", "SHARD": "1/2",
         "LOG_FORMATS": "jsonl\nparquet", "PRECISION": "1pp", "JOBS": "2", "ROUNDS": "2", "ENGINE_LIKE": "",
         "SAME_RANKER": "true"}  # fmt: skip
HOSTILE = "x; $(touch y) 'z'"


def test_there_is_a_recipe_for_each_job() -> None:
    assert {path.stem for path in RECIPES} == {f"ci-eval-{job}" for job in STEPS}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_marketplace_takes_the_recipe(path: Path) -> None:
    assert list(refused(yaml.safe_load(path.read_text()))) == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("name: ci-eval/compare", "name: ci-eval-compare", "name"),
        ("name: ci-eval/compare", "name: ci-eval/c--ompare", "name"),
        ("name: ci-eval/compare", "name: eval/compare", "namespace"),
        ("version: 1.1.0", 'version: "1.0"', "version"),
        ("title: ci-eval compare", "title: " + "x" * 51, "title"),
        ('label: "Base"', 'label: ""', "label"),
        ("label: ", "tip: ", "unknown: tip"),
        ("required: true", "required: perhaps", "required"),
        ("required: true", 'required: true\n      default: ""', "default"),
        ("type: text", "type: string", "type"),
        ("env.INPUT_BASE", "env.INPUT_NEW", "twice"),
    ],
)
def test_a_planted_mistake_is_refused(old: str, new: str, why: str) -> None:
    text = next(path for path in RECIPES if path.stem == "ci-eval-compare").read_text()
    assert old in text
    assert why in refused(yaml.safe_load(text.replace(old, new, 1)))


@pytest.fixture
def source(tmp_path: Path) -> tuple[Path, str]:
    """A repository that has what recipes call of ci-eval's, and an environment that was made; and its commit."""
    folder = tmp_path / "source"
    for name in (".teamcity/run.py", ".github/actions/run.py"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, folder / name)
    python = folder / ".environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *argv], check=True)
    return folder, subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()


def ran(path: Path, folder: Path, **values: str) -> subprocess.CompletedProcess[str]:
    """The recipe's step, in an empty checkout."""
    (step,) = yaml.safe_load(path.read_text())["steps"]
    (folder / "script").write_text(step["script"])
    kept = Path(values["INPUT_SOURCE"]) / ".environment"
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "CI_EVAL_ENVIRONMENT": str(kept), **values}
    # What TeamCity takes for a script that does not name its shell.
    command = ["sh", str(folder / "script")]
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=HANGS, check=False
    )


def called(folder: Path, values: dict[str, str]) -> tuple[str, list[str]]:
    """The command that `ci-eval ci run` comes to, and its arguments."""
    *_, group, verb, job = (folder / "called").read_text().split("\0")[:-1]
    assert (group, verb) == ("ci", "run")
    name, *argv = command_line(job, read_inputs(values))
    return name, argv


def inputs(path: Path) -> dict[str, dict[str, Any]]:
    return {name.removeprefix("env."): each for entry in yaml.safe_load(path.read_text())["inputs"]
            for name, each in entry.items()}  # fmt: skip


@pytest.mark.needs("git")
@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_calls_the_real_cli_and_what_is_given_is_never_a_command(
    path: Path, source: tuple[Path, str], tmp_path: Path
) -> None:
    values = {name: GIVEN.get(name.removeprefix("INPUT_"), HOSTILE) for name in inputs(path)}
    (tmp_path / "checkout").mkdir()
    done = ran(path, tmp_path / "checkout", **values | {"INPUT_SOURCE": str(source[0]), "INPUT_COMMIT": source[1]})
    assert done.returncode == 0, done.stderr
    assert {each.name for each in (tmp_path / "checkout").iterdir()} == {"script", "called"}
    name, argv = called(tmp_path / "checkout", values)
    given = find_command(name).make_context(name, argv).params
    assert str(given["output"]) == HOSTILE
    if "gates" in given:
        assert given["gates"] == ("RecallAt1 >= -1pp", "Recall >= 90%")
    if "INPUT_SET" in values:
        assert given["overrides"] == ("interpret.seed=1", "interpret.client=raw")
    if name == "compare":
        assert (len(given["workspaces"]), given["same_ranker"]) == (2, True)


@pytest.mark.needs("git")
@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_an_optional_input_may_be_left_out(path: Path, source: tuple[Path, str], tmp_path: Path) -> None:
    asked = inputs(path).items()
    needed = {name: each.get("default", "x") for name, each in asked if each["required"] or "default" in each}
    done = ran(path, tmp_path, **needed | {"INPUT_SOURCE": str(source[0]), "INPUT_COMMIT": source[1]})
    assert done.returncode == 0, done.stderr
    name, argv = called(tmp_path, needed)
    assert str(find_command(name).make_context(name, argv).params["output"]) == needed["INPUT_OUTPUT"]


@pytest.mark.needs("git")
@pytest.mark.parametrize("commit", ["main", "0" * 40, "--upload-pack=touch y"])
def test_another_commit_than_the_one_in_full_is_a_problem_of_the_build(
    commit: str, source: tuple[Path, str], tmp_path: Path
) -> None:
    (tmp_path / "checkout").mkdir()
    done = ran(RECIPES[0], tmp_path / "checkout", INPUT_SOURCE=str(source[0]), INPUT_COMMIT=commit)
    ((name, values),) = service_messages(done.stdout)
    assert (done.returncode, name, values["identity"]) == (4, "buildProblem", "ci_eval_source")
    assert [each.name for each in (tmp_path / "checkout").iterdir()] == ["script"]


@pytest.mark.needs("git")
def test_a_failing_installation_is_a_problem_of_the_build(source: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    variables = {**os.environ, "RUNNER_TEMP": str(tmp_path / "file")}
    argv = [sys.executable, str(source[0] / ".teamcity" / "run.py"), "evaluate"]
    done = subprocess.run(argv, env=variables, capture_output=True, text=True, check=False)
    ((name, values),) = service_messages(done.stdout)
    assert (done.returncode, name, values["identity"]) == (4, "buildProblem", "ci_eval_bootstrap")


def test_a_recipe_never_overwrites_what_an_earlier_build_left_in_the_checkout() -> None:
    defaults = [inputs(path)["INPUT_OUTPUT"]["default"] for path in RECIPES]
    assert all(each.startswith("%system.teamcity.build.tempDir%/") for each in defaults)


# ---------------------------------------------------------------------------------------------------------------- DSL


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    code, out, err = executed(SETTINGS)
    assert code == 0, err
    return dict(json.loads(out))


def builds(model: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from model["buildTypes"]
    for each in model["subProjects"]:
        yield from builds(each)


def rules(text: str) -> Iterator[tuple[str, str, str]]:
    """Source, archive path within it, target of each line."""
    for line in text.splitlines():
        source, _, target = (part.strip() for part in line.strip().partition("=>"))
        path, _, inner = source.removeprefix("?:").partition("!")
        yield path, inner, target


def commands(build: dict[str, Any]) -> list[list[str]]:
    lines = [line for script in build["scripts"] for line in script.splitlines() if line.startswith("python3 ")]
    words = [shlex.split(line.replace("$(test -d base && echo base)", "base")) for line in lines]
    assert all((ROOT / each[1]).is_file() for each in words)
    return [each[2:] for each in words]


@pytest.mark.needs("npm", "java")
@pytest.mark.engine
@pytest.mark.registry
class TestModel:
    """What TeamCity would be told."""

    def test_every_language_has_its_project_and_ids_are_unique_and_valid(self, model: dict[str, Any]) -> None:
        assert model["version"] == "2025.11"
        assert len(model["subProjects"]) == len(languages.CATALOG.names()) - 1
        ids = [each["id"] for each in builds(model)] + [each["id"] for each in model["subProjects"]]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,224}", each) for each in ids)
        for project in model["subProjects"]:
            names = [build["name"] for build in project["buildTypes"]]
            assert {"Evaluate BASIC", "Compare BASIC with the last good night"} <= set(names)
        python = next(each for each in model["subProjects"] if each["id"] == "Language_python")
        assert {"Evaluate ML", "Generate logs"} <= {build["name"] for build in python["buildTypes"]}

    def test_every_consumed_artifact_is_published(self, model: dict[str, Any]) -> None:
        published = {build["id"]: {target for _, _, target in rules(build["artifactRules"])} for build in builds(model)}
        consumed = [
            (dependency["on"], path)
            for build in builds(model)
            for dependency in build["dependencies"]
            for artifact in dependency["artifacts"]
            for path, _, _ in rules(artifact["rules"])
        ]
        assert len(consumed) > 40
        for on, path in consumed:
            assert path in published[on]
        for project in model["subProjects"]:
            assert len(project["tabs"]) == 2
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
            for name, *argv in commands(build):
                given = find_command(name).make_context(name, argv).params
                inputs = [str(path) for path in given.get("workspaces", ())]
                inputs += [str(given[each]) for each in ("model", "reuse", "workspace") if given.get(each)]
                assert all(path.split("/")[0] in fetched for path in inputs), (build["id"], inputs)

    def test_every_command_line_is_one_the_real_cli_takes(self, model: dict[str, Any]) -> None:
        seen = set()
        for build in builds(model):
            assert build["vcs"] == 1
            assert build["clean"]
            assert 0 < build["timeout"] <= 180
            assert commands(build)
            for name, *argv in commands(build):
                seen.add(name)
                context = find_command(name).make_context(name, list(argv))
                config = getattr(context.params.get("choices"), "config", None) or context.params.get("config")
                assert config is None or (ROOT / str(config)).is_file()
        assert seen == {"actions", "interpret", "merge", "compare", "generate-ml-logs", "train-ranker"}

    def test_nights_and_the_logs_of_a_week_start_whether_or_not_something_changed(self, model: dict[str, Any]) -> None:
        started = ("Compare_", "GenerateLogs_")
        schedules = [(build["id"], each) for build in builds(model) for each in build["schedules"]]
        assert len(schedules) == len([build for build in builds(model) if build["id"].startswith(started)])
        for build, each in schedules:
            assert build.startswith("GenerateLogs_" if each["weekly"] else "Compare_")
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
            # Of the evaluations tonight's is the last successful one.
            assert taken == {
                (whole, "SameChain", "workspace.zip!** => new"),
                (build["id"], "LastSuccessful", "?:workspace.zip!** => base\n?:history.zip!** => history"),
                (build["id"], "LastFinished", "?:history.zip!** => history"),
            }
            assert ("workspace.zip", "new") in {(target, path) for path, _, target in rules(build["artifactRules"])}

    def test_a_shard_reuses_what_it_was_answered_last_by_the_same_commit(
        self, model: dict[str, Any], tmp_path: Path
    ) -> None:
        shards = [build for build in builds(model) if re.fullmatch(r"Evaluate_\w+_\d", build["id"])]
        assert len(shards) > 20
        for build in shards:
            archive = f"shard{build['id'][-1]}.zip"
            own = [each for each in build["dependencies"] if each["on"] == build["id"]]
            assert [(artifact["from"], artifact["rules"]) for each in own for artifact in each["artifacts"]] == [
                ("LastSuccessful", f"?:{archive}!** => earlier")
            ]
            assert ("commit", "", archive) in set(rules(build["artifactRules"]))
            (given,) = commands(build)
            assert given[:2] == ["interpret", "actions"]
            assert given[given.index("--reuse") + 1] == "earlier"
        script = shards[0]["scripts"][0].replace("%build.vcs.number%", "c0ffee").replace("python3", "test -d earlier #")
        for earlier, left in (("c0ffee", True), ("former", False), (None, False)):
            folder = tmp_path / str(earlier)
            (folder / "earlier").mkdir(parents=True)
            if earlier:
                (folder / "earlier" / "commit").write_text(f"{earlier}\n")
            done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, check=False)
            assert (done.returncode == 0) is left
            assert (folder / "commit").read_text() == "c0ffee\n"

    def test_stage_1_is_done_once_for_all_shards(self, model: dict[str, Any]) -> None:
        found = {build["id"]: build for build in builds(model)}
        making = [name for name in found if name.startswith("Actions_")]
        assert len(making) == len([name for name in found if name.startswith("Compare_")])
        for name in making:
            whole = name.replace("Actions_", "Evaluate_")
            shards = [each["on"] for each in found[whole]["dependencies"] if each["snapshot"]]
            assert len(shards) == 2
            for shard in shards:
                taken = [
                    artifact["rules"]
                    for each in found[shard]["dependencies"]
                    if each["on"] == name and each["snapshot"]
                    for artifact in each["artifacts"]
                ]
                assert taken == ["actions.zip!** => actions"]

    def test_an_agent_needs_linux_and_python_whatever_it_builds(self, model: dict[str, Any]) -> None:
        wanted = [["teamcity.agent.jvm.os.name", "contains", "Linux"], ["python3.executable", "exists"]]
        assert all(build["requirements"] == wanted for build in builds(model))

    def test_no_parameter_is_used_that_no_server_defines(self, model: dict[str, Any]) -> None:
        # What is not defined is taken for a requirement, and then no agent fits.
        texts = [text for build in builds(model) for text in (*build["scripts"], *build["params"].values())]
        assert {name for text in texts for name in re.findall("%([^%]+)%", text)} == {
            "build.vcs.number",
            "system.teamcity.build.tempDir",
        }
        assert {name for build in builds(model) for name in build["params"]} == PARAMETERS

    def test_a_language_has_charts_of_what_its_builds_report(self, model: dict[str, Any]) -> None:
        known = {f"ci_eval.{each.info.name}" for each in metrics.load()}
        for project in model["subProjects"]:
            assert [chart["title"].split()[0] for chart in project["charts"]] == ["Quality", "Latency"]
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
        assert asked == {build["id"] for build in found if "_go_" in f"{build['id']}_"}

    def test_a_failed_evaluation_is_compared(self, model: dict[str, Any]) -> None:
        snapshots = {each["snapshot"] for build in builds(model) for each in build["dependencies"]}
        assert snapshots == {None, "ADD_PROBLEM"}

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
        whole = [build for build in builds(model) if build["name"] in {"Evaluate BASIC", "Evaluate ML"}]
        assert all(build["metrics"] == ["ci_eval.RecallAt1"] for build in whole)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("shards = 2", 'shards = "2"'),
            ("ciEvalNight {", "ciEvalNights {"),
        ],
    )
    def test_a_planted_mistake_does_not_compile(self, old: str, new: str, tmp_path: Path) -> None:
        text = SETTINGS.read_text()
        assert old in text
        (tmp_path / "settings.kts").write_text(text.replace(old, new, 1))
        code, _, err = executed(tmp_path / "settings.kts")
        assert code != 0
        assert "error:" in err


@pytest.mark.needs("curl")
def test_the_library_is_copied_beside_the_settings(tmp_path: Path) -> None:
    script = documented("TeamCity").replace("https://raw.githubusercontent.com/OWNER/ci-eval/COMMIT", f"file://{ROOT}")
    subprocess.run(["sh", "-euc", script], cwd=tmp_path, check=True)
    assert (tmp_path / ".teamcity" / "CiEval.kt").read_text() == LIBRARY.read_text()


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the builds of the documented settings, by id, as a user has them who replaced OWNER and COMMIT."""
    text = documented("TeamCity", 1)
    assert len([line for line in text.splitlines() if line.strip()]) <= 15
    settings = tmp_path_factory.mktemp("user") / "settings.kts"
    settings.write_text(text.replace("COMMIT", COMMIT).replace("https://github.com/OWNER/ci-eval", str(ROOT)))
    code, out, err = executed(settings)
    assert code == 0, err
    return {build["id"]: build for build in builds(json.loads(out))}


COMMIT = "0123456789" * 4


@pytest.mark.needs("npm", "java")
@pytest.mark.engine
@pytest.mark.registry
class TestUsersSettings:
    """What TeamCity would be told by a repository that copied the library."""

    def test_all_kinds_of_builds_are_there(self, copied: dict[str, dict[str, Any]]) -> None:
        assert set(copied) == {
            "Server", "Evaluate_Completion_BASIC", "Compare_Completion_BASIC", "PullRequest_Completion",
            "CompareAlgorithms_Completion",
        }  # fmt: skip

    def test_a_night_is_two_builds_and_takes_the_engine_of_an_upstream_build(
        self, copied: dict[str, dict[str, Any]]
    ) -> None:
        night = copied["Evaluate_Completion_BASIC"]
        taken = {
            (each["on"], each["snapshot"], artifact["rules"])
            for each in night["dependencies"]
            for artifact in each["artifacts"]
        }
        assert taken == {
            ("Evaluate_Completion_BASIC", None, "?:workspace.zip!** => earlier"),
            ("Server", "FAIL_TO_START", "server.zip!** => engine"),
        }
        line = night["scripts"][0].splitlines()[-1]
        assert line.startswith('python3 "$folder/.teamcity/run.py" evaluate ')
        _, _, name, *argv = shlex.split(line)
        params = find_command(name).make_context(name, argv).params
        assert params["engine_command"] == "engine/server --stdio"

    def test_a_pull_request_compares_its_engine_with_that_of_the_default_branch(
        self, copied: dict[str, dict[str, Any]]
    ) -> None:
        change = copied["PullRequest_Completion"]
        taken = {
            (artifact["rules"], artifact["from"], artifact["branch"])
            for each in change["dependencies"]
            for artifact in each["artifacts"]
        }
        assert taken == {
            ("server.zip!** => new", "SameChain", ""),
            ("?:server.zip!** => base", "LastSuccessful", "+:<default>"),
        }
        assert change["branches"] == ["+:pull/*"]
        assert [text.split()[1] for text in change["pulls"]] == ["MEMBER"]
        inputs = {name.removeprefix("env."): value for name, value in change["params"].items()}
        name, *argv = command_line("compare-engines", read_inputs(inputs))
        params = find_command(name).make_context(name, argv).params
        assert params["arguments"] == ("base/server --stdio", "new/server --stdio")
        assert params["gates"] == ("RecallAt1 >= -1pp",)

    def test_the_first_pull_request_has_no_base_and_is_green(
        self, copied: dict[str, dict[str, Any]], source: tuple[Path, str], tmp_path: Path
    ) -> None:
        code, out, commands = self.execute(copied["PullRequest_Completion"], source, tmp_path)
        assert (code, commands) == (0, None)
        assert [name for name, _ in service_messages(out)] == ["buildStatus"]
        for side in ("base", "new"):
            (tmp_path / "checkout" / side).mkdir()
        code, out, commands = self.execute(copied["PullRequest_Completion"], source, tmp_path)
        assert (code, commands) == (0, ["ci", "run", "compare-engines"]), out

    def test_a_commit_that_is_not_there_is_a_problem(
        self, copied: dict[str, dict[str, Any]], source: tuple[Path, str], tmp_path: Path
    ) -> None:
        build = copied["Compare_Completion_BASIC"]
        assert build["params"] == {"env.INPUT_SOURCE": str(ROOT), "env.INPUT_COMMIT": COMMIT}
        code, out, _ = self.execute(build, (source[0], COMMIT), tmp_path)
        assert code == 4
        assert [values["identity"] for _, values in service_messages(out)] == ["ci_eval_source"]

    def test_who_compares_two_engines_is_asked_which(self, copied: dict[str, dict[str, Any]]) -> None:
        pair = copied["CompareAlgorithms_Completion"]
        assert pair["prompted"] == ["env.INPUT_BASE", "env.INPUT_NEW", "env.INPUT_PROJECT"]
        assert not pair["schedules"]

    @staticmethod
    def execute(build: dict[str, Any], source: tuple[Path, str], folder: Path) -> tuple[int, str, list[str] | None]:
        """Return the exit code and output of a build's script, and what it called ci-eval with."""
        checkout = folder / "checkout"
        checkout.mkdir(exist_ok=True)
        kept = source[0] / ".environment"
        variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "CI_EVAL_ENVIRONMENT": str(kept)}
        variables |= {"INPUT_SOURCE": str(source[0]), "INPUT_COMMIT": source[1]}
        done = subprocess.run(
            ["sh", "-c", build["scripts"][0]], cwd=checkout, env=variables, capture_output=True, text=True, check=False
        )
        called = checkout / "called"
        commands = called.read_text().split("\0")[:-1] if called.exists() else None
        return done.returncode, done.stdout, commands and commands[commands.index("ci_eval") + 1 :]


@given(ANY_TEXT)
def test_a_service_message_comes_back_as_it_was(text: str) -> None:
    said = message("message", text=text, status=text)
    assert list(service_messages(said)) == [("message", {"text": text, "status": text})]
    assert list(service_messages(message("progressMessage", text))) == [("progressMessage", {"": text})]
    assert said.isascii()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("|", "||"),
        ("'", "|'"),
        ("\n", "|n"),
        ("\r", "|r"),
        ("[x]", "|[x|]"),
        ("é", "|0x00e9"),
        ("😀", "|0xd83d|0xde00"),
    ],
)
def test_the_escapes_are_teamcitys(text: str, code: str) -> None:
    assert escape(text) == code


@pytest.mark.parametrize("identity", ["x" * 100, "no Java: name", "ci_eval_é"])
def test_a_problem_has_an_identity_that_teamcity_takes(identity: str) -> None:
    out = io.StringIO()
    TeamCity(out).fail(Problem(identity=identity, text="why"))
    ((name, values),) = service_messages(out.getvalue())
    assert (name, values["description"]) == ("buildProblem", "why")
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,59}", values["identity"])


@pytest.mark.parametrize(("number", "kept"), [(0.0, 1), (-9e12, 1), (1e13, 0), (float("nan"), 0), (float("inf"), 0)])
def test_only_a_number_that_teamcity_can_keep_is_a_statistic(number: float, kept: int) -> None:
    out = io.StringIO()
    TeamCity(out).announce(Announcement(status="", statistics={"RecallAt1": number}))
    assert [name for name, _ in service_messages(out.getvalue())].count("buildStatisticValue") == kept
