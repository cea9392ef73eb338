"""Which language documents and questions are in."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from sets import rows

from lexloop.documents.text.languages import (
    foreign_languages,
    languages_of,
    other_language,
    read_badly,
)

ENGLISH = "The operator must keep the data of a child for as long as it is needed, and no longer."
GERMAN = "Der Betreiber muss die Daten eines Kindes löschen, wenn sie nicht mehr gebraucht werden."
RUSSIAN = "Оператор должен удалить данные ребёнка, если они больше не нужны."
QUESTIONS = Path(__file__).parents[2] / "data" / "languages.jsonl"
ROWS = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]


KNOWN = frozenset(ENGLISH.lower().split())


@pytest.mark.parametrize(
    ("texts", "languages"),
    [
        ([ENGLISH], ["English"]),
        ([RUSSIAN], ["Cyrillic script"]),
        ([ENGLISH, GERMAN], ["English", "German"]),
        (["Lorem ipsum dolor amet"], []),
        (["第一条 契約の期間は二年とする。"], ["Japanese script"]),
        (["第一条 合同期限为两年。"], ["Chinese script"]),
    ],
)
def test_the_languages_of_documents(texts: list[str], languages: list[str]) -> None:
    assert sorted(languages_of(texts)) == sorted(languages)


@pytest.mark.parametrize(
    ("question", "japanese", "chinese", "english"),
    [
        ("賃料はいつ支払うか", "", "Japanese script", "Japanese script"),
        ("契約期間", "", "", "Chinese script"),
        ("租金什么时候付给房东", "Chinese script", "", "Chinese script"),
    ],
)
def test_japanese_is_told_from_chinese(
    question: str, japanese: str, chinese: str, english: str
) -> None:
    known = (["Japanese script"], ["Chinese script"], ["English"])
    assert [other_language(question, one, ()) for one in known] == [japanese, chinese, english]


def test_no_question_in_the_language_of_the_documents_is_told_of_another() -> None:
    asked = [row["question"] for row in ROWS if not row["language"]]
    assert len(asked) > 40
    assert [q for q in asked if other_language(q, ["English"], ())] == []


def test_most_questions_in_another_language_are_told_so_and_none_by_a_wrong_name() -> None:
    found = [
        (row["language"], other_language(row["question"], ["English"], KNOWN))
        for row in ROWS
        if row["language"]
    ]
    assert sum(language == name for language, name in found) >= 0.85 * len(found)
    assert all(language in name for language, name in found if name)


@settings(max_examples=examples(30))
@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(other_language(text, languages_of([text, ENGLISH]), KNOWN), str)


@pytest.mark.parametrize(
    ("languages", "told"),
    [
        (["Chinese script"], "The documents are in Chinese script, a language that is read badly"),
        (["English", "Chinese script"], ""),
        (["German"], ""),
        ([], ""),
    ],
)
def test_documents_in_other_scripts_alone_are_read_badly(languages: list[str], told: str) -> None:
    assert read_badly(languages).startswith(told)
    assert bool(read_badly(languages)) == bool(told)


@pytest.mark.parametrize(("sentence", "language"), rows("foreign_sentences"))
def test_one_sentence_of_another_language_is_noticed(sentence: str, language: str) -> None:
    text = f"The tenant pays the rent. {sentence} The roof is repaired by the landlord."
    assert foreign_languages(text, ["English"]) == ([language] if language else [])
    assert foreign_languages(text, []) == []
