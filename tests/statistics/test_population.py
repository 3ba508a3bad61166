"""How many sessions there are, and which share was asked."""

from __future__ import annotations

from ci_eval.core.model import Kind, Properties, SessionScore, Status
from ci_eval.core.statistics.population import Strata, select_shard_files

FILES = {"one/a.py": 40, "one/b.py": 60, "two/c.py": 300}


def test_shards_divide_the_files() -> None:
    shards = [select_shard_files(FILES, f"{index}/2") for index in (1, 2)]
    assert {path: sum(each.get(path, 0) for each in shards) for path in FILES} == FILES


def test_the_share_is_that_of_the_project_least_asked() -> None:
    asked = {("one", ""): 40, ("two", ""): 30}
    strata = Strata({("one", ""): 100, ("two", ""): 300}, merged=True)
    assert (strata.total(asked), strata.share(asked), strata.share(asked, [("one", "")])) == (400, 0.1, 0.4)


def test_what_could_not_be_read_counts_as_not_asked() -> None:
    shares = [Strata({("", ""): 400}, unread=unread).share({("", ""): 400}) for unread in (0.25, 0.001)]
    assert shares == [0.75, 1.0]


def test_a_session_is_in_the_first_class_that_it_passes() -> None:
    strata = Strata({("", "names, Prefix 1"): 1, ("", "names"): 2, ("", "imports"): 1, ("", ""): 0})
    kinds = [(Kind.FIELD, 1), (Kind.FIELD, 3), (Kind.IMPORT, 1), (Kind.KEYWORD, 1)]
    assert [strata.find(session(*of))[1] for of in kinds] == ["names, Prefix 1", "names", "imports", ""]


def session(kind: Kind, typed: int) -> SessionScore:
    return SessionScore(
        id="s", file="a.py", offset=0, expected_text="x", properties=Properties(kind=kind), status=Status.OK,
        typed=typed, lookups=(),
    )  # fmt: skip
