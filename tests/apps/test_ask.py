"""``lexloop ask`` without a model, in this process."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION

Run = Callable[..., Any]
QUESTION = "What is a bias audit?"
NONSENSE = "What is the boiling point of molybdenum in Antarctica?"


def test_answer_with_markers_sources_and_verdict(run: Run) -> None:
    result = run("ask", QUESTION)
    assert result.exit_code == 0
    assert "independent auditor. [1]" in result.stdout
    assert '[1] law.txt · § 20-870 "Bias audit" · characters ' in result.stdout
    assert "“A bias audit is an evaluation" in result.stdout
    assert "% likely to answer the question · answer relevance 0." in result.stdout
    assert "citations verified · 0 retries" in result.stdout
    assert "nothing left this machine" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


def test_json_is_one_flat_object_and_nothing_else(run: Run) -> None:
    result = run("ask", QUESTION, "--json")
    report = json.loads(result.stdout)
    assert result.stderr == ""
    assert report["passed"] is True
    assert report["abstained"] is False
    assert report["retries"] == len(report["attempts"]) - 1 == 0
    assert report["plan"] == {"k": 3, "Q": 3, "K": 3, "S": 1}
    assert sum(report["probabilities"]) == pytest.approx(1.0)
    assert report["scores"]["groundedness"] == 1.0
    assert report["usage"]["model_calls"] == 0
    assert report["hosts"] == []
    assert all(c["quote"] in "".join(p["text"] for p in report["passages"]) for c in
               report["citations"])  # fmt: skip
    assert "candidates" not in report


def test_a_slip_is_said_and_answered_as_what_was_meant(run: Run) -> None:
    said = run("ask", "What is a bias aduit?").stdout
    assert said.startswith("“aduit” read as: audit\nA bias audit is")
    report = json.loads(run("ask", "What is a bias aduit?", "--json").stdout)
    assert report["read_as"] == [{"written": "aduit", "read": "audit"}]
    assert report["question"] == "What is a bias aduit?"
    assert report["standalone"] == QUESTION
    assert json.loads(run("ask", QUESTION, "--json").stdout)["read_as"] == []
    plain = run("ask", "What is a bias aduit?", "--json", "--set", "retrieval.rewriter=none").stdout
    assert json.loads(plain)["read_as"] == []


def test_trace_shows_every_step(run: Run) -> None:
    asked = f"I run a small shop. {QUESTION}"  # a story to be read without
    result = run("ask", asked, "--trace", "--classes", "2", "--max-retries", "1",
                 "--set", "loop.min_groundedness=1.0", "--set", "loop.min_answers=1.0")  # fmt: skip
    for part in ("Complexity 0 (0: 0.", "k = 5, Q = 3, K = 4, S = 2", "keywords: ", "lexical",
                 "dense", "rerank", "bias audit — is defined as → ", "Attempt 1", "Attempt 2",
                 "advice: ", "reworded: ", "Not passed: at best in part · ", "1 retry",
                 "Warning: "):  # fmt: skip
        assert part in result.stdout, part
    assert result.exit_code == 0


def test_trace_in_json_adds_the_candidates(run: Run) -> None:
    report = json.loads(run("ask", QUESTION, "--json", "--trace").stdout)
    assert len(report["candidates"]) > len(report["passages"])
    assert set(report["candidates"][0]["signals"]) <= {"lexical", "dense", "late", "defining"}


def test_settings_reach_the_graph(run: Run) -> None:
    named = ("--variant", "pa", "--k", "2", "-Q", "1", "--fusion", "rrf")
    more = ("--set", "retrieval.reranker=none", "--set", "retrieval.candidates=4")
    report = json.loads(run("ask", QUESTION, "--json", *named, *more).stdout)
    assert report["plan"] == {"k": 2, "Q": 1, "K": 0, "S": 0}
    assert report["variant"] == "pa"
    assert report["triplets"] == []
    found = ["quoted" not in passage["signals"] for passage in report["passages"]]
    assert found == [True] * 2 + [False] * (len(found) - 2)


def test_question_from_standard_input(run: Run) -> None:
    result = run("ask", "-", "--json", stdin="\ufeffWhat is a bias audit?\n")
    assert json.loads(result.stdout)["question"] == QUESTION


def test_an_abstention_is_a_result(run: Run) -> None:
    result = run("ask", NONSENSE, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (report["answer"], report["abstained"]) == (ABSTENTION, True)
    assert run("ask", NONSENSE, "--exit-code").exit_code == 10


def test_exit_code_tells_an_answer_that_did_not_pass(run: Run) -> None:
    asked = ("ask", QUESTION, "--set", "loop.evaluator=none")
    assert run(*asked).exit_code == 0
    assert run(*asked, "--exit-code").exit_code == 11
    assert run("ask", QUESTION, "--exit-code").exit_code == 0


def test_an_error_is_json_where_json_is_asked_for(run: Run, tmp_path: Path) -> None:
    result = run("ask", "Why?", "--json", "--corpus", str(tmp_path / "data"))
    error = json.loads(result.stdout)["error"]
    assert (error["type"], error["exit_code"], result.exit_code) == ("CorpusError", 4, 4)
    assert error["what"].endswith("does not exist.")
    assert error["hint"]


def test_standard_input_that_is_no_text(run: Run) -> None:
    result = run("ask", "-", stdin=b"What \xff\xfe?")
    assert result.exit_code == 2
    assert "not UTF-8 text (byte 5)" in result.stderr


def test_several_collections_are_asked_and_named(run: Run) -> None:
    tenancy = Path(__file__).parents[1] / "support" / "routing" / "tenancy"
    asked = "What is a bias audit, and what is a periodic tenancy?"
    named = ("--collections", f"sample,home={tenancy}")
    result = run("ask", asked, *named)
    assert result.exit_code == 0
    assert "[1] sample: law.txt" in result.stdout
    assert "[2] home: act.txt" in result.stdout
    record = json.loads(run("ask", asked, *named, "--json").stdout)
    assert record["collections"] == ["sample", "home"]
    assert [c["collection"] for c in record["citations"]] == ["sample", "home"]
    greeted = run("ask", "Hello!", *named, "--trace")
    assert "sample, home" in greeted.stdout
    assert greeted.stdout.rstrip().splitlines()[-2].startswith("Replied")


def test_named_options_are_settings() -> None:
    from typer.main import get_command

    from lexloop.apps.cli.main import app

    own = {"question", "as_json", "trace", "exit_code", "out", "overwrite", "help"}
    own |= {"collections", "base_url", "settings_file", "assignments"}
    names = {parameter.name for parameter in get_command(app).commands["ask"].params}
    known = {name.replace(".", "__") for name in Settings().flat()}
    assert names - own <= known | {"variant"}
    assert {"variant", "plan__k", "plan__K", "model__name", "corpus"} <= names


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (["What", "is", "it"], "lexloop ask 'What is it'"),
        (["What", "-k", "3", "is", "it", "--json"], "lexloop ask -k 3 --json 'What is it'"),
        (["the user's", "fee", "--corpus", "a b"],
         "lexloop ask --corpus 'a b' 'the user'\"'\"'s fee'"),
        (["--", "-What", "is"], "lexloop ask -- '-What is'"),
    ],
)  # fmt: skip
def test_a_question_without_quotes_is_told_the_command(
    run: Run, typed: list[str], command: str
) -> None:
    result = run("ask", *typed)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "separate words. Put it in quotes:" in said
    assert command in said
    if "--json" in typed:
        assert json.loads(result.stdout)["error"]["hint"] == f"Put it in quotes: {command}"


def test_out_writes_the_answer_with_footnotes(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.md"
    result = run("ask", QUESTION, "--out", str(file), "--as-of", "2024-01-31")
    assert result.exit_code == 0
    assert f"Written to {file}." in result.stderr
    assert "independent auditor. [1]" in result.stdout
    said = file.read_text("utf-8")
    assert said.startswith(f"# {QUESTION}\n")
    assert "- **Law as of:** 2024-01-31\n- **Collections:** sample\n" in said
    assert re.search(r"independent auditor\.\[\^1\]\n", said)
    assert '[^1]: law.txt, § 20-870 "Bias audit", characters 2498–2583: “A bias audit is' in said
    assert "[^1]: sample:" not in said
    assert re.search(r"- \*\*Asked:\*\* 20\d\d-\d\d-\d\d \d\d:\d\d UTC\n", said)
    word = tmp_path / "ANSWER.DOCX"
    report = json.loads(run("ask", QUESTION, "--out", str(word), "--json").stdout)
    assert report["answer"] in [p.text + " [1]" for p in docx.Document(str(word)).paragraphs]


def test_out_refuses_what_it_could_not_write_before_it_asks(run: Run, tmp_path: Path) -> None:
    there = tmp_path / "there.md"
    there.write_text("mine", "utf-8")
    folder = tmp_path / "folder.md"
    folder.mkdir()
    dangling = tmp_path / "dangling.md"
    dangling.symlink_to(tmp_path / "nowhere")
    for file, said in {
        there: "is there already. Name another file, or add --overwrite.",
        dangling: "is there already",
        folder: "is a folder",
        tmp_path / "answer.pdf": "has no known format. Name a .docx or an .md file.",
        tmp_path / "none" / "answer.md": "There is no folder",
    }.items():
        result = run("ask", QUESTION, "--out", str(file))
        assert (result.exit_code, result.stdout) == (2, ""), file
        assert said in result.stderr
    assert there.read_text("utf-8") == "mine"
    assert run("ask", QUESTION, "--out", str(there), "--overwrite").exit_code == 0
    assert there.read_text("utf-8").startswith(f"# {QUESTION}\n")
    assert sorted(path.name for path in tmp_path.glob("*.md")) == ["dangling.md", "folder.md",
                                                                   "there.md"]  # fmt: skip
