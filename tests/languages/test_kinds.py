"""The table of kinds in docs/results/languages.md, compared with a snippet per construct and language (kinds.yaml)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import ci_eval
from tests.languages.test_modern import extraction

SNIPPETS: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text(encoding="utf-8"))
PAGE = (Path(ci_eval.__file__).parents[1] / "docs" / "results" / "languages.md").read_text(encoding="utf-8")
ROWS = {
    construct: (kind, {language.lower(): other for names, other in re.findall(r"([A-Z][\w, ]*): `(\w+)`", exceptions)
                       for language in names.split(", ")})
    for construct, kind, exceptions in re.findall(
        r"^\| (.+?) \| `(\w+)` \| ?(.*?) ?\|$", PAGE.split("## Kinds by construct")[1].split("\n## ")[0], re.MULTILINE
    )
}  # fmt: skip


def test_the_table_has_each_construct() -> None:
    assert list(ROWS) == list(SNIPPETS)


@pytest.mark.parametrize("construct", SNIPPETS)
def test_a_construct_has_the_kind_that_the_table_states(construct: str) -> None:
    kind, exceptions = ROWS[construct]
    assert exceptions.keys() <= SNIPPETS[construct].keys()
    kinds = {}
    for language, snippet in SNIPPETS[construct].items():
        begin = snippet.index("«") + (len("<?php\n") if language == "php" else 0)
        tokens = extraction(language, snippet.replace("«", "").replace("»", "")).tokens
        kinds[language] = [token.properties.kind.name for token in tokens if token.offset == begin]
    assert kinds == {language: [exceptions.get(language, kind)] for language in SNIPPETS[construct]}
