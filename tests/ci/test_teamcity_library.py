"""TeamCity's library for other repositories: the settings that the documentation has are compiled and executed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ci_eval.ci.inputs import command_line, read_inputs
from ci_eval.cli.group import find_command
from tests.ci.documentation import documented
from tests.ci.parsers import service_messages
from tests.ci.teamcity_agent import Finished, Server, resolve
from tests.ci.teamcity_stage import ROOT, builds, executed, make_source
from tests.ci.tools import LIBRARY
from tests.projects import GREETER, write

SERVER = "#!/usr/bin/env python3\n" + (ROOT / "tests" / "adapters" / "lsp" / "server.py").read_text()
STORIES = ("night", "engine", "rankers")
"""The names of the blocks of settings in the section about TeamCity."""
MAKEFILE = "server:\n\tmkdir -p build\n\tcp server.py build/server\n\tchmod +x build/server\n"


@pytest.fixture
def source(tmp_path: Path) -> tuple[Path, str]:
    return make_source(tmp_path / "source")


@pytest.mark.needs("curl")
def test_the_library_is_copied_beside_the_settings(tmp_path: Path) -> None:
    script = documented("TeamCity").replace("https://raw.githubusercontent.com/OWNER/ci-eval/COMMIT", f"file://{ROOT}")
    subprocess.run(["sh", "-euc", script], cwd=tmp_path, check=True)
    assert (tmp_path / ".teamcity" / "CiEval.kt").read_text() == LIBRARY.read_text()


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the project of each documented story, as a user has it who replaced OWNER and COMMIT."""
    texts = (documented("TeamCity", 1), documented("TeamCity", 2), documented("TeamCity", 3))
    made = {}
    for story, text in zip(STORIES, texts, strict=True):
        assert len(text.splitlines()) <= 15
        settings = tmp_path_factory.mktemp(story) / "settings.kts"
        settings.write_text(text.replace("COMMIT", COMMIT).replace("https://github.com/OWNER/ci-eval", str(ROOT)))
        code, out, err = executed(settings)
        assert code == 0, err
        made[story] = dict(json.loads(out))
    return made


