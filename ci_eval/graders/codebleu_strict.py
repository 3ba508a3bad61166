"""A grader by CodeBLEU as it should be: words, weights, sub-trees and data flow of code, without the faults of its
programs."""

from __future__ import annotations

from ci_eval.adapters.codebleu import CodeBleu
from ci_eval.contracts import Grader

GRADER: Grader = CodeBleu("strict", "CodeBLEU without the faults of its implementations, 0 to 1")
