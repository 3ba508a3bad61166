"""Files, overrides, options and environment become one configuration, or an error that says what to do."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import (
    Config,
    EngineConfig,
    InterpretConfig,
    ProjectConfig,
    add_ladder,
    dump,
    load,
    patch,
)
from ci_eval.core.config.schema import ReportsConfig
from ci_eval.core.model import (
    ActionsConfig,
    FiltersConfig,
    Kind,
    PrefixConfig,
    SessionScore,
    SessionsFilter,
    StrategyConfig,
)
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.config.conftest import Refusal, Write
from tests.filtering import passes
from tests.projects import GREETER, write


def test_no_file_means_the_defaults() -> None:
    loaded = load(None)
    assert loaded.config == Config()
    assert loaded.warnings == ()


LADDER = PrefixConfig(name="Ladder", lengths=(0, 1, 3))


@pytest.mark.parametrize(
    ("overrides", "prefix"),
    [
        ([], LADDER),
        (["actions.strategy.context=PREVIOUS"], LADDER),
        (["task=golf"], PrefixConfig()),
        (["actions.strategy.completionGolf=true"], PrefixConfig()),
        (["interpret.userModel=thesis"], PrefixConfig(name="EveryPrefix")),
        (["actions.strategy.prefix={name: SimplePrefix, n: 2}"], PrefixConfig(name="SimplePrefix", n=2)),
    ],
)  # fmt: skip
def test_the_usual_ladder_is_for_completion_alone(overrides: list[str], prefix: PrefixConfig) -> None:
    assert add_ladder(load(None, overrides=overrides).config).actions.strategy.prefix == prefix


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("c.yaml", "language: python", False),
        ("c.yaml", "actions: {strategy: {prefix: {name: NoPrefix}}}", True),
        ("config.json", '{"language": "Java"}', True),
    ],
)
def test_it_is_known_whether_a_file_says_what_is_typed(name: str, content: str, said: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert load(tmp_path / name).own_prefix is said


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "actions:\ninterpret:\n", "{}"])
def test_an_empty_file_or_section_means_the_defaults(write: Write, content: str) -> None:
    assert load(write(content)).config == Config()


def test_a_yaml_file_becomes_a_configuration(write: Write) -> None:
    config = load(write("engine: {name: pyright}\ninterpret:\n  timeout: 2\n  sessionProbability: 5e-1\n")).config
    assert config.engine == EngineConfig(name="pyright")
    assert (config.interpret.timeout, config.interpret.session_probability) == (2.0, 0.5)


@pytest.mark.parametrize(
    ("text", "engine"),
    [("jedi", EngineConfig()), ("pyright@1.1.400", EngineConfig(name="pyright", version="1.1.400"))],
)
def test_an_engine_may_be_one_text(write: Write, text: str, engine: EngineConfig) -> None:
    assert load(write(f"engine: {text}")).config.engine == engine


@pytest.mark.parametrize("text", ["jedi@", '"@1"', '""'])
def test_an_engine_without_a_name_or_a_version_behind_the_at_sign_is_refused(
    write: Write, text: str, refusal: Refusal
) -> None:
    assert "expected NAME or NAME@VERSION" in refusal(write(f"engine: {text}"))


def test_overrides_win_over_the_file_and_later_ones_over_earlier_ones(write: Write) -> None:
    path = write("interpret: {seed: 1, timeout: 3}")
    config = load(path, overrides=["interpret.seed=2", "interpret.seed=3"]).config
    assert (config.interpret.seed, config.interpret.timeout) == (3, 3.0)


def test_overrides_take_yaml_values() -> None:
    overrides = ["actions.strategy.filters.statementTypes=[FIELD, KEYWORD]", "engine=words", "engine.version='1.10'"]
    config = load(None, overrides=overrides).config
    assert config.actions.strategy.filters.statement_types == (Kind.FIELD, Kind.KEYWORD)
    assert config.engine == EngineConfig(name="words", version="1.10")


def test_overrides_that_need_each_other_may_come_in_any_order() -> None:
    overrides = ["actions.strategy.prefix.n=2", "actions.strategy.prefix.name=SimplePrefix"]
    assert load(None, overrides=overrides).config == load(None, overrides=overrides[::-1]).config


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("interpret.seeed=1", "--set interpret.seeed=1: `interpret.seeed` is not a known key; did you mean seed?"),
        ("interpret.seed=x", "--set interpret.seed=x: `interpret.seed` is 'x'; expected a whole number"),
        ("interpret.seed", "--set interpret.seed: expected dotted.key=value, for example"),
        ("=1", "expected dotted.key=value"),
        ("interpret..seed=1", "expected dotted.key=value"),
        ("language=[", "--set language=[: line 1, column 2: broken YAML"),
        ("interpret.seed.x=1", "--set interpret.seed.x=1: `interpret.seed` is 4; expected a section"),
        ("engine=jedi@", "--set engine=jedi@: `engine` is 'jedi@'"),
    ],
)
def test_a_wrong_override_is_quoted(write: Write, override: str, expected: str, refusal: Refusal) -> None:
    assert expected in refusal(write("interpret: {seed: 4}"), override)


def test_only_the_first_equals_sign_of_an_override_divides_it() -> None:
    assert load(None, overrides=["project=pypi:a==1"]).config.project.spec == "pypi:a==1"


def test_an_engine_replaces_that_of_the_file_and_overrides_change_it(write: Write) -> None:
    path = write("engine: {name: jedi, version: '1', settings: {a: {}}}")
    config = load(path, engine="ngram", overrides=["engine.options.order=3"]).config
    assert config.engine == EngineConfig(name="ngram", options={"order": 3})


def test_options_replace_what_they_name_and_nothing_else() -> None:
    config = Config(interpret=InterpretConfig(seed=5), engine=EngineConfig(version="1"))
    patched = patch(config, language="Java", engine="words@2", project="path:x", completion_type="ML")
    assert patched.language == "java"
    assert patched.engine == EngineConfig(name="words", version="2")
    assert patched.interpret == InterpretConfig(seed=5, completion_type="ML")
    assert patch(config) == config


def test_another_project_does_not_take_the_name_of_the_configured_one() -> None:
    config = Config(project=ProjectConfig(spec="path:x", name="mine"))
    assert patch(config, project="path:x").project.name == "mine"
    assert patch(config, project="path:y").project == ProjectConfig(spec="path:y")


@pytest.mark.parametrize("engine", ["", "jedi@"])
def test_options_are_checked_like_the_file(engine: str) -> None:
    with pytest.raises(ConfigError, match="command line: `engine`"):
        patch(Config(), engine=engine)


def test_variables_are_filled_in(write: Write) -> None:
    path = write("projectPath: ${ROOT}/x\noutputDir: ${OUT}\nreports: {evaluationTitle: '${N} of ${N} $${N}'}")
    config = load(path, environment={"ROOT": "/r", "OUT": "${ROOT}", "N": "1"}).config
    assert config.project.spec == "path:/r/x"
    assert config.output_dir == "${ROOT}"
    assert config.reports.evaluation_title == "1 of 1 ${N}"


def test_an_unknown_variable_is_named(write: Write, refusal: Refusal) -> None:
    message = refusal(write("outputDir: ${RESULTS}/x"))
    assert "`outputDir` asks for ${RESULTS}, but there is no environment variable of that name" in message


def test_what_is_written_is_the_shape_people_write() -> None:
    text = dump(Config(project=ProjectConfig(spec="path:x")))
    assert text.startswith("task: completion\nlanguage: python\nengine:\n  name: jedi\n  version: null\n")
    assert "\nproject:\n  spec: path:x\n  dependencies: null\n" in text
    assert "  completionType: BASIC\n" in text


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.sampled_from(
    ["1e3", "null", "yes", "${HOME}", "$${x}", "$$${", "1:30", "2024-01-01", "~", "<<", "=", "x\u0085y", "\ufeff"]
)


many = st.lists(texts, max_size=3).map(tuple)


filters = st.builds(
    FiltersConfig,
    statement_types=st.none() | st.lists(st.sampled_from(Kind), min_size=1).map(tuple),
    is_static=st.none() | st.booleans(),
    is_argument=st.none() | st.booleans(),
    package_regex=st.none() | st.sampled_from([r"java\..*", "1e5", "", "null"]),
)


prefixes = st.builds(
    PrefixConfig, name=st.just("SimplePrefix"), n=st.integers(1, 2**63 - 1), emulate_typing=st.booleans()
)


interprets = st.builds(
    InterpretConfig,
    completion_type=texts,
    client=st.sampled_from(["editor", "raw"]),
    session_probability=st.floats(0, 1, exclude_min=True),
    sessions_limit=st.none() | st.integers(1, 2**63 - 1),
    seed=st.integers(-(2**63), 2**63 - 1),
    timeout=st.floats(0, 86_400, exclude_min=True),
    max_suggestions=st.integers(1, 2**63 - 1),
    memory_limit=st.integers(0, 2**63 - 1),
    allowed_failures=st.floats(0, 1),
)


configs = st.builds(
    Config,
    language=st.sampled_from(["python", "java", "no", "1e3"]),
    engine=st.builds(EngineConfig, name=texts, version=st.none() | texts, command=st.none() | st.just(("x", "{root}"))),
    project=st.builds(ProjectConfig, spec=st.just("") | texts, dependencies=st.none() | st.booleans()),
    output_dir=texts,
    actions=st.builds(
        ActionsConfig,
        evaluation_roots=many,
        strategy=st.builds(StrategyConfig, prefix=prefixes | st.just(PrefixConfig()), filters=filters),
    ),
    interpret=interprets,
    reports=st.builds(
        ReportsConfig,
        evaluation_title=st.none() | texts,
        sessions_filters=filters.map(lambda part: (SessionsFilter(name="one", filters=part),)),
        default_metrics=st.none() | many,
    ),
)


@given(config=configs)
def test_what_is_written_loads_to_the_equal_configuration(
    tmp_path_factory: pytest.TempPathFactory, config: Config
) -> None:
    path = tmp_path_factory.mktemp("dump") / "config.yaml"
    path.write_text(dump(config), encoding="utf-8")
    loaded = load(path, environment={})
    assert loaded.config == config
    assert loaded.warnings == ()


SERVER = Path(__file__).parent.parent / "adapters" / "lsp" / "server.py"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of an own server, which is gone by now: who asked it anew would fail."""
    folder = tmp_path_factory.mktemp("view")
    project = write(folder / "p", one__py=GREETER, two__py=f"{GREETER}\nother = Greeter('x')\nother.greet()\n")
    server = folder / "server.py"
    shutil.copy(SERVER, server)
    given = ("--project", f"path:{project}", "--engine-command", f"{sys.executable} {server} plain {folder}")
    code, _, err = command("evaluate", *given, "--set", "interpret.confine=off", "--jobs", 1, "--output", folder / "w")
    assert code == 0, err
    server.unlink()
    return folder / "w"


