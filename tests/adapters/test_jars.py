"""Jars of artifacts, with all they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import InstallError
from ci_eval.plugins.adapters import jars


@pytest.mark.needs("mvn", "java")
@pytest.mark.registry
def test_an_artifact_comes_with_all_it_needs_or_only_that(tmp_path: Path) -> None:
    whole, needed = tmp_path / "whole", tmp_path / "needed"
    whole.mkdir()
    needed.mkdir()
    assert jars.resolve("org.jetbrains.kotlin:kotlin-stdlib:2.2.20", whole) == {
        "org.jetbrains.kotlin:kotlin-stdlib": "2.2.20",
        "org.jetbrains:annotations": "13.0",
    }
    assert jars.resolve("org.jetbrains.kotlin:kotlin-stdlib:2.2.20", needed, itself=False) == {
        "org.jetbrains:annotations": "13.0"
    }
    assert [path.name for path in jars.list_jars(needed)] == ["annotations-13.0.jar"]


@pytest.mark.needs("mvn", "java")
@pytest.mark.registry
def test_what_has_the_artifact_s_name_in_another_group_stays(tmp_path: Path) -> None:
    others = ("com.google.code.findbugs:annotations:2.0.1",)
    assert jars.resolve("org.jetbrains:annotations:13.0", tmp_path, others=others, itself=False) == {
        "com.google.code.findbugs:annotations": "2.0.1"
    }
    assert [path.name for path in jars.list_jars(tmp_path)] == ["annotations-2.0.1.jar"]


@pytest.mark.needs("mvn", "java")
@pytest.mark.registry
def test_an_artifact_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"Check group, name and version\."):
        jars.resolve("org.jetbrains.kotlin:kotlin-stdlib:0.0.99", tmp_path)
