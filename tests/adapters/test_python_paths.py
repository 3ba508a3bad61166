"""Search paths of Python, which are read and not asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from ci_eval.core.contracts import Surroundings
from ci_eval.plugins.adapters.place import Place, variables
from ci_eval.plugins.adapters.python_paths import (
    JediServer,
    answering_python,
    package_paths,
    read_pth_folders,
    standard_paths,
)
from ci_eval.plugins.engines.jedi import _find_own_jedi
from tests.engines.hostile.trap import Trap

PATHS = "import sys, json; json.dump(dict(path=sys.path, prefix=sys.prefix), sys.stdout)"
VERSION = "import sys, json; json.dump(tuple(sys.version_info), sys.stdout)"
"""What pyright asks an interpreter, in short."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder for packages, in an environment whose path a shell would misread."""
    folder = tmp_path / "it's $HOME `id` \\n é" / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    return folder


def answer(environment: Path | None, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    surroundings = Surroundings(
        root=tmp_path, language="python", keywords=frozenset(), cache=tmp_path, timeout=1, memory=0,
        environment=environment,
    )  # fmt: skip
    place = Place.new(tmp_path, surroundings)
    try:
        command = [str(answering_python(place)), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})
    finally:
        place.remove()


def test_the_standard_library_is_that_of_this_python() -> None:
    command = [sys.executable, "-I", "-S", "-c", "import sys, json; print(json.dumps(sys.path))"]
    there = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert standard_paths() == [path for path in there if Path(path).is_dir()]


def test_packages_are_where_python_would_find_them(site: Path) -> None:
    for name in ("first", "second"):
        (site / name).mkdir()
    (site / "b.pth").write_text("second\nimport os; os.abort()\nnowhere\n")
    (site / "a.pth").write_text("first\nsecond\n")
    environment = site.parents[2]
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        "import site, sys; site.addsitedir(sys.argv[1]); print(sys.path)",
        str(site),
    ]
    (site / "b.pth").write_text("second\nnowhere\n")
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert str(package_paths(environment))[1:-1] in there
    assert package_paths(environment) == [str(site), str(site / "first"), str(site / "second")]
    assert package_paths(None) == []


@pytest.mark.parametrize(
    "line",
    [
        b"import os",
        b"import\tos",
        b"\xef\xbb\xbfimport os",
        b"x\x0cimport os",
        b"# inside",
        b"..",
        b".",
        b"",
        b"/usr",
        b"../../../..",
        b"out",
        b"loop",
        b"file",
        b"\x00",
        b"\xff",
        b"a" * 5000,
    ],
)
def test_a_line_that_names_no_folder_within_is_left_out(site: Path, line: bytes) -> None:
    (site / "inside").mkdir()
    (site / "file").touch()
    (site / "out").symlink_to("/usr")
    (site / "loop").symlink_to("loop")
    (site / "x.pth").write_bytes(line + b"\ninside  \n")
    assert read_pth_folders(site / "x.pth", site) == ([] if line == b"\xff" else ["inside"])


def test_a_file_of_paths_that_cannot_be_read_names_nothing(site: Path) -> None:
    (site / "x.pth").mkdir()
    (site / "y.pth").symlink_to("nowhere")
    assert package_paths(site.parents[2]) == [str(site)]


def test_the_program_in_pythons_place_answers_as_python_would(site: Path, tmp_path: Path) -> None:
    environment = site.parents[2]
    paths = json.loads(answer(environment, tmp_path, "-c", PATHS).stdout)
    assert paths == {"path": [*standard_paths(), str(site)], "prefix": str(environment)}
    assert json.loads(answer(None, tmp_path, "-c", PATHS).stdout)["path"] == standard_paths()
    version = json.loads(answer(environment, tmp_path, "-I", "-c", VERSION).stdout)
    assert version == list(sys.version_info)


@pytest.mark.parametrize("arguments", [[], ["--version"], ["-c", "print(1)"], ["-B", "-I", "script.py"]])
def test_the_program_in_pythons_place_runs_nothing(tmp_path: Path, arguments: list[str]) -> None:
    done = answer(None, tmp_path, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


COMPLETES = """
import json, jedi
environment = jedi.get_default_environment()
script = jedi.Script("import fine\\nimport nested\\nimport math\\nfine.", project=jedi.Project({root!r}))
names = [completion.name for completion in script.complete(4, 5)]
names += [completion.name for completion in script.goto(2, 8)]
natives = jedi.Script("import native\\nnative.", project=jedi.Project({root!r})).complete(2, 7)
compiled = jedi.Script("import math\\nmath.flo", project=jedi.Project({root!r})).complete(2, 8)
print(json.dumps([environment.get_sys_path(), names, len(natives), [found.name for found in compiled]]))
"""


def test_packages_are_found_and_nothing_of_them_runs(tmp_path: Path) -> None:
    trap = Trap.below(tmp_path)
    environment = tmp_path / "environment"
    site = environment / "lib" / "python3.11" / "site-packages"
    packages = Trap(site, trap.canary)
    packages.python("sitecustomize.py", "usercustomize.py", "started.py", "folder/nested.py", "math.py", "site.py")
    packages.write("fine.py", "def seen(): ...\n")
    packages.write("x.pth", "import started\nfolder\n")
    packages.native(f"native{EXTENSION_SUFFIXES[0]}")
    packages.program("../../../bin/python", "../../../bin/python3")
    surroundings = Surroundings(
        root=trap.root, language="python", keywords=frozenset(), cache=tmp_path, timeout=1, memory=0,
        environment=environment,
    )  # fmt: skip
    place = Place.new(_find_own_jedi(), surroundings)
    place.renew()
    try:
        command = JediServer(f"exec({COMPLETES.format(root=str(trap.root))!r})")(place)
        done = subprocess.run(
            command, cwd=place.scratch, env=variables(place), capture_output=True, text=True, check=False
        )
    finally:
        place.remove()
    assert done.stderr == ""
    paths, names, natives, compiled = json.loads(done.stdout)
    assert paths[-2:] == [str(site), str(site / "folder")]
    assert not [path for path in paths[:-2] if "site-packages" in path or "dist-packages" in path]
    assert "seen" in names
    assert "nested" in names
    assert natives == 0, "a compiled module of a package is not imported"
    assert compiled == ["floor"]
    assert trap.sprung() == []
