"""Imports of Java and Kotlin."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from tests.languages.there import shares
from tests.projects import write


def test_a_class_of_java_is_in_the_jdk_the_project_or_a_jar(tmp_path: Path) -> None:
    root = write(tmp_path / "p", A__java="package a.b;\n")
    (tmp_path / "e").mkdir()
    with ZipFile(tmp_path / "e" / "x.jar", "w") as jar:
        jar.writestr("com/google/gson/Gson.class", "")
    text = "import java.util.List;\nimport static a.b.A.C.d;\nimport com.google.gson.*;\nimport javax.inject.Inject;\n"
    assert shares("java", root, "A.java", text, tmp_path / "e") == [True, True, True, False]
    assert shares("kotlin", root, "A.kt", "import kotlin.math.PI\nimport org.junit.Test\n") == [True, False]