def by_id(project: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {build["id"]: build for build in builds(project)}


@pytest.fixture(scope="module")
def copied(projects: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the builds for an engine of one's own, by id."""
    return by_id(projects["engine"])


COMMIT = "0123456789" * 4
HEAD = """\
import ci_eval.*
import jetbrains.buildServer.configs.kotlin.*
import jetbrains.buildServer.configs.kotlin.buildFeatures.*
version = "2025.11"
"""
OTHERS = """\
object Root : VcsRoot({ id("Root"); name = "a repository" })
val prepared = BuildType { id("Prepared"); vcs { root(Root) } }
val made = BuildType {
    id("Made"); vcs { root(Root) }; dependencies { dependency(prepared) { snapshot {} } }
}
project {
    buildType(prepared); buildType(made)
    ciEvalPullRequest {
        id = "own"; vcsRoot = Root; config = "100%.yaml"; engine = BuiltEngine(made, "a.zip"); command = "server"
        server = "https://git.example.com"; token = "credentialsJSON:x"
        filter = PullRequests.GitHubRoleFilter.EVERYBODY
        gates = listOf("Recall >= 90%", "RecallAt1 >= 40%")
    }
    fun of(name: String, address: String, secret: String) {
        val server = ciEvalEngine { id = name; make = "date +%Y%m"; output = "b%c"; vcsRoot = Root }
        ciEvalPullRequest {
            id = name; vcsRoot = Root; engine = server; command = "s"
            provider = name; this.server = address; token = secret
        }
    }
    of("gitlab", "https://git.example.com", "credentialsJSON:x")
    of("bitbucketServer", "https://git.example.com", "")
    of("bitbucketCloud", "", "credentialsJSON:x")
    of("azureDevOps", "https://dev.azure.com/o/p", "credentialsJSON:x")
    ciEvalNight { config = "ci/50%.yaml"; gates = listOf("Recall >= 90%", "RecallAt1 >= 40%") }
}
"""
"""Servers of others, another VCS root, an engine that builds of the user's make, and values with per cent signs."""


def kotlin_error(text: str, folder: Path) -> str:
    """Return what TeamCity would say of settings that it does not take."""
    (folder / "settings.kts").write_text(text)
    code, _, err = executed(folder / "settings.kts")
    assert code != 0
    return err


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    settings = tmp_path_factory.mktemp("others") / "settings.kts"
    settings.write_text(HEAD + OTHERS)
    code, out, err = executed(settings)
    assert code == 0, err
    return by_id(json.loads(out))


@pytest.mark.needs("npm", "java")
@pytest.mark.engine
@pytest.mark.registry
class TestPullRequestsOfOthers:
    """Pull requests of other servers than github.com, by the rules of the vendor's help page."""

    def test_every_build_of_a_chain_has_the_same_filter(self, others: dict[str, dict[str, Any]]) -> None:
        own = "CiEval_Root github https://git.example.com EVERYBODY credentialsJSON:x"
        assert [others[name]["pulls"] for name in ("PullRequest_own", "Made", "Prepared")] == [[own]] * 3
        assert all(others[name]["vcs"] == ["CiEval_Root"] for name in others if "Completion" not in name)

    @pytest.mark.parametrize(
        ("provider", "pulls", "status", "branches"),
        [
            ("own", "github https://git.example.com EVERYBODY", "https://git.example.com/api/v3", "+:pull/*"),
            ("gitlab", "gitlab https://git.example.com null", "https://git.example.com/api/v4", "+:merge-requests/*"),
            ("bitbucketServer", "bitbucketServer https://git.example.com null", "", "+:*\n-:<default>"),
            ("bitbucketCloud", "bitbucketCloud null null", "null", "+:*\n-:<default>"),
            ("azureDevOps", "azureDevOps https://dev.azure.com/o/p null", "null", "+:pull/*"),
        ],
    )
    def test_a_server_is_asked_by_its_own_address(
        self, provider: str, pulls: str, status: str, branches: str, others: dict[str, dict[str, Any]]
    ) -> None:
        change = others[f"PullRequest_{provider}"]
        (text,) = change["pulls"]
        assert text.removeprefix("CiEval_Root ").rpartition(" ")[0] == pulls
        assert [text.split()[1] for text in change["statuses"]] == ([status] if status else [])
        assert change["branches"] == [branches]

    def test_per_cent_signs_of_a_user_reach_the_agent(self, others: dict[str, dict[str, Any]]) -> None:
        build = resolve(others["Compare_Completion_BASIC"], {"system.teamcity.build.tempDir": ""})
        argv = shlex.split(build["scripts"][0].splitlines()[-1])
        assert argv[-4:] == ["--gate", "Recall >= 90%", "--gate", "RecallAt1 >= 40%"]
        change = resolve(others["PullRequest_own"]["params"], {"system.teamcity.build.tempDir": ""})
        assert change["env.INPUT_GATES"] == "Recall >= 90%\nRecallAt1 >= 40%"
        assert change["env.INPUT_CONFIG"] == "100%.yaml"
        engine = resolve(others["Engine_gitlab"], {})
        assert (engine["scripts"], engine["artifactRules"]) == (["date +%Y%m"], "b%c => engine.zip")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (
                "buildType(made)",
                'prepared.features { pullRequests { vcsRootExtId = "${Root.id}"; provider = gitlab() } }',
                "Prepared has other pull requests",
            ),
            ('of("gitlab",', 'of("gitlab.com",', "provider is gitlab.com"),
            ("ciEvalNight {", "prepared.features.items.clear()\n    ciEvalNight {", "Prepared has 0 features"),
            (
                '"https://dev.azure.com/o/p", "credentialsJSON:x"',
                '"https://dev.azure.com/o/p", ""',
                "token is mandatory",
            ),
            ('output = "b%c"; vcsRoot = Root', 'output = "b%c"', "lacks the VCS root"),
        ],
        ids=["another filter", "no provider", "the feature taken away", "no token", "another root"],
    )
    def test_settings_that_a_server_would_build_otherwise_are_refused(
        self, old: str, new: str, message: str, tmp_path: Path
    ) -> None:
        assert OTHERS.count(old) == 1
        assert message in kotlin_error(HEAD + OTHERS.replace(old, new), tmp_path)


