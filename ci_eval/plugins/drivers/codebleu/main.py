"""A server that computes CodeBLEU for pairs of texts. The caller puts the grammars' folder first in the search path.

Each line on standard input is a question, and each line on standard output is the answer, both in JSON:

    [variant, language, reference, hypothesis]    → {"scores": {…}} or {"error": …}

Variants: mera, strict. This package imports only the standard library and the grammars.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from typing import Any

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


def main() -> None:
    # A walk makes several nested calls for each level of a tree.
    sys.setrecursionlimit(10 * DEEPEST)
    # The grammars are never freed, so the garbage collector can skip them.
    gc.freeze()
    # Send anything that code prints to standard error, so that it does not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for question in sys.stdin.buffer:
        answers.write(json.dumps(answer(*json.loads(question))).encode() + b"\n")
        answers.flush()
