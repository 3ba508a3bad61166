"""Workspaces of each generation, byte by byte as the plugin's formats are documented.

All hold the same four sessions in one file: rank 1 of 5, rank 3, rank 5, and one that is absent from a list of two.
"""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path

TEXT = "class A {\n  void a() {\n    run();\n    stop();\n    wait();\n    go();\n  }\n}\n"
WORDS = ("run", "stop", "wait", "go")
LISTS = (
    ("run", "r1", "r2", "r3", "r4"),
    ("s1", "s2", "stop", "s4", "s5"),
    ("w1", "w2", "w3", "w4", "wait"),
    ("g1", "g2"),
)
LATENCIES = (10, 20, 30, 40)
IDS = tuple(f"0000000{number}-0000-4000-8000-000000000000" for number in range(4))
CHECKSUM = sha256(TEXT.encode()).hexdigest()
K19_CONFIG = """{
  "projectPath": "/projects/sample", "language": "Java", "outputDir": "/projects/sample/completion-evaluation",
  "actions": {"evaluationRoots": ["src"], "strategy": {"completeAllTokens": false, "context": "ALL",
    "prefix": {"name": "NoPrefix", "emulateTyping": false},
    "filters": {"statementTypes": ["METHOD_CALL"], "isArgument": null, "isStatic": null, "packageRegex": ".*"}}},
  "interpret": {"completionType": "BASIC", "completeTokenProbability": 1.0, "completeTokenSeed": null,
    "saveLogs": false,
    "trainTestSplit": 70},
  "reports": {"evaluationTitle": "BASIC", "sessionsFilters": []}
}"""
IJ21_CONFIG = """{
  "projectPath": "/projects/sample", "language": "Java", "outputDir": "/projects/sample/completion-evaluation",
  "actions": {"evaluationRoots": ["src"], "strategy": {"emulateUser": false, "completionGolf": false, "context": "ALL",
    "prefix": {"name": "NoPrefix", "emulateTyping": false},
    "filters": {"statementTypes": ["METHOD_CALL"], "isStatic": null, "packageRegex": null}}},
  "interpret": {"completionType": "ML", "experimentGroup": null, "sessionsLimit": null, "completeTokenProbability": 1.0,
    "completeTokenSeed": null, "emulationSettings": null, "completionGolfSettings": null, "saveLogs": false,
    "saveFeatures": true, "saveContent": false, "logLocationAndItemText": false, "trainTestSplit": 70},
  "reorder": {"useReordering": false, "title": "ML", "features": []},
  "reports": {"evaluationTitle": "ML", "sessionsFilters": [], "comparisonFilters": []}
}"""
IJ23_CONFIG = """{
  "projectPath": "/projects/sample", "language": "Java", "outputDir": "/projects/sample/out",
  "strategy": {"type": "BASIC", "context": "ALL", "prefix": {"name": "NoPrefix"}, "filters": {}},
  "actions": {"evaluationRoots": ["src"]},
  "interpret": {"experimentGroup": null, "sessionProbability": 1.0, "sessionSeed": null, "sessionsLimit": null,
    "filesLimit": null, "order": "LINEAR", "saveLogs": false, "saveFeatures": true, "logLocationAndItemText": false,
    "trainTestSplit": 70},
  "reports": {"evaluationTitle": "nightly", "defaultMetrics": null, "sessionsFilters": [], "comparisonFilters": []}
}"""


def _quoted(text: str) -> str:
    return '"' + text.replace("\n", "\\n").replace('"', '\\"') + '"'


def _zip(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content.encode(), mtime=0))


K19_MAP = '{"tokenType":"METHOD_CALL","isArgument":false,"isStatic":true,"packageName":"p.q"}'
IJ_MAP = (
    '{"tokenType":"METHOD_CALL","location":"PROJECT","features":[],'
    '"additional":{"isStatic":"true","packageName":"p.q","containingClass":"A","lang":"Jvm"}}'
)


def _steps(properties: str) -> str:
    found = []
    for word in WORDS:
        begin = TEXT.index(word + "(")
        end = begin + len(word)
        found += [
            f'{{"type":"DELETE_RANGE","begin":{begin},"end":{end},"completable":false}}',
            f'{{"type":"MOVE_CARET","offset":{begin}}}',
            f'{{"type":"CALL_COMPLETION","prefix":"","expectedText":"{word}","nodeProperties":{properties}}}',
            '{"type":"FINISH_SESSION"}',
            f'{{"type":"PRINT_TEXT","text":"{word}","completable":true}}',
        ]
    return f'{{"path":"src/A.java","checksum":"{CHECKSUM}","sessionsCount":4,"actions":[{",".join(found)}]}}'


