"""pip, npm, mvn, go and cargo bring packages; the programs of others build nothing."""

from __future__ import annotations

import importlib.util
import os
import zipfile
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch.download import hash_file
from ci_eval.fetch.packages import (
    artifact,
    check_crate,
    check_maven,
    check_module,
    check_npm,
    check_requirement,
    crate,
    list_distributions,
    module_zip,
    npm_pack,
    pip_download,
    pip_install,
)
from ci_eval.fetch.project import prepare
from tests.fetch.standins import client


def wheel(folder: Path, name: str = "tiny", version: str = "1.0", needs: str = "") -> Path:
    """A wheel made by hand."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (
        f"Requires-Dist: {needs}\n" * bool(needs)
    )
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(f"{name}.py", "x = 1\n")
        bundle.writestr(f"{info}/METADATA", metadata)
        bundle.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        bundle.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its only source of packages."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.parametrize(
    "text",
    ["six>=1", "six==", "six==1.*", "six===1", "-r==1", "six==1 ", "six==1; x", "six @ file:///x", "a b==1",
     "-e", "six==1\n", "six==-1", "./six==1", "six==1 --index-url=x", "--six==1"],
)  # fmt: skip
def test_a_requirement_must_be_one_exact_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NAME==VERSION"):
        pip_download(text, tmp_path)
    with pytest.raises(ConfigError, match="NAME==VERSION"):
        pip_install([text], tmp_path)


@pytest.mark.parametrize("text", ["six==1.16.0", "a==1!2.0rc1.post1.dev2+local.1", "python-lsp-server[all]==1.0"])
def test_exact_requirements_are_taken(text: str) -> None:
    assert check_requirement(text)["version"] == text.partition("==")[2]


@pytest.mark.parametrize(
    "text",
    ["is-number@latest", "is-number@^7.0.0", "-g@1.0.0", "../x@1.0.0", "a/b@1.0.0", "@a@1.0.0",
     "@a/-b@1.0.0", "file:x@1.0.0", "a@1.0.0 b", "a@1.0.0\n", "a@npm:b@1.0.0", "https://x/y.tgz", "a@1"],
)  # fmt: skip
def test_an_npm_package_must_be_one_exact_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NAME@VERSION"):
        npm_pack(text, tmp_path)


@pytest.mark.parametrize("text", ["is-number@7.0.0", "@types/node@20.1.0", "JSONStream@1.3.5", "a@1.0.0-rc.1+b2"])
def test_exact_npm_packages_are_taken(text: str) -> None:
    assert check_npm(text)["version"] == text.rpartition("@")[2]


def test_a_package_to_install_must_have_a_version(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NAME==VERSION"):
        pip_install(["six"], tmp_path)


def test_a_name_alone_is_its_newest_version_which_the_spec_then_names(index: Path, tmp_path: Path) -> None:
    for version in ("1.9", "1.10", "2.0rc1"):
        wheel(index, version=version)
    info = prepare("pypi:tiny", cache=tmp_path / "cache").info
    assert info.spec.startswith("pypi:tiny==1.10#sha256=")
    assert info.revision == "1.10"
    wheel(index, version="1.11")
    assert prepare("pypi:tiny", cache=tmp_path / "cache").info.revision == "1.11"
    assert prepare(info.spec, cache=tmp_path / "cache").info == info


def test_the_wheel_lands_in_the_folder_and_nothing_else(index: Path, tmp_path: Path) -> None:
    made = wheel(index, needs="other")
    found = pip_download("tiny==1.0", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == [found]
    assert found.read_bytes() == made.read_bytes()


def test_a_release_without_a_wheel_is_not_built(index: Path, tmp_path: Path) -> None:
    (index / "tiny-1.0.tar.gz").touch()
    with pytest.raises(InstallError, match="nothing is built"):
        pip_download("tiny==1.0", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_installing_tells_name_and_version_of_everything(index: Path, tmp_path: Path) -> None:
    wheel(index, needs="other")
    wheel(index, "other", "2.5")
    assert pip_install(["tiny==1.0"], tmp_path / "out") == {"other": "2.5", "tiny": "1.0"}
    assert list_distributions(tmp_path / "out") == {"other": "2.5", "tiny": "1.0"}
    assert (tmp_path / "out/tiny.py").is_file()


def test_a_file_named_pip_in_the_current_folder_is_not_run(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    wheel(index)
    assert pip_download("tiny==1.0", Path("out")) == Path("out/tiny-1.0-py3-none-any.whl")


def test_a_missing_pip_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InstallError, match="uv pip install pip"):
        pip_download("tiny==1.0", tmp_path)


def test_a_missing_npm_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallError, match=r"npm is not installed. Install Node\.js"):
        npm_pack("is-number@7.0.0", tmp_path)


def test_npm_may_run_no_script_and_reads_no_option_from_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "npm", 'echo "$@" > is-number-7.0.0.tgz')
    packed = npm_pack("is-number@7.0.0", tmp_path / "out")
    assert packed == tmp_path / "out/is-number-7.0.0.tgz"
    assert packed.read_text() == "pack --ignore-scripts -- is-number@7.0.0\n"


def test_a_client_that_brings_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "npm", "true")
    with pytest.raises(InstallError, match="downloaded no tarball"):
        npm_pack("is-number@7.0.0", tmp_path / "out")


@pytest.mark.registry
def test_pip_brings_a_real_wheel(tmp_path: Path) -> None:
    assert pip_download("six==1.16.0", tmp_path).name == "six-1.16.0-py2.py3-none-any.whl"


@pytest.mark.registry
def test_pip_installs_a_real_package(tmp_path: Path) -> None:
    assert pip_install(["six==1.16.0"], tmp_path) == {"six": "1.16.0"}


@pytest.mark.needs("npm")
@pytest.mark.registry
def test_npm_brings_a_real_package(tmp_path: Path) -> None:
    assert npm_pack("is-number@7.0.0", tmp_path).name == "is-number-7.0.0.tgz"


UNKNOWN = "[ERROR] Failed: Could not find artifact a:b:jar:sources:1 in central -> [Help 1]"


@pytest.mark.parametrize(
    "text",
    ["a:b", "a:b:1:war", "a:b:1:jar:sources", "a:b:1-SNAPSHOT:jar",
     "a:b:", "a::1", "-a:b:1", "a:-b:1", "a:b:-1", "a:b:1-SNAPSHOT", "a:b:LATEST", "a:b:RELEASE",
     "a:b:[1,2)", "a/b:c:1", "a:b:1 -X", "a:b:1\n", "../a:b:1", "a:b:${x}"],
)  # fmt: skip
def test_an_artifact_must_be_one_exact_release(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"GROUP:ARTIFACT:VERSION.*commons-lang3:3\.14\.0"):
        artifact(text, tmp_path)


@pytest.mark.parametrize("text", ["junit:junit:4.13.2", "org.a_b:c-d_2.13:1.0.0.RELEASE", "com.x:y:r09", "a:b:1.0+2"])
def test_exact_artifacts_are_taken(text: str) -> None:
    assert check_maven(text)["version"] == text.rpartition(":")[2]
    assert check_maven(f"{text}:jar")["version"] == text.rpartition(":")[2]


def test_mvn_is_asked_for_the_sources_alone_in_a_folder_without_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "mvn", 'ls -A > b-1-sources.jar; echo "$@" >> b-1-sources.jar')
    jar = artifact("a:b:1", tmp_path / "out")
    files, asked = jar.read_text().split("\n", 1)[0], jar.read_text()
    assert (jar, files) == (tmp_path / "out/b-1-sources.jar", ".mvn")
    assert "-Dartifact=a:b:1:jar:sources" in asked
    assert "maven-dependency-plugin:3.6.1:copy" in asked


def test_with_jar_behind_the_release_mvn_is_asked_for_the_plain_jar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "mvn", 'echo "$@" > b-1.jar')
    assert "-Dartifact=a:b:1:jar -D" in artifact("a:b:1:jar", tmp_path / "out").read_text()


def test_an_artifact_published_without_sources_is_told_from_an_unknown_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "mvn", f'case "$*" in *:pom*) exit 0;; *) echo "{UNKNOWN}"; exit 1;; esac')
    with pytest.raises(
        InstallError,
        match=r"published without a sources jar(.|\n)*Could not find artifact(.|\n)*a:b:1:jar(.|\n)*git or https",
    ):
        artifact("a:b:1", tmp_path / "out")
    with pytest.raises(InstallError, match=r"a:b:1 was published without a jar"):
        artifact("a:b:1:jar", tmp_path / "out")
    client(tmp_path, monkeypatch, "mvn", f'echo "{UNKNOWN}"; exit 1')
    with pytest.raises(InstallError, match=r"does not know a:b:1(.|\n)*Check group"):
        artifact("a:b:1", tmp_path / "out")


def test_only_the_cause_that_mvn_gives_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = r"\033[0m[ERROR] Could not transfer x from https://me:secret@h/ -> [Help 1]\n[ERROR] \n[ERROR] Re-run\n"
    client(tmp_path, monkeypatch, "mvn", f"printf '{said}'; exit 1")
    with pytest.raises(InstallError) as caught:
        artifact("a:b:1", tmp_path / "out")
    lines = str(caught.value).splitlines()
    assert lines[1] == "  Could not transfer x from https://h/"
    assert "Check the network" in lines[2]


def test_a_cause_that_maven_tells_in_several_lines_is_shown_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As Maven 3.9 says it.
    said = (
        r"[ERROR] Plugin x could not be resolved:\n[ERROR] \tPKIX path building failed\n[ERROR] -> [Help 1]\n[ERROR] \n"
    )
    client(tmp_path, monkeypatch, "mvn", f"printf '{said}'; exit 1")
    with pytest.raises(InstallError, match=r"resolved:\n.*PKIX path building failed\nCheck the network"):
        artifact("a:b:1", tmp_path / "out")


@pytest.mark.needs("mvn")
@pytest.mark.registry
def test_mvn_brings_a_real_artifact(tmp_path: Path) -> None:
    jar = artifact("org.apache.commons:commons-lang3:3.14.0", tmp_path)
    assert jar.name == "commons-lang3-3.14.0-sources.jar"


@pytest.mark.needs("mvn")
@pytest.mark.registry
@pytest.mark.needs("mvn")
def test_mvn_brings_a_real_plain_jar(tmp_path: Path) -> None:
    jar = artifact("org.asciidoctor:asciidoctorj:3.0.0:jar", tmp_path)
    assert hash_file(jar) == "866afb68d894497e9dc97a2c8c532668f97e5efa4ad7da09494cbbe96b526944"


@pytest.mark.registry
def test_a_release_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="does not know"):
        artifact("org.apache.commons:commons-lang3:3.14.99", tmp_path)


NEWER = "example.org/m@v1.0.0 requires go >= 1.99 (running go 1.26; GOTOOLCHAIN=local)"
BRINGS_ZIP = 'mkdir cache; echo zip > cache/v.zip; echo "{\\"Zip\\": \\"$PWD/cache/v.zip\\"%s}"; exit %d'


@pytest.mark.parametrize(
    "text",
    ["example.org/m", "example.org/m@latest", "example.org/m@v1", "example.org/m@main", "example.org/m@1.0.0",
     "fmt@v1.0.0", "-x.org/m@v1.0.0", "example.org/../m@v1.0.0", "./m@v1.0.0", "example.org/-m@v1.0.0",
     "example.org//m@v1.0.0", "example.org/m@v1.0.0 -x", "example.org/m@v1.0.0\n",
     "https://example.org/m@v1.0.0", "example.org/m@v1.0.0+meta"],
)  # fmt: skip
def test_a_module_must_be_one_exact_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"MODULE@VERSION.*cobra@v1\.8\.1"):
        module_zip(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    ["github.com/BurntSushi/toml@v1.4.0", "gopkg.in/yaml.v3@v3.0.1",
     "golang.org/x/exp@v0.0.0-20240101000000-0123456789ab",
     "github.com/a/b_c/v2@v2.0.0-rc.1", "github.com/a/b@v3.0.0+incompatible", "go.uber.org/zap@v1.27.0"],
)  # fmt: skip
def test_exact_modules_are_taken(text: str) -> None:
    assert check_module(text)["version"] == text.rpartition("@")[2]


def test_go_keeps_the_users_settings_but_not_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f'env > "{tmp_path}/env"; echo "$@" > "{tmp_path}/asked"; {BRINGS_ZIP % ("", 0)}'
    client(tmp_path, monkeypatch, "go", script)
    monkeypatch.setenv("GOPROXY", "file:///mine")
    monkeypatch.setenv("GOFLAGS", "-insecure")
    assert module_zip("example.org/m@v1.0.0", tmp_path / "out").read_text() == "zip\n"
    given = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines() if line.startswith("GO"))
    assert (given["GOPROXY"], given["GOTOOLCHAIN"], given["GOWORK"]) == ("file:///mine", "local", "off")
    assert given["GOFLAGS"] == "-mod=mod -modcacherw"
    assert Path(given["GOMODCACHE"]).parent.parent == (tmp_path / "out").resolve()
    assert (tmp_path / "asked").read_text() == "mod download -json -- example.org/m@v1.0.0\n"


def test_nothing_but_the_zip_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", BRINGS_ZIP % ("", 0))
    module_zip("example.org/m@v1.0.0", tmp_path / "out")
    assert os.listdir(tmp_path / "out") == ["module.zip"]  # noqa: PTH208 - hidden ones too


def test_the_error_that_go_prints_as_json_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(
        tmp_path, monkeypatch, "go", """echo '{"Error": "unknown revision v1.0.0 at https://me:secret@h/"}'; exit 1"""
    )
    with pytest.raises(InstallError, match=r"unknown revision v1\.0\.0 at https://h/\n.*GOPROXY"):
        module_zip("example.org/m@v1.0.0", tmp_path)


def test_what_go_says_elsewhere_is_shown_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", "echo 'go: no home' >&2; exit 2")
    with pytest.raises(InstallError, match="no home"):
        module_zip("example.org/m@v1.0.0", tmp_path)


def test_a_module_that_asks_for_a_newer_go_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", BRINGS_ZIP % (f', \\"Error\\": \\"{NEWER}\\"', 1))
    assert module_zip("example.org/m@v1.0.0", tmp_path / "out").read_text() == "zip\n"


def test_a_zip_whose_sum_is_wrong_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "go", BRINGS_ZIP % (', \\"Error\\": \\"checksum mismatch\\"', 1))
    with pytest.raises(InstallError, match="checksum mismatch"):
        module_zip("example.org/m@v1.0.0", tmp_path)


@pytest.mark.needs("go")
@pytest.mark.registry
def test_go_brings_a_real_module(tmp_path: Path) -> None:
    assert module_zip("github.com/spf13/cobra@v1.8.1", tmp_path).stat().st_size > 100_000


@pytest.mark.needs("go")
@pytest.mark.registry
def test_a_version_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"cobra@v1\.8\.999:(.|\n)*GOPROXY"):
        module_zip("github.com/spf13/cobra@v1.8.999", tmp_path)


BRINGS_CRATE = (
    'mkdir -p "$CARGO_HOME/registry/cache/index"; echo archive > "$CARGO_HOME/registry/cache/index/a-1.0.0.crate"'
)


@pytest.mark.parametrize(
    "text",
    ["a", "a==1", "a==1.0", "a==*", "a==^1.0.0", "a@1.0.0", "-a==1.0.0", "../a==1.0.0", "a==1.0.0 -x", "a==1.0.0\n"],
)
def test_a_crate_must_be_one_full_version(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"NAME==VERSION.*serde_json==1\.0\.118"):
        crate(text, tmp_path)


@pytest.mark.parametrize("text", ["serde_json==1.0.118", "a-b==0.1.0-rc.1", "openssl-src==300.3.1+3.3.1"])
def test_full_versions_are_taken(text: str) -> None:
    assert check_crate(text)["version"] == text.partition("==")[2]


def test_cargo_keeps_the_users_settings_but_not_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", f'echo "$@" > "{tmp_path}/asked"; {BRINGS_CRATE}')
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").touch()
    monkeypatch.setenv("CARGO_HOME", str(home))
    assert crate("a==1.0.0", tmp_path / "out").read_text() == "archive\n"
    assert (tmp_path / "asked").read_text() == f"--config {home}/config.toml info --quiet a@1.0.0\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a-1.0.0.crate"]
    assert [path.name for path in home.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("both", [False, True])
def test_of_two_settings_those_are_taken_that_cargo_takes(
    both: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "cargo", f'echo "$2" > "{tmp_path}/asked"; {BRINGS_CRATE}')
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    for name in ("config", "config.toml") if both else ("config.toml",):
        (tmp_path / name).touch()
    crate("a==1.0.0", tmp_path / "out")
    assert (tmp_path / "asked").read_text() == f"{tmp_path}/{'config' if both else 'config.toml'}\n"


@pytest.mark.parametrize("name", ["credentials", "credentials.toml"])
def test_the_keys_of_private_registries_reach_cargo_and_stay_where_they_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, "cargo", f'cat "$CARGO_HOME/{name}" > "{tmp_path}/read"; {BRINGS_CRATE}')
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    (tmp_path / name).write_text("[registry]\n")
    crate("a==1.0.0", tmp_path / "out")
    assert (tmp_path / "read").read_text() == (tmp_path / name).read_text() == "[registry]\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a-1.0.0.crate"]


@pytest.mark.needs("cargo")
@pytest.mark.parametrize("key", ["rustc", "rustc-wrapper", "rustc-workspace-wrapper"])
@pytest.mark.parametrize("name", ["config", "config.toml"])
def test_settings_that_others_left_above_the_temporary_folder_run_nothing(
    key: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "planted"
    planted.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran"\nexec "$@"\n')
    planted.chmod(0o755)
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / name).write_text(f'[build]\n{key} = "{planted}"\n')
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    with pytest.raises(InstallError, match="cargo failed"):
        crate("a==1.0.0", tmp_path / "out")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["Cargo.toml", "rust-toolchain", "rust-toolchain.toml"])
def test_no_file_above_the_temporary_folder_is_cargos(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text("broken")
    client(tmp_path, monkeypatch, "cargo", f'pwd > "{tmp_path}/folder"; {BRINGS_CRATE}')
    crate("a==1.0.0", tmp_path / "out")
    folder = Path((tmp_path / "folder").read_text().rstrip("\n"))
    assert not any((above / name).exists() for above in (folder, *folder.parents))


def test_the_error_of_cargo_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", "echo 'error: could not find `a`' >&2; exit 101")
    with pytest.raises(InstallError, match="could not find `a`"):
        crate("a==1.0.0", tmp_path)


def test_an_archive_that_is_not_brought_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "cargo", "exit 0")
    with pytest.raises(InstallError, match=r"no archive of a==1\.0\.0\. Check name and version"):
        crate("a==1.0.0", tmp_path)
