"""The file `junit.xml` of a comparison: each gate as a test, for tools that read test reports."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

from ci_eval.core.base import atomic
from ci_eval.core.model import Comparison
from ci_eval.core.rendering.contract import Reporter

# XML 1.0 allows no other characters, not even escaped (https://www.w3.org/TR/xml/#charsets).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Junit:
    """A reporter that writes junit.xml. Without gates it has one test: that the comparison was made."""

    name = "junit"
    results = Comparison

    def write(self, comparison: Comparison, sources: object, folder: Path) -> Path:  # noqa: ARG002
        gates = comparison.gates
        failed = sum(not gate.passed for gate in gates)
        suite = ET.Element(
            "testsuite", name="ci-eval gates", tests=str(max(len(gates), 1)), failures=str(failed), errors="0"
        )
        title = f"{comparison.base.title} → {comparison.new.title}"
        for gate in gates:
            case = ET.SubElement(suite, "testcase", classname=_clean(title), name=_clean(gate.rule))
            if gate.passed:
                ET.SubElement(case, "system-out").text = _clean(gate.reason)
            else:
                ET.SubElement(case, "failure", message=_clean(gate.reason)).text = _clean(f"{gate.rule}: {gate.reason}")
        if not gates:
            ET.SubElement(suite, "testcase", classname=_clean(title), name="compared")
        data = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
        return atomic.write(folder / "junit.xml", data + b"\n")


def _clean(text: str) -> str:
    """Return the text in one line, with a replacement character for each one that XML cannot hold."""
    # Tools print it where a line of its own could be a command to the CI.
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))


REPORTER: Reporter = Junit()
