"""Ten configurations of the JetBrains plugin, in the shapes that it had from 2019 to 2023."""

from __future__ import annotations

from typing import Any

from ci_eval import __version__

Shape = dict[str, Any]

KINDS = ["METHOD_CALL", "FIELD", "VARIABLE"]
FILTERS = {"statementTypes": KINDS, "isStatic": None, "packageRegex": ".*"}
PREFIX = {"name": "SimplePrefix", "emulateTyping": False, "n": 1}
OF_2019 = {"completeAllTokens": False, "filters": FILTERS | {"isArgument": None}}
OF_2021 = {"emulateUser": False, "completionGolf": False, "filters": FILTERS}
PROBABILITY = {"completeTokenProbability": 1.0, "completeTokenSeed": None}
MORE = {"experimentGroup": None, "sessionsLimit": 500, "emulationSettings": None, "completionGolfSettings": None}
STORED = {"saveFeatures": True, "saveContent": False, "logLocationAndItemText": False}


def plugin_configurations(project: str) -> list[tuple[Shape, str]]:
    """The configurations, each with what stands before a completion type in the name of an evaluation."""
    common = {"projectPath": project, "language": "Python", "outputDir": f"{project}/results"}
    no_title, interpret_2021 = f"words {__version__} ", PROBABILITY | MORE | STORED

    def flat(kind: str, roots: str, **strategy: object) -> Shape:
        strategy |= {"prefix": PREFIX, "context": "ALL"}
        own = {"logsTrainingPercentage": 70, "saveLogs": False, "interpretActions": True, "completionType": kind}
        return common | own | {roots: ["src"], "strategy": strategy}

    def sections(kind: str, title: str, strategy: Shape, interpret: Shape) -> Shape:
        interpret = interpret | {"completionType": kind, "saveLogs": False, "trainTestSplit": 70}
        actions = {"evaluationRoots": ["src"], "strategy": strategy | {"context": "ALL", "prefix": PREFIX}}
        reports: Shape = {"evaluationTitle": title, "sessionsFilters": [], "comparisonFilters": []}
        return common | {"actions": actions, "interpret": interpret, "reports": reports}

    def features(kind: str, title: str) -> Shape:
        prefix = {"name": "SimplePrefix", "n": 1}
        strategy = {"type": kind, "context": "ALL", "prefix": prefix, "filters": {"statementTypes": KINDS}}
        interpret = {"sessionProbability": 1.0, "sessionSeed": None, "sessionsLimit": 500, "order": "LINEAR"}
        reports: Shape = {
            "evaluationTitle": title,
            "defaultMetrics": None,
            "sessionsFilters": [],
            "comparisonFilters": [],
        }
        actions = {"evaluationRoots": ["src"], "ignoreFileNames": []}
        return common | {"strategy": strategy, "actions": actions, "interpret": interpret, "reports": reports}

    return [
        (flat("BASIC", "listOfFiles", statement="ALL"), no_title),
        (flat("SMART", "listOfFiles", statement="METHOD_CALLS"), no_title),
        (flat("BASIC", "evaluationRoots", **OF_2019), no_title),
        (sections("BASIC", "BASIC", OF_2019, PROBABILITY), ""),
        (sections("SMART", "Nightly", OF_2019, PROBABILITY), "Nightly, "),
        (sections("ML", "ML", OF_2021, interpret_2021), ""),
        (sections("BASIC", "BASIC", OF_2021, interpret_2021), ""),
        (sections("FULL_LINE", "FULL_LINE", OF_2021, interpret_2021), ""),
        (features("BASIC", "token-completion"), "token-completion, "),
        (features("CLANGD", "CLANGD"), ""),
    ]
