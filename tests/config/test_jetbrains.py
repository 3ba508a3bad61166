"""The plugin's configurations load as they are, and what they cannot have is said."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config, load
from ci_eval.core.config.jetbrains import STATEMENTS, UNUSED, upgrade
from ci_eval.core.model import FiltersConfig, Kind, PrefixConfig

EXAMPLES = Path(__file__).parent / "jetbrains"


def example(name: str) -> tuple[Config, tuple[str, ...]]:
    loaded = load(EXAMPLES / name, environment={})
    return loaded.config, loaded.warnings


def nested(key: str, value: object) -> dict[str, object]:
    first, _, rest = key.partition(".")
    return {first: nested(rest, value) if rest else value}


def test_the_flat_shape_of_2019_09_loads_without_a_warning() -> None:
    config, warnings = example("2019-09-flat.json")
    assert warnings == ()
    assert (config.language, config.project.spec, config.output_dir) == (
        "java",
        "path:/projects/sample",
        "/projects/results",
    )
    assert config.actions.evaluation_roots == ("src/main", "src/util/A.java")
    assert config.actions.strategy.prefix == PrefixConfig(name="SimplePrefix", n=2, emulate_typing=True)
    assert config.actions.strategy.filters == FiltersConfig(statement_types=(Kind.METHOD_CALL,))
    assert config.interpret.completion_type == "ML"


def test_the_filters_of_2019_10_load_without_a_warning() -> None:
    config, warnings = example("2019-10-filters.json")
    assert warnings == ()
    assert config.actions.evaluation_roots == ("src/main",)
    assert config.actions.strategy.prefix.name == "CapitalizePrefix"
    assert config.actions.strategy.filters == FiltersConfig(
        statement_types=(Kind.METHOD_CALL, Kind.FIELD), is_argument=True
    )


def test_the_sections_of_2019_11_load() -> None:
    config, warnings = example("2019-11-sections.json")
    assert config.language == "bash"
    assert config.actions.strategy.filters == FiltersConfig()
    assert (config.interpret.session_probability, config.interpret.seed) == (0.25, 17)
    assert config.interpret.completion_type == "SMART"
    assert config.reports.sessions_filters[0].filters == FiltersConfig(statement_types=(Kind.METHOD_CALL,))
    assert config.actions.strategy.context == "PREVIOUS"
    assert warnings == ()
    assert config.interpret.save_logs
    assert (config.interpret.train_test_split, config.interpret.user_model) == (80, None)


def test_the_full_example_of_2021_loads() -> None:
    config, (warning,) = example("2021-full.json")
    assert warning.startswith("`reports.comparisonFilters` is a list, which has no effect: `ci-eval compare`")
    assert config.interpret.sessions_limit == 5000
    assert config.interpret.seed == 0
    assert config.actions.strategy.prefix == PrefixConfig(name="SimplePrefix", n=1)
    assert config.reports.evaluation_title == "ML"
    assert config.reports.sessions_filters[0].filters.is_static is True


def test_the_renames_of_2023_load() -> None:
    config, warnings = example("2023-features.json")
    assert (config.language, config.interpret.completion_type) == ("cpp", "CLANGD")
    assert (config.interpret.session_probability, config.interpret.seed) == (0.5, 0)
    assert config.output_dir == Config().output_dir
    assert config.actions.ignore_file_names == ("third_party",)
    assert [warning.split("`")[1] for warning in warnings] == ["interpret.filesLimit", "interpret.order"]


def test_our_own_shape_passes_through() -> None:
    raw: dict[str, object] = {"project": "path:x", "actions": {"strategy": {"filters": {"isStatic": True}}}}
    assert upgrade(raw) == (raw, [])


def test_upgrading_leaves_its_argument_alone() -> None:
    raw: dict[str, object] = {"strategy": {"statement": "ALL", "type": "ML"}, "saveLogs": True}
    before = copy.deepcopy(raw)
    upgrade(raw)
    assert raw == before


@pytest.mark.parametrize("statement", STATEMENTS)
def test_each_statement_of_2019_09_becomes_filters(statement: str) -> None:
    upgraded, warnings = upgrade({"strategy": {"statement": statement}})
    assert upgraded == {"actions": {"strategy": {"filters": STATEMENTS[statement]}}}
    assert warnings == []


def test_an_unknown_statement_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"`strategy\.statement` is 'CALLS'; expected one of METHOD_CALLS, ARGUMENTS"):
        upgrade({"strategy": {"statement": "CALLS"}})


@pytest.mark.parametrize("key", UNUSED)
def test_an_active_option_without_counterpart_is_a_warning(key: str) -> None:
    upgraded, (warning,) = upgrade(nested(key, "something else"))
    assert warning == f"`{key}` is 'something else', which has no effect: {UNUSED[key][1]}"
    assert "something else" not in str(upgraded)


@pytest.mark.parametrize("key", UNUSED)
def test_an_inactive_option_without_counterpart_is_silent(key: str) -> None:
    inactive, _ = UNUSED[key]
    assert [upgrade(nested(key, value))[1] for value in (None, *inactive)] == [[]] * (1 + len(inactive))


def test_reordering_is_a_warning_only_where_it_is_used() -> None:
    assert upgrade({"reorder": {"useReordering": False, "title": "ML", "features": []}}) == ({}, [])
    _, (warning,) = upgrade({"reorder": {"useReordering": True, "title": "ML", "features": ["x"]}})
    assert "`ci-eval rerank`" in warning


def test_a_filter_that_does_not_exist_here_is_a_warning() -> None:
    raw: dict[str, object] = {"reports": {"sessionsFilters": [{"name": "x", "filters": {"features": ["a"]}}]}}
    upgraded, (warning,) = upgrade(raw)
    assert upgraded == {"reports": {"sessionsFilters": [{"name": "x", "filters": {}}]}}
    assert warning.startswith("`reports.sessionsFilters[0].filters.features` is a list, which has no effect")


def test_old_and_new_name_of_a_key_must_agree() -> None:
    with pytest.raises(ConfigError, match="`projectPath` and `project` have different values"):
        upgrade({"projectPath": "/a", "project": "path:/b"})


def test_what_nobody_knows_stays_for_the_check() -> None:
    raw: dict[str, object] = {"fileDataset": {"url": "x"}, "interpret": {"unheardOf": 1}}
    assert upgrade(raw) == (raw, [])


@pytest.mark.parametrize("raw", [{"projectPath": 3}, {"actions": 3, "strategy": {}}, {"completeAllTokens": 3}])
def test_a_broken_old_config_is_reported_and_not_raised_over(raw: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(str(raw).replace("'", '"'), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.json: "):
        load(path)


def test_the_plugins_user_becomes_ours() -> None:
    raw: dict[str, object] = {
        "actions": {"strategy": {"emulateUser": True, "prefix": {"name": "SimplePrefix", "n": 1}}},
        "interpret": {"emulationSettings": {"firstPrefixLen": [0.25, 0.75], "selectElement": [[0.5, 0.6], [0.1]]}},
    }
    config, warnings = upgrade(raw)
    user = {"profile": "jetbrains", "index": "prefix", "firstPrefix": [0.25, 0.75], "select": [[0.5, 0.6], [0.1]]}
    assert config == {"actions": {"strategy": {}}, "interpret": {"userModel": user}}
    assert warnings == []
