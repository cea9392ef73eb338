"""``lexloop chat``: with its lines from a pipe in this process, and on a real terminal."""

import re
import shlex
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_openai import ANSWER, KEY, FakeOpenAI, Reply
from pseudo_terminal import CTRL_C, CTRL_D, Terminal

from lexloop.apps.threads import ThreadStore
from lexloop.core.errors import DataError

Run = Callable[..., Any]
FIRST = "What is a bias audit?"


@pytest.fixture
def threads(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "threads.sqlite"


def test_commands_and_a_bad_question(run: Run, kept: tuple[str, ...], threads: Path) -> None:
    lines = ["/sources", "x" * 4001, FIRST, "/sources", "/trace", "/forget", "/trace", "/help",
             "/fly", "/quit", "never asked"]  # fmt: skip
    result = run(*kept, stdin="\n".join(lines))
    assert result.exit_code == 0
    assert "The question has 4001 characters" in result.stderr
    assert result.stdout.count("There is no answer yet.") == 2
    assert "Passed" in result.stdout
    with closing(ThreadStore(threads)) as store:
        assert store.count("my own") == 0
    assert result.stdout.count("[1] law.txt · § 20-870") >= 3
    assert "Complexity 0" in result.stdout
    assert "The conversation is forgotten." in result.stdout
    assert "There is no command /fly." in result.stdout
    assert "/sources   the cited spans" in result.stdout


def test_documents_models_and_exports(run: Run, kept: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "answers.md"
    lines = ["/export", FIRST, "/export", f"/export {out}", f"/export {out}", "/documents"]
    lines += ["/model", "/model nobody:knows", "/model none"]
    result = run(*kept, stdin="\n".join(lines))
    assert result.stdout.count("There is no answer yet.") == 1
    assert "Name a file, such as `/export answers.docx`." in result.stdout
    assert f"Written to {out}." in result.stdout
    assert "is there already" in result.stderr
    assert FIRST in out.read_text("utf-8")
    assert "law.txt  " in result.stdout
    assert "Model provider 'nobody' is unknown." in result.stderr
    assert result.stdout.count("Answers come from this machine alone.") == 2


def test_a_question_may_be_typed_while_documents_are_read(
    on_terminal: Callable[..., Terminal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(30):
        text = "".join(f"{i}. The owner of boat {n} must pay {i} dollars.\n" for i in range(1, 30))
        (tmp_path / f"{n}.txt").write_text(text, "utf-8")
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path.parent / "cache"))
    shown = on_terminal("chat", "--corpus", str(tmp_path))
    shown.expect("You can ask your first question already.")
    shown.ask("What must the owner of boat 7 pay?")
    shown.expect("boat 7 must pay")
    shown.expect("> ")
    shown.type(CTRL_D)
    assert shown.wait() == 0


def test_what_fits_two_documents_is_asked_back_in_a_line(
    on_terminal: Callable[..., Terminal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, rent in (("barn", 640), ("mill", 900)):
        text = f"Lease of the {name.title()}\n\n1. The rent is {rent} euros a month.\n"
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path.parent / "cache"))
    shown = on_terminal("chat", "--corpus", str(tmp_path))
    for reply in (CTRL_C, "2"):
        shown.ask("What is the rent?")
        shown.expect("Which document do you mean?")
        shown.expect("mill.txt: Lease of the Mill")
        if reply == CTRL_C:
            shown.expect("> ")
            shown.interrupt_prompt()
            shown.expect("Stopped.")
        else:
            shown.ask(reply)
    shown.expect("The rent is 900 euros a month.")
    shown.expect("> ")
    shown.type(CTRL_D)
    assert shown.wait() == 0


@pytest.fixture
def kept(threads: Path) -> tuple[str, ...]:
    """A chat on a thread of its own."""
    return ("chat", "--thread", "my own", "--threads-file", str(threads))


def test_a_thread_is_resumed_with_its_trace(run: Run, kept: tuple[str, ...], threads: Path) -> None:
    first = run(*kept, stdin=f"{FIRST}\n/trace\n").stdout
    assert shlex.split(first.splitlines()[-1]) == ["lexloop", *kept]
    trace = first[first.index("Plan\n") : first.index("Thread my own is stored")].rstrip("\n")
    result = run(*kept, stdin="/trace\nWho can perform it?\n/trace\n")
    assert "Thread my own goes on after 1 question(s)." in result.stdout
    assert f"Last: {FIRST}" in result.stdout
    assert "Attempt 1" in trace
    assert trace in result.stdout
    assert "bias audit" in result.stdout.rpartition("question: ")[2].splitlines()[0].lower()
    for lines in ("/sources\n", f"{FIRST}\n/forget\n"):  # another one, which has not begun
        other = run("chat", "--threads-file", str(threads), stdin=lines).stdout
        assert "To continue" not in other


def test_who_may_see_less_resumes_no_thread(run: Run, documents: Path, threads: Path) -> None:
    (documents / "secret.txt").write_text(
        "---\ntags: [board]\n---\nThe chairman must pay the yacht fee within 3 days.\n", "utf-8"
    )
    kept = ("chat", "--thread", "mine", "--threads-file", str(threads), "--corpus", str(documents))
    asked = run(*kept, "--tag", "board", stdin="When must the chairman pay the yacht fee?\n")
    assert "within 3 days" in asked.stdout
    for more in ((), ("--tag", "staff")):
        refused = run(*kept, *more, stdin="/sources\n/trace\nWhy?\n")
        assert refused.exit_code == 2
        assert "answered with access tags" in refused.stderr
        assert "yacht" not in refused.stdout + refused.stderr
    assert "within 3 days" in run(*kept, "--tag", "board", stdin="/sources\n").stdout


def test_an_answer_is_kept_before_it_is_shown(
    run: Run, kept: tuple[str, ...], threads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has read it finds it again, though the process ended while it was printed."""
    found: list[int] = []

    def killed(*_: object) -> None:
        with closing(ThreadStore(threads)) as store:
            found.append(store.count("my own"))
        raise SystemExit(9)

    monkeypatch.setattr("lexloop.apps.cli.chat.print_answer", killed)
    assert run(*kept, stdin=f"{FIRST}\n").exit_code == 9
    assert found == [1]
    monkeypatch.undo()
    resumed = run(*kept, stdin="/sources\n").stdout
    assert f"Last: {FIRST}" in resumed
    assert "law.txt" in resumed


def test_an_answer_that_cannot_be_kept_is_shown_all_the_same(
    run: Run, kept: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> bool:
        raise DataError("The disk is full.", "Make room.")

    monkeypatch.setattr(ThreadStore, "keep", full)
    result = run(*kept, stdin=f"{FIRST}\n")
    assert "Passed" in result.stdout
    assert "The disk is full." in result.stderr


def test_a_conversation_gets_a_name_and_is_private(
    run: Run, documents: Path, tmp_path: Path
) -> None:
    among = ("chat", "--corpus", str(documents), "--k", "2", "--no-fallback")
    asked = "What does a dog licence cost?\n"
    told, command = run(*among, stdin=asked).stdout.splitlines()[-2:]
    name = told.removeprefix("Thread ").removesuffix(" is stored. To continue it:")
    words = shlex.split(command)
    assert sorted(words) == sorted(["lexloop", *among, "--thread", name])
    resumed = run(*words[1:], stdin="/sources\n").stdout
    assert f"Thread {name} goes on after 1 question(s)." in resumed
    assert "dogs.txt" in resumed
    assert name not in run(*among, stdin=asked).stdout
    file = tmp_path / "data" / "threads.sqlite"
    assert not (file.stat().st_mode | file.parent.stat().st_mode) & 0o077


def test_every_turn_takes_little_space(run: Run, kept: tuple[str, ...], threads: Path) -> None:
    run(*kept, stdin=f"{FIRST}\n" * 4)
    first = threads.stat().st_size
    run(*kept, stdin=f"{FIRST}\n" * 8)
    assert (threads.stat().st_size - first) / 8 < 20_000


def test_a_refused_key_ends_neither_the_chat_nor_in_the_thread(
    run: Run, server: FakeOpenAI, by_model: list[str], kept: tuple[str, ...], *, threads: Path
) -> None:
    server.key = "another"
    refused = run(*kept, *by_model, stdin=f"{FIRST}\n")
    assert refused.exit_code == 0
    assert "refused the key" in refused.stderr
    server.key = KEY
    server.play("generate", Reply(ANSWER))
    assert ANSWER in run(*kept, *by_model, stdin=f"{FIRST}\n").stdout
    assert KEY.encode() not in threads.read_bytes()


def test_ctrl_c_stops_an_answer_or_clears_a_line_and_the_second_leaves(
    on_terminal: Callable[..., Terminal], server: FakeOpenAI, by_model: list[str], threads: Path
) -> None:
    endless = Reply("Every employer must wait. And wait. ", drip=True)
    server.play("generate", endless, Reply(ANSWER))
    shown = on_terminal("chat", "--thread", "t", "--threads-file", str(threads), *by_model)
    shown.expect("nowhere else")
    shown.ask("How long must an employer wait?")
    shown.expect("Every employer must wait")
    shown.type(CTRL_C)
    shown.expect("Stopped.")
    assert server.requests[0].abandoned.wait(5)
    shown.ask(FIRST)
    shown.expect("impartially by an independent")
    shown.expect("Passed")
    shown.expect("> ")
    shown.type("half a quest")
    shown.expect("half a quest")
    shown.interrupt_prompt()
    shown.ask("/sources")
    shown.expect("law.txt")
    shown.expect("> ")
    shown.interrupt_prompt()
    shown.expect("Ctrl-C again leaves.")
    shown.expect("> ")
    shown.interrupt_prompt()
    assert shown.wait() == 0
    assert re.search(r"To continue it:.*\n.*lexloop chat --model .* --thread t\s", shown.screen)
    assert KEY.encode() not in b"".join(f.read_bytes() for f in threads.parent.iterdir())


def test_where_ctrl_c_is_ignored_the_chat_says_so(on_terminal: Callable[..., Terminal]) -> None:
    shown = on_terminal("chat", ignored=True)
    shown.expect("Ctrl-C is ignored here")
    shown.expect("Ctrl-C is ignored, Ctrl-D leaves")
    shown.expect("> ")
    shown.type(CTRL_C)
    shown.type(f"{FIRST}\r")
    shown.expect("Passed")
    shown.expect("> ")
    shown.type(CTRL_D)
    assert shown.wait() == 0
