"""The GitLab components and the image: what they hand over is what the tool takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_eval.ci.inputs import COMPARE, ENGINES, EVALUATE, LOGS, inputs_of
from tests.ci.documentation import documented
from tests.ci.gitlab import RefusedError, Runner, expand, pipeline, read
from tests.needs import need_module
from tests.projects import GREETER, write
from tests.waiting import HANGS

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").glob("*.yml"))
OF_THE_JOB = {"job-name", "stage", "image", "package"}


def documents(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inputs, and the one job."""
    header, body = yaml.safe_load_all(path.read_text())
    (job,) = body.values()
    return header["spec"]["inputs"], job


def filled(path: Path) -> str:
    """Return what GitLab makes of a component that is included with each input at its default, or a word."""
    inputs, _ = documents(path)
    needed = {name: "x" for name, rules in inputs.items() if "default" not in rules}
    return yaml.safe_dump(expand(path.read_text(), needed))


def schema(folder: Path, text: str) -> int:
    need_module("check_jsonschema")
    file = folder / ".gitlab-ci.yml"
    file.write_text(text)
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(file)]
    return subprocess.run(argv, capture_output=True, timeout=HANGS, check=False).returncode


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_component_fits_gitlabs_schema_and_a_planted_mistake_does_not(path: Path, tmp_path: Path) -> None:
    text = filled(path)
    assert schema(tmp_path, text) == 0
    assert schema(tmp_path, text.replace("  script:", "  scripts:")) != 0


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_component_hands_over_every_input_of_its_job_as_data(path: Path) -> None:
    inputs, job = documents(path)
    names = {entry.name for entry in inputs_of(path.stem)}
    assert set(inputs) == names | OF_THE_JOB
    for name in names:
        variable = job["variables"][f"INPUT_{name.upper().replace('-', '_')}"]
        assert variable == {"value": f"$[[ inputs.{name} ]]", "expand": False}
    assert not any("inputs." in line for line in job["script"])
    assert job["script"][1] == f"ci-eval ci run {path.stem}"


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Return a runner for a repository with code and the configuration that the page names."""
    config = {"language": "python", "engine": "words", "project": {"spec": "path:code", "name": "code"}}
    project = tmp_path / "project"
    write(project / "code", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(3)})
    write(project / "ci", completion__yaml=yaml.safe_dump(config))
    return Runner(tmp_path / "runner", project)


COMPARED = """
  - component: $CI_SERVER_FQDN/OWNER/ci-eval/compare@COMMIT
    inputs: {new: workspace, gates: "RecallAt1 >= -2pp"}
