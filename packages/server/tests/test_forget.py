"""``lexloop forget``: a document's text is in no file afterwards, whenever it was killed before."""

import gc
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from answers import record
from sets import write_texts

from lexloop.apps.conversations import traces_of
from lexloop.apps.feedback import FeedbackStore
from lexloop.apps.retention import LOOKED
from lexloop.apps.shapes.record import Answer
from lexloop.apps.threads import ThreadStore
from lexloop.apps.withdrawing import NOTE
from lexloop.core.metadata import Filters
from lexloop.core.text_cache import TextCache
from lexloop.models.minilm import load_shipped
from lexloop.store.folder import forgetting as indexes
from lexloop.store.folder.generations import SharedLock
from lexloop_server import forgetting
from lexloop_server.audit import AuditLog
from lexloop_server.homes import home_of

Run = Callable[..., Any]
CANARY = "zanzibarite"
SECRET = (
    f"# Dog ordinance\n\n§ 1 Licence. A dog licence of the {CANARY} kennel costs 40 euros a year. "
    f"The owner must pay the {CANARY} fee of the dog licence by 31 March.\n\n"
    f"§ 2 Leash. Every {CANARY} dog must be kept on a leash in the town park.\n"
)
CATS = "# Cat notice\n\n§ 1 A cat needs no licence. Cats may enter the town park after 9 hours.\n"
ASKED = "What does a dog licence cost?"
OF_CATS = "Does a cat need a licence?"


class Killed(BaseException):
    """What nobody catches."""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Lexloop keeps: the cache and the data."""
    place = tmp_path / "kept"
    monkeypatch.setenv("LEXLOOP_CACHE", str(place / "cache"))
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(place / "data"))
    monkeypatch.setattr(indexes, "_PATIENCE_S", 0.5)
    return place


@pytest.fixture
def laws(tmp_path: Path, kept: Path) -> Path:
    """A folder of two documents."""
    return written(tmp_path / "laws")


def written(folder: Path) -> Path:
    return write_texts(folder, {"dogs.txt": SECRET, "cats.txt": CATS})


def holding(folder: Path, word: str = CANARY) -> list[str]:
    """The files with a word among their bytes; answers lie compressed in theirs."""
    files = (one for one in folder.rglob("*") if one.is_file())
    found = [one for one in files if word.encode() in one.read_bytes()]
    return sorted(str(one.relative_to(folder)) for one in found) + answers_with(folder, word)


def answers_with(folder: Path, word: str) -> list[str]:
    found = list[str]()
    for file in folder.rglob("threads.sqlite"):
        with closing(ThreadStore(file)) as store:
            found += [str(one["id"]) for _, one in store.every() if word in json.dumps(one)]
    return found


def unread() -> None:
    """End all who read an index: in one process who asked would read it still."""
    gc.unfreeze()
    for one in gc.get_objects():
        if isinstance(one, SharedLock):
            one.release()


def filled(run: Run, laws: Path, kept: Path, corpus: Path | None = None) -> None:
    """Fill every place: two recipes' indexes, a thread, opinions and the caches of models."""
    asked = ("--corpus", str(corpus or laws))
    said = f"{ASKED}\n/up it is the {CANARY} fee\n{OF_CATS}\n/up\n"
    told = run("chat", *asked, "--thread", "t", stdin=said)
    assert told.exit_code == 0, told.stderr
    set_ = ("--set", "chunking.method=provisions")
    for more in ((), set_):
        assert run("ask", OF_CATS, "--corpus", str(laws), *more).exit_code == 0
    for name in ("replies", "extractions"):
        with closing(TextCache(kept / "cache" / f"{name}.sqlite", name)) as cache:
            cache.put("key", json.dumps({"quote": SECRET}))
    write_texts(kept / "cache" / "graphs" / "old", {"texts.json": SECRET})
    unread()


