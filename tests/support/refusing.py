"""What no command can use: one clear line, the code that scripts go by, and nothing is written."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sets import rows

_CLERKS = [
    {
        "question": f"Who keeps the {thing}?",
        "text": f"Clerk {n} keeps the {thing}.",
        "document": f"act {n % 3}",
    }
    for n, thing in enumerate("register seal keys purse lamp gate".split())
]
_FILES = {
    "gold.jsonl": "\n".join(
        json.dumps({"question": row["question"], "reference_answer": row["text"]})
        for row in _CLERKS
    ),
    "pairs.jsonl": "\n".join(map(json.dumps, _CLERKS)),
    "answers.jsonl": '{"question": "a", "answer": "b"}',
    "half.jsonl": '{"question": "a", "answer": "b"}\n{"question": "a"}',
    "bad.jsonl": '{"question": "Why?"}\n{"question": 7}\n\n{"quest',
    "sum.json": '{"fusion": "sum"}',
    "broken.pdf": "no PDF",
    "empty.txt": "",
}
_EMBEDDER = "finetune embedder pairs.jsonl --out new"


@pytest.fixture
def place(documents: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in: two documents below it, and files that some take."""
    for name, text in _FILES.items():
        (documents.parent / name).write_text(text, "utf-8")
    monkeypatch.chdir(documents.parent)
    return documents.parent


def check_refusal(run: Callable[..., Any], place: Path, command: str, code: int, said: str) -> None:
    before = sorted(place.rglob("*"))
    result = run(*shlex.split(command))
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in " ".join(result.stderr.split())
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    if not command.startswith(_EMBEDDER):  # which keeps what it embedded for another try
        assert sorted(place.rglob("*")) == before
    assert not (place / "new" / "card.json").exists()


def refusals(name: str) -> Callable[..., None]:
    """A test of every row of a set: a command, its code, and what its one line says."""

    @pytest.mark.parametrize(("command", "code", "said"), rows(name))
    def test(run: Callable[..., Any], place: Path, command: str, code: int, said: str) -> None:
        check_refusal(run, place, command, code, said)

    return test
