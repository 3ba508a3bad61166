"""Download packages with pip, npm, mvn, go and cargo. Nothing is built, and no package's own code runs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import InstallError
from ci_eval.core.base.quoting import quote
from ci_eval.core.base.workspaces import NAME
from ci_eval.fetch.clients import UNREACHABLE, failure, last_words, match_source, one_file, run_client, run_to_end

PYPI = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[[A-Za-z0-9._,-]+\])?==(?P<version>[0-9][A-Za-z0-9.!+_-]*)"
)
PYPI_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
NPM_NAME = NAME
NPM = re.compile(
    r"(?P<name>(?:@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*)"
    r"@(?P<version>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)",
    re.ASCII,
)

WHEELS_ONLY = (
    "Only wheels are installed, and nothing is built: check name and version, and that this release has a wheel for "
    "this Python. If a release has only a source archive, use its https or git address."
)
REGISTRY_ONLY = (
    "Only packages from a registry are installed: building a package from git would run the package's programs. "
    "Leave out the package that requires a package from git, or set `project.dependencies` to false."
)

ALONE = Path(__file__).parents[1] / "plugins" / "drivers"
# In NODE_OPTIONS, a backslash escapes the next character.
NO_PROGRAMS = '--require "{}"'.format(str(ALONE / "alone.cjs").replace("\\", "\\\\").replace('"', '\\"'))
"""The options of Node.js that keep npm from starting programs."""
REFUSED = "ci-eval lets "


def pip_download(requirement: str, folder: Path) -> Path:
    """Download the wheel of NAME==VERSION, or of NAME's newest version. Raises ConfigError or InstallError."""
    if not PYPI_NAME.fullmatch(requirement):
        check_requirement(requirement)
    argv = ("download", "--no-deps", "--only-binary=:all:", "-d", ".", "--", requirement)
    missing = f"pip downloaded no wheel of {requirement}. {WHEELS_ONLY}"
    return one_file(lambda here: pip_run(argv, cwd=here), ".whl", folder, missing)


def pip_install(requirements: Sequence[str], target: Path) -> dict[str, str]:
    """Install wheels of the requirements (NAME==VERSION) and of their dependencies to the folder `target`. Return the
    version of each distribution in the folder, by name. Raises ConfigError or InstallError."""
    for requirement in requirements:
        check_requirement(requirement)
    target.mkdir(parents=True, exist_ok=True)
    options = ("install", "--only-binary=:all:", "--target", str(target.resolve()))
    pip_run((*options, "--", *requirements))
    return list_distributions(target)


def list_distributions(target: Path) -> dict[str, str]:
    """Return the version of each distribution, in order of name."""
    distributions = importlib.metadata.distributions(path=[str(target)])
    return dict(sorted((item.metadata["Name"], item.version) for item in distributions))


def check_origins(target: Path) -> None:
    for item in importlib.metadata.distributions(path=[str(target)]):
        # pip writes direct_url.json for a requirement with an address (PEP 610).
        if origin := item.read_text("direct_url.json"):
            raise InstallError(
                f"{item.metadata['Name']} did not come from an index: {quote(origin, 200)}. {WHEELS_ONLY}"
            )


def npm_pack(spec: str, folder: Path) -> Path:
    """Download the tarball of NAME@VERSION, or of NAME's newest version. Raises ConfigError or InstallError."""
    if not NPM_NAME.fullmatch(spec):
        check_npm(spec)
    missing = f"npm downloaded no tarball of {spec}. Check name and version."
    return one_file(lambda here: npm_run(("pack", "--", spec), cwd=here), ".tgz", folder, missing)


def check_requirement(requirement: str) -> re.Match[str]:
    """Return a match with the groups `name` and `version`, like all checks below. Raises ConfigError."""
    return match_source(PYPI, requirement, "NAME==VERSION, as in six==1.16.0, nor NAME for the newest version.")


def check_npm(spec: str) -> re.Match[str]:
    return match_source(NPM, spec, "NAME@VERSION, as in is-number@7.0.0, nor NAME for the newest version.")