@pytest.mark.needs("npm", "java")
@pytest.mark.engine
@pytest.mark.registry
class TestUsersSettings:
    """The builds of a repository that copied the library."""

    def test_all_kinds_of_builds_are_there(self, copied: dict[str, dict[str, Any]]) -> None:
        assert set(copied) == {
            "Engine_Completion", "Evaluate_Completion_BASIC", "Compare_Completion_BASIC", "PullRequest_Completion",
            "CompareAlgorithms_Completion", "Evaluate_Jedi_BASIC", "Compare_Jedi_BASIC", "Algorithms_Completion",
            "Trends_Completion", "Night_Completion",
        }  # fmt: skip
        assert copied["Engine_Completion"]["scripts"] == ["make server"]

    def test_a_night_of_an_engine_with_a_name_is_two_builds(self, projects: dict[str, dict[str, Any]]) -> None:
        night = by_id(projects["night"])
        assert set(night) == {"Evaluate_Completion_BASIC", "Compare_Completion_BASIC"}
        assert len(night["Compare_Completion_BASIC"]["schedules"]) == 1

    def test_nights_of_one_page_are_started_by_it_alone(self, projects: dict[str, dict[str, Any]]) -> None:
        copied = by_id(projects["engine"])
        assert [build["id"] for build in copied.values() if build["schedules"]] == ["Night_Completion"]
        assert copied["Night_Completion"]["type"] == "COMPOSITE"
        assert [tab[0] for tab in projects["engine"]["projectTabs"]] == ["Trends"]

    def test_a_night_is_two_builds_and_takes_the_engine_of_an_upstream_build(
        self, copied: dict[str, dict[str, Any]]
    ) -> None:
        night = copied["Evaluate_Completion_BASIC"]
        taken = {
            (dependency["on"], dependency["snapshot"], artifact["rules"])
            for dependency in night["dependencies"]
            for artifact in dependency["artifacts"]
        }
        # What a command was answered is not taken over.
        assert taken == {("Engine_Completion", "FAIL_TO_START", "engine.zip!** => engine")}
        line = night["scripts"][0].splitlines()[-1]
        assert line.startswith('python3 "$folder/.teamcity/run.py" evaluate ')
        _, _, name, *argv = shlex.split(line)
        params = find_command(name).make_context(name, argv).params
        assert params["engine_command"] == "engine/server --stdio"

    def test_what_two_nights_evaluated_is_ranked(self, copied: dict[str, dict[str, Any]]) -> None:
        ranked = copied["Algorithms_Completion"]
        nights = ["Compare_Completion_BASIC", "Compare_Jedi_BASIC"]
        assert [each["on"] for each in ranked["dependencies"] if each["snapshot"] == "IGNORE"] == nights

    def test_a_pull_request_compares_its_engine_with_that_of_the_default_branch(
        self, copied: dict[str, dict[str, Any]]
    ) -> None:
        change = copied["PullRequest_Completion"]
        taken = {
            (artifact["rules"], artifact["from"], artifact["branch"])
            for dependency in change["dependencies"]
            for artifact in dependency["artifacts"]
        }
        assert taken == {
            ("engine.zip!** => new", "SameChain", ""),
            ("engine.zip!** => base", "LastSuccessful", "+:<default>"),
        }
        assert change["branches"] == ["+:pull/*"]
        assert change["pulls"] == ["CiEval_Settings github null MEMBER_OR_COLLABORATOR root"]
        # A build of the chain without it would be one of the default branch.
        assert copied["Engine_Completion"]["pulls"] == change["pulls"]
        inputs = {name.removeprefix("env."): value for name, value in change["params"].items()}
        name, *argv = command_line("compare-engines", read_inputs(inputs))
        params = find_command(name).make_context(name, argv).params
        assert params["arguments"] == ("base/server --stdio", "new/server --stdio")
        assert params["gates"] == ("RecallAt1 >= -1pp",)

    def test_a_pull_request_without_an_engine_of_the_default_branch_is_red(
        self, copied: dict[str, dict[str, Any]], source: tuple[Path, str], tmp_path: Path
    ) -> None:
        (tmp_path / "checkout").mkdir()
        write(tmp_path / "checkout", Makefile=MAKEFILE, server__py=SERVER)
        server = self.serve(tmp_path / "checkout", copied, source)
        finished = server.run("PullRequest_Completion")
        assert (finished.is_green, finished.log) == (False, "no engine.zip of Engine_Completion")

    def test_a_pull_request_asks_both_engines(
        self, copied: dict[str, dict[str, Any]], source: tuple[Path, str], tmp_path: Path
    ) -> None:
        for side in ("base", "new"):
            (tmp_path / "checkout" / side).mkdir(parents=True)
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

    @pytest.mark.slow(minutes=2)
    @pytest.mark.needs("make")
    def test_four_nights_of_which_the_third_is_red(
        self, copied: dict[str, dict[str, Any]], source: tuple[Path, str], tmp_path: Path
    ) -> None:
        """The engine is built by the documented build, and forgets short words in the third night.

        The first two are of this engine alone; the others are whole: jedi, the ranking, the trends, one page.
        """
        checkout = write(tmp_path / "checkout", Makefile=MAKEFILE, server__py=SERVER)
        server = self.serve(checkout, copied, source)
        nights: list[Finished] = []
        pages: list[Finished] = []
        for text in (SERVER, SERVER, SERVER.replace(r"\w+", r"\w{7,}"), SERVER):
            (checkout / "server.py").write_text(text)
            chain: dict[str, Finished] = {}
            if len(nights) > 1:
                pages.append(server.run("Night_Completion", chain))
            nights.append(server.run("Compare_Completion_BASIC", chain))
        logs = "\n\n".join(f"{build.kind}: {build.log}" for build in server.history)
        assert [night.is_green for night in nights] == [True, True, False, True], logs
        assert [page.is_green for page in pages] == [False, True], logs
        compared = ("Compare_Completion_BASIC", "Night_Completion")
        assert all(build.is_green for build in server.history if build.kind not in compared), logs
        for trends in (build for build in server.history if build.kind == "Trends_Completion"):
            with zipfile.ZipFile(trends.artifacts / "site.zip") as site:
                page = site.read("index.html").decode()
            assert all(f"CiEval_Compare_{name}_BASIC" in page for name in ("Completion", "Jedi"))
        reports = [self.comparison(night) for night in nights]
        assert [len(report["trend"]["nights"]) for report in reports] == [1, 2, 3, 4]
        assert "sides" not in reports[0]
        bases = [report["sides"]["base"]["started"] for report in reports[1:]]
        started = [self.manifest(night)["start"] for night in nights]
        # The night after a red one is compared with the last good one.
        assert bases == [started[0], started[1], started[1]]
        problems = [values["identity"] for name, values in service_messages(nights[2].log) if name == "buildProblem"]
        assert problems
        assert all(identity.startswith("gate_") for identity in problems)

    @pytest.mark.slow(minutes=2)
    def test_nights_in_shards_before_and_after_the_first_ranker(
        self, projects: dict[str, dict[str, Any]], source: tuple[Path, str], tmp_path: Path
    ) -> None:
        """The projects that the ranker learns from are small ones of the checkout."""
        models = by_id(projects["rankers"])
        logs = models["GenerateLogs_Completion"]
        logs["scripts"] = [re.sub("pypi:([a-z0-9]+)==[0-9.]+", r"path:\1", logs["scripts"][0])]
        checkout = write(tmp_path / "checkout", server__py=SERVER)
        for name in ("requests", "jinja2"):
            write(checkout / name, main__py=GREETER + f"{name} = 1\nprint({name})\n")
        server = self.serve(checkout, models, source, engine="words")
        kinds = ("BASIC", "ML")
        before = [server.run(f"Compare_Completion_{kind}") for kind in kinds]
        weekly = server.run("GenerateLogs_Completion")
        after = [server.run(f"Compare_Completion_{kind}") for kind in kinds]
        log = "\n\n".join(f"{build.kind}: {build.log}" for build in server.history)
        assert [build.is_green for build in (*before, weekly, *after)] == [True, False, True, True, True], log
        reused = [self.manifest(night).get("reused", 0) > 0 for night in (before[0], *after)]
        assert reused == [False, True, False]
        assert {path.name for path in server.history[0].artifacts.iterdir()} == {"shard1.zip", "shard2.zip"}
        assert "sides" in self.comparison(after[0])
        # The failed comparison left no base.
        assert "sides" not in self.comparison(after[1])

    @staticmethod
    def serve(checkout: Path, models: dict[str, dict[str, Any]], source: tuple[Path, str], **keys: str) -> Server:
        """Return a server whose VCS root has a small project, and a configuration that measures it."""
        write(checkout / "project", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(4)})
        project = {"spec": "path:project", "name": "project"}
        write(checkout / "ci", completion__yaml=json.dumps({"language": "python", "project": project, **keys}))
        variables = {"INPUT_SOURCE": str(source[0]), "INPUT_COMMIT": source[1]}
        server = Server(checkout.parent / "server", models, checkout, variables)
        server.folder.mkdir()
        return server

    @staticmethod
    def comparison(night: Finished) -> dict[str, Any]:
        """Return what a night's comparison says; of the first night its overview."""
        with zipfile.ZipFile(night.artifacts / "comparison.zip") as archive:
            name = "comparison.json" if "comparison.json" in archive.namelist() else "overview.json"
            return dict(json.loads(archive.read(name)))

    @staticmethod
    def manifest(night: Finished) -> dict[str, Any]:
        """Return the manifest of the workspace that a comparison keeps as the next night's base."""
        with zipfile.ZipFile(night.artifacts / "workspace.zip") as archive:
            return dict(json.loads(archive.read("manifest.json")))

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
