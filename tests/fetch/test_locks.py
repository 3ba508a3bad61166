"""What a project wants from elsewhere than a registry, and what is written for npm and go in its place."""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.version import Version

from ci_eval.core.base.errors import InstallError, PreparationError
from ci_eval.fetch.locks import (
    NPM_REGISTRY,
    read_npm_ranges,
    read_python_requirements,
    write_go_modules,
    write_npm_lock,
)
from ci_eval.fetch.packages import npm_run
from tests.adapters.test_environments import packages
from tests.canaries import source_archive
from tests.fetch.repository import create
from tests.fetch.test_packages import index, wheel
from tests.projects import write

# --------------------------------------------------------------------------------------------------------------- npm


@pytest.mark.parametrize(
    "wanted",
    ["git+https://example.org/x.git", "someone/x", "github:someone/x", "file:../x", "../x", "./x", ".x", "x.tgz",
     "https://example.org/x.tgz", "link:../x", "npm:someone/x", "workspace:*", "/x", "~/x", "C:/x", "a" * 1001],
)  # fmt: skip
def test_what_an_npm_package_wants_from_elsewhere_is_refused_and_named(wanted: str, tmp_path: Path) -> None:
    write(tmp_path, package__json=json.dumps({"dependencies": {"dep": wanted}}))
    with pytest.raises(PreparationError, match=r"package\.json of the project requires 'dep@.*, which no registry has"):
        read_npm_ranges(tmp_path / "package.json")


@pytest.mark.parametrize("wanted", ["", "*", "latest", "^1.0.0 || >=2 <3-beta.1", "npm:@a/b@~1.x", "npm:b", "1.2 - 2"])
def test_ranges_tags_and_other_names_of_a_registry_are_taken(wanted: str, tmp_path: Path) -> None:
    write(tmp_path, package__json=json.dumps({"dependencies": {"dep": wanted}}))
    assert read_npm_ranges(tmp_path / "package.json") == {"dep": wanted}


def written(root: Path, entries: object, *hosts: str, **needs: str) -> dict[str, object]:
    """The entries of the lock that is written for a project of these."""
    lock = json.dumps({"lockfileVersion": 3, "packages": entries})
    manifest = json.dumps({"dependencies": needs, "scripts": {"install": "evil"}, "workspaces": ["w"]})
    write(root, package__json=manifest, **{"package-lock__json": lock})
    (out := root / "out").mkdir()
    write_npm_lock(root / "package.json", root / "package-lock.json", out, hosts)
    assert (
        json.loads((out / "package.json").read_bytes())
        == json.loads((out / "package-lock.json").read_bytes())["packages"][""]
    )
    packages: dict[str, object] = json.loads((out / "package-lock.json").read_bytes())["packages"]
    return packages


DIGEST = "sha512-" + 86 * "A" + "=="


@pytest.mark.parametrize(
    "entry",
    [
        {"version": "1.0.0", "resolved": "git+ssh://git@example.org/x.git#0"},
        {"version": "1.0.0", "resolved": "file:../x.tgz"},
        {"version": "1.0.0", "resolved": "http://127.0.0.1:8080/x.tgz", "dev": True},
        {"version": "1.0.0", "resolved": f"https://{NPM_REGISTRY}@example.org/x.tgz"},
        {"version": "1.0.0", "resolved": f"http://example.org\\@{NPM_REGISTRY}/x.tgz"},
        {"version": "1.0.0", "resolved": f"https://{NPM_REGISTRY}"},
        {"version": "1.0.0", "resolved": "//example.org/x.tgz"},
        {"version": "1.0.0", "resolved": "http://[::1/x.tgz"},
        {"version": "file:/private"},
        {"version": "npm:y@1.0.0"},
        {"version": "^1.0.0"},
        {"version": "latest"},
        {"version": ""},
        {"version": "1.0.0\n"},
        {"version": "\uff11.0.0"},
        {"version": "1.0.0", "name": "x@http://example.org"},
        {"version": "1.0.0", "name": "../x"},
        {"version": "1.0.0", "integrity": "sha512-x y"},
        {"version": "1.0.0", "integrity": "md5-AAAA"},
        {"version": "1.0.0", "os": ["linux", "a b"]},
    ],
)
def test_an_entry_that_is_no_name_exact_version_and_digest_is_refused(entry: object, tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"package-lock\.json of the project requires 'node_modules/x: "):
        written(tmp_path, {"node_modules/x": entry}, x="*")


def test_an_entry_is_written_from_checked_fields_alone(tmp_path: Path) -> None:
    entry = {"version": "1.0.0", "integrity": DIGEST, "resolved": f"https://{NPM_REGISTRY}/x.tgz", "license": "MIT"}
    more = {"hasInstallScript": True, "bin": {"x": "../../x"}, "dependencies": {"y": "http://example.org/y"}, "evil": 1}
    y = {"version": "2.0.0", "resolved": "https://npm.example.org/y", "optional": True, "cpu": ["x64"]}
    packages = written(tmp_path, {"node_modules/x": entry | more, "node_modules/y": y}, "npm.example.org", x="*")
    assert packages == {
        "": {
            "name": "dependencies", "version": "0.0.0", "private": True,
            "dependencies": {"x": "1.0.0"}, "optionalDependencies": {"y": "2.0.0"},
        },
        "node_modules/x": {"name": "x", "version": "1.0.0", "integrity": DIGEST},
        "node_modules/y": {"name": "y", "version": "2.0.0", "optional": True, "cpu": ["x64"]},
    }  # fmt: skip


