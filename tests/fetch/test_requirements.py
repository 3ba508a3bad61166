"""What a project wants from elsewhere than a registry: refused and named, whoever asks for it, and never run."""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.version import Version

from ci_eval.core.base.errors import InstallError, PreparationError
from ci_eval.core.fetch.packages import npm_run
from ci_eval.core.fetch.requirements import NPM_REGISTRY, check_npm_lock, read_npm_ranges, read_python_requirements
from tests.adapters.test_environments import packages
from tests.canaries import source_archive
from tests.fetch.repository import create
from tests.fetch.test_packages import index, wheel
from tests.projects import write

__all__ = ["index"]

REFUSED = [
    "canarydep @ file:///{archive}", "canarydep@file:{archive}", "canarydep[x] @ https://example.org/x.whl ; a == 'b'",
    "{archive}", "./canarydep", "file:{archive}", "git+https://example.org/x", "x @ git+ssh://a@b/c", "a b",
]  # fmt: skip


def manifests(text: str) -> Iterator[dict[str, str]]:
    yield {"pyproject__toml": f"[project]\nname = 'x'\ndependencies = [{json.dumps(text)}]\n"}
    yield {"requirements__txt": f"six\n{text}\n"}
    yield {"x-1__dist-info/METADATA": f"Name: x\nRequires-Dist: {text}\n\n"}


@pytest.mark.parametrize("text", REFUSED)
def test_a_requirement_that_is_an_address_or_a_path_is_refused_and_named(text: str, tmp_path: Path) -> None:
    text = text.format(archive=tmp_path / "canarydep-1.0.tar.gz")
    for count, files in enumerate(manifests(text)):
        with pytest.raises(PreparationError, match=r"(toml|txt|METADATA) of the project wants .*set project\.dep"):
            read_python_requirements(write(tmp_path / str(count), **files))


@pytest.mark.parametrize(
    "text", ["-e .", ".[all]", "--index-url x", "-r other.txt", "# a", "six==1 \\\n --hash=sha256:0"]
)
def test_options_and_the_project_itself_are_no_requirements(text: str, tmp_path: Path) -> None:
    assert set(read_python_requirements(write(tmp_path, requirements__txt=f"six==1\n{text}\n"))) == {"six==1"}


@pytest.mark.parametrize(
    "text", ["six", "six>=1,<2", "six (==1.*)", "a.b-c[x, y] ~= 1.0 ; python_version < '3.9' or os_name == 'a@b'"]
)
def test_plain_requirements_are_taken(text: str, tmp_path: Path) -> None:
    assert read_python_requirements(write(tmp_path, **{"x-1__dist-info/METADATA": f"Requires-Dist: {text}"})) == [text]


# An older pip does not say which package wants what it collects.
FROM_TINY = r" \(from tiny" if Version(importlib.metadata.version("pip")) >= Version("23.3") else ""


def test_the_requirement_of_a_wheel_is_not_built(index: Path, tmp_path: Path) -> None:
    archive = source_archive(tmp_path, canary := tmp_path / "canary")
    wheel(index, needs=f"canarydep @ {archive.as_uri()}")
    with pytest.raises(PreparationError, match=rf"not allowed to build .*canarydep-1\.0\.tar\.gz{FROM_TINY}"):
        packages("python", write(tmp_path / "p", requirements__txt="tiny"), tmp_path)
    assert not canary.exists()


def test_no_repository_is_cloned_for_a_wheel(index: Path, tmp_path: Path) -> None:
    wheel(index, needs="canarydep @ git+https://127.0.0.1:9/x")
    with pytest.raises(PreparationError, match=rf"not allowed to build .*git\+https.*{FROM_TINY}"):
        packages("python", write(tmp_path / "p", requirements__txt="tiny"), tmp_path)


