"""The matrix of a night, and that every configuration of the repository can be one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ci_eval.ci import limits
from ci_eval.cli.group import cli
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.catalogs import languages, rankers
from ci_eval.core.config import load
from ci_eval.fetch import schemes
from ci_eval.jobs.preparation import load_engine
from ci_eval.jobs.workflows.plan import plan, plan_logs
from tests.projects import write

CONFIGS = sorted((Path(__file__).parents[3] / "configs").glob("*.yaml"))
OF_LANGUAGES = [path for path in CONFIGS if not load(path).config.dataset.spec]


@pytest.mark.parametrize("path", OF_LANGUAGES, ids=lambda path: path.stem)
def test_every_nightly_configuration_loads_with_a_pinned_project_and_its_engine(path: Path) -> None:
    loaded = load(path)
    assert loaded.warnings == ()
    engine, language = load_engine(loaded.config), languages.CATALOG.load(loaded.config.language)
    assert language.name == path.stem
    assert engine.languages is None or language.name in engine.languages
    assert engine.verified
    scheme, _, rest = loaded.config.project.spec.partition(":")
    assert scheme in schemes.names()
    assert re.search(r"[@=:]v?\d", rest), "a version"


def test_configurations_with_ml_come_on_top_and_a_name_begins_all_evaluations() -> None:
    jobs = plan(CONFIGS[:2], completion_types=["BASIC"], shards=1, ml_configs=CONFIGS[:1], name="mine")
    assert [job.completion_type for job in jobs] == ["BASIC", "BASIC", "ML"]
    assert all(job.evaluation.startswith("mine-") for job in jobs)


def test_there_is_one_for_each_language_of_the_mission() -> None:
    assert {path.stem for path in OF_LANGUAGES} == set(languages.CATALOG.names()) - {"text"}


def test_the_matrix_has_every_shard_under_a_name_of_its_own() -> None:
    made = CliRunner().invoke(
        cli,
        ["plan", *map(str, CONFIGS), "--shards", "3", "--completion-type", "BASIC", "--completion-type", "FREQUENCY"],
    )
    assert made.exit_code == 0, made.output
    (line,) = made.output.splitlines()
    jobs = json.loads(line)["include"]
    assert len(jobs) == len(CONFIGS) * 2 * 3
    assert len({job["name"] for job in jobs}) == len(jobs)
    assert {job["shard"] for job in jobs} == {"1/3", "2/3", "3/3"}
    assert {job["completionType"] for job in jobs} == {"BASIC", "FREQUENCY"}
    assert all(Path(job["config"]).is_file() for job in jobs)
    assert {rankers.CATALOG.load(job["completionType"]).name for job in jobs} == {"BASIC", "FREQUENCY"}


def test_a_job_says_which_toolchains_its_engine_and_its_project_take() -> None:
    jobs = {job.language: job for job in plan(CONFIGS, completion_types=["BASIC"], shards=1)}
    go, python, kotlin = jobs["go"], jobs["python"], jobs["kotlin"]
    assert (go.go, go.java, go.node, go.php, go.ruby) == ("1.26", "", "", "", "")
    assert (kotlin.java, jobs["typescript"].node) == ("17", "20")
    assert (python.go, python.java, python.node, python.php, python.ruby) == ("", "", "", "", "")


@pytest.mark.parametrize(
    ("engine", "may"), [("jdtls", True), ("jdt", False), ("{command: [./server]}", False), ("words", False)]
)
def test_only_an_engine_of_ours_that_no_test_drives_may_fail(engine: str, may: bool, tmp_path: Path) -> None:
    config = tmp_path / "java.yaml"
    config.write_text(f"language: java\nengine: {engine}\nproject: path:.\n")
    (job,) = plan([config], completion_types=["BASIC"], shards=1)
    assert job.allow_failure is may


@pytest.mark.parametrize(
    ("keys", "may"),
    [
        ("engine: words", True),
        ("engine: {command: [./server]}", False),
        ("interpret: {saveLogs: true}", False),
    ],
)
def test_a_job_says_whether_answers_of_an_earlier_night_may_be_reused(keys: str, may: bool, tmp_path: Path) -> None:
    config = tmp_path / "java.yaml"
    config.write_text(f"language: java\nproject: path:.\n{keys}\n")
    (job,) = plan([config], completion_types=["BASIC"], shards=1)
    assert job.reusable is may


def test_logs_are_planned_of_the_projects_that_train_or_of_those_named(tmp_path: Path) -> None:
    config = tmp_path / "java.yaml"
    config.write_text("language: java\nproject: path:.\ntrainingProjects: [maven:a:b:1]\n")
    other = tmp_path / "go.yaml"
    other.write_text("language: go\nproject: path:.\n")
    (job,) = plan_logs([config, other], [])
    assert (job.project, job.ranker, job.java) == ("maven:a:b:1", "java", "17")
    assert job.name.startswith("logs-java-maven-a-b-1")
    named = plan_logs([config, other], ["path:x", "path:y"])
    assert [(each.ranker, each.project) for each in named] == [
        ("java", "path:x"), ("java", "path:y"), ("go", "path:x"), ("go", "path:y"),
    ]  # fmt: skip


def test_nothing_to_log_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="add trainingProjects to the configurations"):
        plan_logs(many(tmp_path / "c", ["x"]), [])


def test_two_configurations_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, python__yaml="engine: words\n") / "python.yaml" for name in ("a", "b")]
    with pytest.raises(ConfigError, match="two evaluations are called python-words-basic"):
        plan(paths, completion_types=["BASIC"], shards=1)


def test_a_completion_type_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="BASC"):
        plan(CONFIGS[:1], completion_types=["BASC"], shards=1)


def many(folder: Path, names: list[str]) -> list[Path]:
    """Configurations of these names."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.yaml" for name in names]
    for path in paths:
        path.write_text("engine: words\nproject: path:.\n")
    return paths


