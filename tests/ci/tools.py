"""The checkers of workflows that no Python package brings, installed once into the cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from ci_eval.core import machine
from ci_eval.plugins.adapters.recipes import once

ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
ACT = "github.com/nektos/act@v0.2.87"
CALLED = Path(__file__).parent / "act_called.go"
PACKAGES = ("@actions/languageservice@0.3.61", "esbuild@0.28.2", "vscode-languageserver-textdocument@1.0.12")
SERVICE = Path(__file__).parent / "language_service.mjs"
CLIENTS = (
    "@actions/artifact@6.2.1", "@actions/core@3.0.1", "@actions/github@9.1.1", "@actions/glob@0.6.1",
    "minimatch@10.1.1", "esbuild@0.28.2",
)  # fmt: skip
GITHUB_ACTIONS = Path(__file__).parent / "github_actions.mjs"

API = "@octokit/openapi@23.0.2"
CACHE = Path(__file__).parent / "cache.mjs"
EXPRESSIONS = Path(__file__).parent / "expressions.mjs"
EXPRESSION_LIBRARY = ("@actions/expressions@0.3.61", "esbuild@0.28.2")
CACHE_CLIENT = ("@actions/cache@6.1.0", "@actions/core@3.0.1", "esbuild@0.28.2")

# Some of them are CommonJS, which asks for `require`.
REQUIRE = "import {createRequire as made} from 'module'; const require = made(import.meta.url);"
MODULE = f"--format=esm --banner:js={REQUIRE}"


def made(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of the cache, checked as the product checks its own: whole and undamaged, whoever makes it at the same
    time."""

    def install(folder: Path) -> dict[str, str]:
        make(folder)
        return {}

    return once(machine.cache_folder() / "test-tools" / name, "", install).folder


def go_tool(package: str) -> Path:
    """A program from the Go proxy."""
    name = package.rpartition("@")[0].rpartition("/")[2]

    def make(folder: Path) -> None:
        run(["go", "install", package], cwd=folder, GOBIN=str(folder))

    return made(package.replace("/", "_"), make) / name


def act() -> Path:
    """act, but for what a called workflow that fails means to its caller."""

    def make(folder: Path) -> None:
        source = Path(json.loads(run(["go", "mod", "download", "-json", ACT], cwd=folder))["Dir"])
        # Without the modes: in Go's cache nothing can be written.
        shutil.copytree(source, folder / "source", copy_function=shutil.copyfile)
        package = folder / "source" / "pkg" / "runner"
        for path in (folder / "source", *(each for each in (folder / "source").rglob("*") if each.is_dir())):
            path.chmod(0o755)
        shutil.copy(CALLED, package)
        calling = (package / "reusable_workflow.go").read_text()
        plan = "runner.NewPlanExecutor(plan)"
        assert calling.count(f"return {plan}(ctx)") == 2
        (package / "reusable_workflow.go").write_text(calling.replace(plan, f"goingOn(rc, {plan})"))
        run(["go", "build", "-o", str(folder / "act"), "."], cwd=folder / "source")
        shutil.rmtree(folder / "source")

    digest = hashlib.sha256(CALLED.read_bytes()).hexdigest()[:12]
    return made(f"{ACT.replace('/', '_')}-{digest}", make) / "act"


def language_service() -> Path:
    """GitHub's language service with our entry point, as one script for node."""
    return _bundle(SERVICE, PACKAGES, "--format=cjs", "cjs")


def github_actions() -> Path:
    """GitHub's clients of artifacts with our entry points, as one module for node."""
    return _bundle(GITHUB_ACTIONS, CLIENTS, MODULE, "mjs")


def github_cache() -> Path:
    """GitHub's client of caches, likewise."""
    return _bundle(CACHE, CACHE_CLIENT, MODULE, "mjs")


def github_expressions() -> Path:
    """GitHub's library of expressions with our entry point, likewise."""
    return _bundle(EXPRESSIONS, EXPRESSION_LIBRARY, MODULE, "mjs")


def described_api() -> Path:
    """GitHub's description of its REST API, of github.com."""

    def make(folder: Path) -> None:
        (folder / "package.json").write_text('{"private": true}')
        run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", API], cwd=folder)
        # The package has it thirty times: for each server, and with all references resolved.
        shutil.copy(folder / "node_modules" / "@octokit" / "openapi" / "generated" / "api.github.com.json", folder)
        shutil.rmtree(folder / "node_modules")

    return made(API.replace("/", "_"), make) / "api.github.com.json"


def _bundle(source: Path, packages: tuple[str, ...], options: str, suffix: str) -> Path:
    def make(folder: Path) -> None:
        # A version that a dependency of a dependency asks for is not in every registry.
        overrides = {"typedarray.prototype.slice": "1.0.5"}
        (folder / "package.json").write_text(json.dumps({"private": True, "overrides": overrides}))
        run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages], cwd=folder)
        shutil.copy(source, folder)
        bundle = ("--bundle", "--platform=node", f"--outfile=bundle.{suffix}", "--log-level=error")
        form, *banner = options.split(" ", 1)
        run([str(folder / "node_modules" / ".bin" / "esbuild"), source.name, *bundle, form, *banner], cwd=folder)
        shutil.rmtree(folder / "node_modules")

    digest = hashlib.sha256(" ".join((*packages, options)).encode() + source.read_bytes()).hexdigest()[:12]
    return made(f"{source.stem}-{digest}", make) / f"bundle.{suffix}"


def run(argv: list[str], cwd: Path, **variables: str) -> str:
    """Its output; an AssertionError with all it said where it fails."""
    done = subprocess.run(
        argv, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{argv}\n{done.stdout}\n{done.stderr}"
    return done.stdout


KOTLIN = "kotlin-compiler@2.4.20"
STUB = sorted(Path(__file__).parent.glob("teamcity_*.kt"))


def kotlinc(argv: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """The Kotlin compiler of JetBrains' npm package, on this machine's Java."""

    def make(folder: Path) -> None:
        (folder / "package.json").write_text('{"private": true}')
        run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", KOTLIN], cwd=folder)

    home = made(KOTLIN, make) / "node_modules" / "kotlin-compiler"
    command = [
        # Code that is compiled once is not worth the second compiler's time.
        "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g",
        "-cp", str(home / "lib" / "kotlin-preloader.jar"),
        "org.jetbrains.kotlin.preloading.Preloader", "-cp", str(home / "lib" / "kotlin-compiler.jar"),
        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-kotlin-home", str(home), *argv,
    ]  # fmt: skip
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)


LIBRARY = Path(__file__).parents[2] / ".teamcity" / "library" / "CiEval.kt"


def teamcity_library() -> str:
    """The class path with the stub and our library, which is compiled against it."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (*STUB, LIBRARY))).hexdigest()[:12]

    def make(folder: Path) -> None:
        done = kotlinc([str(LIBRARY), "-cp", str(teamcity_stub()), "-d", str(folder / "library.jar")], folder)
        assert done.returncode == 0, done.stdout + done.stderr

    return f"{teamcity_stub()}:{made(f'teamcity-library-{digest}', make) / 'library.jar'}"


def teamcity_stub() -> Path:
    """The stub of TeamCity's DSL as a jar."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in STUB)).hexdigest()[:12]

    def make(folder: Path) -> None:
        done = kotlinc([*map(str, STUB), "-d", str(folder / "stub.jar")], folder)
        assert done.returncode == 0, done.stdout + done.stderr

    return made(f"teamcity-stub-{digest}", make) / "stub.jar"
