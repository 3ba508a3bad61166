"""Variants are found by being there."""

from __future__ import annotations

import re

import pytest

from ci_eval.core.base.catalog import Catalog, guess
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import Engine, Grader, Ranker


def test_each_module_of_a_folder_is_a_variant_under_its_spelling() -> None:
    rankers = Catalog[Ranker]("ci_eval.plugins.rankers", "RANKER", spelling=str.upper)
    assert {"BASIC", "ALPHABETICAL"} < set(rankers.names())
    assert [each.name for each in rankers.all()] == rankers.names()
    assert rankers.load("BASIC").name == "BASIC"


def test_an_unknown_name_is_answered_with_the_nearest_and_all() -> None:
    with pytest.raises(ConfigError, match=r"unknown completion type 'basic': did you mean 'BASIC'\? known are ALPHA"):
        Catalog[Ranker]("ci_eval.plugins.rankers", "RANKER", spelling=str.upper).load("basic")
    with pytest.raises(ConfigError, match=r"unknown grader 'zzz': known are .*exact"):
        Catalog[Grader]("ci_eval.plugins.graders", "GRADER").load("zzz")


@pytest.mark.parametrize(
    ("given", "said"),
    [("recall-at-1", "; did you mean RecallAt1?"), ("Recal", "; did you mean Recall?"), ("zzz", "")],
)
def test_a_similar_name_is_guessed_whatever_its_case_and_hyphens(given: str, said: str) -> None:
    assert guess(given, ["Recall", "RecallAt1", "MeanRank"]) == said


@pytest.mark.parametrize(("name", "instead"), [("EMBEDDING", "NGRAM"), ("SUBTOKEN_BEAM", "NGRAM")])
def test_a_name_that_was_taken_out_is_answered_with_what_to_use(name: str, instead: str) -> None:
    catalog: Catalog[Ranker] = Catalog("ci_eval.plugins.rankers", "RANKER", spelling=str.upper)
    with pytest.raises(ConfigError, match=f"unknown completion type '{name}': it was removed, use {instead}"):
        catalog.load(name)


def test_a_server_without_a_name_here_can_be_asked_by_its_command() -> None:
    said = "to evaluate another language server, give its command, `engine: {command: [PROGRAM, …]}`"
    with pytest.raises(ConfigError, match=re.escape(said)):
        Catalog[Engine]("ci_eval.plugins.engines", "ENGINE").load("metals")


def test_a_module_may_hold_several_variants_by_their_names() -> None:
    catalog: Catalog[Grader] = Catalog("ci_eval.plugins.graders", "GRADER", spelling=lambda name: name)
    assert {"exact", "subtoken-f1", "inline"} <= set(catalog.names())
    assert "names" not in catalog.names()
    assert catalog.load("subtoken-f1").name == "subtoken-f1"