def test_no_file_has_a_word_of_it_afterwards(
    run: Run, in_json: Run, laws: Path, kept: Path
) -> None:
    filled(run, laws, kept)
    before = " ".join(holding(kept))
    assert before.count("texts.sqlite") == 2
    assert answers_with(kept, CANARY)
    for name in ("replies.sqlite", "extractions.sqlite", "texts.json", "feedback.sqlite"):
        assert name in before
    told = in_json("forget", "dogs.txt", "--corpus", laws, code=15)
    assert holding(kept) == []
    assert [one["where"] for one in told["left"]] == [str(laws / "dogs.txt")]
    assert {one["kind"] for one in told["touched"]} == {"thread", "feedback", "cache"}
    assert (laws / "dogs.txt").exists()
    told = in_json("forget", "dogs.txt", "--corpus", laws, "--delete-file")
    deleted = {"kind": "file", "where": str(laws / "dogs.txt"), "done": "deleted"}
    assert told["touched"] == [deleted]
    nothing = {"touched": [], "left": []}
    assert in_json("forget", "dogs.txt", "--corpus", laws) == {
        "document": "dogs.txt", "corpus": str(laws), **nothing
    }  # fmt: skip
    said = run("forget", "dogs.txt", "--corpus", str(laws)).stdout
    assert said == "Nothing is left of dogs.txt.\n"
    assert "dogs" not in "".join(one.read_text() for one in (kept / "data" / "forgotten").iterdir())


def test_what_an_audit_log_and_a_killed_server_left_is_told(
    in_json: Run, run: Run, laws: Path, kept: Path
) -> None:
    audit = AuditLog(kept / "data" / "audit")
    told = in_json("forget", "dogs.txt", "--corpus", laws, "--delete-file")
    assert told["left"] == []  # it is kept, but has no line
    audit.note("ann", "ask", ASKED)
    for _ in range(2):
        told = in_json("forget", "dogs.txt", "--corpus", laws, code=15)
        [left] = told["left"]
        assert (left["where"], left["stays"]) == (str(kept / "data" / "audit"), True)
        assert "a single line cannot be removed" in left["why"]
    home = home_of(kept / "data" / "collections", "ann")
    written_in(home / "Mine" / "documents")
    for name in (".deleted-1", "Mine/.upload-2"):
        (home / name).mkdir()
    told = in_json("forget", "cats.txt", "--corpus", home / "Mine" / "documents", code=15)
    assert {Path(one["where"]).name for one in told["left"]} == {".deleted-1", ".upload-2", "audit"}
    assert not (home / "Mine" / "documents" / "cats.txt").exists()


def written_in(folder: Path) -> None:
    folder.mkdir(parents=True)
    written(folder)


def test_a_thread_that_quotes_two_documents(run: Run, laws: Path, kept: Path) -> None:
    filled(run, laws, kept)
    assert run("forget", "dogs.txt", "--corpus", str(laws)).exit_code == 15
    with closing(ThreadStore(kept / "data" / "threads.sqlite")) as store:
        first, second = store.turns("local", "t")
        history = store.history("t")
    assert (first["answer"], first["citations"], first["question"]) == (NOTE, [], ASKED)
    assert [one["document"] for one in second["citations"]] == ["cats.txt"]
    assert second["answer"].startswith("Cats may enter the town park after 9 hours.")
    assert history[1] == {"role": "assistant", "content": ""}
    Answer.model_validate(first)
    (opinion,) = FeedbackStore(kept / "data" / "feedback.sqlite").all()
    assert (opinion.question, CANARY in opinion.model_dump_json()) == (OF_CATS, False)
    told = run("chat", "--corpus", str(laws / "cats.txt"), "--thread", "t", stdin="Why?\n")
    assert told.exit_code == 0, told.stderr


