"""The graders by CodeBLEU, which compares n-grams, weighted n-grams, sub-trees and data flow."""

from __future__ import annotations

from collections.abc import Mapping

from ci_eval.core.contracts import Grader
from ci_eval.plugins.adapters.codebleu import CodeBleu

GRADERS: Mapping[str, Grader] = {
    "codebleu-mera": CodeBleu("mera", "CodeBLEU with the values of MERA CODE, 0 to 1"),
    "codebleu-strict": CodeBleu("strict", "CodeBLEU without the faults of its implementations, 0 to 1"),
}
