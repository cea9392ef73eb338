"""``lexloop search``: exact words in documents and in kept conversations, each where it stands."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lexloop
from lexloop.apps.threads import ThreadStore

Run = Callable[..., Any]
LEASE = "Lease\n\nSection 1. Rent\nThe rent is 5 euro.\n\nSection 2. Notice\nWrite to the tenant.\n"
BOARD = "---\ntags: board\nin_force_from: 2020-01-01\n---\nMinutes\n\nThe rent is too low.\n"
EVIL = "Rent \x1b[31m red \x1b[0m [link](http://x) \u202edesrever\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "laws"
    folder.mkdir()
    for name, text in (("lease", LEASE), ("board", BOARD), ("evil", EVIL)):
        (folder / f"{name}.txt").write_text(text, "utf-8")
    return folder


def test_each_place_is_told_with_its_provision(run: Run, corpus: Path) -> None:
    shown = run("search", "rent 5", "--corpus", str(corpus)).stdout.splitlines()
    assert shown[0] == "lease.txt · Lease · 3 places"
    assert shown[1] == "  Section 1, line 3: Section 1. Rent The rent is 5 euro."
    assert shown[-1] == "3 places in 1 document"


def test_json_is_the_record_of_the_library(in_json: Run, corpus: Path) -> None:
    told = in_json("search", "rent -red", "--corpus", corpus)
    assert told == lexloop.search("rent -red", corpus).model_dump(mode="json")
    (one,) = told["documents"]
    (passage,) = one["passages"]
    assert [passage["quote"][a:b] for a, b in passage["marks"]] == ["Rent", "rent"]


def test_only_what_the_asker_may_see(in_json: Run, corpus: Path) -> None:
    for options, names in (
        ((), ["evil.txt", "lease.txt"]),
        (("--tag", "board"), ["board.txt", "evil.txt", "lease.txt"]),
        (("--tag", "board", "--as-of", "2019-01-01"), ["evil.txt", "lease.txt"]),
    ):
        told = in_json("search", "rent", "--corpus", corpus, *options)
        assert sorted(one["document"] for one in told["documents"]) == names


def test_nothing_of_a_document_steers_the_terminal(run: Run, corpus: Path) -> None:
    shown = run("search", "red", "--corpus", str(corpus)).stdout
    assert "red" in shown
    assert not {"\x1b", "\u202e"} & {*shown}


def test_several_collections(in_json: Run, corpus: Path) -> None:
    told = in_json("search", "rent", "--collections", f"a={corpus},b={corpus / 'lease.txt'}")
    assert {(one["collection"], one["document"]) for one in told["documents"]} == {
        ("a", "evil.txt"),
        ("a", "lease.txt"),
        ("b", "lease.txt"),
    }


def test_words_are_found_in_kept_conversations(run: Run, corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.sqlite"
    kept = ("--thread", "mine", "--threads-file", str(file))
    run("chat", "--corpus", str(corpus), *kept, stdin="What is the rent?\n/quit\n")
    shown = run("search", "--chats", "RENT euro", "--threads-file", str(file)).stdout.splitlines()
    assert shown[0].startswith("mine · What is the rent? · ")
    assert "What is the rent?" in shown[1]
    assert shown[-1] == "1 answer"
    told = run("search", "--chats", "RENT euro", "--threads-file", str(file), "--json").stdout
    [turn] = json.loads(told)["turns"]
    marks = [one["quote"][a:b] for one in turn["excerpts"] for a, b in one["marks"]]
    assert turn["thread"] == "mine"
    assert {"rent", "euro"} <= {mark.casefold() for mark in marks}
    none = run("search", "--chats", "zzz", "--threads-file", str(file))
    assert none.stdout == "0 answers\n"
    assert run("search", "--chats", "", "--threads-file", str(file)).exit_code == 2
    nowhere = tmp_path / "none.sqlite"
    assert run("search", "--chats", "x", "--threads-file", str(nowhere)).stdout == "0 answers\n"
    assert not nowhere.exists()
    assert json.dumps([*ThreadStore(file).every()])
