"""What `--executor` names, and what it is refused for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.jobs.cluster import choosing
from ci_eval.jobs.cluster.choosing import Choice
from tests.command import command
from tests.projects import GREETER, write


def test_a_cluster_is_named_with_or_without_its_head() -> None:
    assert Choice.parse("local") is None
    assert Choice.parse("ray") == Choice("")
    assert Choice.parse("ray:10.0.0.5:6379") == Choice("10.0.0.5:6379")


@pytest.mark.parametrize("text", ["slurm", "ray:", "Ray", "", "local:1"])
def test_anything_else_is_refused_with_what_there_is(text: str, tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    code, _, err = command("evaluate", "--project", f"path:{project}", "--executor", text, "--output", tmp_path / "o")
    assert code == 2
    assert "known are local, ray and ray:HOST:PORT" in " ".join(err.split())


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("interpret.saveLogs=true", "writes logs on this machine"),
        ("dataset=records.jsonl", "records of a `dataset`"),
        ("engine={endpoint: http://127.0.0.1:1, model: m}", "store of answers"),
        ("judge={endpoint: http://127.0.0.1:1, model: m}", "store of answers of a `judge`"),
    ],
)
def test_what_is_only_on_this_machine_is_refused(override: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        Choice("").check(load(None, overrides=[override]).config)


def test_where_ray_is_missing_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError("No module named 'ray'")

    monkeypatch.setattr(choosing, "import_module", missing)
    with pytest.raises(ConfigError, match=r"extra `ray` .*pip install '\.\[ray\]' in a checkout"):
        Choice("").check(load(None).config)
