"""A server of CodeBLEU for pairs of texts. Its caller puts the folder of the grammars in front of the search path.

Each line on standard input is a question, each line on standard output its answer, both JSON:

    [variant, language, reference, hypothesis]    → {"scores": {…}} or {"error": …}

Variants: mera, strict. This package imports the standard library and the grammars only.
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
    # A walk takes several calls for each level of a tree.
    sys.setrecursionlimit(10 * DEEPEST)
    # The grammars stay until the end, so the garbage collector need not look at them.
    gc.freeze()
    # Code that prints must not write between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for question in sys.stdin.buffer:
        answers.write(json.dumps(answer(*json.loads(question))).encode() + b"\n")
        answers.flush()
