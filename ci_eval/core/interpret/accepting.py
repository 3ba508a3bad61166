"""The check of what the acceptance of a suggestion leaves in the file, in the task imports."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import Surroundings
from ci_eval.core.equality import COMPILES, SAME_MODULE, SAME_OBJECT
from ci_eval.core.grammar.importing import count_errors
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.import_syntax import Import, Project
from ci_eval.core.model import Suggestion, UseImport


class Acceptances:
    """The check for one file."""

    def __init__(self, surroundings: Surroundings, path: str, text: str) -> None:
        """Read the file's imports. `text`: the file as it is on disk."""
        language = languages.CATALOG.load(surroundings.language)
        # Preparation refuses other languages.
        assert language.import_syntax
        self._syntax = language.import_syntax
        self._modules = self._syntax.modules(Project(surroundings.root, surroundings.environment))
        self._grammar = choose_grammar(language.grammars, path)
        self._path = path
        self._imports = {item.name: item for item in self._syntax.read(text)}
        self._errors = count_errors(self._syntax, text, self._grammar)

    def grade(self, suggestions: Sequence[Suggestion], call: UseImport, text: str, caret: int) -> Sequence[Suggestion]:
        """Return the suggestions, those with grades that are the expected name and bring an import.

        `text` and `caret`: the document that was asked about, with the typed part of the name before the caret.
        """
        return [
            replace(suggestion, grades=self._grades(suggestion, call, text, caret))
            if suggestion.edits and suggestion.text == call.expected_text and not suggestion.tail
            else suggestion
            for suggestion in suggestions
        ]

    def _grades(self, suggestion: Suggestion, call: UseImport, text: str, caret: int) -> dict[str, float]:
        main = (caret - len(call.prefix), len(call.prefix), suggestion.text)
        after = apply_edits(text, [*(suggestion.edits or ()), main])
        imports = [item for item in self._syntax.read(after) if item.name == call.expected_text]
        expected = self._imports[call.expected_text]
        same_module = any(self._identify(item) == self._identify(expected) for item in imports)
        same_object = any(self._origin(item) == self._origin(expected) for item in imports)
        return {
            SAME_MODULE: float(same_module),
            SAME_OBJECT: float(same_object and not same_module),
            COMPILES: float(count_errors(self._syntax, after, self._grammar) <= self._errors),
        }

    def _identify(self, item: Import) -> tuple[str, str]:
        return self._modules.identify(self._path, item.module), item.original

    def _origin(self, item: Import) -> tuple[str, str]:
        return self._modules.origin(self._path, item.module, item.original)


def apply_edits(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Return the text after edits that all name offsets in the old text. Insertions at one offset keep their order."""
    ordered = sorted(enumerate(edits), key=lambda numbered: (numbered[1][0], numbered[0]), reverse=True)
    for _, (offset, deleted, inserted) in ordered:
        text = text[:offset] + inserted + text[offset + deleted :]
    return text
