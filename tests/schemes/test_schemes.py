"""Schemes: what a spec of each may say, how it is written, and one real project of each registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.fetch.project import parse, prepare, written

DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    "spec",
    [
        "pypi:six==1.16.0",
        f"pypi:six==1.16.0#sha256={DIGEST}",
        f"npm:@types/node@20.1.0#sha256={DIGEST}",
        f"maven:org.apache.commons:commons-lang3:3.14.0#sha256={DIGEST}",
        f"maven:org.asciidoctor:asciidoctorj:3.0.0:jar#sha256={DIGEST}",
        f"go:github.com/spf13/cobra@v1.8.1#sha256={DIGEST}",
        f"crate:serde_json==1.0.118#sha256={DIGEST}",
        f"debian:fmtlib=9.1.0+ds1-2#sha256={DIGEST}",
        "git:https://example.org/a/b.git@v1.0",
        f"https://example.org/a-1.0.tar.gz#sha256={DIGEST}",
        "path:../a b",
    ],
)
def test_a_spec_is_written_as_it_is_read(spec: str) -> None:
    assert written(parse(spec)) == spec


@pytest.mark.parametrize(
    ("spec", "name", "revision"),
    [
        ("maven:org.apache.commons:commons-lang3:3.14.0", "commons-lang3", "3.14.0"),
        ("maven:org.asciidoctor:asciidoctorj:3.0.0:jar", "asciidoctorj", "3.0.0"),
        ("go:github.com/spf13/cobra@v1.8.1", "github.com/spf13/cobra", "v1.8.1"),
        ("debian:fmtlib=9.1.0+ds1-2", "fmtlib", "9.1.0+ds1-2"),
    ],
)
def test_a_package_is_told_by_name_and_version(spec: str, name: str, revision: str) -> None:
    assert (parse(spec).name, parse(spec).revision) == (name, revision)


def test_a_spec_tells_name_and_revision() -> None:
    specs = [
        "pypi:six==1.16.0",
        "npm:@a/b@2.0.0",
        "git:https://x.org/a/b.git@v1",
        f"https://x.org/c.tar.gz#sha256={DIGEST}",
    ]
    found = [(spec.scheme, spec.name, spec.revision) for spec in map(parse, specs)]
    assert found == [("pypi", "six", "1.16.0"), ("npm", "@a/b", "2.0.0"), ("git", "b", "v1"), ("https", "c", "")]


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "six",
        "six==1.16.0",
        "pypi:",
        "pypi:six>=1",
        "pypi:-r==1",
        "pypi:six==1#sha256=abc",
        "pypi:six==1#md5=abc",
        "npm:is-number@latest",
        "crate:serde_json",
        "crate:serde_json==1.0",
        "git:https://example.org/a",
        "git:ext::sh@main",
        "git:https://example.org/a@-f",
        "git:@main",
        "https://example.org/a.zip",
        f"https://me:secret@example.org/a.zip#sha256={DIGEST}",
        f"http://example.org/a.zip#sha256={DIGEST}",
        f"https:relative#sha256={DIGEST}",
        f"file:///a.zip#sha256={DIGEST}",
        "path:",
        "path:a\0b",
        "maven:a:b",
        "maven:a:b:1-SNAPSHOT",
        "maven:a:b:1#md5=abc",
        "go:example.org/m@latest",
        "go:-x@v1.0.0",
        "debian:foo",
        "debian:foo=1#sha256=abc",
    ],
)
def test_what_names_no_project_is_a_config_error(spec: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(spec)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("spec", ["pipy:six==1.16.0", "six==1.16.0"])
def test_a_misspelt_or_missing_scheme_is_answered_with_the_right_one_and_all_examples(spec: str) -> None:
    right = r"Did you mean (crate:six==1\.16\.0 or )?pypi:six==1\.16\.0\?"
    with pytest.raises(ConfigError, match=right + r"(.|\n)*git:URL@REVISION"):
        parse(spec)


def test_a_folder_without_its_scheme_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean path:"):
        parse(str(tmp_path))


def test_a_git_address_without_a_revision_is_told_what_to_append() -> None:
    with pytest.raises(ConfigError, match=r"git:https://example\.org/a has no @REVISION: append @"):
        parse("git:https://example.org/a")


@pytest.mark.registry
def test_a_real_wheel_is_prepared(tmp_path: Path) -> None:
    project = prepare(
        "pypi:six==1.16.0#sha256=8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254", cache=tmp_path
    )
    assert (project.root / "six.py").is_file()


@pytest.mark.needs("npm")
@pytest.mark.registry
def test_a_real_npm_package_is_prepared(tmp_path: Path) -> None:
    project = prepare(
        "npm:is-number@7.0.0#sha256=7b75c1057198cf97696909a9bee176c9c5e9bcb5b03bf3ecef2f484defadd51e", cache=tmp_path
    )
    assert (project.root / "index.js").is_file()


@pytest.mark.needs("mvn")
@pytest.mark.registry
def test_a_real_sources_jar_is_prepared(tmp_path: Path) -> None:
    digest = "ab3b86afb898f1026dbe43aaf71e9c1d719ec52d6e41887b362d86777c299b6f"
    project = prepare(f"maven:org.apache.commons:commons-lang3:3.14.0#sha256={digest}", cache=tmp_path)
    assert (project.root / "org/apache/commons/lang3/StringUtils.java").is_file()


@pytest.mark.needs("go")
@pytest.mark.registry
def test_a_real_go_module_is_prepared(tmp_path: Path) -> None:
    digest = "bf27a276f87257c93bc057309df30265a19beefc3d5fc887cbd8fc99ad35466a"
    project = prepare(f"go:github.com/spf13/cobra@v1.8.1#sha256={digest}", cache=tmp_path)
    assert (project.root / "command.go").is_file()


@pytest.mark.needs("cargo")
@pytest.mark.registry
def test_a_real_crate_is_prepared(tmp_path: Path) -> None:
    digest = "d947f6b3163d8857ea16c4fa0dd4840d52f3041039a85decd46867eb1abef2e4"
    project = prepare(f"crate:serde_json==1.0.118#sha256={digest}", cache=tmp_path)
    assert (project.root / "src/lib.rs").is_file()


@pytest.mark.needs("apt-get")
@pytest.mark.registry
def test_a_real_debian_source_package_is_prepared(tmp_path: Path) -> None:
    digest = "84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583"
    project = prepare(f"debian:fmtlib=9.1.0+ds1-2#sha256={digest}", cache=tmp_path)
    assert (project.root / "CMakeLists.txt").is_file()