@pytest.mark.parametrize(("count", "shards", "way"), [(3, 100, "--shards 85 or fewer"), (257, 1, "in several calls")])
def test_more_jobs_than_a_matrix_takes_are_refused_with_how_many_fit(
    count: int, shards: int, way: str, tmp_path: Path
) -> None:
    configs = many(tmp_path / "c", [f"n{i}x" for i in range(count)])
    with pytest.raises(ConfigError, match=f"are {count * shards} jobs, and a matrix has 256 at most: .*{way}"):
        plan(configs, completion_types=["BASIC"], shards=shards)
    assert len(plan(configs[:256], completion_types=["BASIC"], shards=256 // min(count, 256))) <= 256


def test_a_suite_is_one_job(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("engine: words\nprojects: ['path:a', 'path:b']\n")
    (job,) = plan([tmp_path / "suite.yaml"], completion_types=["BASIC"], shards=4)
    assert (job.shard, job.shards) == ("1/1", 1)


HOSTILE = [
    'a"b',
    "a:b",
    "a<b>",
    "a|b",
    "a*b?",
    "a\r\nb",
    "a\\b",
    "a b",
    "A-b",
    "[ab]",
    "ä",
    ".a",
    "-a",
    "{a,b}",
    "x" * 240,
]


def test_names_are_those_of_artifacts_whatever_the_configurations_are_called(tmp_path: Path) -> None:
    jobs = plan(many(tmp_path / "c", HOSTILE), completion_types=["BASIC"], shards=2)
    names = [job.name for job in jobs]
    assert len(set(names)) == len(names) == 2 * len(HOSTILE)
    for job in jobs:
        assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]*", job.name)
        assert re.fullmatch(r"[\w.-]+", job.name)
        assert len(job.evaluation) <= limits.LONGEST_NAME


def test_configurations_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two evaluations are called a-words-basic"):
        plan(many(tmp_path / "c", ["a", "A"]), completion_types=["BASIC"], shards=1)


def test_an_evaluation_whose_shards_another_would_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a-words-basic-1-words-basic begins with a-words-basic"):
        plan(many(tmp_path / "c", ["a", "a-words-basic-1"]), completion_types=["BASIC"], shards=1)


def test_at_github_the_step_has_what_later_jobs_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("TEAMCITY_VERSION", raising=False)
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    configs = many(tmp_path / "c", [f"n{i}x" for i in range(40)])
    made = CliRunner().invoke(cli, ["plan", *map(str, configs), "--shards", "6"])
    written = (tmp_path / "outputs").read_text()
    outputs = {name: text for name, _, text in re.findall(r"^(\w+)<<(.+)\n(.+)\n\2$", written, re.MULTILINE)}
    assert made.exit_code == 0
    assert outputs["matrix"] == made.output.splitlines()[-1]
    assert json.loads(outputs["evaluations"]) == sorted(f"n{i}x-words-basic" for i in range(40))
    assert len(outputs["group"]) <= limits.LONGEST_NAME
    assert len(written) < 1_000_000, "GitHub takes 1 MB of outputs from a job"
