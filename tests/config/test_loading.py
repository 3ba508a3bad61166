"""Files, overrides, options and environment become one configuration, or an error that says what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.config import Config, EngineConfig, InterpretConfig, load, patch
from ci_eval.config.text import parse_yaml
from ci_eval.errors import ConfigError
from ci_eval.model import Kind

Write = Callable[..., Path]
Refusal = Callable[..., str]


# ---------------------------------------------------------------------------------------------------------------- files


def test_no_file_means_the_defaults() -> None:
    loaded = load(None)
    assert loaded.config == Config()
    assert loaded.warnings == ()


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "actions:\ninterpret:\n", "{}"])
def test_an_empty_file_or_section_means_the_defaults(write: Write, content: str) -> None:
    assert load(write(content)).config == Config()


def test_a_yaml_file_becomes_a_configuration(write: Write) -> None:
    config = load(write("engine: {name: pyright}\ninterpret:\n  timeout: 2\n  sessionProbability: 5e-1\n")).config
    assert config.engine == EngineConfig(name="pyright")
    assert (config.interpret.timeout, config.interpret.session_probability) == (2.0, 0.5)


def test_json_may_be_indented_with_tabs(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{\n\t"interpret": {"sessionProbability": 1e-2}\n}', encoding="utf-8")
    assert load(path).config.interpret.session_probability == 0.01


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


def test_a_missing_file_says_what_to_do(tmp_path: Path, refusal: Refusal) -> None:
    assert "nowhere.yaml: there is no such file; give the path of" in refusal(tmp_path / "nowhere.yaml")


def test_a_folder_is_not_a_configuration(tmp_path: Path, refusal: Refusal) -> None:
    assert "cannot be read" in refusal(tmp_path)


def test_broken_yaml_names_line_and_column(write: Write, refusal: Refusal) -> None:
    assert "config.yaml: line 3, column 8: broken YAML" in refusal(write("language: python\nengine: [jedi\nproject: x"))


def test_broken_json_names_line_and_column(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "config.json"
    path.write_text('{\n  "language": "java"\n  "engine": "jedi"\n}', encoding="utf-8")
    assert "config.json: line 3, column 3: broken JSON" in refusal(path)


def test_another_encoding_is_named(write: Write, refusal: Refusal) -> None:
    assert "byte 11 is not UTF-8; save the file as UTF-8" in refusal(write("language: é".encode("latin-1")))


@pytest.mark.parametrize("content", ["- language", "language", "3"])
def test_the_file_must_be_a_mapping(write: Write, content: str, refusal: Refusal) -> None:
    assert "the whole content is" in refusal(write(content))


@pytest.mark.parametrize("content", ["seed: 1\nseed: 2\n", "interpret:\n  seed: 1\n  seed: 1\n"])
def test_a_repeated_yaml_key_is_refused(write: Write, content: str, refusal: Refusal) -> None:
    assert "`seed` stands here twice (first in line" in refusal(write(content))


def test_a_repeated_json_key_is_refused(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"language": "java", "language": "go"}', encoding="utf-8")
    assert "`language` stands twice" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
        "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60)),
        "a: &a [*a]",
        "[" * 20_000,
        "a: " + "[" * 60 + "]" * 60,
        "a: 2024-13-45",
        "a: !!bool maybe",
        "a: !!python/object:os.system x",
        "interpret: {seed: 0x" + "f" * 5_000 + "}",
        "a: \x00",
        "#" * 1_000_001,
    ],
    ids=["aliases", "merges", "cycle", "depth", "too deep", "date", "bool", "object", "number", "control", "size"],
)
def test_a_hostile_file_is_refused_at_once(write: Write, content: str, refusal: Refusal) -> None:
    assert "config.yaml: " in refusal(write(content))


def test_deep_json_is_refused(write: Write, refusal: Refusal) -> None:
    assert "nested too deeply" in refusal(write("[" * 300 + "]" * 300, "config.json"))


def test_an_alias_does_not_tie_two_places_together(write: Write) -> None:
    text = "actions: {strategy: {filters: &f {isStatic: true}}}\nreports: {sessionsFilters: [{name: x, filters: *f}]}"
    config = load(write(text), overrides=["actions.strategy.filters.isStatic=false"]).config
    assert config.actions.strategy.filters.is_static is False
    assert config.reports.sessions_filters[0].filters.is_static is True


@given(text=st.text() | st.text("[]{}:,-&*!<>|#'\"\n 0a?%@`~=.e"))
def test_any_text_is_a_value_or_a_config_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        parse_yaml(text, "text")


# ------------------------------------------------------------------------------------------------ overrides and options


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
        ("interpret.seed.x=1", "--set interpret.seed.x=1: `interpret.seed` is 4, it has no keys below it"),
        ("engine=jedi@", "--set engine=jedi@: `engine` is 'jedi@'"),
    ],
)
def test_a_wrong_override_is_quoted(write: Write, override: str, expected: str, refusal: Refusal) -> None:
    assert expected in refusal(write("interpret: {seed: 4}"), override)


def test_only_the_first_equals_sign_of_an_override_divides_it() -> None:
    assert load(None, overrides=["project=pypi:a==1"]).config.project.spec == "pypi:a==1"


def test_options_replace_what_they_name_and_nothing_else() -> None:
    config = Config(interpret=InterpretConfig(seed=5), engine=EngineConfig(version="1"))
    patched = patch(config, language="Java", engine="words@2", project="path:x", completion_type="ML", title="mine")
    assert patched.language == "java"
    assert patched.engine == EngineConfig(name="words", version="2")
    assert patched.interpret == InterpretConfig(seed=5, completion_type="ML")
    assert patched.reports.evaluation_title == "mine"
    assert patch(config) == config


@pytest.mark.parametrize("engine", ["", "jedi@"])
def test_options_are_checked_like_the_file(engine: str) -> None:
    with pytest.raises(ConfigError, match="command line: `engine`"):
        patch(Config(), engine=engine)


# ---------------------------------------------------------------------------------------------------------- environment


def test_variables_are_filled_in(write: Write) -> None:
    path = write("projectPath: ${ROOT}/x\noutputDir: ${OUT}\nreports: {evaluationTitle: '${N} of ${N} $${N}'}")
    config = load(path, environment={"ROOT": "/r", "OUT": "${ROOT}", "N": "1"}).config
    assert config.project.spec == "path:/r/x"
    assert config.output_dir == "${ROOT}"
    assert config.reports.evaluation_title == "1 of 1 ${N}"


def test_an_unknown_variable_is_named(write: Write, refusal: Refusal) -> None:
    message = refusal(write("outputDir: ${RESULTS}/x"))
    assert "`outputDir` asks for ${RESULTS}, but there is no environment variable of that name" in message
