"""The engines. A module has one engine, or several similar ones."""

TOGETHER = {
    "compilers": ("jdt", "kotlin-ide-services", "scala-presentation-compiler"),
    "controls": ("empty", "oracle", "words"),
    "predictors": ("frequency", "ngram", "recency"),
    "python_servers": ("basedpyright", "jedi-language-server", "pylsp", "pyrefly", "pyright", "ty", "zuban"),
    "servers": (
        *("clangd", "gopls", "intelephense", "jdtls", "rust-analyzer"),
        *("typescript", "typescript-language-server", "vtsls"),
    ),
}
