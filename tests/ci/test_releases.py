"""A release as its tag would make it: the scripts of release.yml, in a clone.

gh and docker are programs that only write down what they are asked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
FILES = (".ci", ".teamcity", "ci_eval", "configs", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml")
RECORDER = """#!/bin/sh
[ "$(basename "$0")" = sudo ] || printf '%s\\n' "$(basename "$0") $*" >> "$RECORD"
case "$*" in
  *--metadata-file*) echo '{"containerimage.digest": "sha256:abc"}' > image.json ;;
  *"-X PATCH"*) exit "$HAS_NO_MOVING_TAG" ;;
  *--notes-file*) cat > "$RECORD.notes" ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone of this checkout as it is, with a version under way."""
    folder = tmp_path / "clone"
    for name in FILES:
        source = ROOT / name
        ignored = shutil.ignore_patterns("__pycache__")
        folder.mkdir(exist_ok=True)
        shutil.copytree(source, folder / name, ignore=ignored) if source.is_dir() else shutil.copy(source, folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "git@github.com:Team/ci-eval.git")
    (tmp_path / "bin").mkdir()
    for name in ("docker", "gh", "sudo"):
        program = tmp_path / "bin" / name
        program.write_text(RECORDER)
        program.chmod(0o755)
    return folder


def git(folder: Path, *arguments: str) -> None:
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    subprocess.run(argv, cwd=folder, check=True)


def release(folder: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code of release.py, and what it says."""
    argv = [sys.executable, ".ci/release.py", *arguments]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def execute(folder: Path, job: str, variables: Mapping[str, str]) -> list[str]:
    """Run the scripts of a job; return what gh and docker were asked."""
    record = folder.parent / f"record-{job}"
    output = folder.parent / f"output-{job}"
    environment = {
        **os.environ,
        "PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}",
        "RECORD": str(record),
        "HAS_NO_MOVING_TAG": "1",
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary"),
        "GITHUB_REPOSITORY": "Team/ci-eval",
        "GITHUB_ACTOR": "someone",
        "GITHUB_SHA": "1" * 40,
        **variables,
    }
    for step in WORKFLOW["jobs"][job]["steps"]:
        if "run" in step:
            given = {name: re.sub(r"\$\{\{ github\.repository \}\}", "Team/ci-eval", text) for name, text in
                     step.get("env", {}).items()}  # fmt: skip
            argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(
                argv, cwd=folder, env={**environment, **given}, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
    return record.read_text().splitlines() if record.exists() else []


def test_a_cut_gives_the_changes_a_section_and_the_checkout_a_version(clone: Path) -> None:
    before = (clone / "CHANGELOG.md").read_text()
    assert release(clone, "cut")[0] == 0
    text = (clone / "CHANGELOG.md").read_text()
    assert re.search(r"^## Unreleased\n\n## 0\.1\.0 \(\d{4}-\d\d-\d\d\)\n", text, re.MULTILINE)
    assert re.sub(r"\n## 0\.1\.0 .*\n", "", text) == before
    assert 'version = "0.1.0"' in (clone / "pyproject.toml").read_text()
    assert '__version__ = "0.1.0"' in (clone / "ci_eval" / "__init__.py").read_text()
    assert 'Source = "https://github.com/Team/ci-eval"' in (clone / "pyproject.toml").read_text()
    code, notes = release(clone, "notes", "v0.1.0")
    assert (code, notes.partition("\n")[0]) == (0, before.split("## Unreleased\n\n")[1].partition("\n")[0])


@pytest.mark.parametrize(
    "remote",
    [
        "https://user:token@github.com/Team/ci-eval",
        "https://token@github.com/Team/ci-eval.git",
        "ssh://git@github.com/Team/ci-eval.git",
        "ssh://git@github.com:22/Team/ci-eval.git",
        "https://github.com/Team/ci-eval/",
    ],
)
def test_the_address_of_a_release_holds_no_token(remote: str, clone: Path) -> None:
    git(clone, "remote", "set-url", "origin", remote)
    assert release(clone, "cut") == (0, "")
    text = (clone / "pyproject.toml").read_text()
    assert 'Source = "https://github.com/Team/ci-eval"' in text
    assert "token@" not in text


@pytest.mark.parametrize(
    "remote",
    [
        "/srv/git/ci-eval.git",
        "file:///srv/git/ci-eval.git",
        "https://git.example.com:8443/team/ci-eval.git",
        "https://user:token@git.example.com:8443/ci-eval",
    ],
)
def test_a_remote_that_is_no_plain_address_is_refused_before_anything_is_written(remote: str, clone: Path) -> None:
    git(clone, "remote", "set-url", "origin", remote)
    assert "is no https://HOST/OWNER/NAME" in release(clone, "cut")[1]
    assert 'version = "0.1.0.dev0"' in (clone / "pyproject.toml").read_text()


def test_a_mirror_of_whoever_releases_is_no_address_of_a_release(clone: Path) -> None:
    git(clone, "config", "url.file:///srv/mirror/.insteadOf", "git@github.com:")
    assert release(clone, "cut") == (0, "")
    assert 'Source = "https://github.com/Team/ci-eval"' in (clone / "pyproject.toml").read_text()


def test_what_is_not_ready_is_refused(clone: Path) -> None:
    assert "is not about version 0.1.0.dev0" in release(clone, "notes", "v0.1.0")[1]
    assert "is no version" in release(clone, "cut", "1.0rc1")[1]
    release(clone, "cut", "0.1.0")
    for tag in ("v0.2.0", "0.1.0"):
        code, said = release(clone, "notes", tag)
        assert (code, "is not about version" in said) == (1, True)
    assert "nothing under Unreleased" in release(clone, "cut", "0.2.0")[1]


def test_a_release_has_an_image_by_its_tag_and_the_notes_and_moves_v0(clone: Path) -> None:
    release(clone, "cut")
    tag = {"TAG": "v0.1.0"}
    image = "ghcr.io/team/ci-eval:v0.1.0"
    asked = execute(clone, "image", tag)
    pair = ["buildx build", "run --rm"]
    assert [" ".join(line.split()[1:3]) for line in asked[1:]] == [*pair, *pair, "login ghcr.io", "buildx build"]
    tried = [re.search(r"--platform (\S+)", line) for line in asked[1:5]]
    assert [platform and platform[1] for platform in tried] == ["linux/amd64"] * 2 + ["linux/arm64"] * 2
    pushed = "--platform linux/amd64,linux/arm64 --sbom=true --push --metadata-file image.json ."
    assert asked[-1] == f"docker buildx build --tag {image} {pushed}"
    assert (clone.parent / "output-image").read_text() == "name=ghcr.io/team/ci-eval\ndigest=sha256:abc\n"
    assert execute(clone, "tag", tag) == [
        "gh release create v0.1.0 --verify-tag --notes-file - ci-eval.cdx.json",
        f"gh api -X PATCH repos/Team/ci-eval/git/refs/tags/v0 -f sha={'1' * 40} -F force=true",
        f"gh api -X POST repos/Team/ci-eval/git/refs -f ref=refs/tags/v0 -f sha={'1' * 40}",
    ]
    assert (clone.parent / "record-tag.notes").read_text() == release(clone, "notes", "v0.1.0")[1].removesuffix("\n")
    assert execute(clone, "tag", {**tag, "HAS_NO_MOVING_TAG": "0"})[-1].split()[3] == "PATCH"


def test_a_rehearsal_builds_the_image_and_publishes_nothing(clone: Path) -> None:
    asked = [" ".join(line.split()[1:3]) for line in execute(clone, "image", {"TAG": ""})]
    assert asked == ["buildx create", *["buildx build", "run --rm"] * 2]
    jobs = WORKFLOW["jobs"]
    assert jobs["publish"]["if"] == "github.event_name == 'push'"
    # A job whose needs were skipped is skipped.
    assert jobs["tag"]["needs"] == "publish"
    attested = [step for step in jobs["image"]["steps"] if "attest" in step.get("uses", "")]
    assert [step["if"] for step in attested] == ["env.TAG != ''"]
    # Whoever approves PyPI approves the image, too; a rehearsal waits for nobody.
    assert jobs["image"]["environment"] == "${{ github.event_name == 'push' && 'pypi' || '' }}"
    assert jobs["publish"]["environment"] == "pypi"
    assert WORKFLOW["env"]["TAG"] == "${{ github.event_name == 'push' && github.ref_name || '' }}"


def test_an_sbom_has_each_package_of_the_lock(clone: Path) -> None:
    code, said = release(clone, "sbom")
    assert code == 0
    document = json.loads(said)
    parts = {component["purl"] for component in document["components"]}
    lock = (clone / ".ci" / "requirements-ml.txt").read_text()
    assert len(parts) == len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE)) > 20
    assert any(part.startswith("pkg:pypi/lightgbm@") for part in parts)
    assert document["metadata"]["component"]["version"] == "0.1.0.dev0"


