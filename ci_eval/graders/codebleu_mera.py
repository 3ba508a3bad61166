"""A grader by CodeBLEU as MERA CODE's UnitTests has it, faults included, for comparison with its figures."""

from __future__ import annotations

from ci_eval.adapters.codebleu import CodeBleu
from ci_eval.contracts import Grader

GRADER: Grader = CodeBleu("mera", "CodeBLEU as MERA CODE has it, value for value, 0 to 1")
