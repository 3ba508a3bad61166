"""What a project needs, from the registries; nothing of it is run."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.catalogs import languages
from ci_eval.core.model import ProjectInfo
from ci_eval.plugins.adapters.environments import ENVIRONMENTS, NOT_INSTALLED, _forget_start_up, find_remedies, prepare
from tests.projects import write

INFO = ProjectInfo(spec="path:x", name="x", revision="1", checksum="c" * 64)


def packages(kind: str, root: Path, cache: Path, *, dependencies: bool = True) -> dict[str, str]:
    made = prepare(kind, root, INFO, dependencies=dependencies, cache=cache)
    assert made is not None
    return made.packages


def test_without_dependencies_python_gets_an_empty_environment(tmp_path: Path) -> None:
    made = prepare("python", write(tmp_path / "p"), INFO, dependencies=False, cache=tmp_path)
    assert made is not None
    assert made.packages == {}
    assert (made.folder / "pyvenv.cfg").exists()
    assert not (made.folder / "bin").exists(), "nobody can start an interpreter that is not there"
    assert prepare("", tmp_path, INFO, dependencies=True, cache=tmp_path) is None


@pytest.mark.parametrize("name", languages.names())
def test_what_a_language_names_there_is(name: str) -> None:
    assert languages.CATALOG.load(name).dependencies in {*NOT_INSTALLED, *ENVIRONMENTS}


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json"])
def test_a_broken_manifest_is_named(tmp_path: Path, name: str) -> None:
    root = write(tmp_path / "p", **{name.replace(".", "__"): "{["})
    kind = "python" if name.endswith("toml") else "node"
    with pytest.raises(PreparationError, match=name):
        packages(kind, root, tmp_path)


@pytest.mark.parametrize(
    "line",
    [b"import os", b"\xef\xbb\xbfimport os", b"x\x0cimport os", b"evil", b"../../../../outside", b"evil.zip", b"\xff"],
)
def test_nothing_of_a_package_would_run_when_a_python_starts_with_it(tmp_path: Path, line: bytes) -> None:
    made = prepare("python", write(tmp_path / "p"), INFO, dependencies=False, cache=tmp_path)
    assert made is not None
    (site,) = made.folder.glob("lib/python*/site-packages")
    code = "import pathlib; pathlib.Path(__file__).parent.joinpath('ran').touch()\n"
    for folder in (site, site / "evil", made.folder.parents[0] / "outside", site / "fine"):
        write(folder, sitecustomize__py=code, usercustomize__py=code)
    with zipfile.ZipFile(site / "evil.zip", "w") as archive:
        archive.writestr("sitecustomize.py", "raise SystemExit(3)")
    (site / "zz.pth").write_bytes(b"fine\n" + line + b"\n")
    _forget_start_up(site)
    # What `site` does when Python starts (Lib/site.py, `main`).
    start = "import site, sys; site.addsitedir(sys.argv[1]); site.execsitecustomize(); site.execusercustomize()"
    command = [sys.executable, "-I", "-S", "-c", f"{start}; print(sys.path)", str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("ran"))
    assert line == b"\xff" or str(site / "fine") in done.stdout, "folders within are still searched"


@pytest.mark.registry
@pytest.mark.parametrize(
    "files",
    [
        {"requirements__txt": "# needs\nsix==1.16.0  # old\n--index-url x\n"},
        {"pyproject__toml": '[project]\nname = "x"\ndependencies = ["six==1.16.0"]\n'},
        {"x-1__dist-info/METADATA": 'Name: x\nRequires-Dist: six==1.16.0\nRequires-Dist: y ; extra == "y"\n\nText\n'},
    ],
    ids=lambda files: next(iter(files)),
)
def test_the_requirements_of_a_python_project_are_installed(tmp_path: Path, files: dict[str, str]) -> None:
    assert packages("python", write(tmp_path / "p", **files), tmp_path) == {"six": "1.16.0"}


@pytest.mark.needs("npm")
@pytest.mark.registry
def test_of_an_npm_package_only_what_it_needs_to_run_is_installed(tmp_path: Path) -> None:
    manifest = {"dependencies": {"is-number": "7.0.0"}, "devDependencies": {"is-number": "0.0.0-no-such-version"}}
    root = write(tmp_path / "p", package__json=json.dumps(manifest))
    assert packages("node", root, tmp_path) == {"is-number": "7.0.0"}


@pytest.mark.needs("go")
@pytest.mark.registry
def test_the_modules_of_a_go_module_are_there(tmp_path: Path) -> None:
    root = write(tmp_path / "p", go__mod="module example\n\ngo 1.19\n\nrequire github.com/spf13/pflag v1.0.5\n")
    assert packages("go", root, tmp_path) == {"github.com/spf13/pflag": "v1.0.5"}


def test_a_package_in_the_project_is_said_to_be_there(tmp_path: Path) -> None:
    root = write(tmp_path, **{"packages/alpha/src/acme/a__py": "", "web/package__json": '{"name": "@me/web"}'})
    write(root, **{"fixtures/package__json": "{broken"})
    remedies = find_remedies("python", root, ["acme", "yaml"], installed=False)
    assert remedies == {"acme": "in the project's folder packages/alpha/src: add this folder to project.sourceRoots"}
    assert "folder web:" in find_remedies("node", root, ["@me/web"], installed=True)["@me/web"]


def test_groups_that_are_not_installed_are_named_and_then_the_file_that_does_not_ask(tmp_path: Path) -> None:
    root = write(tmp_path, pyproject__toml="[dependency-groups]\ndev = ['x']\n", package__json="{}")
    assert find_remedies("python", root, ["x"], installed=True) == {
        "x": "project.dependencyGroups: all also installs dependencies for dev"
    }
    assert "pyproject.toml" in find_remedies("python", root, ["x"], installed=True, groups="all")["x"]
    assert "package.json" in find_remedies("node", root, ["x"], installed=True)["x"]
    assert "compile_commands.json" in find_remedies("", root, ["x.h"], installed=True)["x.h"]
    assert "installs no crates" in find_remedies("cargo", root, ["serde"], installed=True)["serde"]
    assert "composer install" in find_remedies("composer", root, ["Psr\\Log"], installed=True)["Psr\\Log"]


@pytest.mark.parametrize(
    ("kind", "file", "readable"),
    [("jvm", "build.gradle.kts", "pom.xml"), ("python", "setup.cfg", "requirements.txt")],
)
def test_a_file_with_dependencies_that_is_not_read_is_named(
    tmp_path: Path, kind: str, file: str, readable: str
) -> None:
    (tmp_path / file).touch()
    for installed in (True, False):
        remedy = find_remedies(kind, tmp_path, ["x"], installed=installed)["x"]
        assert f"does not read the project's {file}" in remedy
        assert readable in remedy
    (tmp_path / readable).touch()
    assert find_remedies(kind, tmp_path, ["x"], installed=False) == {}


def test_projects_share_the_empty_environment(tmp_path: Path) -> None:
    made = [
        prepare("python", tmp_path, replace(INFO, checksum=checksum * 64), dependencies=False, cache=tmp_path)
        for checksum in "ab"
    ]
    assert made[0] == made[1]


def test_a_cache_that_cannot_be_written_to_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "environments").touch()
    with pytest.raises(PreparationError, match="Is the cache writable, the disk full"):
        prepare("python", tmp_path, INFO, dependencies=False, cache=tmp_path)
