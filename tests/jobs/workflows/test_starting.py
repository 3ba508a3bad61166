"""What `ci-eval init` writes is planned, checked as a workflow, and evaluated."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

import ci_eval
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.jobs.workflows import starting
from ci_eval.jobs.workflows.github_files import COMMENT, LOGS, PULL_REQUEST, SITE
from ci_eval.jobs.workflows.github_files import NIGHT as WORKFLOW
from ci_eval.jobs.workflows.gitlab_files import PIPELINE
from ci_eval.jobs.workflows.origin import CONFIG, UNKNOWN, Origin, Request, parse
from ci_eval.jobs.workflows.starting import ENGINES, TRAINING, Answers
from ci_eval.jobs.workflows.teamcity_files import SETTINGS
from tests.ci.documentation import documented
from tests.ci.gitlab import pipeline
from tests.ci.test_workflows import zizmor
from tests.command import command
from tests.needs import need_module
from tests.projects import GREETER, write
from tests.waiting import HANGS

CONFIGS = Path(ci_eval.__file__).parents[1] / "configs"
COMMIT = "0" * 40
ORIGIN = parse(f"o/r@{COMMIT}")
BUILT = ("--build", "make server", "--engine-command", "build/server --stdio")
ALL = "night,pull-request,logs,site,notice"


@pytest.fixture(autouse=True)
def _nothing_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest's own standard input refuses to be read."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())


def test_without_a_terminal_it_takes_what_it_would_propose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a__py=GREETER, b__py=GREETER, c__go="package c\n")
    monkeypatch.chdir(tmp_path)
    code, out, err = command("init")
    assert code == 0, err
    assert out.splitlines() == [str(CONFIG), str(WORKFLOW)]
    code, out, err = command("plan", CONFIG)
    assert code == 0, err
    (job,) = json.loads(out)["include"]
    assert (job["language"], job["engine"]) == ("python", "jedi")
    code, _, err = command("evaluate", CONFIG, "--output", "out", "--engine", "words", "--jobs", 1)
    assert code == 0, err


@pytest.mark.parametrize(
    ("piped", "engine", "said"),
    [
        ("go\nwords\n", "words", "(the default, since nothing was answered)"),
        ("", "jedi", "(the default"),
        (None, "jedi", ""),
    ],
    ids=["two answers", "nothing", "left open"],
)
def test_piped_lines_are_answers_and_defaults_are_called_so(
    piped: str | None, engine: str, said: str, tmp_path: Path
) -> None:
    write(tmp_path, a__py=GREETER)
    program = Path(sys.executable).with_name("ci-eval")
    with subprocess.Popen(
        [program, "init"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as asked:
        if piped is None:
            assert asked.wait(HANGS) == 0
            assert asked.stdin
            asked.stdin.close()
            assert asked.stderr
            err = asked.stderr.read()
        else:
            _, err = asked.communicate(piped, timeout=HANGS)
    assert asked.returncode == 0, err
    assert said in " ".join(err.split())
    assert load(tmp_path / CONFIG).config.engine.name == engine


def test_on_a_terminal_it_asks_three_questions(tmp_path: Path) -> None:
    """Typed by somebody who wants another engine, and else presses Enter."""
    ours, theirs = pty.openpty()
    program = Path(sys.executable).with_name("ci-eval")
    asked = subprocess.Popen(
        [program, "init"], cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    os.write(ours, b"go\nwords\n\n")
    said = b""
    with suppress(OSError):  # which tells that the other side is closed
        while more := os.read(ours, 1024):
            said += more
    assert asked.wait(60) == 0, said
    os.close(ours)
    assert [said.count(question) for question in (b"Which language?", b"Which engine", b"Whose code")] == [1, 1, 1]
    config = load(tmp_path / CONFIG).config
    assert (config.language, config.engine.name, config.project.spec) == ("go", "words", "path:.")


def test_the_workflow_is_one_that_github_knows(tmp_path: Path) -> None:
    starting.write(Answers(language="go", engine="gopls", project="path:."), tmp_path, Request(origin=ORIGIN))
    job = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["night"]
    nightly = yaml.safe_load((CONFIGS.parent / ".github/workflows/nightly.yml").read_text())
    assert job["uses"] == f"o/r/.github/workflows/nightly.yml@{COMMIT}"
    assert set(job["with"]) <= set(nightly[True]["workflow_call"]["inputs"])  # YAML takes `on` for true
    assert job["with"]["configs"] == str(CONFIG)
    need_module("check_jsonschema")
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    subprocess.run([*program, tmp_path / WORKFLOW], check=True, capture_output=True, timeout=HANGS)


def documented_jobs(heading: str, number: int = 0) -> dict[Any, Any]:
    text = documented(heading, number).replace("OWNER/ci-eval", "o/r").replace("COMMIT", COMMIT)
    return dict(yaml.safe_load(text))


def test_what_is_written_for_all_purposes_is_what_the_documentation_has(tmp_path: Path) -> None:
    options = ("--output", tmp_path, "--for", ALL, "--language", "python", "--project", "path:project", *BUILT)
    code, out, err = command("init", *options, "--action", f"o/r@{COMMIT}")
    assert code == 0, err
    paths = (CONFIG, WORKFLOW, PULL_REQUEST, COMMENT, LOGS, SITE)
    assert out.splitlines() == [str(tmp_path / path) for path in paths]
    night, change, comment, logs, site = (yaml.safe_load((tmp_path / path).read_text()) for path in paths[1:])
    documented_night = documented_jobs("A notice of a red night")
    assert night["jobs"]["notice"] == documented_night["jobs"]["notice"]
    own = {"build": "make server", "build-output": "build", "ml-configs": str(CONFIG), "gates": "RecallAt1 >= -2pp"}
    documented_night["jobs"]["night"]["with"] |= own
    assert night == documented_night
    assert change == documented_jobs("My own engine, built in this repository, on every pull request")
    assert comment == documented_jobs("The result as a comment on the pull request")
    assert site == documented_jobs("A site with trends")
    documented_logs = documented_jobs("An ML pipeline that pulls the latest logs")
    documented_logs["jobs"]["logs"]["with"] |= {"build": "make server", "build-output": "build"}
    assert logs == documented_logs
    config = load(tmp_path / CONFIG).config
    assert config.training_projects == TRAINING["python"]
    assert config.engine.command == ("build/server", "--stdio")


def test_workflows_that_are_written_pass_their_checks_as_they_are(tmp_path: Path) -> None:
    code, _, err = command(
        "init", "--output", tmp_path, "--for", ALL, "--language", "python", *BUILT, "--action", f"o/r@{COMMIT}"
    )
    assert code == 0, err
    code, said = zizmor(tmp_path, ".github")
    assert code == 0, said
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    workflows = sorted((tmp_path / ".github" / "workflows").iterdir())
    done = subprocess.run([*program, *workflows], check=False, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stdout
    for path in workflows:
        workflow = yaml.safe_load(path.read_text())
        for job in workflow["jobs"].values():
            called = yaml.safe_load((CONFIGS.parent / job["uses"].partition("@")[0].removeprefix("o/r/")).read_text())
            # YAML takes `on` for true.
            assert set(job.get("with", {})) <= set((called[True]["workflow_call"] or {}).get("inputs", {}))


def test_it_says_what_to_do_next_in_lines_that_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.chdir(tmp_path)
    for argv in (["init", "-q"], ["remote", "add", "origin", "git@github.com:you/lang.git"]):
        subprocess.run(["git", *argv], check=True)
    model = ("--endpoint", "https://models.example/v1", "--model", "m", "--key", "KEY")
    code, _, err = command("init", "--language", "go", "--project", "path:.", *model, "--action", f"o/r@{COMMIT}")
    assert code == 0, err
    assert err.splitlines() == [
        f"Try it:      ci-eval evaluate {CONFIG}",
        "Hand it in:  git add ci .github && git commit -m 'Measure completion' && git push",
        "The key:     make the secret CI_EVAL of the repository, with the line KEY=VALUE",
        "Start it:    https://github.com/you/lang/actions/workflows/completion.yml",
    ]


@pytest.mark.parametrize(
    ("build", "shown"),
    [
        ("make server", "make server"),
        ("make a; make b # both", "bash -ec 'make a; make b # both'"),
        ("make a\necho 'a\\t' > b\n", r"bash -ec $'make a\necho \'a\\t\' > b\n'"),
    ],
)
def test_a_build_is_tried_in_one_line_whatever_it_is(build: str, shown: str, tmp_path: Path) -> None:
    line, *_ = starting.next_steps([CONFIG], Request(purposes=("night",), origin=ORIGIN, build=build), "")
    assert line == f"Try it:      {shown} && ci-eval evaluate {CONFIG}"
    programs = "function make() { echo $@ >> made; }; export -f make; function ci-eval() { echo $@ >> made; }\n"
    subprocess.run(["bash", "-euc", programs + line.partition(":")[2]], cwd=tmp_path, check=True)
    made = (tmp_path / "made").read_text().splitlines()
    assert made[-1] == f"evaluate {CONFIG}"
    assert made[0] in {"server", "a"}
    assert not (tmp_path / "b").exists() or (tmp_path / "b").read_text() == "a\\t\n"


def test_no_ranker_is_proposed_to_learn_from_the_project_it_is_measured_on(tmp_path: Path) -> None:
    for number, project in enumerate(("pypi:click==8.0.0", "pypi:click")):
        folder = tmp_path / str(number)
        options = ("--for", "night,logs", "--language", "python", "--engine", "jedi", "--project", project)
        code, _, err = command("init", "--output", folder, *options)
        assert code == 0, err
        assert load(folder / CONFIG).config.training_projects == ("pypi:requests==2.32.3",)


@pytest.mark.parametrize(
    ("language", "project"),
    [
        ("python", f"pypi:click==8.1.7#sha256={'0' * 64}"),
        ("python", f"pypi:click#sha256={'0' * 64}"),
        ("python", "pypi:Click==8.1.7"),
        ("python", "pypi:CLICK"),
        ("java", f"maven:commons-io:commons-io:2.16.1#sha256={'0' * 64}"),
        ("java", "maven:commons-io:commons-io:2.16.1:jar"),
        ("javascript", f"npm:express@4.0.0#sha256={'0' * 64}"),
        ("rust", f"crate:itertools==0.12.0#sha256={'0' * 64}"),
    ],
)
def test_a_project_is_the_same_in_any_spelling(language: str, project: str) -> None:
    assert len(starting.usual_training(language, project)) == len(TRAINING[language]) - 1


@pytest.mark.parametrize("language", sorted(TRAINING))
def test_of_every_language_a_project_is_left_to_learn_from(language: str) -> None:
    for spec in TRAINING[language]:
        left = starting.usual_training(language, spec)
        assert (len(left), spec in left) == (len(TRAINING[language]) - 1, False)


GITLAB = Origin(repository="team/ci-eval", commit=COMMIT, server="https://gitlab.example.com")


@pytest.mark.parametrize(
    ("system", "purposes", "origin", "line"),
    [
        ("github", ("night",), UNKNOWN, f"First replace OWNER/ci-eval and COMMIT in {WORKFLOW}"),
        ("github", ("night",), GITLAB, f"First replace OWNER/ci-eval and COMMIT in {WORKFLOW}"),
        ("github", ("night",), ORIGIN, "Start it:    at GitHub: Actions, completion, Run workflow"),
        ("github", ("pull-request",), ORIGIN, "See it:      open a pull request; the figures become a comment"),
        ("github", ("logs",), ORIGIN, "See it:      at GitHub: Actions"),
        ("github", ("night", "site"), ORIGIN, "The site:    Settings, Pages, Source: GitHub Actions"),
        ("teamcity", ("night",), GITLAB, "In TeamCity: Create project → From a repository URL → Import settings"),
        ("teamcity", ("night", "site"), ORIGIN, "The trends:  the tab Trends of that project"),
        (
            "teamcity",
            ("night",),
            ORIGIN,
            "The key:     make the parameter env.KEY of the project, of the type password",
        ),
    ],
)
def test_the_next_steps_are_those_of_the_ci(system: str, purposes: tuple[str, ...], origin: Origin, line: str) -> None:
    request = Request(system=system, purposes=purposes, origin=origin, build="make server")
    lines = starting.next_steps([CONFIG, WORKFLOW], request, "", "KEY")
    assert line in lines
    assert any("First replace" in text for text in lines) == line.startswith("First")
    assert f"Try it:      make server && ci-eval evaluate {CONFIG}" in lines


def test_a_workflow_at_github_names_no_repository_of_another_server(tmp_path: Path) -> None:
    starting.write(Answers(language="go", engine="gopls", project="path:."), tmp_path, Request(origin=GITLAB))
    night = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["night"]
    assert night["uses"] == "OWNER/ci-eval/.github/workflows/nightly.yml@COMMIT"


def test_an_expression_in_a_build_is_for_the_shell(tmp_path: Path) -> None:
    build = ("--build", "make ${{ x }}", *BUILT[2:])
    code, _, err = command("init", "--output", tmp_path, "--language", "python", *build, "--action", f"o/r@{COMMIT}")
    assert code == 0, err
    night = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["night"]
    assert night["with"]["build"] == "make ${{ '${{' }} x }}"


def test_more_is_written_for_a_configuration_that_is_there(tmp_path: Path) -> None:
    code, _, err = command("init", "--output", tmp_path, "--language", "python", *BUILT[2:])
    assert code == 0, err
    config = (tmp_path / CONFIG).read_text()
    code, out, err = command("init", "--output", tmp_path, "--for", "pull-request", "--build", "make server")
    assert code == 0, err
    assert out.splitlines() == [str(tmp_path / PULL_REQUEST), str(tmp_path / COMMENT)]
    assert (tmp_path / CONFIG).read_text() == config
    assert yaml.safe_load((tmp_path / PULL_REQUEST).read_text())["jobs"]["figures"]["with"]["command"] == BUILT[3]


def test_a_language_model_gets_its_key_from_a_secret(tmp_path: Path) -> None:
    model = ("--endpoint", "https://models.example/v1", "--model", "coder-7b", "--key", "MODEL_KEY")
    code, _, err = command("init", "--output", tmp_path, "--language", "python", *model)
    assert code == 0, err
    engine = load(tmp_path / CONFIG).config.engine
    assert (engine.endpoint, engine.model, engine.key) == model[1::2]
    night = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["night"]
    assert night["secrets"] == {"registries": "${{ secrets.CI_EVAL }}"}
    assert "a secret with the line MODEL_KEY=VALUE" in (tmp_path / WORKFLOW).read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "m"), "--model needs --endpoint"),
        (("--key", "K"), "--key needs --endpoint"),
        (("--endpoint", "https://m.example/v1", "--key", "K"), "--endpoint needs --model NAME"),
        (("--like", "gopls"), "--like needs --engine-command"),
        (("--build-output", "out"), "--build-output needs --build"),
        (("--build", "make"), "--build needs --engine-command"),
        (("--mail", "a@example.org"), "--mail is for --ci teamcity --for notice alone"),
        (("--mail", "a@example.org", "--ci", "teamcity"), "--mail is for --ci teamcity --for notice alone"),
        (("--action", "o/r"), "give OWNER/NAME@COMMIT"),
        (("--action", f"o/r@{COMMIT}\n"), "give OWNER/NAME@COMMIT"),
        (("--ci", "teamcity", "--for", "site"), "--for site needs night"),
        (("--for", "site"), "--for site needs night"),
        (("--for", "night,sites"), "known are night, pull-request, logs, site, notice, algorithms"),
        (("--for", "pull-request"), "give the commands that build and start it"),
        (
            ("--for", "pull-request", "--build", "make", "--engine-command", "out/server"),
            "does not start a program in build",
        ),
        (("--engine", "jedi", "--engine-command", "server"), "give one of --engine"),
        (("--for", "notice", "--ci", "teamcity"), "--for notice needs --mail ADDRESS"),
    ],
)
def test_what_cannot_be_written_is_refused_with_what_to_say_instead(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    code, _, err = command("init", "--output", tmp_path, "--language", "python", *options)
    assert code == 2
    assert said in " ".join(err.split())
    assert "Which engine" not in err
    assert "Whose code" not in err
    assert not any(tmp_path.iterdir())


def test_a_language_without_usual_projects_needs_them_named_for_logs(tmp_path: Path) -> None:
    code, _, err = command("init", "--output", tmp_path, "--language", "ruby", "--for", "logs")
    assert code == 2
    assert "needs trainingProjects" in err


def repository(folder: Path, remote: str) -> Path:
    """Return the folder of a new repository with a project in servers/py."""
    write(folder / "servers" / "py", a__py=GREETER)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    if remote:
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=folder, check=True)
    return folder


def test_in_a_folder_of_a_repository_workflows_go_to_its_top_and_name_the_folder(tmp_path: Path) -> None:
    inside = repository(tmp_path, "https://github.com/you/mono.git") / "servers" / "py"
    code, _, err = command("init", "--output", inside, "--for", ALL, *BUILT, "--action", f"o/r@{COMMIT}")
    assert code == 0, err
    assert (inside / CONFIG).is_file()
    assert not (inside / ".github").exists()
    for path in (WORKFLOW, PULL_REQUEST, LOGS):
        job = next(iter(yaml.safe_load((tmp_path / path).read_text())["jobs"].values()))
        assert job["with"]["working-directory"] == "servers/py"
    assert "git add ci ../../.github &&" in err


@pytest.mark.parametrize(
    ("remote", "system", "written"),
    [
        ("git@gitlab.com:you/lang.git", "", PIPELINE),
        ("https://gitlab.corp.example/you/lang", "", PIPELINE),
        ("https://code.corp.example/you/lang", "gitlab", PIPELINE),
        ("https://code.corp.example/you/lang", "teamcity", SETTINGS),
        ("https://you.ghe.com/you/lang", "", WORKFLOW),
        ("", "gitlab", PIPELINE),
        ("", "", WORKFLOW),
    ],
)
def test_the_files_are_those_that_the_repositorys_server_reads(
    remote: str, system: str, written: Path, tmp_path: Path
) -> None:
    options = ("--ci", system) if system else ()
    code, out, err = command("init", "--output", repository(tmp_path, remote), "--language", "python", *options)
    assert code == 0, err
    assert str(tmp_path / written) in out.splitlines()


@pytest.mark.parametrize(
    ("remote", "options", "said"),
    [
        ("https://bitbucket.org/you/lang", (), "add --ci teamcity or --ci gitlab"),
        ("https://bitbucket.org/you/lang", ("--ci", "github"), "bitbucket.org does not read these files"),
        ("https://gitlab.com/you/lang", ("--ci", "github"), "gitlab.com does not read these files"),
        ("https://github.com/you/lang", ("--ci", "gitlab"), "github.com does not read these files"),
        ("https://gitlab.com/you/lang", ("--for", "site"), "--for site is not for gitlab"),
        ("https://gitlab.com/you/lang", ("--output", "servers/py"), "with --project path:servers/py"),
    ],
)
def test_what_no_server_reads_is_not_written(
    remote: str, options: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(tmp_path, remote))
    code, out, err = command("init", "--language", "python", *options)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())


def test_a_night_of_several_engines_has_a_configuration_of_each(tmp_path: Path) -> None:
    options = ("--language", "python", "--project", "pypi:six==1.16.0")
    code, _, err = command("init", "--output", tmp_path, "--for", "algorithms", "--engine", "jedi,words", *options)
    assert code == 0, err
    night = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["night"]
    configs = night["with"]["configs"].split()
    assert [load(tmp_path / path).config.engine.name for path in configs] == ["jedi", "words"]
    assert {load(tmp_path / path).config.project.spec for path in configs} == {"pypi:six==1.16.0"}
    for engines, said in (("jedi", "name several"), ("jedi,gopls", "completes go, not python")):
        other = ("init", "--output", tmp_path / engines, "--for", "algorithms", "--engine", engines, *options)
        code, _, err = command(*other)
        assert (code, said in " ".join(err.split())) == (2, True), err


def test_what_is_written_for_gitlab_is_a_pipeline_that_gitlab_takes(tmp_path: Path) -> None:
    write(tmp_path, a__py=GREETER)
    options = ("--ci", "gitlab", "--for", "night,pull-request", "--action", f"o/r@{COMMIT}", *BUILT)
    code, _, err = command("init", "--output", tmp_path, "--language", "python", *options)
    assert code == 0, err
    text = (tmp_path / PIPELINE).read_text()
    jobs = pipeline(text)
    assert set(jobs) == {"ci-eval-nightly", "ci-eval-compare-engines", "ci-eval-note", "engines"}
    assert jobs["ci-eval-nightly"]["variables"]["NIGHT_BUILD"]["value"] == "make server"
    sides = {side: jobs["ci-eval-compare-engines"]["variables"][f"INPUT_{side}"]["value"] for side in ("BASE", "NEW")}
    assert sides == {"BASE": ".engines/base/build/server --stdio", "NEW": ".engines/new/build/server --stdio"}
    assert jobs["ci-eval-compare-engines"]["needs"] == ["engines"]
    assert f"git+https://github.com/o/r@{COMMIT}" in jobs["ci-eval-note"]["variables"]["CI_EVAL_PACKAGE"]["value"]


@pytest.mark.parametrize("language", sorted(TRAINING))
def test_the_proposed_training_projects_are_those_of_our_own_nights(language: str) -> None:
    assert set(TRAINING[language]) <= set(load(CONFIGS / f"{language}.yaml").config.training_projects)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    write(tmp_path, **{str(CONFIG).replace(".", "__"): "mine\n"})
    code, _, err = command("init", "--output", tmp_path, "--language", "go")
    assert code == 2
    assert "overwritten: move it away" in " ".join(err.split())
    assert not (tmp_path / WORKFLOW).exists()


@pytest.mark.parametrize(
    ("language", "engine", "project", "said"),
    [
        ("pyton", "jedi", "path:.", "did you mean 'python'"),
        ("python", "jedy", "path:.", "did you mean 'jedi'"),
        ("go", "jedi", "path:.", "the usual engine is gopls"),
        ("go", "gopls", "cobra", "expected a SPEC"),
    ],
)
def test_a_wrong_answer_writes_nothing(language: str, engine: str, project: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        starting.write(Answers(language=language, engine=engine, project=project), tmp_path, Request(origin=ORIGIN))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("language", sorted(ENGINES))
def test_the_proposed_engine_is_that_of_our_own_nights(language: str) -> None:
    assert load(CONFIGS / f"{language}.yaml").config.engine.name == ENGINES[language]
    starting.check(Answers(language=language, engine=ENGINES[language], project="path:."))


def test_a_folder_without_code_is_taken_for_python(tmp_path: Path) -> None:
    assert starting.guess_language(tmp_path) == "python"
    write(tmp_path, a__rb="x = 1\n")
    assert starting.guess_language(tmp_path) == "ruby"
    assert starting.usual_engine("ruby") == "words"
