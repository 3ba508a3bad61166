"""Reports name the sessions they are about: kinds of tokens, and numbers of letters typed."""

from __future__ import annotations

from msgspec.structs import replace

from ci_eval.core.filters import label, letters
from ci_eval.core.model import Estimate, Evaluation
from ci_eval.core.rendering.ladder import (
    beside,
    find_length_figures,
    find_length_filters,
    pooled_label,
    sentences,
    shown_filter,
)
from tests.reports.samples import small


def laddered(*lengths: int, headline: str = "names, Prefix 1") -> Evaluation:
    evaluation = small().evaluation()
    whole = evaluation.filters["ALL"]
    names = {f"names, Prefix {n}": replace(whole, sessions=n + 10) for n in lengths}
    letters = {f"Prefix {n}": replace(whole, sessions=n + 20) for n in lengths}
    nothing = Estimate(value=0.0)
    unoffered = replace(whole, sessions=7, metrics=whole.metrics | {"RecallAt1": nothing, "Recall": nothing})
    keywords = {"keywords, Prefix 1": unoffered}
    return replace(evaluation, filters={"ALL": whole} | letters | names | keywords, headline=headline)


def test_the_headline_is_said_first_and_keywords_apart() -> None:
    evaluation = laddered(3, 0, 1)
    assert shown_filter(evaluation)[0] == "names, Prefix 1"
    first, keywords = sentences(evaluation)
    assert first.startswith("Names, one letter typed: the expected text stood first in 61.2% of 11 sessions (")
    assert keywords == "Keywords, apart: none of 7 was offered."


def test_the_columns_are_of_the_headlines_kinds() -> None:
    assert [figures.sessions for figures in find_length_figures(laddered(3, 0, 1)).values()] == [10, 11, 13]
    assert [figures.sessions for figures in find_length_figures(laddered(3, 0, 1, headline="ALL")).values()] == [
        20,
        21,
        23,
    ]
    assert find_length_filters("names", ["ALL", "names"]) == {}


def test_a_filter_says_which_sessions_it_is_about() -> None:
    names = [*laddered(0, 1, 3).filters]
    assert [label(name) for name in ("ALL", "Prefix 0", "names", "keywords, Prefix 1", "mine")] == [
        "all sessions",
        "nothing typed",
        "names",
        "keywords, one letter typed",
        "mine",
    ]
    assert pooled_label("ALL", names) == "all sessions (nothing, one letter, 3 letters typed, pooled)"
    assert pooled_label("names, Prefix 1", names) == "names, one letter typed"
    assert pooled_label("kind=FIELD prefix=1", names) == "kind=FIELD prefix=1"
    assert pooled_label("kind=FIELD text=noprefix=1", names).endswith("typed, pooled)")
    assert beside("names, Prefix 1", names) == {"keywords": "keywords, Prefix 1"}
    assert beside("ALL", names) == {}


def test_lengths_read_as_words() -> None:
    assert [letters(count) for count in (0, 1, 5)] == ["nothing", "one letter", "5 letters"]