def test_what_nothing_needs_is_not_written_whatever_it_is(tmp_path: Path) -> None:
    entries = {
        "": {"devDependencies": {"d": "*"}},
        "../outside": {"version": "1.0.0"},
        "node_modules/../../outside": {"version": "1.0.0"},
        "node_modules/d": {"resolved": "git+ssh://git@example.org/d.git#0", "dev": True},
        "node_modules/w": {"resolved": "../outside", "link": True},
        "node_modules/x": {"version": "1.0.0"},
    }
    assert set(written(tmp_path, entries, x="*", w="*")) == {"", "node_modules/x"}


@pytest.mark.parametrize("name", ["../x", "x@http://example.org", "a/b", "", ".x", "node_modules/x"])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"package-lock\.json of the project requires"):
        written(tmp_path, {f"node_modules/{name}": {"version": "1.0.0"}}, **{name: "*"})


def test_a_lock_without_what_is_needed_is_not_up_to_date(tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"has no 'y': is it up to date"):
        written(tmp_path, {"node_modules/x": {"version": "1.0.0", "dependencies": {"y": "*"}}}, x="*")


def test_what_comes_with_another_package_is_in_its_archive(tmp_path: Path) -> None:
    bundled = {"version": "1.0.0", "inBundle": True, "dependencies": {"x": "*", "y": "*"}}
    entries = {
        "node_modules/x": {"version": "1.0.0", "dependencies": {"y": "*"}},
        "node_modules/x/node_modules/y": bundled,
    }
    assert set(written(tmp_path, entries, x="*")) == {"", "node_modules/x"}


def test_peers_and_optional_packages_may_be_missing(tmp_path: Path) -> None:
    entry = {"version": "1.0.0", "peerDependencies": {"y": "*"}, "optionalDependencies": {"z": "*"}}
    assert set(written(tmp_path, {"node_modules/x": entry}, x="*")) == {"", "node_modules/x"}


@pytest.mark.needs("npm", "git")
@pytest.mark.registry
def test_npm_may_start_neither_git_nor_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--no-deprecation")
    origin = create(tmp_path / "origin")
    origin.commit(package_json=json.dumps({"name": "x", "version": "1.0.0"}))
    write(tmp_path / "p", package__json=json.dumps({"dependencies": {"x": f"git+{origin.url}"}}))
    with pytest.raises(InstallError, match=r"start no program: git .*\n(.|\n)*Only packages from a registry"):
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
    # It is the project's own, so nothing is installed.
    assert packages("go", root, tmp_path) == {}


@pytest.mark.parametrize(
    "line",
    [
        "require example.org/x main", "require ../x v1.0.0", "require -x v1.0.0", "require example.org/x v1",
        "replace example.org/x => ../x", "replace example.org/x => /x", "replace example.org/x => ./none",
        "replace example.org/x => https://example.org v1.0.0", "go 1.20\tmain", "module a b", "exclude example.org/x",
        "require (\n\texample.org/x v1.0.0\n\texample.org/y latest\n)",
    ],
)  # fmt: skip
def test_a_line_of_a_go_mod_that_no_proxy_can_answer_is_refused(line: str, tmp_path: Path) -> None:
    root = write(tmp_path / "p", go__mod=f"module example.org/h\n{line}\n")
    with pytest.raises(PreparationError, match=r"go\.mod of the project requires"):
        write_go_modules(root, tmp_path / "out")


def test_a_go_mod_is_written_with_the_lines_that_decide_alone(tmp_path: Path) -> None:
    lines = '// a\nmodule "example.org/h"\n\ngo 1.20\ntoolchain go1.99\ngodebug x=y\ntool example.org/t\n'
    block = (
        "require (\n\texample.org/x v1.0.0 // indirect\n)\nretract v1.0.0\nrequire example.org/y v2.0.0+incompatible\n"
    )
    replaced = "replace example.org/x v1.0.0 => ./b\n"
    files = {"go__mod": lines + block + replaced, "b/go__mod": "module example.org/x\n"}
    files |= {"c/go__mod": "require nobody wants\n", "b/go__sum": "x"}
    write_go_modules(write(tmp_path / "p", a__go="package a", **files), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.*")) == ["go.mod", "go.mod"]
    assert (tmp_path / "out" / "go.mod").read_text().splitlines() == [
        "module example.org/h", "go 1.20", "require example.org/x v1.0.0", "require example.org/y v2.0.0+incompatible",
        "replace example.org/x v1.0.0 => ./b",
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["example.org/x v1.0.0 h1:short=", "example.org/x v1 h1:x", "a\0b", "x y z w"])
def test_a_sum_that_is_none_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=r"go\.sum of the project requires"):
        write_go_modules(write(tmp_path / "p", go__mod="module a\n", go__sum=f"{line}\n"), tmp_path / "out")


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
        with pytest.raises(PreparationError, match=r"(toml|txt|METADATA) of the project requires .*set project\.dep"):
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
    with pytest.raises(PreparationError, match="other did not come from an index"):
        packages("python", write(tmp_path / "p", requirements__txt="tiny"), tmp_path)
    assert not list((tmp_path / "environments").glob("[!.]*"))


def test_a_manifest_that_is_a_link_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret", requirements__txt="password").joinpath("requirements.txt")
    (root := tmp_path / "p").mkdir()
    (root / "requirements.txt").symlink_to(secret)
    assert read_python_requirements(root) == []
