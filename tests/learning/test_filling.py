"""Patterns first, then a sub-token for each slot."""

from __future__ import annotations

from ci_eval.plugins.languages.python import KEYWORDS
from ci_eval.plugins.learning.code import classify_token, tokenize_lines
from ci_eval.plugins.learning.embedding import Embedding
from ci_eval.plugins.learning.filling import Filler, Filling

CODE = """
def read_file(path):
    file = open_file(path)
    return file

def read_socket(host):
    socket = open_socket(host)
    return socket

def read_pipe(name):
    pipe = open_pipe(name)
    return pipe
"""


def filler() -> Filler:
    files = [list(tokenize_lines(CODE, "python"))] * 5
    made = Filler(files, lambda token: classify_token(token, KEYWORDS), str.isidentifier)
    made.embed(Embedding.trained(map(made.vector_units, files), vocabulary=99, dimensions=12, window=6, seed=0))
    return made


USUAL = Filling(patterns=10, slot=4, sharpness=10.0, prior=0.0)


def test_a_name_that_was_never_there_can_be_predicted() -> None:
    found = filler().filled(["=", "file"], ["(", "path"], USUAL)
    assert "open_file" in found[:10]
    assert any(name not in CODE and "_" in name for name in found)


def test_nearness_decides_between_names_of_a_pattern() -> None:
    found = filler().filled(["=", "socket", "host"], ["(", "host"], USUAL)
    assert found.index("open_socket") < found.index("open_pipe") if "open_pipe" in found else True


def test_only_what_is_asked_for_is_predicted() -> None:
    assert all(each.isidentifier() for each in filler().filled([")"], None, USUAL))


def test_nothing_was_learned_from_nothing() -> None:
    empty = Filler([], lambda token: classify_token(token, KEYWORDS), str.isidentifier)
    empty.embed(Embedding.trained([], vocabulary=9, dimensions=4, window=2, seed=0))
    assert empty.filled(["="], ["("], USUAL) == []