def _features(properties: str) -> str:
    found = []
    for word, identity in zip(WORDS, IDS, strict=True):
        begin = TEXT.index(word + "(")
        end = begin + len(word)
        of = f'"sessionId":"{identity}"'
        found += [
            f'{{"type":"DELETE_RANGE",{of},"begin":{begin},"end":{end}}}',
            f'{{"type":"MOVE_CARET",{of},"offset":{begin}}}',
            f'{{"type":"CALL_FEATURE",{of},"expectedText":"{word}","offset":{begin},"nodeProperties":{properties}}}',
            f'{{"type":"PRINT_TEXT",{of},"text":"{word}"}}',
        ]
    return f'{{"path":"src/A.java","checksum":"{CHECKSUM}","sessionsCount":4,"actions":[{",".join(found)}]}}'


def _k19_session(number: int) -> str:
    word, shown = WORDS[number], LISTS[number]
    items = ",".join(f'{{"text":"{each}","presentationText":"{each}() : void"}}' for each in shown)
    lookup = f'{{"text":"","suggestions":[{items}],"latency":{LATENCIES[number]}}}'
    return (
        f'{{"offset":{TEXT.index(word + "(")},"expectedText":"{word}",'
        f'"properties":{{"_properties":{K19_MAP},"properties":{K19_MAP}}},'
        f'"_lookups":[{lookup}],"id":"{IDS[number]}","success":{str(word in shown).lower()}}}'
    )


def _ij_session(number: int, more: str = "", relevant: bool = False) -> str:
    word, shown = WORDS[number], LISTS[number]
    items = ",".join(
        f'{{"text":"{each}","presentationText":"{each}() : void","source":"STANDARD","details":{{}},"kind":"TOKEN"'
        + (f',"isSelected":false,"isRelevant":{str(each == word).lower()}' if relevant else "")
        + "}"
        for each in shown
    )
    lookup = (
        f'{{"prefix":"","offset":0,"suggestions":[{items}],"latency":{LATENCIES[number]},"features":null,'
        '"selectedPosition":-1,"isNew":true,"additionalInfo":{}}'
    )
    return (
        f'{{"offset":{TEXT.index(word + "(")},"expectedText":"{word}","completableLength":{len(word)},'
        f'"_properties":{IJ_MAP},"id":"{IDS[number]}","_lookups":[{lookup}],'
        f'"success":{str(word in shown).lower()}{more}}}'
    )


def _sessions(each: list[str], more: str = "") -> str:
    return f'{{"filePath":"src/A.java","text":{_quoted(TEXT)},"sessions":[{",".join(each)}]{more}}}'


ERROR = '{"path":"src/B.java","message":"File src/B.java has been modified.","stackTrace":"at p.q"}'
LOST = f'{{"path":"src/B.java","checksum":"{CHECKSUM}","sessionsCount":2,"actions":[]}}'


def k19(folder: Path) -> Path:
    """A workspace of 2019."""
    _zip(folder / "actions/A.java(1).json.gz", _steps(f'{{"properties":{K19_MAP}}}'))
    _zip(folder / "actions/B.java(2).json.gz", LOST)
    _zip(folder / "data/files/A.java(0).json.gz", _sessions([_k19_session(number) for number in range(4)]))
    (folder / "data/files.json").write_text('{"src/A.java":"files/A.java(0).json.gz"}')
    _zip(folder / "errors/B.java.json.gz", ERROR)
    (folder / "stats.json").write_text('{"Generating actions":1200}')
    (folder / "config.json").write_text(K19_CONFIG)
    return folder


def ij21(folder: Path, more: str = "") -> Path:
    """A workspace of 2021; `more`: further fields of each session."""
    _zip(folder / "actions/A.java(1).json.gz", _steps(IJ_MAP))
    _zip(folder / "actions/B.java(2).json.gz", LOST)
    _zip(folder / "data/files/A.java(0).json.gz", _sessions([_ij_session(number, more) for number in range(4)]))
    (folder / "data/files.json").write_text('{"src/A.java":"A.java(0).json.gz"}')
    _zip(folder / "errors/B.java(1).json.gz", ERROR)
    features = '[{"common":{"context":{"ml_ctx_x":"1"},"user":{},"session":{}},"element":[{"position":"0"}]}]'
    _zip(folder / f"features/A.java(0)/{IDS[0]}.gz", features)
    (folder / "features/files.json").write_text(
        '{"files":{"src/A.java":"A.java(0)"},"features":{"element":["position"]}}'
    )
    (folder / "config.json").write_text(IJ21_CONFIG)
    return folder


def ij23(folder: Path) -> Path:
    """A workspace of 2024, with a folder for its project."""
    _zip(folder / "actions/A.java(1).json.gz", _features(IJ_MAP))
    _zip(folder / "actions/B.java(2).json.gz", LOST)
    sessions = [_ij_session(number, relevant=True) for number in range(4)]
    _zip(folder / "data/sample/files/A.java(0).json.gz", _sessions(sessions, ',"projectName":"sample"'))
    (folder / "data/files.json").write_text('["sample"]')
    (folder / "data/sample/files.json").write_text('{"src/A.java":"A.java(0).json.gz"}')
    _zip(folder / "errors/B.java(1).json.gz", ERROR)
    (folder / "config.json").write_text(IJ23_CONFIG)
    return folder


SAMPLES = {"k19": k19, "ij21": ij21, "ij23": ij23}
