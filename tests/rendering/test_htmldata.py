"""Sessions as scripts that a page loads."""

from __future__ import annotations

from ci_eval.model import Kind, Lookup, Properties, Record, Session, Status, Suggestion
from ci_eval.rendering.htmldata import shown_session
from ci_eval.tasks.code_review import TASK as CODE_REVIEW
from ci_eval.tasks.completion import TASK as COMPLETION
from tests.reporters.samples import session


def test_a_long_list_keeps_its_first_suggestions_and_the_neighbours_of_the_expected_one() -> None:
    shown = shown_session(session("a.py", 0, "x", 800, total=1_000), COMPLETION).lookups[0]
    places = [item[0] for item in shown.items]
    assert places == [*range(1, 51), *range(797, 804)]
    assert shown.total == 1_000


def reviewed() -> Session:
    """A record whose one suggestion is graded."""
    lookup = Lookup(
        prefix="",
        suggestions=(Suggestion(text="a\n" * 400, kind="whole", grades={"chrf": 0.41234}, remark="Why?"),),
        total=1,
        rank=None,
        latency=1.0,
        grades={"chrf": 0.41234},
    )
    return Session(
        id="1",
        file="a.txt",
        offset=0,
        expected_text="",
        properties=Properties(kind=Kind.RECORD, language="go"),
        status=Status.OK,
        record=Record(context={"diff": "+ a"}),
        lookups=(lookup,),
    )


def test_of_a_record_all_lines_are_shown_with_their_grades() -> None:
    (lookup,) = shown_session(reviewed(), CODE_REVIEW).lookups
    assert lookup.items == ((1, "a\n" * 400, "whole", 0, (("chrf", 0.4123),), "Why?"),)
    assert lookup.grades == (("chrf", 0.4123),)


def test_of_a_record_only_its_language_is_told() -> None:
    assert shown_session(reviewed(), CODE_REVIEW).properties == (("language", "go"),)