def test_a_wheel_by_its_address_is_refused_where_another_wheel_asks_for_it(index: Path, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    wheel(index, needs=f"other @ {wheel(elsewhere, 'other').as_uri()}")
    with pytest.raises(PreparationError, match="other came from elsewhere than an index"):
        packages("python", write(tmp_path / "p", requirements__txt="tiny"), tmp_path)
    assert not list((tmp_path / "environments").glob("[!.]*"))


def test_a_manifest_that_is_a_link_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret", requirements__txt="password").joinpath("requirements.txt")
    (root := tmp_path / "p").mkdir()
    (root / "requirements.txt").symlink_to(secret)
    assert read_python_requirements(root) == []


# --------------------------------------------------------------------------------------------------------------- npm


@pytest.mark.parametrize(
    "wanted",
    ["git+https://example.org/x.git", "someone/x", "github:someone/x", "file:../x", "../x", "./x", ".x", "x.tgz",
     "https://example.org/x.tgz", "link:../x", "npm:someone/x", "workspace:*", "/x", "~/x", "C:/x", "a" * 1001],
)  # fmt: skip
def test_what_an_npm_package_wants_from_elsewhere_is_refused_and_named(wanted: str, tmp_path: Path) -> None:
    write(tmp_path, package__json=json.dumps({"dependencies": {"dep": wanted}}))
    with pytest.raises(PreparationError, match=r"package\.json of the project wants 'dep@.*, which no registry has"):
        read_npm_ranges(tmp_path / "package.json")


@pytest.mark.parametrize("wanted", ["", "*", "latest", "^1.0.0 || >=2 <3-beta.1", "npm:@a/b@~1.x", "npm:b", "1.2 - 2"])
def test_ranges_tags_and_other_names_of_a_registry_are_taken(wanted: str, tmp_path: Path) -> None:
    write(tmp_path, package__json=json.dumps({"dependencies": {"dep": wanted}}))
    assert read_npm_ranges(tmp_path / "package.json") == {"dep": wanted}


@pytest.mark.parametrize(
    ("place", "entry"),
    [
        ("../outside", {"version": "1.0.0"}),
        ("node_modules/../../outside", {"version": "1.0.0"}),
        ("/outside", {"version": "1.0.0"}),
        ("node_modules/x", {"resolved": "../outside", "link": True}),
        ("node_modules/x", {"resolved": "git+ssh://git@example.org/x.git#0"}),
        ("node_modules/x", {"resolved": "file:../x.tgz"}),
        ("node_modules/x", {"resolved": "http://127.0.0.1:8080/x.tgz"}),
        ("node_modules/x", {"resolved": "https://example.org/x.tgz"}),
        ("node_modules/x", {"resolved": f"https://{NPM_REGISTRY}@example.org/x.tgz"}),
        ("node_modules/x", {"resolved": "//example.org/x.tgz"}),
        ("node_modules/x", {"resolved": "http://[::1/x.tgz"}),
    ],
)
def test_a_lock_that_leads_elsewhere_is_refused(place: str, entry: dict[str, object], tmp_path: Path) -> None:
    write(tmp_path, package_lock=json.dumps({"packages": {"": {}, place: entry}}))
    with pytest.raises(PreparationError, match="package_lock of the project"):
        check_npm_lock(tmp_path / "package_lock")


def test_an_older_lock_is_refused_however_deep_the_foreign_entry_lies(tmp_path: Path) -> None:
    inner = {"version": "git+ssh://git@example.org/x.git#0"}
    lock = {"dependencies": {"a": {"version": "1.0.0", "requires": {"x": "*"}, "dependencies": {"x": inner}}}}
    write(tmp_path, lock=json.dumps(lock))
    with pytest.raises(PreparationError, match="wants 'x from git"):
        check_npm_lock(tmp_path / "lock")


def test_a_usual_lock_is_taken(tmp_path: Path) -> None:
    entries = {
        "": {"dependencies": {"a": "1"}},
        "node_modules/a": {
            "version": "1.0.0",
            "resolved": f"https://{NPM_REGISTRY}/a.tgz",
            "dependencies": {"b": "*"},
        },
        "node_modules/own": {"version": "1.0.0", "resolved": "https://npm.example.org/own.tgz"},
        "node_modules/w": {"resolved": "packages/w", "link": True},
        "node_modules/d": {"resolved": "git+ssh://git@example.org/d.git#0", "dev": True},
    }
    write(tmp_path, lock=json.dumps({"lockfileVersion": 2, "packages": entries}))
    check_npm_lock(tmp_path / "lock", {"npm.example.org"})


@pytest.mark.needs("npm", "git")
@pytest.mark.registry
def test_npm_may_start_neither_git_nor_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--no-deprecation")
    origin = create(tmp_path / "origin")
    origin.commit(package_json=json.dumps({"name": "x", "version": "1.0.0"}))
    write(tmp_path / "p", package__json=json.dumps({"dependencies": {"x": f"git+{origin.url}"}}))
    with pytest.raises(InstallError, match=r"start no program: git .*\n(.|\n)*Only packages of a registry"):
        npm_run(("install", "--no-audit"), cwd=tmp_path / "p")
    assert not (tmp_path / "p/node_modules").exists()


# ---------------------------------------------------------------------------------------------------------------- go


@pytest.mark.needs("go")
@pytest.mark.registry
def test_where_a_link_of_a_go_module_leads_nothing_is_changed(tmp_path: Path) -> None:
    root = write(tmp_path / "p", go__mod="module example\n\ngo 1.19\n", a__go="package a\n")
    secret = write(tmp_path, secret="s").joinpath("secret")
    secret.chmod(0o600)
    (root / "link").symlink_to(secret)
    (root / "nowhere").symlink_to("nothing")
    os.mkfifo(root / "pipe.go")
    assert packages("go", root, tmp_path) == {}
    assert secret.stat().st_mode & 0o777 == 0o600


@pytest.mark.needs("go")
@pytest.mark.registry
def test_a_go_module_may_stand_for_another_one_of_the_project(tmp_path: Path) -> None:
    needs = "module example\n\ngo 1.19\n\nrequire example.org/b v1.0.0\n\nreplace example.org/b => ./b\n"
    root = write(tmp_path / "p", go__mod=needs, **{"b/go__mod": "module example.org/b\n\ngo 1.19\n"})
    assert packages("go", root, tmp_path) == {"example.org/b": "v1.0.0"}
