"""The prompts of the dataset unit-tests, ten in each of two languages. FRAMEWORK stands for a sentence, if a test
framework is known."""

from __future__ import annotations

from msgspec.structs import replace

from ci_eval.plugins.mining.record import Line

UNKNOWN = "Unknown"
"""The framework of a sample whose project names none."""

ENGLISH = (
    "Write one unit test for this code from {focal_file_path}:\n\n{focal_func}\n\nThe rest of that file:\n\n"
    "{focal_func_context}\n\nThe test, a {test_func_type} in {language}, will stand in {test_file_path}, where there "
    "is this already:\n\n{test_func_context}\n\nFRAMEWORKAnswer with the test alone, in one fenced block of code.\n",
    "You write tests for a project in {language}. This is to be tested:\n\n{focal_func}\n\nIt stands in "
    "{focal_file_path}:\n\n{focal_func_context}\n\nThe file of the test, {test_file_path}, begins so:\n\n"
    "{test_func_context}\n\nFRAMEWORKWrite the {test_func_type} that tests it. No explanation, one fenced block "
    "of code.\n",
    "In {test_file_path} a test is missing. The file so far:\n\n{test_func_context}\n\nWhat it has to test, from "
    "{focal_file_path}:\n\n{focal_func}\n\nThe code around that:\n\n{focal_func_context}\n\nFRAMEWORKAdd one "
    "{test_func_type} in {language}. Show nothing but its code, in a fence.\n",
    "Code of {focal_file_path}, in {language}:\n\n{focal_func_context}\n\nIts placeholder stands for this:\n\n"
    "{focal_func}\n\nTest exactly that, in one {test_func_type}. It is put into {test_file_path} below these "
    "lines:\n\n{test_func_context}\n\nFRAMEWORKAnswer: the test, in one fenced block of code.\n",
    "Does this work as it should?\n\n{focal_func}\n\nWrite a {test_func_type} in {language} that shows it. The code is "
    "from {focal_file_path}:\n\n{focal_func_context}\n\nThe test belongs to {test_file_path}:\n\n{test_func_context}"
    "\n\nFRAMEWORKGive one fenced block of code with the test and nothing else.\n",
    "Task: one unit test ({language}, a {test_func_type}).\n\nUnder test, in {focal_file_path}:\n\n{focal_func}\n\n"
    "Context:\n\n{focal_func_context}\n\nAlready in {test_file_path}:\n\n{test_func_context}\n\nFRAMEWORKOutput: the "
    "code of the test, fenced.\n",
    "A colleague wrote this in {focal_file_path} and left it without a test:\n\n{focal_func}\n\nAround it:\n\n"
    "{focal_func_context}\n\nWrite the test for them. In {test_file_path} you may use:\n\n{test_func_context}\n\n"
    "FRAMEWORKA single {test_func_type} in {language} is enough; send only its code, as one fenced block.\n",
    "Think of what can go wrong in this {language} code:\n\n{focal_func}\n\nThen write the {test_func_type} that would "
    "notice. From its file {focal_file_path}:\n\n{focal_func_context}\n\nFrom the test's file {test_file_path}:\n\n"
    "{test_func_context}\n\nFRAMEWORKPut the test into one fenced block of code, without comments on it.\n",
    "Imports, helpers and signatures in {test_file_path}:\n\n{test_func_context}\n\nFunction of {focal_file_path}:\n\n"
    "{focal_func}\n\nThe remaining file:\n\n{focal_func_context}\n\nFRAMEWORKComplete the first file by a "
    "{test_func_type} in {language} that tests the function. Return this test alone, in a fence.\n",
    "Please cover {focal_file_path} with one more test. It is about\n\n{focal_func}\n\nin\n\n{focal_func_context}\n\n"
    "and is appended to {test_file_path}, which has\n\n{test_func_context}\n\nFRAMEWORKThe answer is one "
    "{test_func_type} in {language}, as a fenced block of code.\n",
)
RUSSIAN = (
    "Напишите один модульный тест к этому коду из {focal_file_path}:\n\n{focal_func}\n\nОстальное в этом файле:\n\n"
    "{focal_func_context}\n\nТест ({test_func_type}, язык {language}) попадёт в {test_file_path}, где уже есть:\n\n"
    "{test_func_context}\n\nFRAMEWORKВ ответе только тест, одним блоком кода в ограждении.\n",
    "Вы пишете тесты для проекта на {language}. Проверить нужно это:\n\n{focal_func}\n\nКод находится в "
    "{focal_file_path}:\n\n{focal_func_context}\n\nФайл теста {test_file_path} начинается так:\n\n{test_func_context}"
    "\n\nFRAMEWORKНапишите тест ({test_func_type}). Без пояснений, один блок кода в ограждении.\n",
    "В {test_file_path} не хватает теста. Сейчас там:\n\n{test_func_context}\n\nЧто он должен проверить, из "
    "{focal_file_path}:\n\n{focal_func}\n\nКод вокруг:\n\n{focal_func_context}\n\nFRAMEWORKДобавьте один тест "
    "({test_func_type}, {language}). Покажите только его код в ограждении.\n",
    "Код файла {focal_file_path}, язык {language}:\n\n{focal_func_context}\n\nНа месте заполнителя стоит:\n\n"
    "{focal_func}\n\nПроверьте именно это одним тестом ({test_func_type}). Он встанет в {test_file_path} после этих "
    "строк:\n\n{test_func_context}\n\nFRAMEWORKОтвет: тест одним блоком кода в ограждении.\n",
    "Работает ли это как следует?\n\n{focal_func}\n\nНапишите тест на {language} ({test_func_type}), который это "
    "покажет. Код взят из {focal_file_path}:\n\n{focal_func_context}\n\nТест относится к {test_file_path}:\n\n"
    "{test_func_context}\n\nFRAMEWORKДайте один блок кода в ограждении с тестом и больше ничего.\n",
    "Задача: один модульный тест ({language}, {test_func_type}).\n\nПроверяется, из {focal_file_path}:\n\n"
    "{focal_func}\n\nКонтекст:\n\n{focal_func_context}\n\nУже есть в {test_file_path}:\n\n{test_func_context}\n\n"
    "FRAMEWORKВывод: код теста в ограждении.\n",
    "Коллега написал это в {focal_file_path} и оставил без теста:\n\n{focal_func}\n\nВокруг:\n\n{focal_func_context}"
    "\n\nНапишите тест за него. В {test_file_path} можно пользоваться этим:\n\n{test_func_context}\n\nFRAMEWORKХватит "
    "одного теста ({test_func_type}, {language}); пришлите только его код, одним блоком в ограждении.\n",
    "Подумайте, что может сломаться в этом коде на {language}:\n\n{focal_func}\n\nЗатем напишите тест "
    "({test_func_type}), который это заметит. Из файла {focal_file_path}:\n\n{focal_func_context}\n\nИз файла теста "
    "{test_file_path}:\n\n{test_func_context}\n\nFRAMEWORKПоместите тест в один блок кода в ограждении, без "
    "пояснений.\n",
    "Импорты, помощники и сигнатуры в {test_file_path}:\n\n{test_func_context}\n\nФункция из {focal_file_path}:\n\n"
    "{focal_func}\n\nОстальной файл:\n\n{focal_func_context}\n\nFRAMEWORKДополните первый файл тестом этой функции "
    "({test_func_type}, {language}). Верните только этот тест в ограждении.\n",
    "Покройте {focal_file_path} ещё одним тестом. Он о\n\n{focal_func}\n\nиз\n\n{focal_func_context}\n\nи добавляется "
    "в {test_file_path}, где есть\n\n{test_func_context}\n\nFRAMEWORKОтвет — один тест ({test_func_type}, {language}) "
    "блоком кода в ограждении.\n",
)
PROMPTS = {"en": ENGLISH, "ru": RUSSIAN}
"""The prompts by the language that they are in."""
FRAMEWORKS = {"en": "It is run by {test_framework}. ", "ru": "Его запускает {test_framework}. "}


KINDS = {"ru": {"function": "функция", "method": "метод"}}
"""The words for the kind of a test, by the language of the prompts; in English the kinds are words themselves."""


def translate_kind(line: Line, language: str) -> Line:
    """Return the sample with the kind of its test in the language of the prompts."""
    words = KINDS.get(language, {})
    kind = line.context["test_func_type"]
    return replace(line, context={**line.context, "test_func_type": words.get(kind, kind)})


def fill_framework(template: str, line: Line, language: str) -> str:
    """Return the instruction of a sample: the template, which names the test framework if it is known."""
    is_known = line.context["test_framework"] not in {"", UNKNOWN}
    return template.replace("FRAMEWORK", FRAMEWORKS[language] if is_known else "")
