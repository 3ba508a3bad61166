"""A grader by CodeBLEU as MERA CODE's UnitTests has it, faults included, for comparison with its figures."""

from __future__ import annotations

from ci_eval.core.contracts import Grader
from ci_eval.plugins.adapters.codebleu import CodeBleu

GRADER: Grader = CodeBleu("mera", "CodeBLEU as MERA CODE has it, value for value, 0 to 1")