STEPS = (
    (forgetting.Orders, "begin"),
    (FeedbackStore, "rewrite"),
    (ThreadStore, "rewrite"),
    (ThreadStore, "_scrub"),
    (TextCache, "empty"),
    (indexes, "drop"),
    (forgetting.Forgotten, "touch"),
    (indexes, "remove_documents"),
    (indexes, "tidy"),
    (forgetting.Orders, "finish"),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where what is kept is the same for each kill; filled by the first."""
    return tmp_path_factory.mktemp("killed")


@pytest.mark.parametrize(
    "killing",
    [(*step, late) for step in STEPS for late in (False, True)],
    ids=[f"{when}-{name}" for _, name in STEPS for when in ("before", "after")],
)
def test_one_that_is_killed_goes_on_to_the_same_end(
    run: Run, in_json: Run, template: Path, killing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, whole, index = template / "kept", template / "whole", template / "kept" / "laws.index"
    monkeypatch.setenv("LEXLOOP_CACHE", str(kept / "cache"))
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(kept / "data"))
    laws = written(template / "laws")
    if not whole.exists():
        assert run("index", str(laws), "--out", str(index)).exit_code == 0
        filled(run, laws, kept, index)
        shutil.copytree(kept, whole)
    shutil.rmtree(kept)
    shutil.copytree(whole, kept)
    order = ("forget", "dogs.txt", "--corpus", str(index), "--delete-file")
    where, name, late = killing
    real, calls = getattr(where, name), list[str]()

    def killed(*given: Any, **named: Any) -> Any:
        calls.append(name)
        if late:
            real(*given, **named)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(where, name, killed)
        with pytest.raises(Killed):
            run(*order)
    assert calls
    unread()
    told = in_json(*order)
    assert told["left"] == []
    assert holding(kept) == []
    assert not (laws / "dogs.txt").exists()
    assert in_json("index", "verify", index)["documents"] == 1
    assert in_json(*order)["touched"] == []


def test_an_index_is_written_without_it_and_an_update_leaves_it_out(
    run: Run, in_json: Run, laws: Path, kept: Path, tmp_path: Path
) -> None:
    index = tmp_path / "own"
    assert run("index", str(laws), "--out", str(index)).exit_code == 0
    told = in_json("forget", "dogs.txt", "--corpus", index, code=15)
    assert [one["kind"] for one in told["touched"]] == ["index"]
    assert holding(index) == []
    assert run("index", "update", str(index)).exit_code == 0
    assert holding(index) == []
    told = in_json("forget", "cats.txt", "--corpus", index, "--delete-file")
    assert [one["done"] for one in told["touched"]] == [
        "deleted", "removed: nothing else is in it"
    ]  # fmt: skip
    assert not index.exists()


def test_a_generation_that_is_read_is_told_and_goes_by_the_next_run(
    run: Run, in_json: Run, laws: Path, kept: Path
) -> None:
    assert run("ask", ASKED, "--corpus", str(laws)).exit_code == 0
    unread()
    (index,) = (kept / "cache" / "indexes").iterdir()
    (generation,) = (index / "generations").iterdir()
    reader = SharedLock(generation)
    told = in_json("forget", "dogs.txt", "--corpus", laws, "--delete-file", code=15)
    assert [one["where"] for one in told["left"]] == [str(index)]
    assert generation.name in told["left"][0]["why"]
    assert holding(kept) != []
    reader.release()
    assert in_json("forget", "dogs.txt", "--corpus", laws)["left"] == []
    assert holding(kept) == []


def test_a_document_in_two_collections_goes_from_both_indexes_of_its_file(
    run: Run, in_json: Run, laws: Path, kept: Path, tmp_path: Path
) -> None:
    """The folder and the file alone are two collections of one document; a copy is another's."""
    copy = written(tmp_path / "copy")
    for corpus in (laws, laws / "dogs.txt", copy):
        said = f"{ASKED}\n"
        name = str(corpus)
        assert run("chat", "--corpus", name, "--thread", name, stdin=said).exit_code == 0
    unread()
    (tmp_path / "server.toml").touch()
    options = ("--corpus", laws, "--delete-file", "--config", tmp_path / "server.toml")
    in_json("forget", "dogs.txt", *options)
    with closing(ThreadStore(kept / "data" / "threads.sqlite")) as store:
        left = {one["thread"]: one["answer"] for _, one in store.every()}
    assert {name for name, answer in left.items() if answer == NOTE} == {
        str(laws), str(laws / "dogs.txt")
    }  # fmt: skip
    assert len([one for one in holding(kept) if one.endswith("texts.sqlite")]) == 1
    assert (copy / "dogs.txt").exists()


def test_a_document_that_is_not_there(run: Run, in_json: Run, laws: Path, kept: Path) -> None:
    index = laws.parent / "own"
    assert run("index", str(laws), "--out", str(index)).exit_code == 0
    elsewhere = ("../laws/dogs.txt", "/etc/passwd", "a\x00b", "", ".", "x" * 9000, "[red]")
    for name in ("dog.txt", *elsewhere, "manifest.json", "lock"):
        error = in_json("forget", name, "--corpus", index, "--delete-file", code=2)["error"]
        assert error["type"] == "NotFoundError"
        assert len(error["what"]) < 1000
        assert name != "dog.txt" or "'dogs.txt'" in error["hint"]
    assert in_json("index", "verify", index)["documents"] == 2
    assert not (kept / "data" / "forgotten").exists()


def test_who_may_not_see_it_is_told_of_none(
    run: Run, in_json: Run, laws: Path, kept: Path, tmp_path: Path
) -> None:
    hidden = f"---\ntags: [red]\n---\n{SECRET}"
    (laws / "dogs.txt").write_text(hidden, "utf-8")
    index = tmp_path / "own"
    assert run("index", str(laws), "--out", str(index)).exit_code == 0
    for name in ("dogs.txt", "dog.txt"):
        error = in_json("forget", name, "--corpus", index, "--tag", "blue", code=2)["error"]
        assert "dogs.txt" not in error["hint"]
    in_json("forget", "dogs.txt", "--corpus", index, "--tag", "red", code=15)
    assert holding(index) == []


def test_an_index_in_an_engine_is_written_without_it(
    run: Run, in_json: Run, laws: Path, kept: Path, engine_address: str
) -> None:
    assert run("index", str(laws), "--out", engine_address).exit_code == 0
    kept_as = ("--corpus", engine_address, "--thread", "t")
    assert run("chat", *kept_as, stdin=f"{ASKED}\n").exit_code == 0
    unread()
    assert holding(kept) != []
    told = in_json("forget", "dogs.txt", "--corpus", engine_address, "--delete-file")
    assert {"engine", "thread"} <= {one["kind"] for one in told["touched"]}
    assert holding(kept) == []
    listed = in_json("index", "info", engine_address, "--documents")["list"]
    assert [one["document"] for one in listed] == ["cats.txt"]
    assert in_json("forget", "dogs.txt", "--corpus", engine_address)["touched"] == []
    error = in_json("forget", "dogs.pdf", "--corpus", engine_address, code=2)["error"]
    assert error["type"] == "NotFoundError"


def test_what_is_older_than_allowed_goes_when_a_chat_begins(
    run: Run, laws: Path, kept: Path
) -> None:
    filled(run, laws, kept)
    data = kept / "data"
    long_ago = "2020-01-01T00:00:00+00:00"
    with closing(sqlite3.connect(data / "threads.sqlite")) as database, database:
        database.execute("UPDATE threads SET updated = ?", (long_ago,))
    days = ("--set", "retention.threads_days=30")
    last_look = data / LOOKED
    asked = ("chat", "--corpus", str(laws), "--thread", "new")
    assert run(*asked, stdin=f"{OF_CATS}\n").exit_code == 0
    assert answers_with(kept, CANARY)
    assert run(*asked, *days, stdin="").exit_code == 0
    assert answers_with(kept, CANARY)  # at first sight nothing goes
    last_look.write_text((datetime.now(UTC) - timedelta(days=1)).isoformat())
    assert run(*asked, *days, stdin="").exit_code == 0
    with closing(ThreadStore(data / "threads.sqlite")) as store:
        assert [one["thread"] for _, one in store.every()] == ["new"]
    bad = run(*asked, "--set", "retention.threads_days=-1")
    assert bad.exit_code == 2
    assert "retention.threads_days" in bad.stderr


def test_deleted_conversations_leave_no_byte(tmp_path: Path) -> None:
    with closing(ThreadStore(tmp_path / "threads.sqlite")) as store:
        for n in range(3):
            asked = {"id": f"a{n}", "thread": f"t{n}", "question": f"Of {CANARY} {n}?"}
            store.keep("ann", record(**asked), [], begins=True)
        assert holding_bytes(tmp_path)
        store.rewrite(lambda _, one: one | {"question": "?"})
        assert not holding_bytes(tmp_path)
        assert [one.title for one in store.threads("ann")] == ["?"] * 3
        assert (tmp_path / "threads.sqlite-journal").stat().st_size >= 1 << 17


def holding_bytes(folder: Path) -> bool:
    return any(CANARY.encode() in one.read_bytes() for one in folder.iterdir())


def test_what_was_shared_is_its_owners_collection_of_that_name_alone(kept: Path) -> None:
    uploads = kept / "data" / forgetting.UPLOADS
    for owner, name in (("ann", "Dogs"), ("ann", "Other"), ("bob", "Dogs")):
        write_texts(home_of(uploads, owner) / name / "documents", {"dogs.txt": SECRET})
    named = str(home_of(uploads, "ann") / "Dogs" / "documents")
    target = forgetting.Target.of(named, "dogs.txt")
    order = forgetting.Order(target, Filters(), lambda _: load_shipped())
    [(_, corpora), _] = order._stores()
    assert corpora("bob", "ann~Dogs") == corpora("ann", "Dogs") == [named]
    of = {
        (who, said): traces_of(target, corpora)(who).is_of(said, "dogs.txt")
        for who, said in (("bob", "ann~Dogs"), ("bob", "ann~Other"), ("bob", "Dogs"))
    }
    assert [*of.values()] == [True, False, False]


def test_the_sample_is_not_forgotten(in_json: Run, kept: Path) -> None:
    error = in_json("forget", "x.md", "--corpus", "sample", code=4)["error"]
    assert "sample" in error["what"]
