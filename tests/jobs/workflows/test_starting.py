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

import pytest
import yaml

import ci_eval
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.jobs.workflows import starting
from ci_eval.jobs.workflows.starting import CONFIG, ENGINES, SITE, WORKFLOW, Answers
from tests.ci.documentation import documented
from tests.ci.test_workflows import zizmor
from tests.command import command
from tests.needs import need_module
from tests.projects import GREETER, write
from tests.waiting import HANGS

CONFIGS = Path(ci_eval.__file__).parents[1] / "configs"
COMMIT = "0" * 40


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
    assert "write the repository and the commit" in " ".join(err.split())
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
    starting.write(Answers(language="go", engine="gopls", project="path:."), tmp_path, f"o/r@{COMMIT}")
    job = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["night"]
    nightly = yaml.safe_load((CONFIGS.parent / ".github/workflows/nightly.yml").read_text())
    assert job["uses"] == f"o/r/.github/workflows/nightly.yml@{COMMIT}"
    assert set(job["with"]) <= set(nightly[True]["workflow_call"]["inputs"])  # YAML takes `on` for true
    assert job["with"]["configs"] == str(CONFIG)
    need_module("check_jsonschema")
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    subprocess.run([*program, tmp_path / WORKFLOW], check=True, capture_output=True, timeout=HANGS)


def test_a_notice_and_a_site_are_written_as_the_documentation_has_them(tmp_path: Path) -> None:
    code, out, err = command("init", "--output", tmp_path, "--for", "night,notice,site", "--language", "go")
    assert code == 0, err
    assert out.splitlines() == [str(tmp_path / path) for path in (CONFIG, WORKFLOW, SITE)]
    night, site = (yaml.safe_load((tmp_path / path).read_text()) for path in (WORKFLOW, SITE))
    documented_notice = yaml.safe_load(documented("A notice of a red night"))
    assert night["jobs"]["notice"] == documented_notice["jobs"]["notice"]
    assert site == yaml.safe_load(documented("A site with trends"))
    assert site[True]["workflow_run"]["workflows"] == [night["name"]]
    for path in (WORKFLOW, SITE):
        (tmp_path / path).write_text((tmp_path / path).read_text().replace("@COMMIT", f"@{COMMIT}"))
    code, said = zizmor(tmp_path, ".github")
    assert code == 0, said


def test_a_purpose_that_there_is_not_is_refused_with_those_there_are(tmp_path: Path) -> None:
    code, _, err = command("init", "--output", tmp_path, "--for", "night,sites", "--language", "go")
    assert code == 2
    assert "known are night, notice, site" in " ".join(err.split())


def test_nothing_is_written_over(tmp_path: Path) -> None:
    write(tmp_path, **{str(CONFIG).replace(".", "__"): "mine\n"})
    code, _, err = command("init", "--output", tmp_path, "--language", "go")
    assert code == 2
    assert "written over" in err
    assert not (tmp_path / WORKFLOW).exists()


@pytest.mark.parametrize(
    ("language", "engine", "project", "said"),
    [
        ("pyton", "jedi", "path:.", "did you mean 'python'"),
        ("python", "jedy", "path:.", "did you mean 'jedi'"),
        ("go", "jedi", "path:.", "the usual one is gopls"),
        ("go", "gopls", "cobra", "expected a SPEC"),
    ],
)
def test_a_wrong_answer_writes_nothing(language: str, engine: str, project: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        starting.write(Answers(language=language, engine=engine, project=project), tmp_path, "o/r@c")
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
