"""Prepare a release, and print what is in it. Needs Python alone.

python .ci/release.py cut [VERSION]    writes VERSION (default: the one under way) and its section of CHANGELOG.md
python .ci/release.py notes TAG        prints that section; fails if TAG is not the version of the checkout
python .ci/release.py readme           gives README.md links that hold on PyPI's page; for the build, not to commit
python .ci/release.py sbom             prints what the lock installs, as CycloneDX
python .ci/release.py image [TAG]      builds and tries the image; with TAG it is pushed, and the CI is told its digest
python .ci/release.py publish TAG      the release at GitHub with these notes and the SBOM, and the moving tag vX
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHANGES, PROJECT, PACKAGE = (ROOT / name for name in ("CHANGELOG.md", "pyproject.toml", "ci_eval/__init__.py"))
VERSION = re.compile(r'^(version|__version__) = "(.*)"$', re.MULTILINE)
UNRELEASED = "## Unreleased\n"
README, LOCK = ROOT / "README.md", ROOT / ".ci" / "requirements-ml.txt"
SBOM = "ci-eval.cdx.json"
PLATFORMS = ("linux/amd64", "linux/arm64")
RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")
"""A link of Markdown to another file of the checkout."""
NOTES_LIMIT = 125_000
"""The most characters of a release's text: https://github.com/orgs/community/discussions/27190"""


def stored_version(path: Path) -> str:
    """Return the version that a file of the checkout has."""
    match = VERSION.search(path.read_text(encoding="utf-8"))
    if not match:
        sys.exit(f"{path} has no line with a version")
    return match[2]


def cut(version: str) -> None:
    """Write a version into the checkout, and give its changes a section of that name."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"{version} is no version such as 0.1.0")
    text = CHANGES.read_text(encoding="utf-8")
    if not section(text, "Unreleased"):
        sys.exit("CHANGELOG.md has nothing under Unreleased: there is nothing to release")
    # As it is written: `git remote get-url` would follow the mirrors of whoever releases.
    source = address(run("git", "config", "--get", "remote.origin.url"))
    today = datetime.now(timezone.utc).date()
    CHANGES.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## {version} ({today})\n", 1), encoding="utf-8")
    for path in (PROJECT, PACKAGE):
        path.write_text(VERSION.sub(rf'\1 = "{version}"', path.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    if "[project.urls]" not in PROJECT.read_text(encoding="utf-8"):
        # By it, `ci-eval init` finds the commit of a release that pip installed.
        with PROJECT.open("a", encoding="utf-8") as file:
            file.write(f'\n[project.urls]\nSource = "{source}"\n')


def address(remote: str) -> str:
    """Return the https address of a remote, without what its own may hold beside host and path: a user, a token."""
    # The port of ssh is not that of https; another port of https would be, and is not written into addresses here.
    start = r"(?:https://(?:[^@/]*@)?(?=[\w.-]+/)|ssh://(?:[^@/]*@)?|[\w.-]+@)"
    match = re.fullmatch(start + r"([\w.-]+)(?::\d+/|[:/])([\w.-]+/[\w.-]+?)(?:\.git)?/?", remote)
    return f"https://{match[1]}/{match[2]}" if match else sys.exit("the remote origin is no https://HOST/OWNER/NAME")


def section(text: str, title: str) -> str:
    """Return the section of the changelog with that title, or "" if there is none."""
    match = re.search(rf"^## {re.escape(title)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


def notes(tag: str) -> str:
    """Return the changes of the release that a tag is about."""
    versions = {stored_version(PROJECT), stored_version(PACKAGE)}
    if versions != {tag.removeprefix("v")} or not tag.startswith("v"):
        sys.exit(f"the tag {tag} is not about version {' and '.join(sorted(versions))}: run `release.py cut` before it")
    changes = section(CHANGES.read_text(encoding="utf-8"), tag.removeprefix("v"))
    if not changes:
        sys.exit(f"CHANGELOG.md has no section {tag.removeprefix('v')}: run `release.py cut`")
    if len(changes) <= NOTES_LIMIT:
        return changes
    return changes[:NOTES_LIMIT].rpartition("\n")[0] + "\n\nMore: CHANGELOG.md"


def readme() -> None:
    """Make relative links of the README absolute, at the tag of this version. PyPI shows it beside no other file."""
    source = re.search(r'^Source = "(.*)"$', PROJECT.read_text(encoding="utf-8"), re.MULTILINE)
    if not source:
        sys.exit("pyproject.toml has no Source: run `release.py cut` before it")
    kinds = {"": "blob", "!": "raw"}
    text = README.read_text(encoding="utf-8")
    at = f"v{stored_version(PROJECT)}"
    README.write_text(
        RELATIVE.sub(lambda link: f"{link[1]}{link[2]}({source[1]}/{kinds[link[1]]}/{at}/{link[3]})", text),
        encoding="utf-8",
    )


def sbom() -> str:
    """Return what an installation by the lock consists of, in CycloneDX: https://cyclonedx.org/docs/1.6/json/"""
    parts = re.findall(r"^([\w.-]+)==(\S+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    version = stored_version(PROJECT)
    components = [{"type": "library", "name": name, "version": at, "purl": purl(name, at)} for name, at in parts]
    application = {"type": "application", "name": "ci-eval", "version": version, "purl": purl("ci-eval", version)}
    document = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": application}}
    return json.dumps(document | {"components": components}, indent=1)


def purl(name: str, version: str) -> str:
    """Return the address of a package as SBOMs have it: https://github.com/package-url/purl-spec"""
    return f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}"