@pytest.fixture
def workspace(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured, tmp_path / "w"))


def evaluation(workspace: Path) -> dict[str, Any]:
    (only,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    return dict(only)


def test_filters_places_title_and_gates_change_without_a_question(workspace: Path, tmp_path: Path) -> None:
    sealed = (workspace / "manifest.json").read_bytes()
    filters = ("kind=VARIABLE,FIELD", "prefix=1 file='two*'", "text='gr*' argument=false")
    view = [part for line in filters for part in ("--filter", line)]
    view += ["--title", "The same, looked at", "--set", "reports.recallAt=[3]", "--gate", "RecallAt3[ALL] >= 1%"]
    code, out, err = command("report", workspace, *view)
    assert code == 0, err
    assert filters[0] in out
    report = evaluation(workspace)
    assert report["title"] == "The same, looked at"
    assert set(filters) < set(report["filters"])
    assert report["headline"] == filters[0]
    assert "RecallAt3" in report["filters"]["ALL"]["metrics"]
    assert [gate["passed"] for gate in report["gates"]] == [True]
    assert (workspace / "manifest.json").read_bytes() == sealed
    # The view stays, and comparisons follow it.
    assert command("report", workspace)[0] == 0
    assert evaluation(workspace)["title"] == "The same, looked at"
    assert command("compare", workspace, workspace, "--output", tmp_path / "c")[0] == 0
    comparison = json.loads((tmp_path / "c" / "comparison.json").read_text())
    assert comparison["new"] == "The same, looked at"
    assert comparison["headline"] == filters[0]
    (workspace / "view.yaml").unlink()
    assert command("report", workspace)[0] == 0
    assert evaluation(workspace)["title"] != "The same, looked at"


def test_figures_of_any_filter_are_those_of_the_sessions_that_pass(workspace: Path) -> None:
    sessions = [each for _, scores in Workspace.open(workspace).sessions(SessionScore) for each in scores]
    rng = random.Random(48)
    values = {
        "kind": [kind.value for kind in Kind][:7],
        "prefix": ["0", "1", "3"],
        "file": ["one*", "*.py", "t?o.py"],
        "text": ["g*", "*e*", "[a-h]*"],
        "length": ["2", "5"],
        "argument": ["true", "false"],
        "first": ["true", "false"],
    }
    drawn = [{name: rng.choice(values[name]) for name in rng.sample(sorted(values), 2)} for _ in range(12)]
    lines = [" ".join(f"{name}='{value}'" for name, value in conditions.items()) for conditions in drawn]
    assert command("report", workspace, *(part for line in dict.fromkeys(lines) for part in ("--filter", line)))[0] == 0
    report = evaluation(workspace)["filters"]
    counts = set()
    for line, conditions in zip(lines, drawn, strict=True):
        chosen = [session for session in sessions if passes(session, conditions)]
        first = sum(session.lookups[-1].rank == 1 for session in chosen)
        figures = report[line]
        assert figures["sessions"] == len(chosen), line
        recall = figures["metrics"]["RecallAt1"]["value"]
        assert recall == (pytest.approx(first / len(chosen), abs=1e-12) if chosen else None), line
        counts.add(len(chosen))
    assert len(counts) > 5


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (("--set", "interpret.seed=3"), "changes what is measured"),
        (("--filter", "colour=red"), "'colour=red' is not a condition; there are kind, prefix"),
        (("--filter", "kind=CALL"), "expected one of METHOD_CALL"),
        (("--filter", "kind=FIELD kind=FIELD"), "kind is there twice"),
        (("--filter", "text='a"), "No closing quotation"),
        (("--filter", " "), "a filter is empty"),
        (("--set", "reports.headline=nowhere"), "nowhere"),
    ],
)
def test_a_wrong_view_is_refused_and_nothing_is_stored(workspace: Path, view: tuple[str, str], message: str) -> None:
    code, _, err = command("report", workspace, *view)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (workspace / "view.yaml").exists()


