"""``lexloop label``: in the terminal, its report, and what it refuses."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pseudo_terminal import CTRL_D, Terminal
from run_records import record, run_info, write_run

from lexloop_eval.commands import label

Run = Callable[..., Any]
ATTACK = "\x1b]0;owned\x07\x1b[31m\u202egnp.\x9b2J[bold]"
UNSAFE = set("\x1b\x07\x9b\u202e")


def test_the_page_says_which_package_it_needs(
    judged: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = label.find_spec
    lost = "lexloop_server"
    monkeypatch.setattr(label, "find_spec", lambda name: None if name == lost else there(name))
    result = run("label", str(judged), "--person", "ann", "--page")
    assert result.exit_code == 2
    assert "needs the package lexloop-server: not installed" in " ".join(result.stderr.split())


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A run with two answers, in which everything tries to steer the terminal."""
    cited = {"n": 1, "document": f"{ATTACK}.txt", "section": "§ 1", "page": 2, "start": 0, "end": 9,
             "quote": f"Rent {ATTACK}\nis due.", "lead": "Where it is let,"}  # fmt: skip
    records = [
        record(
            id=name,
            variant="secret",
            question_type="simple",
            question=f"{name}? {ATTACK}",
            answer=f"Rent of {name} is due. {ATTACK} [1]",
            reference_answer=f"It is due. {ATTACK}",
            history=[{"role": "user", "content": f"Before {ATTACK}"}],
            citations=[cited],
            metrics={"correctness": 4.2, "groundedness": 0.9},
        )
        for name in ("one", "two")
    ]
    return write_run(tmp_path / "run", records, run_info("secret"))


def test_one_key_an_answer_gone_on_with_and_reported(
    run: Run, in_json: Run, judged: Path, on_terminal: Callable[..., Terminal]
) -> None:
    terminal = on_terminal("label", str(judged), "--person", "ann")
    terminal.ask("9")
    terminal.ask("4")
    terminal.expect("2 of 2")
    terminal.ask("u")
    terminal.expect("1 of 2")
    terminal.ask("5")
    terminal.expect("2 of 2")
    terminal.expect("> ")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert "1 of 2 labelled" in terminal.screen
    rest = run("label", str(judged), "--person", "ann", stdin="s\n")
    assert "1 of 2 labelled" in rest.stdout
    alone = run("label", str(judged), "--report")
    assert "Kappa is not given" in alone.stdout
    assert run("label", str(judged), "--person", "bob", stdin="u\n4\n4\n").exit_code == 0
    for person in ("ann", "bob"):
        run("label", str(judged), "--person", person, "--ask", "supported", stdin="y\nn\n")
    summary = in_json("label", judged, "--report")
    assert summary["people"]["ann"] == {"correct": 1, "supported": 2}
    assert summary["supported"]["between"][0]["answers"] == 2
    assert [row["judge"] for row in summary["supported"]["judges"]] == ["groundedness", "passed"]
    shown = run("label", str(judged), "--report").stdout
    assert re.search(r"\| correctness >= 4 \| 2 \| .* \|", shown)


def test_what_is_shown_steers_nothing_and_names_no_variant(run: Run, judged: Path) -> None:
    result = run("label", str(judged), "--person", "ann", stdin="q\n")
    output = result.stdout + result.stderr
    assert not UNSAFE & set(output)
    for part in ("Q  ", "A  Rent of", "R  It is due.", "user: Before", "Where it is let, Rent"):
        assert part in output
    assert "secret" not in output.replace(str(judged), "")


def test_what_cannot_be_used_is_said(run: Run, in_json: Run, judged: Path, tmp_path: Path) -> None:
    for words, message in (
        ([str(tmp_path), "--person", "ann"], "There is no run in"),
        ([str(judged)], "Give --person NAME or --report"),
        ([str(judged), "--person", "ann", "--report"], "Give --person NAME or --report"),
        ([str(judged), "--person", "ann", "--json"], "--json goes with --report"),
        ([str(judged), "--person", "../ann"], "is not a valid name"),
        ([str(judged), "--report"], "Nobody has labelled"),
    ):
        result = run("label", *words)
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert not (judged / "labels").exists()
    (judged / "labels").mkdir()
    (judged / "labels" / "ann.jsonl").write_text('{"correct": 7}\n', "utf-8")
    assert in_json("label", judged, "--report", code=5)["error"]["type"] == "DataError"


def test_a_run_without_references_says_so(run: Run, tmp_path: Path) -> None:
    plain = write_run(tmp_path / "run", [record()], run_info("fixed"))
    result = run("label", str(plain), "--person", "ann", stdin="5\n")
    assert "has no reference answers" in result.stderr
    line = json.loads((plain / "labels" / "ann.jsonl").read_text("utf-8"))
    assert (line["variant"], line["id"], line["correct"], line["supported"]) == (
        *("fixed", "q1", 5, None),
    )
