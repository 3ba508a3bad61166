"""jedi for real: the embedded one, and two releases from the registry."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ci_eval.core import machine
from ci_eval.core.base.errors import ConfigError, EngineMisbehaved, InstallError
from ci_eval.core.contracts import Query, Running, Surroundings
from ci_eval.plugins.adapters.process import LineProcess
from ci_eval.plugins.engines.jedi import ENGINE
from tests.projects import GREETER, ask, generate, sessions, setup, write

pytestmark = pytest.mark.engine


def surroundings(root: Path) -> Surroundings:
    cache = machine.cache_folder()
    return Surroundings(root=root, language="python", keywords=frozenset(), cache=cache, timeout=20, memory=4 * 10**9)


@pytest.fixture
def jedi(tmp_path: Path) -> Iterator[Running]:
    write(
        tmp_path,
        other__py="class Known:\n    member = 1\n",
        evil__py=f"open({str(tmp_path / 'executed')!r}, 'w')\nx = 1\n",
    )
    running = ENGINE.start(ENGINE.install(None, tmp_path), surroundings(tmp_path))
    yield running
    running.close()


def texts(running: Running, text: str, path: str = "a.py") -> list[str]:
    running.open(path, text)
    answer = running.complete(Query(offset=len(text), prefix="", expected=""))
    return [found.text for found in answer.suggestions]


def test_members_of_the_standard_library_are_suggested(jedi: Running) -> None:
    assert "path" in texts(jedi, "import os\nos.")


def test_other_files_of_the_project_are_seen(jedi: Running) -> None:
    assert texts(jedi, "import other\nother.Known.")[0] == "member"


def test_a_package_in_src_is_seen(tmp_path: Path) -> None:
    write(tmp_path, **{"src/shop.py": "price = 1\n"})
    running = ENGINE.start(ENGINE.install(None, tmp_path), surroundings(tmp_path))
    try:
        assert "price" in texts(running, "import shop\nshop.")
    finally:
        running.close()


def test_the_folders_that_are_given_are_looked_into(tmp_path: Path) -> None:
    write(tmp_path, **{"src/shop.py": "price = 1\n", "lib/store.py": "cost = 1\n"})
    around = msgspec.structs.replace(surroundings(tmp_path), sources=(tmp_path / "lib",))
    running = ENGINE.start(ENGINE.install(None, tmp_path), around)
    try:
        assert "cost" in texts(running, "import store\nstore.")
        assert "price" not in texts(running, "import shop\nshop.")
    finally:
        running.close()


def test_nothing_of_the_project_is_executed(jedi: Running, tmp_path: Path) -> None:
    assert "x" in texts(jedi, "import evil\nevil.")
    assert not (tmp_path / "executed").exists()


def test_what_is_installed_beside_ci_eval_is_not_seen(jedi: Running) -> None:
    assert texts(jedi, "import msgspec\nmsgspec.") == []


def test_keyword_arguments_come_without_their_sign(jedi: Running) -> None:
    assert "first" in texts(jedi, "def f(first): ...\nf(")


def test_edits_are_applied_in_order(jedi: Running) -> None:
    jedi.open("a.py", "import sys\nsys.")
    jedi.edit([(7, 3, "os"), (9, 0, "\n"), (len("import os\n\nsys"), 0, "tem"), (11, 6, "os")])
    assert "sep" in [s.text for s in jedi.complete(Query(offset=14, prefix="", expected="")).suggestions]


def test_a_file_is_seen_by_others_as_it_is_on_disk_once_it_is_closed(jedi: Running) -> None:
    texts(jedi, "class Known:\n    edited = 1\nKnown.", "other.py")
    assert texts(jedi, "import other\nother.Known.")[0] == "member"


@pytest.mark.slow
def test_a_file_replaced_by_an_older_one_is_read_anew(tmp_path: Path) -> None:
    write(tmp_path, lib__py="old_name = 1\n")
    for name, age in (("old_name", 2_000_000_000), ("new_name", 1_000_000_000)):
        (tmp_path / "lib.py").write_text(f"{name} = 1\n")
        os.utime(tmp_path / "lib.py", (age, age))
        running = ENGINE.start(ENGINE.install(None, tmp_path), surroundings(tmp_path))
        assert texts(running, "import lib\nlib.")[0] == name
        running.close()


def test_jedi_answers_again_after_a_restart(jedi: Running) -> None:
    jedi.restart()
    assert "path" in texts(jedi, "import os\nos.")


# jedi 0.18 imports modules in a way that Python 3.12 took away.
RELEASES = ("0.18.2", "0.19.2") if sys.version_info < (3, 12) else ("0.19.1", "0.19.2")


@pytest.mark.registry
def test_two_releases_are_evaluated_on_the_same_actions(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    answered = []
    for version in RELEASES:
        installation = ENGINE.install(version, machine.cache_folder())
        assert installation.info.packages["jedi"] == version
        workspace = generate(root, tmp_path / version)
        assert ask(workspace, setup(ENGINE, root, installation=installation, timeout=30)).failed == 0
        answered.append([session.id for session in sessions(workspace)])
    assert answered[0] == answered[1]


@pytest.mark.registry
def test_a_release_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"jedi==0\.0\.999"):
        ENGINE.install("0.0.999", tmp_path)


def test_a_version_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        ENGINE.install("--upgrade", tmp_path)


def test_an_answer_that_is_nested_too_deeply_is_misbehaviour(jedi: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = b'{"more": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"
    monkeypatch.setattr(LineProcess, "ask", lambda *_: deep)
    with pytest.raises(EngineMisbehaved, match="driver answered"):
        texts(jedi, "import os\nos.")
