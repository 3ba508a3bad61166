# astral-sh/ty#2189: the keys of a TypedDict
from typing import TypedDict


class Spam(TypedDict):
    attribute: str
    other: int


def read(spam: Spam):
    return spam["attr"]
    #                ^ text: attribute
