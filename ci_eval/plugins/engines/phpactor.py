"""The engine phpactor, a language server for PHP, written in PHP. It runs on PHP 8.1 or newer."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Archive


def command(place: Place) -> list[str]:
    return ["php", str(place.folder / "phpactor.phar"), "language-server"]


ENGINE: Engine = LspEngine(
    name="phpactor",
    summary="language server for PHP, in PHP",
    languages=frozenset({"php"}),
    licence="MIT",
    recipe=Archive(
        url="https://github.com/phpactor/phpactor/releases/download/{version}/phpactor.phar",
        digests={"2025.12.21.1": "53bbe9625cd9b5e9b394bc2f595fbad13dbbe6dfc96950c56dea3b5d9a246cc3"},
    ),
    runs_on=("php",),
    command=command,
    toolchains={"php": "8.1"},
)
