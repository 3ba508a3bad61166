"""The file `junit.xml` for tools that read test reports. Each gate of a comparison is a test, and so is each case."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

from ci_eval.core.base import atomic
from ci_eval.core.model import Comparison
from ci_eval.core.model.report import Cases
from ci_eval.rendering.reporters import Reporter

# XML 1.0 allows no other characters, even if escaped (https://www.w3.org/TR/xml/#charsets).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Junit:
    """Writes junit.xml. A comparison without gates has a single test, which passes."""

    name = "junit"
    results = (Comparison, Cases)

    def write(self, result: Comparison | Cases, sources: object, folder: Path) -> Path:  # noqa: ARG002
        if isinstance(result, Comparison):
            kind, title = "gates", f"{result.base.title} → {result.new.title}"
            tests = [(title, gate.rule, gate.passed, gate.reason) for gate in result.gates]
            tests = tests or [(title, "compared", True, "")]
        else:
            kind = "cases"
            tests = [(case.file, case.name, not case.reasons, "; ".join(case.reasons)) for case in result.cases]
        failed = sum(not passed for _, _, passed, _ in tests)
        suite = ET.Element("testsuite", name=f"ci-eval {kind}", tests=str(len(tests)), failures=str(failed), errors="0")
        for group, name, passed, reason in tests:
            test = ET.SubElement(suite, "testcase", classname=_clean(group), name=_clean(name))
            if not passed:
                ET.SubElement(test, "failure", message=_clean(reason)).text = _clean(f"{name}: {reason}")
            elif reason:
                ET.SubElement(test, "system-out").text = _clean(reason)
        data = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
        return atomic.write(folder / "junit.xml", data + b"\n")


def _clean(text: str) -> str:
    """Return the text on one line, with a replacement for each character that XML does not allow."""
    # Tools print the text to logs, where a second line could be a command to the CI.
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))


REPORTER: Reporter = Junit()