def test_a_view_that_was_changed_by_hand_changes_no_measurement(workspace: Path) -> None:
    (workspace / "view.yaml").write_text("interpret.seed: 3\n")
    code, _, err = command("report", workspace)
    assert code == 2
    assert "view.yaml: `interpret.seed` changes what is measured" in " ".join(err.split())


CALLS = "kind=METHOD_CALL prefix=1"


def expected_texts(workspace: Path, *, kind: Kind, typed: int) -> list[str]:
    return [
        session.expected_text
        for _, scores in Workspace.open(workspace).sessions(SessionScore)
        for session in scores
        if session.properties.kind is kind and session.typed == typed
    ]


def test_a_comparison_has_a_view_of_its_own(workspace: Path, tmp_path: Path) -> None:
    rule = "Recall[text='[a-h]*' prefix=0] >= 1%"
    view = ("--filter", CALLS, "--title", "Calls", "--set", "reports.recallAt=[3]", "--gate", rule)
    code, _, err = command("compare", workspace, workspace, *view, "--output", tmp_path / "c")
    assert code == 0, err
    comparison = json.loads((tmp_path / "c" / "comparison.json").read_text())
    assert (comparison["new"], comparison["headline"]) == ("Calls", CALLS)
    assert comparison["base"] != "Calls"
    assert "RecallAt3" in comparison["filters"][CALLS]["metrics"]
    assert "text='[a-h]*' prefix=0" in comparison["filters"]
    assert comparison["gates"][0]["passed"]
    assert not (workspace / "view.yaml").exists()


