"""A dossier is read again only if it is current; otherwise the engine is observed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines import dossiers
from tests.engines.dossiers import PACKAGE, Dossier, doubt, path_of, read_or_observe, sources_of

Ask = Callable[..., int]


@pytest.fixture
def observations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask for a dossier; the number of observations so far."""
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path))
    monkeypatch.setattr(dossiers, "digest_of", lambda name, language: "digest")
    count = 0

    def observe(name: str, language: str) -> Dossier:
        nonlocal count
        count += 1
        return Dossier(digest="", run="")

    def ask(name: str = "ty", run: str = "1", *, everything: bool = False) -> int:
        read_or_observe(name, "python", run, observe, everything=everything)
        return count

    return ask


def test_an_engine_is_observed_once(observations: Ask) -> None:
    assert [observations(), observations(), observations(run="2")] == [1, 1, 1]


def test_a_change_of_what_it_depends_on_has_it_observed_again(
    observations: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    observations()
    monkeypatch.setattr(dossiers, "digest_of", lambda name, language: "another")
    assert observations(run="2") == 2


def test_a_sentinel_is_observed_once_in_every_run(observations: Ask) -> None:
    assert [observations("jedi", run) for run in ("1", "1", "2", "2")] == [1, 1, 2, 2]


def test_all_engines_can_be_observed_again(observations: Ask) -> None:
    observations()
    assert [observations(run="2", everything=True), observations(run="2", everything=True)] == [2, 2]


def test_a_dossier_over_which_a_test_failed_is_not_read_by_the_next_run(observations: Ask) -> None:
    observations()
    doubt("ty", "python")
    assert [observations(), observations(run="2"), observations(run="3")] == [1, 2, 2]


def test_a_damaged_dossier_is_replaced(observations: Ask) -> None:
    observations()
    path_of("ty", "python").write_bytes(b'{"digest"')
    assert observations() == 2


def test_a_failure_is_told_to_the_other_tests_of_the_run_and_tried_again_by_the_next(
    observations: Ask,
) -> None:
    def fail(name: str, language: str) -> Dossier:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        read_or_observe("ty", "python", "1", fail, everything=False)
    again = read_or_observe("ty", "python", "1", fail, everything=False)
    assert again.failure == "OSError: no room"
    assert observations(run="2") == 1


@pytest.mark.parametrize(
    "module",
    [
        "plugins/engines/python_servers.py",
        "plugins/adapters/lsp/client.py",
        "plugins/adapters/process.py",
        "plugins/adapters/recipes.py",
        "plugins/adapters/environments.py",
        "plugins/drivers/confine/landlock.py",
        "plugins/drivers/jedi_driver.py",
        "core/interpret/clients/vscode.py",
    ],
)
def test_what_an_engine_depends_on_is_in_its_digest(module: str) -> None:
    assert PACKAGE / module in sources_of("ty", "python")


def test_the_tests_that_observe_are_in_its_digest() -> None:
    names = {path.name for path in sources_of("ty", "python")}
    assert {"dossiers.py", "looking.py", "observing.py", "ordering.py", "trap.py", "python.yaml"} <= names


def test_another_engine_and_the_reports_are_not_in_its_digest() -> None:
    parts = {path.relative_to(PACKAGE).as_posix() for path in sources_of("ty", "python") if PACKAGE in path.parents}
    assert not parts & {"plugins/engines/servers.py", "plugins/reports/html/__init__.py", "core/report/__init__.py"}
    assert len(parts) < 150


def test_the_digest_changes_with_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "adapter.py"
    monkeypatch.setattr(dossiers, "sources_of", lambda name, language: (file,))
    monkeypatch.setattr(dossiers, "PACKAGE", tmp_path / "ci_eval")
    file.write_text("a")
    first = dossiers.digest_of("ty", "python")
    file.write_text("b")
    assert first != dossiers.digest_of("ty", "python")
    file.write_text('"""What b is."""\n\nb  # the second letter\n')
    third = dossiers.digest_of("ty", "python")
    file.write_text("b")
    assert third == dossiers.digest_of("ty", "python"), "words alone change no observation"
