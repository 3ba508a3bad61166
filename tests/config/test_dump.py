"""What is written loads again as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.config import Config, EngineConfig, InterpretConfig, ProjectConfig, ReportsConfig, dump, load
from ci_eval.model import ActionsConfig, FiltersConfig, Kind, PrefixConfig, SessionsFilter, StrategyConfig


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
