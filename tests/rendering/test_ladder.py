"""What reports show first where several numbers of letters are typed."""

from __future__ import annotations

from msgspec.structs import replace

from ci_eval.model import Evaluation
from ci_eval.rendering.ladder import about, by_length, letters, sentence, shown_filter
from tests.reporters.samples import small


def laddered(*lengths: int) -> Evaluation:
    found = small().evaluation()
    whole = found.filters["ALL"]
    return replace(found, filters={"ALL": whole} | {f"Prefix {n}": replace(whole, sessions=n + 10) for n in lengths})


def test_one_letter_typed_is_shown_first() -> None:
    found = laddered(3, 0, 1)
    assert list(by_length(found)) == [0, 1, 3]
    assert shown_filter(found)[0] == "Prefix 1"
    assert sentence(found).startswith("With one letter typed, the expected text stood first in 61.2% of 11 sessions (")
    assert about(found, "Prefix 3") == "with 3 letters typed"
    assert about(found, "ALL") == "with nothing, one letter, 3 letters typed; each by itself says more"


def test_without_that_length_it_is_all_sessions() -> None:
    for found in (laddered(0, 2), small().evaluation()):
        assert shown_filter(found)[0] == "ALL"
        assert sentence(found) == ""
    assert about(small().evaluation(), "ALL") == ""


def test_lengths_read_as_words() -> None:
    assert [letters(count) for count in (0, 1, 5)] == ["nothing", "one letter", "5 letters"]