def pip_run(arguments: Sequence[str], *, cwd: Path | None = None) -> str:
    """Run pip and return what it prints. pip is kept from starting programs, so it builds nothing. Raises InstallError
    with advice."""
    if importlib.util.find_spec("pip") is None:
        raise InstallError(
            "The environment in which ci-eval runs has no pip (uv makes environments without pip). "
            f"Add it: `uv pip install pip`, or `{Path(sys.executable).name} -m ensurepip`."
        )
    # `pip index` shows no progress, and rejects the option --progress-bar.
    progress = () if arguments[0] == "index" else ("--progress-bar=off",)
    common = ("--no-input", "--disable-pip-version-check", *progress)
    argv = (sys.executable, str(ALONE / "alone.py"), "pip", arguments[0], *common, *arguments[1:])
    ended = run_to_end(argv, cwd=cwd)
    if not ended.code:
        return ended.output
    if REFUSED in ended.trouble:
        # pip prints such a line with the package's name before it builds the package.
        collected = re.findall(r"^ *(?:Collecting|Processing) (.*)", ended.output, re.MULTILINE)
        package = quote(collected[-1].strip()) if collected else "a package"
        raise InstallError(f"pip was not allowed to build {package}. {WHEELS_ONLY}")
    if UNREACHABLE.search(ended.trouble):
        raise InstallError(failure(ended))
    hint = WHEELS_ONLY if "No matching distribution" in ended.trouble else "Check pip's settings: `pip config list`."
    raise InstallError(f"{failure(ended)}\n{hint}")


def npm_run(arguments: Sequence[str], *, cwd: Path | None = None) -> str:
    """Run npm, kept from running scripts and starting programs, and return what it printed. Raises InstallError."""
    inherited = os.environ.get("NODE_OPTIONS", "")
    variables = {"NODE_OPTIONS": f"{inherited} {NO_PROGRAMS}".strip()}
    argv = ("npm", arguments[0], "--ignore-scripts", *arguments[1:])
    ended = run_to_end(argv, cwd=cwd, variables=variables)
    if ended.code or REFUSED in ended.trouble:
        raise InstallError(failure(ended) + (f"\n{REGISTRY_ONLY}" if REFUSED in ended.trouble else ""))
    return ended.output


# Without a version, Maven would take the newest plugin.
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
MAVEN = re.compile(
    r"(?P<group>[A-Za-z0-9_][A-Za-z0-9._-]*):(?P<name>[A-Za-z0-9_][A-Za-z0-9._-]*)"
    r":(?P<version>(?!(?:LATEST|RELEASE)\Z)[A-Za-z0-9_][A-Za-z0-9._+-]*)(?<!-SNAPSHOT)"
    r"(?P<plain>:jar)?"
)
# Maven prints the second message if it remembers that the artifact was not found a short while ago.
UNKNOWN = re.compile(r"Could not find artifact|was not found in")


def artifact(coordinates: str, folder: Path) -> Path:
    """Download the sources jar of GROUP:ARTIFACT:VERSION, or the plain jar if `coordinates` end in :jar. Raises
    ConfigError or InstallError."""
    match = check_maven(coordinates)
    full = coordinates if match["plain"] else f"{coordinates}:jar:sources"

    def run(here: Path) -> None:
        # mvn takes options and extensions from the nearest .mvn folder, so this empty folder hides all others.
        (here / ".mvn").mkdir()
        trouble = _copy(full, here)
        if not trouble:
            return
        if not UNKNOWN.search(trouble):
            advice = "Check the network, and the mirrors and proxies in Maven's settings.xml."
            raise InstallError(f"mvn failed:\n{trouble}\n{advice}")
        release = coordinates.removesuffix(":jar")
        if _copy(f"{release}:pom", here):
            raise InstallError(f"mvn does not know {coordinates}:\n{trouble}\nCheck group, artifact and version.")
        missing, instead = ("jar", "") if match["plain"] else ("sources jar", f"the plain jar ({release}:jar), ")
        raise InstallError(
            f"{release} was published without a {missing}.\n{trouble}\n"
            f"Try another version, {instead}or take the project by its git or https address."
        )

    return one_file(run, ".jar", folder, f"mvn downloaded no jar of {coordinates}. Check Maven's settings.xml.")


def check_maven(coordinates: str) -> re.Match[str]:
    needed = "one exact release is needed, no snapshot, as in org.apache.commons:commons-lang3:3.14.0"
    plain = "with :jar at the end, the plain jar is taken instead of the sources jar."
    return match_source(MAVEN, coordinates, f"GROUP:ARTIFACT:VERSION: {needed}; {plain}")


def _copy(artifact: str, here: Path) -> str:
    """Copy one file to `here` with mvn. Return why that failed, or ""."""
    # -U: Maven looks again for files that were missing a while ago.
    return run_mvn("-U", COPY, f"-Dartifact={artifact}", "-DoutputDirectory=.", here=here)


