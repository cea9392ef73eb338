"""Two tenants in one corpus: no command shows one of them a word or a path of the other's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from sets import write_rows
from typer.main import get_command

from lexloop.apps.cli.main import app
from lexloop.apps.cli.options import ACCESS

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("own_data_folder", "reading_here")
MARKS = {"blue": ("azulmark", "azulfile", "AZX"), "red": ("rojomark", "rojofile", "RJX")}
QUESTION = "When must the owner pay the mooring fee?"
QUESTIONS = (
    (QUESTION, "The owner must pay the mooring fee within 10 days."),
    ("Who may waive the mooring fee?", "The harbour master may waive the mooring fee."),
    ("What does the term berth permit mean?", "A permit to moor."),
    ("Must the owner publish the tariff?", "The owner must publish the tariff."),
    ("What does Example v Harbour hold?", "A fee is refunded."),
    ("Which penalty is due?", "A penalty of 500 dollars."),
)


def law(tag: str) -> str:
    """An act whose every sentence has a word of its tenant's."""
    word, _, acronym = MARKS[tag]
    return (
        f"---\ntitle: The {word} act\ntags: [{tag}]\n---\n"
        f"§ 1-1 Duties of the {word} owner\nThe owner of a {word} boat must pay the {word} mooring "
        f"fee within 10 days under § 1-2. The {word} harbour master may waive the mooring fee.\n\n"
        f"§ 1-2 Terms of the {word} port\nThe term “{word} berth permit” means a permit to moor a "
        f"{word} boat ({acronym}). The {word} owner must publish the {word} tariff.\n\n"
        f"§ 1-3 Fines\nWhoever breaks § 1-1 at the {word} pier is liable for a {word} penalty of "
        "$500.\n"
    )


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of each tenant an act, a case and a file that cannot be read; and a notice for all."""
    folder = tmp_path_factory.mktemp("port")
    (folder / "notice.txt").write_text("§ 9 Notice. Every boat must show its berth permit.\n")
    for tag, (word, name, _) in MARKS.items():
        (folder / f"{name}.txt").write_text(law(tag), "utf-8")
        (folder / f"{name}-broken.pdf").write_bytes(b"%PDF-1.4 broken")
        (folder / f"{name}-case.txt").write_text(
            f"---\ntitle: {word} v Harbour\nkind: case\ntags: [{tag}]\n---\n"
            f"Case No. 2013MU1. The court held that the {word} mooring fee is refunded in part.\n",
            "utf-8",
        )
    return folder


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    rows = [
        {"id": f"q{n}", "question": asked, "reference_answer": answer, "reference_context": answer}
        for n, (asked, answer) in enumerate(QUESTIONS)
    ]
    return write_rows(tmp_path / "gold.jsonl", *rows)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def seen(result: Any, *written: Path) -> str:
    """Everything that a command printed and wrote."""
    files = [path for place in written for path in (place, *place.rglob("*")) if path.is_file()]
    return "\n".join(
        [
            result.stdout,
            result.stderr,
            *(path.read_bytes().decode("utf-8", "replace") for path in files),
        ]
    )


def check(told: str, tag: str, own: bool = True) -> None:
    """One's own words are there where they are expected, and the other's are nowhere."""
    told = told.lower()
    for other, marks in MARKS.items():
        if other == tag:
            assert not own or any(mark.lower() in told for mark in marks), told
        else:
            assert [mark for mark in marks if mark.lower() in told] == []


@pytest.fixture(params=["blue", "red", "nobody"])
def tag(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_answers_sources_and_traces(run: Run, port: Path, tag: str) -> None:
    asked = ("--corpus", str(port), "--tag", tag)
    own = tag in MARKS
    told = run("ask", QUESTION, *asked, "--json", "--trace")
    assert json.loads(told.stdout)["degraded"] == []  # nor is told how much was not read
    check(seen(told), tag, own)
    check(seen(run("ask", "What is a berth permit?", *asked, "--trace")), tag, own)
    chat = run("chat", *asked, stdin=f"{QUESTION}\n/sources\n/trace\n/up fine\n")
    assert chat.exit_code == 0
    check(seen(chat), tag, own)


def test_drawings_and_near_misses_of_the_graph(
    run: Run, port: Path, tag: str, tmp_path: Path
) -> None:
    svg, html = tmp_path / "drawn.svg", tmp_path / "drawn.html"
    for entity in ("owner", "§ 1-1", "mooring fee", "moorin fe"):
        told = run("graph", "show", entity, "--corpus", str(port), "--tag", tag, "--json",
                   "--depth", "2", "--svg", str(svg), "--html", str(html))  # fmt: skip
        check(seen(told, svg, html), tag, own=False)
    for other, marks in MARKS.items():
        for mark in marks:
            found = run("graph", "show", mark, "--corpus", str(port), "--tag", tag)
            if other != tag:  # what was asked is said again, and nothing more
                assert found.exit_code == 2
                check(seen(found).replace(mark, ""), tag, own=False)


def test_judged_answers_runs_searches_and_questions(
    run: Run, port: Path, gold: Path, tmp_path: Path
) -> None:
    asked, out, made = ("--corpus", str(port), "--tag", "blue"), tmp_path / "out", tmp_path / "made"
    answers = write_rows(
        tmp_path / "answers.jsonl",
        *({"question": one, "answer": f"{answer} See § 1-1."} for one, answer in QUESTIONS),
    )
    told = run("judge", str(answers), *asked, "--out", str(out), "--json")
    assert told.exit_code == 0, told.stderr
    check(seen(told, out), "blue")
    assert all(line["document"] for line in rows_of(out / "judged.jsonl"))
    runs = tmp_path / "runs"
    told = run("eval", str(gold), *asked, "--out", str(runs), "--workers", "1", "--closed-domain")
    # a question whose evidence lies in a hidden document has none that could be taken out
    assert told.exit_code == 12, told.stderr
    check(seen(told, runs), "blue")
    check(seen(run("compare", str(runs), str(runs))), "blue", own=False)
    told = run("tune", str(gold), *asked, "--trials", "2", "--objective", "recall", "--out",
               str(made), "--json")  # fmt: skip
    assert told.exit_code == 0, told.stderr
    check(seen(told, made), "blue", own=False)
    review = tmp_path / "review.jsonl"
    told = run("testset", str(port), "--n", "30", "--tag", "blue", "--out", str(made), "--review",
               str(review))  # fmt: skip
    check(seen(told, made, review), "blue")
    told = run(
        "testset", str(port), "--classifier", "--n", "30", "--tag", "blue", "--out", str(made)
    )
    check(seen(told, made), "blue", own=False)


def test_a_hidden_document_is_named_like_none(run: Run, port: Path, tmp_path: Path) -> None:
    def judged(document: str) -> tuple[str, list[Any]]:
        rows = [{"question": QUESTION, "answer": "In time.", "documents": [document]}]
        out = tmp_path / "out"
        answers = write_rows(tmp_path / "answers.jsonl", *rows)
        told = run("judge", str(answers), "--corpus", str(port), "--tag", "blue", "--out", str(out))
        return told.stderr, rows_of(out / "judged.jsonl")

    assert judged("rojofile.txt") == judged("nothing.txt")
    assert judged("azulfile.txt")[1][0]["document"] is not None


def test_what_an_index_says_of_itself(run: Run, port: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    assert run("index", str(port), "--out", str(index)).exit_code == 3
    gone = [f"{name}-case.txt" for _, name, _ in MARKS.values()]
    assert run("index", "remove", str(index), *gone).exit_code == 0
    for tag in ("blue", "red", "nobody"):
        for more in (("--json",), ()):
            told = run("index", "info", str(index), "--documents", "--tag", tag, *more)
            assert told.exit_code == 0
            check(seen(told), tag, tag in MARKS)
    found = json.loads(run("index", "info", str(index), "--json").stdout)
    assert (found["excluded"], found["excluded_count"]) == ([], 2)
    assert (found["skipped"], found["skipped_count"]) == ([], 2)
    check(seen(run("index", "verify", str(index))), "nobody", own=False)


READS = {"corpus", "index"}
WRITES = {"index build", "index add", "index update", "index remove", "index verify"}
WRITES |= {"index pull", "index push", "finetune classifier", "compare-embedders"}
"""They make, move, change or check an index, or learn, or measure what was learned; nothing is read
in them for anybody."""


def commands(group: Any, path: str = "") -> dict[str, Any]:
    """Every command by its words."""
    found: dict[str, Any] = {}
    for name, command in getattr(group, "commands", {}).items():
        words = f"{path} {name}".strip()
        found |= commands(command, words) if hasattr(command, "commands") else {words: command}
    return found


def test_every_command_that_reads_documents_asks_for_whom() -> None:
    assert isinstance(app, typer.Typer)
    every = commands(get_command(app))
    assert set(every) >= WRITES | {"ask", "chat", "eval", "judge", "tune", "testset make"}
    for words, command in every.items():
        options = {parameter.name for parameter in command.params}
        if options & READS and words not in WRITES:
            missing = {name.replace(".", "__") for name in ACCESS} - options
            # versions of any day are compared: one that was replaced is in force on none
            assert missing == ({"access__as_of"} if words == "diff" else set()), words
