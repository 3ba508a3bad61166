# path: pkg/mod.py  (what the comments mean: see test_samples.py)
import os.path as p
# os IMPORT static os | path IMPORT static os
from collections.abc import Iterable, Mapping as M
# collections IMPORT static collections | abc IMPORT static collections | Iterable IMPORT static collections.abc | Mapping IMPORT static collections.abc
from . import sibling
# sibling IMPORT static pkg
from .base import Base
# base IMPORT static base | Base IMPORT static pkg.base
import typing
# typing IMPORT static typing

LIMIT: int = 3
# int TYPE_REFERENCE static builtins
LIMIT = LIMIT + 1
# LIMIT VARIABLE static pkg.mod | LIMIT VARIABLE static pkg.mod


@typing.final
# typing VARIABLE static typing | final FIELD static typing
class Shape(Base, metaclass=type):
    # Base TYPE_REFERENCE static pkg.base | metaclass ARGUMENT_NAME | type VARIABLE static builtins
    sides: int = 0
    # int TYPE_REFERENCE static builtins

    def __init__(self, name: str, *args: typing.Any, size=LIMIT, **options: "str") -> None:
        # str TYPE_REFERENCE static builtins | typing VARIABLE static typing | Any TYPE_REFERENCE static typing | LIMIT VARIABLE static pkg.mod
        self.name = name
        # self VARIABLE member | name VARIABLE member
        self.name = name.upper()
        # self VARIABLE member | name FIELD member pkg.mod | name VARIABLE member | upper METHOD_CALL
        self.sides, other = args
        # self VARIABLE member | sides FIELD member pkg.mod | args VARIABLE member
        other.sides = size
        # other VARIABLE member | sides FIELD | size VARIABLE member
        super().__init__(options, size=size)
        # super METHOD_CALL static builtins | __init__ METHOD_CALL member builtins | options VARIABLE argument member | size ARGUMENT_NAME argument | size VARIABLE argument member

    @classmethod
    # classmethod VARIABLE static builtins
    def make(cls):
        return cls(Shape.sides, sibling.helper)
        # cls METHOD_CALL member | Shape TYPE_REFERENCE argument static pkg.mod | sides FIELD argument static pkg.mod | sibling VARIABLE argument static pkg | helper FIELD argument

    def area(self):
        return self.make().area() + len(f"{self.name!r:>{LIMIT}} text")
        # self VARIABLE member | make METHOD_CALL member pkg.mod | area METHOD_CALL | len METHOD_CALL static builtins | self VARIABLE argument member | name FIELD argument member pkg.mod | LIMIT VARIABLE argument static pkg.mod


def outer(items: Iterable[M[str, int]]):
    # Iterable TYPE_REFERENCE static collections.abc | M TYPE_REFERENCE static collections.abc | str TYPE_REFERENCE static builtins | int TYPE_REFERENCE static builtins
    global LIMIT
    # LIMIT VARIABLE static pkg.mod
    LIMIT = 4
    # LIMIT VARIABLE static pkg.mod
    for item in items:
        # items VARIABLE member
        item = item
        # item VARIABLE member | item VARIABLE member
    key = lambda one, two=LIMIT: one + two + later
    # LIMIT VARIABLE static pkg.mod | one VARIABLE member | two VARIABLE member | later VARIABLE static pkg.mod
    print(sorted(items, key=key), {k: v for k, v in items}, [n for n in items if n])
    # print METHOD_CALL static builtins | sorted METHOD_CALL argument static builtins | items VARIABLE argument member | key ARGUMENT_NAME argument | key VARIABLE argument member | k VARIABLE argument member | v VARIABLE argument member | items VARIABLE argument member | n VARIABLE argument member | items VARIABLE argument member | n VARIABLE argument member
    none = [None for item in items]
    # KEYWORDS: None for in
    try:
        with p.open("x") as file, file.lock as (first, second):
            # p VARIABLE static os.path | open METHOD_CALL static os.path | file VARIABLE member | lock FIELD
            first.close()
            # first VARIABLE member | close METHOD_CALL
    except (OSError, p.Error) as error:
        # OSError TYPE_REFERENCE static builtins | p VARIABLE static os.path | Error TYPE_REFERENCE static os.path
        raise Shape("s") from error
        # Shape METHOD_CALL static pkg.mod | error VARIABLE member
    if (found := "a".join(items)) and unknown.thing:
        # join METHOD_CALL member builtins | items VARIABLE argument member | unknown VARIABLE | thing FIELD
        del found, items[0].tail
        # found VARIABLE member | items VARIABLE member | tail FIELD
    match items:
        # items VARIABLE member
        case Shape(name=bound) | [bound, *rest]:
            # Shape TYPE_REFERENCE static pkg.mod | name ARGUMENT_NAME | bound VARIABLE member
            return bound, rest
            # bound VARIABLE member | rest VARIABLE member
        case p.sep:
            # p VARIABLE static os.path | sep FIELD
            return None if not items is not items else True
            # KEYWORDS: return None if not is not else True


def later():
    """Says nothing: `outer` # is only named."""
    outer("outer")
    # outer METHOD_CALL static pkg.mod