def run_mvn(*arguments: str, here: Path) -> str:
    """Run mvn in a folder without a project. Return the cause of a failure, or "". Raises InstallError if mvn is not
    installed or takes too long."""
    ended = run_to_end(("mvn", "-q", "-B", "-Dstyle.color=never", *arguments), cwd=here)
    if not ended.code:
        return ""
    output = re.sub(r"\x1b\[[0-9;]*m", "", f"{ended.trouble}\n{ended.output}")
    # The text before the first "[Help" tells the cause; the text after it tells how to debug Maven.
    cause = re.split(r"-> \[Help \d+\]|^\[ERROR\] *$", output, maxsplit=1, flags=re.MULTILINE)[0]
    return last_words("\n".join(re.findall(r"^\[ERROR\] (.+)$", cause, re.MULTILINE)) or output)


GO = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+(?:/[A-Za-z0-9_~](?:[A-Za-z0-9_.~-]*[A-Za-z0-9_~-])?)*)"
    r"@(?P<version>v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+incompatible)?)"
)
NEWER_GO = re.compile(r" requires go >= ")
SETTINGS = {
    # -modcacherw: go makes the files of its cache read-only, but this temporary cache must be deleted.
    "GOFLAGS": "-mod=mod -modcacherw",
    "GO111MODULE": "on",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}


class _Downloaded(msgspec.Struct):
    zip: str = msgspec.field(name="Zip", default="")
    error: str = msgspec.field(name="Error", default="")


def module_zip(module: str, folder: Path) -> Path:
    """Download the zip of MODULE@VERSION. All files in the zip are below the path MODULE@VERSION. Raises ConfigError or
    InstallError."""
    check_module(module)

    def run(here: Path) -> None:
        variables = {**SETTINGS, "GOMODCACHE": str(here.resolve() / "cache")}
        argv = ("go", "mod", "download", "-json", "--", module)
        ended = run_to_end(argv, cwd=here, variables=variables)
        try:
            downloaded = msgspec.json.decode(ended.output, type=_Downloaded)
        except msgspec.MsgspecError:
            downloaded = _Downloaded()
        # A module that needs a newer go is no error: the module is not built, and its zip is complete and checked.
        if not downloaded.zip or (downloaded.error and not NEWER_GO.search(downloaded.error)):
            raise InstallError(
                f"go downloaded no zip of {module}:\n{last_words(downloaded.error or ended.trouble or ended.output)}\n"
                "Check the module's path and version as a go.mod has them, the network, and `go env GOPROXY`."
            )
        Path(downloaded.zip).replace(here / "module.zip")

    return one_file(run, ".zip", folder, f"go downloaded no zip of {module}. Check module and version.")


def check_module(module: str) -> re.Match[str]:
    needed = "the module's whole path and one exact version are needed, as in github.com/spf13/cobra@v1.8.1."
    return match_source(GO, module, f"MODULE@VERSION: {needed}")


CRATE = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_-]{0,63})==(?P<version>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)"
)

NO_WRAPPERS = {"RUSTC_WRAPPER": "", "RUSTC_WORKSPACE_WRAPPER": ""}
"""The variables that keep cargo from running a compiler wrapper that some settings name."""


def crate(source: str, folder: Path) -> Path:
    """Download the archive of NAME==VERSION. Raises ConfigError or InstallError."""
    match = check_crate(source)

    def run(here: Path) -> None:
        # The user's settings name mirrors and keys. The user's cache is not used: it may hold the archive already.
        home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo").absolute()
        cache = (here / "cargo").resolve()
        cache.mkdir()
        for name in ("credentials", "credentials.toml"):
            if (home / name).is_file():
                (cache / name).symlink_to(home / name)
        # If both files exist, cargo reads `config`.
        settings = [str(path) for name in ("config", "config.toml") if (path := home / name).is_file()]
        argv = ["cargo", *(part for path in settings[:1] for part in ("--config", path)), "info", "--quiet"]
        run_client(
            (*argv, f"{match['name']}@{match['version']}"),
            # Cargo reads the settings in all folders above `cwd`. Anybody may write above a temporary folder, and
            # `build.rustc` in such settings names a program to run.
            cwd=Path(cache.anchor),
            variables={"CARGO_HOME": str(cache), "CARGO_TERM_COLOR": "never", **NO_WRAPPERS},
        )
        for archive in cache.glob("registry/cache/*/*.crate"):
            archive.replace(here / archive.name)

    missing = f"cargo downloaded no archive of {source}. Check name and version, and that cargo is 1.82 or newer."
    return one_file(run, ".crate", folder, missing)


def check_crate(text: str) -> re.Match[str]:
    return match_source(CRATE, text, "NAME==VERSION with one full version, as in serde_json==1.0.118.")