"""


@pytest.mark.engine
def test_the_documented_pipeline_and_two_nights_are_executed(runner: Runner) -> None:
    jobs = pipeline(documented("GitLab"))
    assert [(name, code) for name, (code, _) in runner.execute(jobs).items()] == [("ci-eval-evaluate", 0)]
    assert (runner.folder / "artifacts" / "workspace" / "reports" / "metrics.json").exists()
    assert (runner.folder / "installed").read_text() == "install --quiet ci-eval[ml]\n"
    nights = pipeline(documented("GitLab") + COMPARED)
    for nth, text in enumerate(("There is no base yet", ""), 1):
        results = runner.execute(nights)
        assert {name: code for name, (code, _) in results.items()} == {"ci-eval-evaluate": 0, "ci-eval-compare": 0}, (
            results
        )
        assert text in results["ci-eval-compare"][1]
        comparison = runner.folder / "artifacts" / "comparison"
        file = "overview.json" if nth == 1 else "comparison.json"
        assert len(read(comparison, file)["trend"]["nights"]) == nth
    red = pipeline(documented("GitLab") + COMPARED.replace("RecallAt1 >= -2pp", "RecallAt1 >= 100%"))
    assert runner.execute(red)["ci-eval-compare"][0] == 1


def test_a_component_is_included_twice_under_two_names() -> None:
    twice = documented("GitLab") + documented("GitLab").removeprefix("include:\n")
    assert set(pipeline(twice)) == {"ci-eval-evaluate"}
    other = twice.replace("{config: ci/completion.yaml}", "{config: ci/go.yaml, job-name: go}", 1)
    assert set(pipeline(other)) == {"ci-eval-evaluate", "go"}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ("{}", "`new` input: required value"),
        ("{new: a, now: b}", "unknown input arguments: now"),
        ("{new: 1}", "`new` input: provided value is not a string"),
    ],
)
def test_gitlab_refuses_what_does_not_fit_a_component(inputs: str, said: str) -> None:
    text = f"include:\n  - component: $CI_SERVER_FQDN/OWNER/ci-eval/compare@COMMIT\n    inputs: {inputs}\n"
    with pytest.raises(RefusedError, match=re.escape(said)):
        pipeline(text)


def test_a_value_is_data_whatever_signs_are_in_it() -> None:
    header = "spec:\n  inputs:\n    a: {default: ''}\n---\n"
    text = header + "$[[ inputs.a ]]:\n  all: $[[ inputs.a ]]\n  part: of $[[inputs.a]]\n"
    for value in ("", 'x: "y"\nz', "1"):
        assert expand(text, {"a": value}) == {value: {"all": value, "part": f"of {value}"}}


@pytest.mark.parametrize("block", ["inputs.a | truncate(0,1)", "inputs.b", "ab", "inputs.a ]] $[[ inputs.a"])
def test_an_interpolation_that_is_not_ported_is_refused(block: str) -> None:
    with pytest.raises(RefusedError, match="unknown interpolation"):
        expand(f"spec:\n  inputs:\n    a: {{default: x}}\n---\njob: $[[ {block} ]]\n", {})


def test_there_is_a_component_for_each_job() -> None:
    assert {path.stem for path in TEMPLATES} == {EVALUATE, COMPARE, ENGINES, LOGS}


def test_a_night_that_kept_its_gates_is_the_base_of_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, job = documents(ROOT / "templates" / "compare.yml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INPUT_BASE", inputs["base"]["default"])
    monkeypatch.setenv("INPUT_NEW", "workspace")
    for night in ("1", "2"):
        (tmp_path / "workspace").mkdir(exist_ok=True)
        (tmp_path / "workspace" / night).touch()
        (tmp_path / ".ci-eval").mkdir(exist_ok=True)
        subprocess.run(["sh", "-euc", job["script"][-1]], check=True)
        assert {path.name for path in (tmp_path / ".ci-eval" / "base").iterdir()} >= {night}
        (tmp_path / "workspace" / night).unlink()
    assert [path.name for path in (tmp_path / ".ci-eval" / "base").iterdir()] == ["2"]
    assert job["cache"]["paths"] == [".ci-eval"]
    assert job["cache"]["when"] == "always"


def test_a_base_of_another_job_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, job = documents(ROOT / "templates" / "compare.yml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INPUT_BASE", "of-main")
    subprocess.run(["sh", "-euc", job["script"][-1]], check=True)
    assert list(tmp_path.iterdir()) == []


def test_the_image_runs_without_rights_and_installs_what_is_locked() -> None:
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert words[0] == ["FROM", "python:3.12-slim"]
    assert [rest for word, rest in words if word == "USER"] == ["ci-eval"]
    assert words[-1] == ["ENTRYPOINT", '["ci-eval"]']
    # LightGBM's wheel has no OpenMP.
    assert "git libgomp1" in next(rest for word, rest in words if word == "RUN")
    installs = [rest for word, rest in words if word == "RUN" and "pip install" in rest]
    assert "--require-hashes --only-binary=:all: -r .ci/requirements-ml.txt" in installs[0]
    assert "--no-index --no-deps --no-build-isolation ." in installs[0]


def test_everything_that_the_image_is_made_of_reaches_docker() -> None:
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    library = ".teamcity/library"  # the wheel has it, and `init` copies it
    assert let_through == {".ci/requirements-ml.txt", library, "LICENSE", "README.md", "ci_eval", "pyproject.toml"}
    assert all((ROOT / name).exists() for name in let_through)
