"""CodeBLEU as MERA CODE's UnitTests has it, value for value: github.com/Pstva/code_bleu at commit 014f2e8.

Two things differ: what depends there on the order of a set (and so on PYTHONHASHSEED) keeps the order of the text, and
a text whose data flow would take minutes has no score. Floats are added by `math.fsum`: the last digits of `sum` are
others since Python 3.12.
"""

from __future__ import annotations

import math

from ci_eval.drivers.codebleu import comments, mera_flow
from ci_eval.drivers.codebleu.flow import in_common
from ci_eval.drivers.codebleu.keywords import KEYWORDS
from ci_eval.drivers.codebleu.ngrams import ORDERS, brevity, counted, mean
from ci_eval.drivers.codebleu.trees import Node, TooMuch, parse, walk

LENGTH_OF_A_REFERENCE = 2
"""There, a reference is a pair of its words and their weights, and this the length of the pair."""
LARGEST = 3_000_000
"""Nodes of all sub-trees of a text together: each is spelled out."""


def grade(language: str, reference: str, hypothesis: str) -> dict[str, float]:
    """The four parts and their mean, 0 to 1. Raises TooMuch."""
    reference, hypothesis = reference.strip(), hypothesis.strip()
    parts = {
        "ngram": precision(reference.split(), hypothesis.split()),
        "weightedNgram": weighted_recall(KEYWORDS[language], reference.split(), hypothesis.split()),
    }
    reference, hypothesis = (comments.without(language, text) for text in (reference, hypothesis))
    expected, given = parse(language, reference), parse(language, hypothesis)
    parts["syntax"] = same_subtrees(expected, given)
    parts["dataflow"] = same_flow(language, (expected, reference), (given, hypothesis))
    return {"codebleu": math.fsum(0.25 * part for part in parts.values()), **parts}


def precision(expected: list[str], given: list[str]) -> float:
    """BLEU."""
    pairs = [(counted(expected, order), counted(given, order)) for order in ORDERS]
    fractions = [(sum((wanted & found).values()), max(1, sum(found.values()))) for wanted, found in pairs]
    return mean(fractions, brevity(len(expected), len(given)))


def weighted_recall(keywords: frozenset[str], expected: list[str], given: list[str]) -> float:
    """BLEU of the reference against the text, where words that are no keywords count a fifth."""
    pairs = [(counted(expected, order), counted(given, order)) for order in ORDERS]
    fractions = []
    for order, (wanted, found) in zip(ORDERS, pairs):  # noqa: B905  there is one of each
        both = wanted & found
        if order == 1:
            weigh = {run: 1 if run[0] in keywords else 0.2 for run in wanted}
            whole = math.fsum(count * weigh[run] for run, count in wanted.items())
            fractions.append((math.fsum(count * weigh[run] for run, count in both.items()), max(1, whole)))
        else:
            fractions.append((sum(both.values()), max(1, sum(wanted.values()))))
    return mean(fractions, brevity(LENGTH_OF_A_REFERENCE, len(given)))


def same_subtrees(expected: Node, given: Node) -> float:
    """Share of the reference's sub-trees that are somewhere in the text; names and operators are not seen."""
    wanted, there = _spelled(expected), frozenset(_spelled(given))
    return sum(each in there for each in wanted) / len(wanted)


def _spelled(root: Node) -> list[str]:
    """Each sub-tree of more than one node, and the whole one. Raises TooMuch."""
    subtrees = [node for node in walk(root) if node.children or node is root]
    if sum(node.raw.descendant_count for node in subtrees) > LARGEST:
        raise TooMuch(f"its sub-trees have more than {LARGEST:,} nodes together")
    return [str(node.raw) for node in subtrees]


def same_flow(language: str, expected: tuple[Node, str], given: tuple[Node, str]) -> float:
    """Share of the reference's edges that the text has; 0 where the reference has none."""
    wanted = mera_flow.flow_of(language, *expected)
    return in_common(wanted, mera_flow.flow_of(language, *given)) / len(wanted) if wanted else 0.0
