"""The rewriting of Python before its grammar reads it."""

from __future__ import annotations

from ci_eval.core.grammar.repairs.repair import PYTHON_LIKE, Match, Repair, outside

_BRACKETS = rb"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]{0,500}\]){0,500}\]){0,1000}\]"
"""A pattern of square brackets with two levels of others inside."""


def _defaults(match: Match) -> bytes:
    """Return `[T = D]` as `[T : D]`, and `[T: B = D]` as `[T: B | D]`."""
    out, depth, bound = bytearray(match[0]), 0, False
    for at in range(match.start("list") - match.start(), len(out)):
        # The older grammar knows bounds, but no defaults, of type parameters.
        byte = out[at : at + 1]
        depth += (byte in b"[({") - (byte in b"])}")
        if depth == 1 and byte == b"=":
            out[at : at + 1] = b"|" if bound else b":"
        bound = depth > 0 and byte != b"," and (bound or byte == b":") if depth == 1 else bound
    return bytes(out)


REPAIRS = (Repair(outside(rb"\b(?:class|def|type)\s+\w+\s*(?P<list>" + _BRACKETS + rb")", PYTHON_LIKE), _defaults),)
