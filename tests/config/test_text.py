"""The text of a configuration: what YAML and JSON may hold, and what is refused."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.core.config.text import parse_yaml
from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.config.conftest import Refusal, Write
from tests.filtering import VALUES, draw_expressions, measure, passes


def test_json_may_be_indented_with_tabs(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{\n\t"interpret": {"sessionProbability": 1e-2}\n}', encoding="utf-8")
    assert load(path).config.interpret.session_probability == 0.01


def test_a_missing_file_says_what_to_do(tmp_path: Path, refusal: Refusal) -> None:
    assert "nowhere.yaml: there is no such file; give the path of" in refusal(tmp_path / "nowhere.yaml")


def test_a_folder_is_not_a_configuration(tmp_path: Path, refusal: Refusal) -> None:
    assert f"did you mean --project path:{tmp_path}?" in refusal(tmp_path)


def test_broken_yaml_names_line_and_column(write: Write, refusal: Refusal) -> None:
    assert "config.yaml: line 3, column 8: broken YAML" in refusal(write("language: python\nengine: [jedi\nproject: x"))


def test_broken_json_names_line_and_column(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "config.json"
    path.write_text('{\n  "language": "java"\n  "engine": "jedi"\n}', encoding="utf-8")
    assert "config.json: line 3, column 3: broken JSON" in refusal(path)


def test_json_may_hold_comments_and_texts_that_look_like_some(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"language": "python", // one of many\n/* more */ "outputDir": "a//b /* c */"\n}', "utf-8")
    assert load(path).config.output_dir == "a//b /* c */"
    path.write_text('{ /* two\nlines */ "language" "java"}', encoding="utf-8")
    assert "config.json: line 2, column 21: broken JSON" in refusal(path)


def test_another_encoding_is_named(write: Write, refusal: Refusal) -> None:
    assert "byte 11 is not UTF-8; save the file as UTF-8" in refusal(write("language: é".encode("latin-1")))


@pytest.mark.parametrize("content", ["- language", "language", "3"])
def test_the_file_must_be_a_mapping(write: Write, content: str, refusal: Refusal) -> None:
    assert "the whole content is" in refusal(write(content))


@pytest.mark.parametrize("content", ["seed: 1\nseed: 2\n", "interpret:\n  seed: 1\n  seed: 1\n"])
def test_a_repeated_yaml_key_is_refused(write: Write, content: str, refusal: Refusal) -> None:
    assert "`seed` occurs twice (first in line" in refusal(write(content))


def test_a_repeated_json_key_is_refused(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"language": "java", "language": "go"}', encoding="utf-8")
    assert "`language` occurs twice" in refusal(path)


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


def restrict(workspace: Path, copy: Path, conditions: dict[str, str]) -> int:
    """Make a copy in which only sessions that pass were ever asked; return their number."""
    copied = Workspace.open(Path(shutil.copytree(workspace, copy)))
    statuses: Counter[str] = Counter()
    for source in list(copied.sources()):
        pack = Pack(source)
        sessions = [each for each in copied.decode_sessions(source.path, Session) if passes(each, conditions)]
        for session in sessions:
            pack.add(session)
            statuses[session.status.value] += 1
        copied.drop_sessions(source.path)
        if sessions:
            copied.write_sessions(source.path, pack.close())
    asked = statuses.total()
    manifest = replace(copied.manifest(), generated=asked, planned=asked, finished=asked, statuses=dict(statuses))
    copied.write_manifest(manifest)
    copied.seal()
    return asked


def figures(workspace: Path, name: str) -> dict[str, Any]:
    (evaluation,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    return dict(evaluation["filters"][name])


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(VALUES))
def test_a_filter_has_the_figures_of_a_run_restricted_to_it(task: str, tmp_path: Path) -> None:
    workspace, expressions = measure(task, tmp_path), draw_expressions(task)
    assert command("report", workspace, *(part for line in expressions for part in ("--filter", line)))[0] == 0
    sizes = set()
    for number, (expression, conditions) in enumerate(expressions.items()):
        filtered = figures(workspace, expression)
        asked = restrict(workspace, tmp_path / f"{number}", conditions)
        assert filtered["sessions"] == asked, expression
        sizes.add(asked)
        if asked:
            code, _, err = command("report", tmp_path / f"{number}", "--set", "reports.headline=all")
            assert code == 0, err
            restricted = figures(tmp_path / f"{number}", "ALL")["metrics"]
            for name, figure in filtered["metrics"].items():
                assert figure == restricted[name], (expression, name)
    assert len(sizes) > 2
