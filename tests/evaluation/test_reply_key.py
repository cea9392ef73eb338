"""Kept replies: what they are found by, and processes that write at once."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from lexloop.core.errors import DataError
from lexloop.core.text_cache import TextCache
from lexloop.evaluation.reply_key import reply_key
from lexloop.models.request import ChatRequest
from lexloop.prompts import parse

PROMPT = parse("p", "=== system ===\nIn <{{fence}} ...>.\n=== user ===\n{{question}}", {"question"})
WRITER = """
import sys
from pathlib import Path
from lexloop.core.text_cache import TextCache
kept = TextCache(Path(sys.argv[1]), "replies")
for n in range(40):
    kept.put(f"{sys.argv[2]} {n}", "said")
    assert kept.find(f"{sys.argv[2]} {n}") == "said"
kept.close()
"""


class Wide(BaseModel):
    score: float


class Narrow(BaseModel):
    score: Literal[1, 2]


def key(question: str, schema: type[BaseModel] | None = None, **asked_with: object) -> str:
    system, user = PROMPT.render(question=question)
    return reply_key("openai:m", asked_with, ChatRequest("asking", system, user, schema))


@given(st.text(), st.text())
def test_the_same_text_has_one_key_whatever_its_fence(one: str, other: str) -> None:
    assert key(one) == key(one)
    assert (key(one) == key(other)) == (one == other)


def test_a_fence_named_in_the_text_changes_the_key() -> None:
    plain, named = "It is data-0a1b2c3d.", "It is data-3d2c1b0a."
    assert key(plain) == key(plain)
    assert key(plain) != key(named)


def test_form_and_parameters_are_part_of_the_key() -> None:
    keys = {
        key("a"),
        key("a", Wide),
        key("a", Narrow),
        key("a", Wide, temperature=0.5),
        key("a", Wide, seed=1),
        key("a", Wide, seed=2),
        key("a", Wide, seed=1, top_p=0.5),
    }
    assert len(keys) == 7
    assert key("a", Wide) == key("a", Wide, temperature=0) == key("a", Wide, temperature=0.0)
    assert key("a", seed=1, top_p=0.5) == key("a", top_p=0.5, seed=1)


def test_a_schema_that_changed_under_its_name_has_another_key() -> None:
    class Narrower(Narrow):
        why: str

    Narrower.__name__ = "Narrow"
    assert key("a", Narrow) != key("a", Narrower)


def test_purpose_is_no_part_of_the_key() -> None:
    one, other = (ChatRequest(purpose, "s", "u") for purpose in ("judging", "scoring"))
    assert reply_key("m", {}, one) == reply_key("m", {}, other)
    assert reply_key("m", {}, one) != reply_key("m", {}, ChatRequest("judging", "su", ""))


def test_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [writer.wait(30) for writer in writers] == [0, 0]
    kept = TextCache(path, "replies")
    assert all(kept.find(f"{name} {n}") == "said" for name in "ab" for n in range(40))
    kept.close()


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    kept = TextCache(path, "replies")
    for n in range(50):
        kept.put(f"{n:064}", "said " * 100)
    kept.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    kept = TextCache(path, "replies")
    with pytest.raises(DataError, match=r"cannot be used: .* Remove the file\."):
        kept.find(f"{7:064}")
    with pytest.raises(DataError, match="cannot be kept"):
        kept.put("new", "said")
    kept.close()
