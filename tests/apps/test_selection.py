"""Some documents alone, or one passage: the selection holds for every step and is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import ANYBODY, letter_tools, view_of

import lexloop
from lexloop.core.errors import InputError, NotFoundError, SettingsError
from lexloop.core.metadata import Filters
from lexloop.documents.document import Document
from lexloop.store.passage import cut, passage_alone

Run = Callable[..., Any]
BOATS = """Boats Act

Section 1. Fee
(1) The owner of a boat must pay a fee of 10 euro.
(2) The fee is due on 1 May.

Section 2. Penalty
Whoever does not pay the fee is liable for a penalty of 90 euro.
"""
RAFTS = BOATS.replace("Boats", "Rafts").replace("boat", "raft").replace("90", "70")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "laws"
    folder.mkdir()
    for name, text in (("boats", BOATS), ("rafts", RAFTS)):
        (folder / f"{name}.txt").write_text(text, "utf-8")
    (folder / "secret.txt").write_text(f"---\ntags: board\n---\n{BOATS}", "utf-8")
    return folder


def sources(told: Any) -> set[str]:
    """Every document that any step brought up."""
    parts = ("citations", "near", "passages", "triplets", "candidates", "graph_candidates")
    return {one["document"] for part in parts for one in told.get(part, [])}


def test_only_the_documents_that_were_chosen_are_asked(in_json: Run, corpus: Path) -> None:
    asked = ("ask", "What is the penalty?", "--corpus", corpus, "--trace")
    assert sources(in_json(*asked)) == {"boats.txt", "rafts.txt"}
    told = in_json(*asked, "--document", "rafts")
    assert sources(told) == {"rafts.txt"}
    assert (told["only"], told["passage"]) == (["rafts.txt"], None)
    assert "70 euro" in told["answer"]
    # the other says otherwise, but is not asked: nothing disagrees, nothing comes near
    assert "disagree" not in told["warning"]


def test_only_the_passage_that_was_chosen_is_asked(in_json: Run, run: Run, corpus: Path) -> None:
    start = BOATS.index("(2) The fee")
    end = BOATS.index("\n", start)
    chosen = ("--corpus", corpus, "--document", "boats.txt", "--passage", f"{start + 5}-{end - 3}")
    told = in_json("ask", "When is the fee due?", *chosen, "--trace")
    (one,) = told["citations"]
    assert (one["document"], one["start"], one["end"]) == ("boats.txt", start, end)
    assert (one["section"], one["quote"]) == ("Section 1(2)", BOATS[start:end])
    assert told["passage"] == [start + 5, end - 3]
    assert all(start <= one["start"] < one["end"] <= end for one in told["candidates"])
    assert all(start <= one["start"] < one["end"] <= end for one in told["triplets"])
    other = in_json("ask", "What is the penalty?", *chosen)
    assert other["abstained"]
    assert "90 euro" not in str(other)
    whole = in_json("ask", "What does section 2 say?", *chosen)
    assert "90 euro" not in str(whole)
    shown = run("ask", "When is the fee due?", *map(str, chosen)).stdout
    line = BOATS.count("\n", 0, start) + 1
    assert f"Asked only of a passage of boats.txt (Section 1(2), line {line})" in shown


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--document", "boots.txt"), "Near it are: boats.txt"),
        (("--document", "secret.txt"), "There is no document 'secret.txt'."),
        (("--passage", "1-2"), "access.passage is '1-2': it needs the one document"),
        (("--document", "boats", "--passage", "1-2-3"), "'1-2-3': it is no START-END"),
        (("--document", "boats", "--passage", "9-3"), "has to end behind its beginning"),
        (("--document", "boats", "--passage", "x"), "access.passage"),
        (("--document", "boats", "--passage", "9000-9001"), "has no words from 9000 to 9001"),
    ],
)
def test_what_is_missing_is_said(run: Run, corpus: Path, given: tuple[str, ...], said: str) -> None:
    result = run("ask", "What is the fee?", "--corpus", str(corpus), *given)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "secret.txt;" not in result.stderr


def test_collections_with_a_chosen_document_are_asked(
    in_json: Run, corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "cats.txt").write_text("A cat pays a fee of 3 euro.", "utf-8")
    both = f"a={corpus},b={tmp_path / 'cats'}"
    asked = ("ask", "What is the fee?", "--collections", both)
    told = in_json(*asked, "--document", "cats.txt")
    assert (sources(told), told["collections"]) == ({"cats.txt"}, ["b"])
    told = in_json(*asked, "--document", "cats.txt", "--document", "rafts")
    assert sources(told) <= {"cats.txt", "rafts.txt"}
    refused = in_json(*asked, "--document", "dogs.txt", code=2)
    assert refused["error"]["type"] == "NotFoundError"


def test_in_python(corpus: Path) -> None:
    found = lexloop.ask("What is the penalty?", corpus, **{"access.only": ["rafts.txt"]})
    assert {one["document"] for one in found["passages"]} == {"rafts.txt"}
    with pytest.raises(NotFoundError, match="Near it are: rafts"):
        lexloop.ask("Why?", corpus, **{"access.only": ["rofts.txt"]})
    with pytest.raises(SettingsError, match="needs the one document"):
        lexloop.ask("Why?", corpus, **{"access.passage": (1, 2)})


def test_a_view_weighs_words_by_all_that_the_asker_sees() -> None:
    every = [Document(name, name, text) for name, text in (("a.txt", BOATS), ("b.txt", RAFTS))]
    from lexloop.store.writer import build_collection

    made = build_collection(every, letter_tools())
    alone = made.seen_by(Filters(only=("a.txt",)))
    assert list(alone.documents) == ["a.txt"]
    (hits,) = alone.search_lexical(["boat fee"], 9)
    (among,) = made.seen_by(ANYBODY).search_lexical(["boat fee"], 9)
    assert [*hits] == [one for one in among if one.document == "a.txt"]
    with pytest.raises(KeyError):
        alone.chunks(["b.txt#0"])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(BOATS)), st.integers(1, 80))
def test_a_passage_stands_where_it_stood(start: int, length: int) -> None:
    view = view_of(Document("a.txt", "Boats", BOATS))
    end = min(start + length, len(BOATS))
    try:
        alone = passage_alone(view, start, end, letter_tools()).seen_by(ANYBODY)
    except InputError:
        assert not BOATS[start:end].strip()
        return
    text = alone.text_of("a.txt") or ""
    assert len(text) == len(BOATS)
    words = [n for n, one in enumerate(text) if not one.isspace()]
    assert all(text[n] == BOATS[n] for n in words)
    chosen = [n for n in range(start, end) if not BOATS[n].isspace()]
    assert {*chosen} <= {*words}
    for chunk in alone.every_chunk():
        assert BOATS[chunk["start"] : chunk["end"]] == chunk["text"]


def test_units_around_a_passage_keep_their_labels() -> None:
    document = Document("a.txt", "Boats", BOATS)
    start = BOATS.index("(2)")
    end = BOATS.index("\n", start)
    kept = cut(document, start, end).tree
    assert [unit.label for unit in kept.units] == ["", "Section 1", "Section 1(2)"]
    assert all(start <= unit.start <= unit.body <= unit.end <= end for unit in kept.units)
    assert [unit.parent for unit in kept.units] == [-1, 0, 1]
