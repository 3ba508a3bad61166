"""The protocol's names of languages, by the suffix of a file.

The names: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocumentItem.
The suffixes of a name are those of VS Code (`extensions/*/package.json` of microsoft/vscode 1.95): there, `.h` is C++.
"""

from __future__ import annotations

from pathlib import PurePosixPath

_SUFFIXES = {
    "typescriptreact": ".tsx",
    "typescript": ".ts .mts .cts",
    "javascriptreact": ".jsx",
    "javascript": ".js .mjs .cjs .es6",
    "c": ".c .i",
    "cpp": ".cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .h .ii .ipp .inl .ixx .cppm .tpp .txx .ino",
    "objective-c": ".m",
    "objective-cpp": ".mm",
    "python": ".py .pyi .pyw",
    "ruby": ".rb .rake .gemspec .ru",
    "php": ".php .phtml",
    "java": ".java",
    "kotlin": ".kt .kts",
    "scala": ".scala .sc .sbt",
    "go": ".go",
    "rust": ".rs",
    "csharp": ".cs .csx",
    "fsharp": ".fs .fsi .fsx",
    "swift": ".swift",
    "dart": ".dart",
    "lua": ".lua",
    "perl": ".pl .pm",
    "r": ".r",
    "julia": ".jl",
    "shellscript": ".sh .bash .zsh .ksh",
    "powershell": ".ps1 .psm1",
    "html": ".html .htm .xhtml",
    "css": ".css",
    "scss": ".scss",
    "less": ".less",
    "vue": ".vue",
    "svelte": ".svelte",
    "json": ".json",
    "jsonc": ".jsonc",
    "yaml": ".yaml .yml",
    "toml": ".toml",
    "xml": ".xml .xsd",
    "markdown": ".md .markdown",
    "latex": ".tex",
    "sql": ".sql",
    "elixir": ".ex .exs",
    "erlang": ".erl .hrl",
    "haskell": ".hs",
    "clojure": ".clj .cljs .cljc .edn",
    "groovy": ".groovy .gradle",
    "vb": ".vb",
    "coffeescript": ".coffee",
}
BY_SUFFIX = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
"""The name of a language by the last suffix of a file's name, in lower case."""


def language_id(path: str, language: str) -> str:
    """Return the protocol's name for the language of the file at `path`, else `language`."""
    return BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), language)
