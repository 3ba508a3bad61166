"""What the protocol calls the language of a file."""

from __future__ import annotations

import pytest

from ci_eval.plugins.adapters.lsp.language_ids import language_id


@pytest.mark.parametrize(
    ("path", "language", "expected"),
    [
        ("src/App.tsx", "typescript", "typescriptreact"),
        ("a.ts", "typescript", "typescript"),
        ("a.d.mts", "typescript", "typescript"),
        ("a.jsx", "javascript", "javascriptreact"),
        ("a.cjs", "javascript", "javascript"),
        ("a/b.h", "cpp", "cpp"),
        ("b.c", "cpp", "c"),
        ("run.sh", "text", "shellscript"),
        ("App.VUE", "text", "vue"),
        ("notes.unknown", "text", "text"),
        ("Makefile", "text", "text"),
    ],
)
def test_the_suffix_decides(path: str, language: str, expected: str) -> None:
    assert language_id(path, language) == expected