def test_the_readme_of_a_release_has_no_relative_link(clone: Path) -> None:
    assert "run `release.py cut`" in release(clone, "readme")[1]
    release(clone, "cut")
    assert release(clone, "readme") == (0, "")
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", (clone / "README.md").read_text())
    assert all(link.startswith(("https://", "#")) for _, link in links)
    files = [link.partition("/blob/v0.1.0/")[2].partition("#")[0] for mark, link in links if not mark]
    assert all((ROOT / file).exists() for file in files)
    assert ("!", "https://github.com/Team/ci-eval/raw/v0.1.0/docs/report.png") in links


@pytest.mark.registry
@pytest.mark.parametrize("tag", ["v0.1.0", ""], ids=["released", "rehearsed"])
def test_what_is_built_has_the_version_of_the_tag(tag: str, clone: Path) -> None:
    # Only the build program of the lock is installed: `tests/ci/test_locks.py` is about the other packages.
    lock = (ROOT / ".ci" / "requirements.txt").read_text()
    needed = ("hatchling", "packaging", "pathspec", "pluggy", "tomli", "tomlkit", "trove-classifiers")
    parts = [part for part in re.split(r"(?m)^(?=\S)", lock) if part.startswith(needed)]
    (clone / ".ci" / "requirements.txt").write_text("".join(parts))
    subprocess.run([sys.executable, "-m", "venv", clone.parent / "python"], check=True)
    if tag:
        release(clone, "cut")
    path = {"PATH": f"{clone.parent / 'python' / 'bin'}:{clone.parent / 'bin'}:{os.environ['PATH']}"}
    execute(clone, "build", {"TAG": tag, **path})
    (wheel,), (sdist,) = (list((clone / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    assert (wheel.name, sdist.name) == ("ci_eval-0.1.0-py3-none-any.whl", "ci_eval-0.1.0.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("ci_eval-0.1.0.dist-info/METADATA").decode()
        assert "ci_eval/jobs/workflows/CiEval.kt" in archive.namelist()
    assert "](docs/" not in metadata
    assert "Project-URL: Source, https://github.com/Team/ci-eval" in metadata
    with tarfile.open(sdist) as archive:
        assert "ci_eval-0.1.0/.teamcity/library/CiEval.kt" in archive.getnames()
    assert "### Which sessions there are" in (clone.parent / "summary").read_text()