def image(tag: str) -> None:
    """Build the image for each platform and evaluate something in it; with a tag, push it and write outputs."""
    name = f"ghcr.io/{os.environ['GITHUB_REPOSITORY'].lower()}"
    label = f"{name}:{tag or 'rehearsal'}"
    trial = ["evaluate", "--set", "interpret.sessionsLimit=50", "--output", "workspace"]
    # The runner executes other platforms by QEMU, and builds them by a builder of its own.
    for argv in ("sudo apt-get update", "sudo apt-get install --yes qemu-user-static", "docker buildx create --use"):
        subprocess.run(argv.split(), check=True)
    build = ["docker", "buildx", "build", "--tag", label]
    for platform in PLATFORMS:
        subprocess.run([*build, "--platform", platform, "--load", "."], cwd=ROOT, check=True)
        subprocess.run(["docker", "run", "--rm", "--platform", platform, label, *trial], check=True)
    if not tag:
        return
    login = ["docker", "login", "ghcr.io", "--username", os.environ["GITHUB_ACTOR"], "--password-stdin"]
    subprocess.run(login, input=os.environ["TOKEN"], text=True, check=True)
    # What was tried is in the builder's cache.
    whole = ["--platform", ",".join(PLATFORMS), "--sbom=true", "--push", "--metadata-file", "image.json", "."]
    subprocess.run([*build, *whole], cwd=ROOT, check=True)
    digest = json.loads((ROOT / "image.json").read_text(encoding="utf-8"))["containerimage.digest"]
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"name={name}\ndigest={digest}\n")


def publish(tag: str) -> None:
    """Make the release at GitHub, and move the tag vX, by which actions are used, to its commit."""
    repository, commit = os.environ["GH_REPO"], os.environ["GITHUB_SHA"]
    text = notes(tag)
    (ROOT / SBOM).write_text(sbom(), encoding="utf-8")
    create_release = ["gh", "release", "create", tag, "--verify-tag", "--notes-file", "-", SBOM]
    subprocess.run(create_release, cwd=ROOT, input=text, text=True, check=True)
    references, moving = f"repos/{repository}/git/refs", f"tags/{tag.partition('.')[0]}"
    update = ["gh", "api", "-X", "PATCH", f"{references}/{moving}", "-f", f"sha={commit}", "-F", "force=true"]
    if subprocess.run(update, check=False).returncode:
        create = ["gh", "api", "-X", "POST", references, "-f", f"ref=refs/{moving}", "-f", f"sha={commit}"]
        subprocess.run(create, check=True)


def run(*argv: str) -> str:
    """Return what a program prints."""
    return subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def main(argv: list[str]) -> None:
    """Do what the arguments say."""
    match argv:
        case ["cut"]:
            cut(stored_version(PROJECT).partition(".dev")[0])
        case ["cut", version]:
            cut(version)
        case ["notes", tag]:
            print(notes(tag))
        case ["readme"]:
            readme()
        case ["sbom"]:
            print(sbom())
        case ["image", *tags] if len(tags) < 2:
            image("".join(tags))
        case ["publish", tag]:
            publish(tag)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
