"""A server of CodeBLEU for pairs of texts. It uses the grammars in one folder, which its caller puts in front of the
search path.

Each line on standard input is a question, each line on standard output its answer, both JSON:

    [variant, language, reference, hypothesis]    → {"scores": {…}} or {"error": …}

Variants: mera, strict. Imports the standard library and the grammars only.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from collections.abc import Iterable
from typing import Any, BinaryIO

from ci_eval.plugins.drivers.codebleu import mera, strict
from ci_eval.plugins.drivers.codebleu.parts import TooMuch
from ci_eval.plugins.drivers.codebleu.trees import DEEPEST

GRADES = {"mera": mera.grade, "strict": strict.grade}


def answer(variant: str, language: str, reference: str, hypothesis: str) -> dict[str, Any]:
    try:
        return {"scores": GRADES[variant](language, reference, hypothesis)}
    except TooMuch as error:
        return {"error": str(error)}
    except Exception:
        return {"error": traceback.format_exc(limit=-3)}


def serve(questions: Iterable[bytes], answers: BinaryIO) -> None:
    for question in questions:
        answers.write(json.dumps(answer(*json.loads(question))).encode() + b"\n")
        answers.flush()


def main() -> None:
    """Answer questions from standard input until it ends. Exits with a message if the grammars lack a rule's word."""
    if unknown := strict.strange():
        sys.exit(f"the grammars have no {', '.join(unknown)}")
    # A walk takes several calls for each level of a tree.
    sys.setrecursionlimit(10 * DEEPEST)
    # The grammars stay until the end, so the garbage collector need not look at them.
    gc.freeze()
    # Whatever prints must not end up between the answers.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, out)
