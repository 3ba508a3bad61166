"""The language of a comment is that of its prose, whatever code stands in it."""

from __future__ import annotations

import pytest

from ci_eval.plugins.mining.reviews.tongues import NAMES, detect_language

COMMENTS = [
    ("en", "Why is this needed here?"),
    ("en", "Unused import"),
    ("en", "nit: typo"),
    ("en", "This should use `словарь` instead."),
    ("en", "> Почему так?\n\nBecause the cache is shared."),
    ("en", "I'd rename it: ```go\nимя := 1\n```"),
    ("ru", "Почему здесь не используется кэш?"),
    ("ru", "Опечатка"),
    ("ru", "Лучше HashMap вместо ArrayList, см. https://example.com/the/a/is"),
    ("ru", "Тут `foo is not the bar` лишний, и self.cache.get(key) тоже"),
    ("ru", "надо бы getUserById(id) вынести в UserService"),
    ("ru", "Из-за этого всё упадёт"),
    ("uk", "Чому тут не використовується кеш? Їх забагато"),
    ("", "Ово је љубазно"),
    ("de", "Warum wird das hier nicht gespeichert?"),
    ("fr", "Il faut fermer le fichier dans ce cas."),
    ("es", "Esto no debería estar aquí, es mejor una constante."),
    ("pt", "Isso não deveria estar aqui, uma constante é melhor."),
    ("zh", "这里应该使用常量 MAX_SIZE"),
    ("ja", "ここは定数を使うべきです"),
    ("ko", "여기는 상수를 사용해야 합니다"),
    ("", "`a`"),
    ("", "👍 +1"),
    ("", ""),
]


@pytest.mark.parametrize(("language", "comment"), COMMENTS)
def test_a_comment_is_in_the_language_of_its_prose(language: str, comment: str) -> None:
    assert detect_language(comment) == language


def test_every_language_that_can_be_chosen_is_tested() -> None:
    assert {*NAMES} == {language for language, _ in COMMENTS} - {""}
