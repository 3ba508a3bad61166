"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine", "jedy"], "did you mean 'jedi'?"),
        (["--engine", "jetbrains"], "it was removed, use `ci-eval import`"),
        (["--engine", "words@9"], "has no version '9'"),
        (["--language", "cobol"], "unknown language 'cobol'"),
        (["--completion-type", "alphabetic"], "did you mean 'ALPHABETICAL'?"),
        (["--completion-type", "SMART"], "use `ci-eval import`"),
        (["--set", "interpret.timeot=3"], "did you mean timeout?"),
        (["--set", "interpret.timeout=soon"], "interpret.timeout"),
        (["--project", "pipy:six==1.16.0"], "pypi"),
        (["--project", "path:/no/such/folder"], "no folder"),
        (["--project", "git:ext::sh -c id@main"], "git"),
        (["--project", "git:--upload-pack=id@main"], "git"),
        (["--set", "reports.defaultMetrics=[Recal]"], "unknown metric 'Recal'"),
        (["--resume"], "--output"),
        (["--output", "s3://bucket/night"], "is a URL: copy the workspace"),
        (["no-such-file.yaml"], "no-such-file.yaml"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_choice_exits_with_2_and_says_what_to_do(
    run: Run, project: Path, arguments: list[str], said: str
) -> None:
    given = arguments if "--project" in arguments else ["--project", f"path:{project}", *arguments]
    code, _, err = run("evaluate", *given)
    assert code == 2
    assert said in " ".join(err.split())


@pytest.mark.parametrize("key", ["engine.like=ty", "engine.languageId=python"])
def test_settings_of_a_command_are_taken_beside_it(run: Run, project: Path, tmp_path: Path, key: str) -> None:
    asked = ["actions", "--project", f"path:{project}", "--engine-command", "false", "--set", key]
    assert run(*asked, "--output", tmp_path / "a")[0] == 0
    assert key.partition("=")[2] in (tmp_path / "a" / "config.yaml").read_text()
    code, _, err = run("actions", "--project", f"path:{project}", "--set", key, "--output", tmp_path / "b")
    assert (code, "need a `command`" in " ".join(err.split())) == (2, True)