def test_a_gate_may_spell_out_its_sessions(workspace: Path) -> None:
    rules = ("--gate", f"Recall[{CALLS}] >= 1%", "--gate", "Recall[text=nowhere] >= 1%")
    code, _, err = command("report", workspace, *rules)
    assert code == 1, err
    kept, broken = evaluation(workspace)["gates"]
    assert (kept["passed"], broken["passed"]) == (True, False)
    assert kept["reason"].startswith(CALLS)
    code, _, err = command("report", workspace, "--gate", "Recall[colour=red] >= 1%")
    assert (code, "'colour=red' is not a condition" in " ".join(err.split())) == (2, True), err


def test_tables_are_of_the_sessions_that_pass(workspace: Path, tmp_path: Path) -> None:
    calls = expected_texts(workspace, kind=Kind.METHOD_CALL, typed=1)
    fields = expected_texts(workspace, kind=Kind.FIELD, typed=0)
    view = ("--filter", CALLS, "--filter", "kind=FIELD prefix=0")
    code, _, err = command("export", workspace, "--format", "jsonl", *view, "--output", tmp_path / "tables")
    assert code == 0, err
    rows = [json.loads(line) for line in (tmp_path / "tables" / "sessions.jsonl").read_text().splitlines()]
    assert sorted(row["expected"] for row in rows) == sorted(calls + fields)
    assert calls
    assert fields


