# microsoft/pyright#308: a TypedDict has methods, and its keys are no attributes
from typing import TypedDict


class Spam(TypedDict):
    attribute: str


def read(spam: Spam):
    spam.
    #    ^ expect: keys, setdefault; not: attribute
