"""A grader by CodeBLEU as it should be: words, weights, sub-trees and data flow of code, without the faults of its
programs."""

from __future__ import annotations

from ci_eval.core.contracts import Grader
from ci_eval.plugins.adapters.codebleu import CodeBleu

GRADER: Grader = CodeBleu("strict", "CodeBLEU without the faults of its implementations, 0 to 1")