def test_a_merged_or_reranked_workspace_stores_its_view(workspace: Path, tmp_path: Path) -> None:
    view = ("--filter", CALLS, "--title", "Calls")
    ranked = ("rerank", workspace, "--completion-type", "ALPHABETICAL")
    for name, argv in {"merged": ("merge", workspace), "ranked": ranked}.items():
        code, _, err = command(*argv, *view, "--output", tmp_path / name)
        assert code == 0, err
        assert (evaluation(tmp_path / name)["headline"], evaluation(tmp_path / name)["title"]) == (CALLS, "Calls")
        assert CALLS in (tmp_path / name / "view.yaml").read_text()
        code, _, err = command(*argv, "--filter", "colour=red", "--output", tmp_path / f"no {name}")
        assert (code, (tmp_path / f"no {name}").exists()) == (2, False), err


def test_a_resumed_run_is_reported_by_its_view(tmp_path: Path) -> None:
    project = write(tmp_path / "p", one__py=GREETER)
    argv = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output", tmp_path / "w")
    assert command(*argv)[0] == 0
    assert command("report", tmp_path / "w", "--filter", CALLS, "--title", "Calls")[0] == 0
    code, _, err = command("evaluate", "--resume", "--jobs", 1, "--output", tmp_path / "w")
    assert code == 0, err
    assert (evaluation(tmp_path / "w")["headline"], evaluation(tmp_path / "w")["title"]) == (CALLS, "Calls")
