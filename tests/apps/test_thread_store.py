"""The file of people's conversations."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from answers import record
from disks import filled, read_only, small_disk

from lexloop.apps.threads import ThreadStore
from lexloop.core.errors import DataError, NotFoundError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ThreadStore]:
    with closing(ThreadStore(tmp_path / "of" / "somebody" / "server.sqlite")) as found:
        yield found


def kept(store: ThreadStore, thread: str, turns: int, person: str = "ann") -> list[dict[str, Any]]:
    """A thread of so many turns, a minute between each and the next."""
    answers = [
        record(
            id=f"{thread}-{n}",
            thread=thread,
            at=f"2026-11-23T{n // 60:02}:{n % 60:02}:00.000+00:00",
            question=f"Question {n}?",
        )
        for n in range(turns)
    ]
    for n, answer in enumerate(answers):
        store.keep(person, answer, ["staff"] if n else [], begins=n == 0)
    return answers


def test_turns_are_paged_and_a_thread_remembers_its_tags(store: ThreadStore) -> None:
    answers = kept(store, "long", 60)
    last = store.turns("ann", "long", limit=20)
    assert last == answers[40:]
    assert store.turns("ann", "long", before=last[0]["id"], limit=20) == answers[20:40]
    assert store.turns("ann", "long", before=answers[3]["id"], limit=20) == answers[:3]
    assert store.turns("ann", "long", before=answers[0]["id"]) == []
    history = store.history("long")
    assert len(history) == 24
    assert history[0] == {"role": "user", "content": "Question 48?"}
    assert history[-1] == {"role": "assistant", "content": answers[-1]["answer"]}
    assert store.history("long", before="long-1")[0]["content"] == "Question 0?"
    thread = store.thread("ann", "long")
    assert (thread.title, thread.tags, thread.collections) == ("Question 0?", ("staff",), ("laws",))
    assert thread.created == "2026-11-23T00:00:00.000+00:00"
    assert thread.updated == "2026-11-23T00:59:00.000+00:00"


def test_two_writers_of_one_thread_lose_nothing(store: ThreadStore) -> None:
    def write(number: int) -> None:
        with closing(ThreadStore(store.file)) as own:
            for n in range(20):
                answer = record(id=f"{number}-{n}", thread="both", at=f"2026-11-23T{n:02}:00:00")
                own.keep("ann", answer, [], begins=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, range(2)))
    kept_ids = {one["id"] for one in store.turns("ann", "both", limit=50)}
    assert kept_ids == {f"{number}-{n}" for number in range(2) for n in range(20)}


def test_the_thread_used_last_stands_first(store: ThreadStore) -> None:
    for name, turns in (("a", 1), ("b", 3), ("c", 2)):
        kept(store, name, turns)
    kept(store, "bob's", 1, "bob")
    assert [one.id for one in store.threads("ann")] == ["b", "c", "a"]
    assert [one.id for one in store.threads("ann", limit=2)] == ["b", "c"]
    assert [one.id for one in store.threads("ann", before="c")] == ["a"]
    with pytest.raises(NotFoundError):
        store.threads("ann", before="bob's")


def test_what_is_deleted_is_gone(store: ThreadStore) -> None:
    (first, *_) = kept(store, "gone", 3)
    kept(store, "stays", 1)
    store.delete("ann", "gone")
    with pytest.raises(NotFoundError):
        store.answer("ann", first["id"])
    store.keep("ann", {**first, "id": "late"}, [], begins=False)  # it was being answered meanwhile
    assert [one.id for one in store.threads("ann")] == ["stays"]
    with sqlite3.connect(store.file) as database:
        assert database.execute("SELECT count(*) FROM turns").fetchone() == (1,)


def test_hostile_ids_and_titles_are_data(store: ThreadStore) -> None:
    kept(store, "a", 1)
    for id in ("' OR 1=1 --", "", "%", "\x00", "a' --", "\ud800"):
        with pytest.raises((NotFoundError, DataError)):
            store.thread("ann", id)
    assert store.rename("ann", "a", "'); DROP TABLE threads; --").title.startswith("'); DROP")
    assert store.rename("ann", "a", "long " * 100).title == f"{('long ' * 16)[:79].rstrip()}…"
    assert len(store.threads("ann")) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ""),
        (b"text of somebody", r"server\.sqlite"),
        ("notes", "it is another file"),
        ("checkpoints", "it holds the checkpoints of LangGraph"),
    ],
)
def test_another_programs_file_is_left_alone(
    tmp_path: Path, content: bytes | str, said: str
) -> None:
    file = tmp_path / "server.sqlite"
    if isinstance(content, str):  # another program's table
        with closing(sqlite3.connect(file)) as database:
            database.execute(f"CREATE TABLE {content}(text)")
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    with closing(ThreadStore(file)) as store:
        if before:
            with pytest.raises(DataError, match=said):
                kept(store, "a", 1)
            assert file.read_bytes() == before
            assert [*tmp_path.iterdir()] == [file]
        else:
            kept(store, "a", 1)  # an empty one is nobody's


@pytest.mark.parametrize("unwritable", [filled, read_only])
def test_conversations_are_read_from_a_full_disk(tmp_path: Path, unwritable: Any) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        with closing(ThreadStore(disk / "data" / "server.sqlite")) as store:
            kept(store, "long", 3)
            link = store.share("ann", "long").id
        with unwritable(disk), closing(ThreadStore(store.file)) as again:
            assert [one.id for one in again.threads("ann")] == ["long"]
            assert len(again.turns("ann", "long")) == 3
            assert again.linked(link).id == "long"
        with read_only(disk), closing(ThreadStore(store.file)) as again:
            with pytest.raises(DataError, match="readonly"):
                kept(again, "other", 1)
            assert [one.id for one in again.threads("ann")] == ["long"]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_conversation_is_deleted_from_a_full_disk(tmp_path: Path, restarted: bool) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        store = ThreadStore(disk / "data" / "server.sqlite")
        kept(store, "long", 200)
        kept(store, "short", 1)
        kept(store, "other", 2)
        if restarted:
            store.close()
        with filled(disk):
            assert len(store.turns("ann", "long")) == 20
            store.delete("ann", "long")
            store.delete("ann", "short")
            assert [one.id for one in store.threads("ann")] == ["other"]
        store.close()
        with closing(ThreadStore(store.file)) as anew:
            assert [one.id for one in anew.threads("ann")] == ["other"]
            assert len(anew.turns("ann", "other")) == 2
        with sqlite3.connect(store.file) as database:
            assert database.execute("SELECT count(*) FROM turns").fetchone() == (2,)
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.close()
