"""JDT for real: what it is asked and how its proposals become a list, as Eclipse's language server has it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ci_eval.core import machine
from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.contracts import Query, Running, Surroundings
from ci_eval.plugins.engines.compilers import ENGINES
from tests.needs import need_engine

JDT = ENGINES["jdt"]

FILES = {
    "main/a/Other.java": "package a;\n\npublic class Other { public int onDisk; }\n",
    "main/a/Base.java": "package a;\n\npublic abstract class Base { protected abstract void over(); }\n",
    "main/module-info.java": "module nobody { requires unknown; }\n",
    "main/generated/a/Made.java": "package a;\n\npublic class Made { public int made; }\n",
    "test/a/Tested.java": "package a;\n\nclass Tested { int tested; }\n",
    "test/a/Latin.java": "package a;\n\nclass Latin { int latin; } // \xe9\n",
}
HEAD = "package a;\n\nimport java.util.*;\nimport static java.util.Collections.emptyList;\n\n"

pytestmark = [pytest.mark.engine, pytest.mark.registry]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    need_engine(JDT)  # type: ignore[arg-type]
    folder = tmp_path_factory.mktemp("jdt")
    for path, text in FILES.items():
        (folder / "project" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / path).write_bytes(text.encode("latin-1"))
    library(folder / "environment" / "jars" / "lib.jar", folder / "classes")
    cache = machine.cache_folder()
    surroundings = Surroundings(
        root=folder / "project",
        language="java",
        keywords=frozenset(),
        cache=cache,
        timeout=60,
        memory=4 * 10**9,
        environment=folder / "environment",
    )
    started = JDT.start(JDT.install(None, cache), surroundings)
    yield started
    started.close()


def library(jar: Path, folder: Path) -> None:
    """A jar with one class."""
    folder.mkdir()
    (folder / "Needed.java").write_text("package lib;\n\npublic class Needed { public int inJar; }\n")
    subprocess.run(["javac", "-d", str(folder / "made"), str(folder / "Needed.java")], check=True)
    jar.parent.mkdir(parents=True)
    Path(shutil.make_archive(str(jar.with_suffix("")), "zip", folder / "made")).rename(jar)


def names(running: Running, marked: str, path: str = "main/a/C.java") -> list[str]:
    offset = marked.index("|")
    running.open(path, marked.replace("|", ""))
    return [found.text for found in running.complete(Query(offset=offset, prefix="", expected="")).suggestions]


def in_method(line: str, *, head: str = HEAD) -> str:
    return f"{head}class C {{\n    int field;\n    void method(int local) {{\n        {line}\n    }}\n}}\n"


def test_of_equal_relevance_locals_come_before_fields_before_methods(running: Running) -> None:
    found = names(running, in_method("int x = |;"))
    assert found.index("local") < found.index("field") < found.index("hashCode")


def test_proposals_that_only_show_which_arguments_a_call_takes_are_left_out(running: Running) -> None:
    found = names(running, in_method('"".substring(|, 1);'))
    assert "local" in found
    assert all(name.isidentifier() for name in found)


def test_of_a_name_with_its_package_what_is_not_typed_yet_is_suggested(running: Running) -> None:
    assert {"List", "concurrent"} <= set(names(running, "package a;\n\nimport java.util.|;\n\nclass C { }\n"))


def test_types_of_packages_that_the_server_hides_are_shown_where_one_is_imported(running: Running) -> None:
    assert "Frame" not in names(running, in_method("Fram|"))
    assert "Frame" in names(running, in_method("Fram|", head="package a;\n\nimport java.awt.Button;\n\n"))


def test_members_of_a_class_that_is_imported_from_statically_are_suggested_bare(running: Running) -> None:
    assert "nCopies" in names(running, in_method("Object x = nCop|;"))
    assert "nCopies" not in names(running, in_method("Object x = nCop|;", head="package a;\n\n"))


def test_what_overrides_a_method_begins_with_its_annotation(running: Running) -> None:
    found = names(running, "package a;\n\nclass C extends Base {\n    |\n}\n")
    assert "@Override" in found
    assert "over" not in found


def test_a_constructor_is_suggested_by_the_name_of_its_class(running: Running) -> None:
    assert names(running, in_method("Object x = new ArrayDeq|;")).count("ArrayDeque") == 1


@pytest.mark.parametrize(
    ("declared", "member"),
    [
        ("Other x", "onDisk"),
        ("Made x", "made"),
        ("Tested x", "tested"),
        ("Latin x", "latin"),
        ("lib.Needed x", "inJar"),
        ("javax.swing.JFrame x", "setDefaultCloseOperation"),
    ],
)
def test_members_are_found_wherever_the_class_is(running: Running, declared: str, member: str) -> None:
    assert member in names(running, f"package a;\n\nclass C {{ void f({declared}) {{ x.| }} }}\n", "test/a/C.java")


@pytest.mark.parametrize("path", ["elsewhere/C.java", "C.java"])
def test_a_file_outside_the_packages_is_completed_too(running: Running, path: str) -> None:
    assert "length" in names(running, 'class C { int x = "".|; }\n', path)


def test_what_is_edited_in_one_file_is_forgotten_when_another_is_opened(running: Running) -> None:
    asked = "package a;\n\nclass C { void f(Other other) { other.| } }\n"
    before = names(running, asked)
    assert "edited" in names(
        running, "package a;\n\npublic class Other { int edited; { this.| } }\n", "main/a/Other.java"
    )
    assert names(running, asked) == before


def test_the_same_file_is_seen_as_it_stands_now(running: Running) -> None:
    text = "package a;\n\nclass C {{ void f(Inner inner) {{ inner.| }} static class Inner {{ int {}; }} }}\n"
    assert "first" in names(running, text.format("first"))
    again = names(running, text.format("second"))
    assert "second" in again
    assert "first" not in again


def test_after_a_question_that_is_too_deep_it_answers_as_before(running: Running) -> None:
    before = names(running, in_method("this.|"))
    with suppress(EngineFailure):
        names(running, in_method("int x = " + "(" * 20_000 + "local.|;"))
    assert names(running, in_method("this.|")) == before


@pytest.mark.parametrize("line", ["import a.|;", "import static a.|.onDisk;"])
def test_a_file_does_not_import_from_itself(running: Running, line: str) -> None:
    """As with Eclipse's server, which edits the primary working copy."""
    found = names(
        running, f"package a;\n\n{line}\n\npublic class Other {{ public static int onDisk; }}\n", "main/a/Other.java"
    )
    assert "Base" in found
    assert "Other" not in found
