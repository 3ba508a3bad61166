"""How other files stand in what a model is asked; `test_prompts.py` has the hole."""

from __future__ import annotations

from typing import Any

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.core.model.settings import EndpointConfig, WindowConfig
from ci_eval.plugins.adapters.endpoints.apis import CATALOG
from ci_eval.plugins.adapters.endpoints.engine import make_endpoint_engine
from ci_eval.plugins.adapters.endpoints.messages import FAMILIES, OtherFile, Prompt, find_template

FILES = (OtherFile(path="a/b.py", text="x = 1\n"), OtherFile(path="c.py", text="y"))
HOLE = Prompt(prefix="P", suffix="S", path="d.py", files=FILES)
CODESTRAL = "+++++ a/b.py\nx = 1\n\n\n+++++ c.py\ny\n\n+++++ d.py\nP"


def asked(api: str, **given: Any) -> dict[str, Any]:
    return CATALOG.load(api).body(HOLE, EndpointConfig(model="m", api=api, **given))


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        (
            "qwen",
            "<|repo_name|>project\n<|file_sep|>a/b.py\nx = 1\n\n<|file_sep|>c.py\ny\n<|file_sep|>d.py\n"
            "<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>",
        ),
        ("starcoder", "<file_sep>x = 1\n<file_sep>y<file_sep><fim_prefix>P<fim_suffix>S<fim_middle>"),
        ("codestral", f"[SUFFIX]S[PREFIX]{CODESTRAL}"),
    ],
)
def test_a_family_has_marks_for_other_files(template: str, prompt: str) -> None:
    assert asked("completions", template=template)["prompt"] == prompt


def test_a_template_of_your_own_says_where_they_stand() -> None:
    given = {"template": "{files}<P>{prefix}<S>{suffix}<M>", "file_heading": "<F {path}>\n"}
    assert asked("completions", **given)["prompt"] == "<F a/b.py>\nx = 1\n\n<F c.py>\ny\n<F d.py>\n<P>P<S>S<M>"


def test_endpoints_that_fill_holes_get_them_in_their_way() -> None:
    assert (asked("fim")["prompt"], asked("fim")["suffix"]) == (CODESTRAL, "S")
    extra = [{"filename": "a/b.py", "text": "x = 1\n"}, {"filename": "c.py", "text": "y"}]
    assert asked("infill")["input_extra"] == extra


@pytest.mark.parametrize("family", FAMILIES)
def test_where_none_is_shown_nothing_is_said_of_files(family: str) -> None:
    filled = find_template(family).filled("P", "S")
    assert "file" not in filled.replace("fim", "")
    assert "repo" not in filled


@pytest.mark.parametrize(
    "given",
    [
        {"api": "chat"},
        {"api": "ollama"},
        {"api": "completions", "template": "suffix"},
        {"api": "completions", "template": "deepseek"},
        {"api": "completions", "template": "<P>{prefix}<S>{suffix}"},
    ],
    ids=["chat", "ollama", "suffix", "a family without marks", "a template without a place"],
)
def test_where_other_files_have_no_place_they_are_refused(given: dict[str, Any]) -> None:
    settings = EndpointConfig(endpoint="https://h", model="m", window=WindowConfig(other_files=0.5), **given)
    with pytest.raises(ConfigError, match=r"otherFiles` is set, but .*\{files\} and `engine\.fileHeading"):
        make_endpoint_engine(settings, None, holes=True)


@pytest.mark.parametrize(("template", "heading"), [("{files}{prefix}{suffix}", None), ("{prefix}{suffix}", "# {path}")])
def test_a_place_for_files_and_their_heading_go_together(template: str, heading: str | None) -> None:
    with pytest.raises(ConfigError, match="go together"):
        find_template(template, heading)


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ('{"fileHeading": "x"}', r"`engine\.fileHeading` needs a `engine\.template`"),
        ('{"window": {"charactersPerToken": 3}}', "needs both `tokens` and `charactersPerToken`"),
        ('{"window": {"tokens": 100}}', "needs both `tokens` and `charactersPerToken`"),
        ('{"window": {"tokens": 0}}', "tokens"),
        ('{"window": {"otherFiles": 1.5}}', "otherFiles"),
    ],
)
def test_keys_that_say_nothing_alone_are_refused(engine: str, said: str) -> None:
    given = engine.replace("{", '{"endpoint": "https://h", "model": "m", ', 1)
    with pytest.raises(ConfigError, match=said):
        load(None, overrides=[f"engine={given}"])
