# facebook/pyrefly#1886: the keys of a literal that is annotated as a TypedDict
from typing import TypedDict


class Dimension(TypedDict):
    x: int
    yard: int


dimension: Dimension = {"x": 5, "ya"}
#                                  ^ text: yard
