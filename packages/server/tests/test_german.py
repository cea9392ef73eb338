"""What the German page shows is German: refusals, warnings, checks, reasons, errors."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from servers import QUESTION, as_, asked, client_of, events, people, person, reading_room, served
from sets import rows

from lexloop_server.settings import ServerSettings
from lexloop_server.translation import (
    TOLD,
    TOLD_WITHIN,
    Catalogue,
    asked_in,
    in_language,
    language,
    tables_of,
)

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}
ABSTAINED = "Die Dokumente beantworten diese Frage nicht."
CATALOGUE = Catalogue(tables_of("de"))
_ENGLISH = re.compile(
    r"\b(?:the|is|are|were|not|and|of|it|its|this|that|than|with|which|no|for|by|from|you|more)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“„][^”“]*[”“]|'[^']*'|\[\d+\]|(?<=: )[^:]*…")


@pytest.fixture
def hans(address: str) -> Iterator[httpx.Client]:
    """Ann, whose page is German."""
    with client_of(address, "ann") as found:
        found.headers.update(GERMAN)
        yield found


def texts_of(value: Any, inside: str = "") -> Iterator[str]:
    """Yield the texts of JSON that people are told."""
    if isinstance(value, dict):
        for key, item in value.items():
            told = key in TOLD | TOLD_WITHIN.get(inside, frozenset())
            yield from _strings(item) if told else texts_of(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item, inside)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def english_in(value: Any) -> list[str]:
    """Return the texts of JSON for people that have English words beside their quotes."""
    return [text for text in texts_of(value) if _ENGLISH.search(_QUOTED.sub("", text))]


def test_an_abstention_is_german_and_its_language_is_told(hans: httpx.Client) -> None:
    answer = asked(hans, question="Welche Strafen drohen bei Verstößen gegen das Gesetz?")
    assert (answer["answer"], answer["abstained"]) == (ABSTAINED, True)
    assert answer["warning"] == (
        "Die Frage scheint auf Deutsch gestellt zu sein, die Dokumente sind auf Englisch. Sie "
        "wurde nicht übersetzt und deshalb nicht beantwortet: Fragen Sie in der Sprache der "
        "Dokumente, oder lassen Sie ein Modell einrichten, das sie übersetzt."
    )
    assert answer["verdict"]["head"] == "Keine Antwort: steht nicht in den Dokumenten"
    assert english_in(answer) == []


def test_the_language_of_an_answered_question_is_told_too(
    ann: httpx.Client, hans: httpx.Client
) -> None:
    """One that names a provision is answered by it, in whatever language the rest is."""
    question = "Was sagt § 5-301 über die Strafe?"
    english = asked(ann, question=question)
    assert not english["abstained"]
    assert english["warning"].startswith(
        "The question seems to be in German, and the documents are in English. It was not "
        "translated, so the answer may miss what is asked: "
    )
    german = asked(hans, question=question)
    assert german["warning"].startswith(
        "Die Frage scheint auf Deutsch gestellt zu sein, die Dokumente sind auf Englisch. Sie "
        "wurde nicht übersetzt, deshalb kann die Antwort verfehlen, was gefragt ist: "
    )
    assert "Diese Antwort hat die Prüfung nicht bestanden." in german["warning"]
    assert asked(ann)["warning"] == ""
    assert asked(ann, question="Strafe?")["warning"] == ""  # one word tells no language


def test_a_failed_check_its_reason_and_the_warning_are_german(hans: httpx.Client) -> None:
    part = asked(hans, question="Which zebras need a bias audit?")
    assert not part["passed"]
    assert english_in(part) == []
    failed = asked(hans, question="May the landlord enter at night?")
    assert not failed["passed"]
    assert any(one.startswith("Nicht in den Dokumenten: “") for one in failed["reasons"])
    assert english_in(failed) == []


def test_an_answer_keeps_its_quotes_and_has_german_checks(
    hans: httpx.Client, ann: httpx.Client
) -> None:
    answer, english = asked(hans), asked(ann)
    assert answer["answer"] == english["answer"]
    assert answer["citations"] == english["citations"]
    assert english["verdict"]["head"] == "Passed"
    assert answer["verdict"]["head"] == "Bestanden"
    assert "von 1, verlangt ist mindestens 0," in " ".join(answer["verdict"]["checked"])
    assert english_in(answer) == []
    assert english_in(english) != []


def test_what_is_kept_is_read_in_the_language_that_is_asked_for(
    hans: httpx.Client, ann: httpx.Client
) -> None:
    kept = asked(hans, question="May the landlord enter at night?")
    [german] = hans.get(f"/threads/{kept['thread']}").json()["turns"]
    [english] = ann.get(f"/threads/{kept['thread']}").json()["turns"]
    assert german["reasons"] == kept["reasons"]
    assert english["reasons"][0].startswith("Not in the documents")


def test_events_are_german(hans: httpx.Client) -> None:
    told = events(hans, question="Which zebras need a bias audit?")
    assert [name for name, _ in told][-1] == "answer"
    assert [text for _, data in told for text in english_in(data)] == []


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/collections/none/documents", "Eine Sammlung 'none' gibt es nicht."),
        ("/collections/sample/text?document=x", "Ein Dokument 'x' gibt es nicht."),
        ("/threads/none", "Das Gespräch 'none' gibt es nicht."),
        ("/nowhere", "Das gibt es nicht."),
    ],
)
def test_errors_are_german(hans: httpx.Client, path: str, what: str) -> None:
    told = hans.get(path).json()
    assert told["error"]["what"] == what
    assert english_in({"error": {"hint": told["error"]["hint"]}}) == []


def test_uploads_are_refused_in_german(tmp_path: Path) -> None:
    who = people(ann={"may_upload": True})
    with reading_room(tmp_path, {"sample": "sample"}, people=who) as (client, _):
        client.headers.update({**as_("ann"), **GERMAN})
        client.post("/api/collections", json={"name": "Akten"})
        url = "/api/collections/Akten"
        files = [("files", ("a.exe", b"MZ")), ("files", (".b.txt", b"x"))]
        refused = client.post(f"{url}/documents", files=files)
        told = refused.json()["error"]
        assert (refused.status_code, told["kind"]) == (400, "InputError")
        kind = "Dateien dieser Art werden nicht gelesen; gelesen werden: "
        reasons = [one["reason"] for one in told["refused"]]
        assert reasons[0].startswith(kind)
        assert reasons[1] == "Sie ist versteckt: Ihr Name beginnt mit einem Punkt."
        assert told["what"].startswith(f"Nichts wurde hinzugefügt. a.exe: {kind}")
        assert told["hint"] == "Senden Sie andere Dateien."
        damaged = [("files", ("bad.pdf", b"%PDF-1.4 nothing"))]
        assert client.post(f"{url}/documents", files=damaged).status_code == 202
        lines = client.get(f"{url}/indexing").text.split("\r\n")
        told = json.loads([line for line in lines if line.startswith("data: ")][-1][6:])["error"]
        assert told["what"].startswith("Kein Dokument war lesbar (bad.pdf: Sie ist ")
        assert english_in({"error": told}) == []


def test_who_asks_too_often_or_has_no_key_is_told_in_german(tmp_path: Path) -> None:
    limits = {"questions_per_minute": 1}
    server = ServerSettings.of({"people": [person("ann")], "limits": limits})
    with served(server) as address, client_of(address, "ann") as client:
        client.headers.update(GERMAN)
        asked(client)
        found = client.post("/ask", json=QUESTION)
        assert found.status_code == 429
        assert found.json()["error"]["what"] == (
            "Innerhalb einer Minute kamen von Ihnen mehr als 1 Fragen."
        )
        assert found.json()["error"]["hint"] == (
            "Warten Sie einen Moment, und versuchen Sie es noch einmal."
        )
        nobody = httpx.get(f"{address}/api/me", headers=GERMAN).json()["error"]
        assert nobody["what"] == "Ein Schlüssel ist nötig."


def test_agents_and_openai_clients_are_answered_in_english(address: str) -> None:
    body = {"model": "none", "messages": [{"role": "user", "content": "Hello"}]}
    told = httpx.post(
        f"{address}/v1/chat/completions", json=body, headers={**as_("ann"), **GERMAN}
    ).json()
    assert told["error"]["message"].startswith("The model")


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        ("", "en"),
        ("de", "de"),
        ("DE-ch", "de"),
        ("en,de;q=0.9", "en"),
        ("en;q=0.5, de;q=0.6", "de"),
        ("fr, de;q=0.1", "de"),
        ("de;q=0", "en"),
        ("de;q=x, ;;, ,", "en"),
        ("*", "en"),
        ("de" * 10_000, "en"),
    ],
)
def test_the_language_that_is_liked_best_is_taken(header: str, chosen: str) -> None:
    assert asked_in(header) == chosen


@pytest.mark.parametrize(("english", "german"), rows("german_sentences"))
def test_sentences_are_translated_and_what_they_quote_is_not(english: str, german: str) -> None:
    assert CATALOGUE.text(english) == german


@pytest.mark.parametrize(("line", "german"), rows("german_lines"))
def test_lines_that_code_writes_are_translated(line: str, german: str) -> None:
    assert CATALOGUE.line(line) == german


def test_a_quote_that_reads_like_a_line_of_ours_stays() -> None:
    token = language.set("de")
    try:
        quote = {"quote": "The register has 3 parts.", "lead": ""}
        answer = "The register has 3 parts. [1]\nExcept:"
        told = {"answer": answer, "abstained": False, "citations": [quote]}
        assert in_language(told)["answer"] == "The register has 3 parts. [1]\nAußer:"
        told["citations"] = []
        assert in_language(told)["answer"] == "The register hat 3 Teile. [1]\nAußer:"
    finally:
        language.reset(token)


_SOME = st.sampled_from([*tables_of("de")["texts"], ": ", "; ", ". ", "{", "told", "\n", "x"])


@settings(max_examples=examples(40))
@given(st.lists(st.one_of(_SOME, st.text(max_size=20)), max_size=12).map(" ".join))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(CATALOGUE.text(text), str)
    assert isinstance(CATALOGUE.line(text), str)
    assert CATALOGUE.text(f"“{text.replace('.', '')}") is not None
