"""The GitLab components and the image: what they hand over is what the tool takes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_eval.ci.inputs import CASES, COMPARE, ENGINES, EVALUATE, LOGS, MERGE, inputs_of
from tests.ci.documentation import documented
from tests.ci.gitlab import RefusedError, Runner, Server, expand, pipeline, read, serving
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


OF_JOBS = [path for path in TEMPLATES if path.stem not in {"nightly", "note"}]


@pytest.mark.parametrize("path", OF_JOBS, ids=lambda path: path.stem)
def test_a_component_hands_over_every_input_of_its_job_as_data(path: Path) -> None:
    inputs, job = documents(path)
    names = {entry.name for entry in inputs_of(path.stem)}
    assert set(inputs) == names | OF_THE_JOB | ({"base-job"} if path.stem == COMPARE else set())
    for name in names:
        variable = job["variables"][f"INPUT_{name.upper().replace('-', '_')}"]
        assert variable == {"value": f"$[[ inputs.{name} ]]", "expand": False}
    assert not any("inputs." in line for line in job["script"])
    assert job["script"][-1] == f"ci-eval ci run {path.stem}"


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """Return a runner for a repository with code and the configuration that the page names."""
    config = {"language": "python", "engine": "words", "project": {"spec": "path:code", "name": "code"}}
    project = tmp_path / "project"
    write(project / "code", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(3)})
    write(project / "ci", completion__yaml=yaml.safe_dump(config))
    with serving(Server(tmp_path)) as server:
        yield Runner(tmp_path / "runner", project, server, TOKEN)


TOKEN = {"CI_EVAL_GITLAB_TOKEN": "of-the-project"}
NIGHT = """
include:
  - component: $CI_SERVER_FQDN/OWNER/ci-eval/nightly@COMMIT
    inputs: {config: ci/completion.yaml, gates: "RecallAt1 >= -2pp"}
"""
NAME = "ci-eval-nightly"


def night(runner: Runner, text: str = NIGHT, **variables: str) -> tuple[int, str]:
    """Run a night on a runner that kept nothing; return its exit code and log."""
    shutil.rmtree(runner.folder, ignore_errors=True)
    return replace(runner, variables=variables or TOKEN).execute(pipeline(text))[NAME]


def trend(runner: Runner, file: str = "comparison.json") -> int:
    """Return how many nights the trend has."""
    return len(read(runner.folder / "artifacts" / "comparison", file)["trend"]["nights"])


@pytest.mark.engine
@pytest.mark.slow
def test_the_documented_night_takes_its_base_from_artifacts_though_no_cache_is_left(runner: Runner) -> None:
    documented_night = documented("GitLab")
    code, said = night(runner, documented_night)
    assert (code, "this is a first night" in said) == (0, True), said
    assert trend(runner, "overview.json") == 1
    code, said = night(runner, NIGHT.replace("RecallAt1 >= -2pp", "RecallAt1 >= 100%"))
    assert (code, trend(runner)) == (1, 2), said
    code, said = night(runner, documented_night)
    assert (code, trend(runner)) == (0, 3), said
    # The red night is in the trend, and no base.
    assert "is compared with https://gitlab.example.com/jobs/1" in " ".join(said.split())


@pytest.mark.engine
@pytest.mark.slow
def test_a_base_that_expired_is_red_unless_somebody_says_that_it_is_a_first_night(runner: Runner) -> None:
    assert night(runner)[0] == 0
    runner.server.forget(1)
    code, said = night(runner)
    assert (code, "start one night with the input first-night: true" in " ".join(said.split())) == (2, True), said
    code, said = night(runner, NIGHT.replace("gates:", 'first-night: "true", gates:'))
    assert code == 0, said


@pytest.mark.engine
@pytest.mark.slow
def test_without_a_token_that_lists_jobs_what_is_not_known_is_red(runner: Runner) -> None:
    code, said = night(runner, NOTHING="x")
    assert (code, "Without a token in CI_EVAL_GITLAB_TOKEN" in " ".join(said.split())) == (2, True), said
    assert night(runner)[0] == 0
    # The newest pipeline that succeeded has the job.
    code, said = night(runner, NOTHING="x")
    assert (code, trend(runner)) == (0, 2), said


@pytest.mark.engine
def test_nights_of_another_branch_are_no_base(runner: Runner) -> None:
    jobs = pipeline(NIGHT)
    assert runner.execute(jobs, branch="feature")[NAME][0] == 0
    assert "this is a first night" in night(runner)[1]


@pytest.mark.engine
@pytest.mark.slow
def test_shards_are_merged_and_compared_by_components(runner: Runner) -> None:
    base = "  - component: $CI_SERVER_FQDN/OWNER/ci-eval"
    evaluate = "config: ci/completion.yaml, job-name: part{0}, shard: {0}/2, output: parts/{0}"
    text = "include:\n" + "".join(
        f"{base}/evaluate@COMMIT\n    inputs: {{{evaluate.format(part)}}}\n" for part in (1, 2)
    )
    text += f"{base}/merge@COMMIT\n    inputs: {{workspaces: parts}}\n"
    text += f"{base}/compare@COMMIT\n    inputs: {{new: workspace, gates: RecallAt1 >= -2pp}}\n"
    results = runner.execute(pipeline(text))
    assert [code for code, _ in results.values()] == [0, 0, 0, 0], results
    assert trend(runner, "overview.json") == 1


def test_a_merge_request_has_one_note_for_a_job_that_is_brought_up_to_date(runner: Runner) -> None:
    write(runner.project / "comparison", report__md="# figures @you\n")
    jobs = pipeline("include:\n  - component: $CI_SERVER_FQDN/OWNER/ci-eval/note@COMMIT\n")
    asked = replace(runner, variables={**TOKEN, "CI_MERGE_REQUEST_IID": "5"})
    runner.server.notes.append({"id": 0, "author": {"id": 4}, "body": "<!-- ci-eval ci-eval-note -->\n\nof another"})
    for said in ("is written", "is brought up to date"):
        code, log = asked.execute(jobs)["ci-eval-note"]
        assert (code, said in log) == (0, True), log
    ours = [note["body"] for note in runner.server.notes if note["author"]["id"] == 3]
    assert ours == ["<!-- ci-eval ci-eval-note -->\n\n# figures @\u200byou"]
    assert runner.execute(jobs)["ci-eval-note"][0] == 0
    code, log = replace(asked, variables={"CI_MERGE_REQUEST_IID": "5"}).execute(jobs)["ci-eval-note"]
    assert (code, "CI_EVAL_GITLAB_TOKEN" in log) == (4, True), log


def test_a_component_is_included_twice_under_two_names() -> None:
    twice = documented("GitLab") + documented("GitLab").removeprefix("include:\n")
    assert set(pipeline(twice)) == {NAME}
    other = twice.replace("{config: ci/completion.yaml", "{job-name: go, config: ci/go.yaml", 1)
    assert set(pipeline(other)) == {NAME, "go"}


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
    assert {path.stem for path in TEMPLATES} == {EVALUATE, MERGE, COMPARE, ENGINES, LOGS, CASES, "nightly", "note"}


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
