"""What is too old is deleted, and nothing because a clock jumped."""

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from answers import record
from hypothesis import given
from hypothesis import strategies as st

from lexloop.apps import retention
from lexloop.apps.feedback import FeedbackStore, feedback_file, opinion_on
from lexloop.apps.retention import LOOKED, expire
from lexloop.apps.threads import IN_MEMORY, ThreadStore
from lexloop.core.errors import DataError
from lexloop.core.settings_groups import RetentionSettings
from lexloop_workbench.table.checklist import checklist_of
from lexloop_workbench.table.store import TableStore
from lexloop_workbench.tables import FOLDER, every_table

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MONTH = RetentionSettings(threads_days=30, feedback_days=30)
DAY = timedelta(days=1)


class Clock:
    """The wall clock, as far as ``retention`` reads it."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self, zone: object) -> datetime:
        return self.at

    fromisoformat = staticmethod(datetime.fromisoformat)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(retention, "datetime", made)
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ThreadStore]:
    with closing(ThreadStore(tmp_path / "server.sqlite")) as made:
        yield made


def used(store: ThreadStore, thread: str, at: datetime) -> None:
    """Answer a question in a thread at a moment, and rate the answer then."""
    said = at.isoformat(timespec="milliseconds")
    answer = record(id=f"{thread} {at}", thread=thread, at=said, passages=[])
    store.keep("ann", answer, [], begins=True)
    opinion = opinion_on(answer, [], "up", "").model_copy(update={"at": at})
    FeedbackStore(feedback_file(store.file)).keep(opinion)


def left(store: ThreadStore) -> list[str]:
    """The threads that are left; the opinions on their answers are, too."""
    threads = sorted(one.id for one in store.threads("ann"))
    held = FeedbackStore(feedback_file(store.file)).all()
    assert sorted({one.answer_id.split()[0] for one in held}) == threads
    return threads


def look(store: ThreadStore, clock: Clock, at: datetime) -> list[str]:
    clock.at = at
    expire(store, MONTH)
    return left(store)


def test_what_is_too_old_goes_a_day_after_it_was_found(store: ThreadStore, clock: Clock) -> None:
    used(store, "old", NOON - 40 * DAY)
    used(store, "newer", NOON - 20 * DAY)
    assert look(store, clock, NOON) == ["newer", "old"]
    assert look(store, clock, NOON + DAY / 2) == ["newer", "old"]
    assert look(store, clock, NOON + DAY) == ["newer"]
    assert b"old 2026" not in feedback_file(store.file).read_bytes()
    # it is 31 days old, and was 30 at the look before
    assert look(store, clock, NOON + 11 * DAY) == ["newer"]
    assert look(store, clock, NOON + 12 * DAY) == []
    assert (store.file.parent / LOOKED).read_text("ascii") == (NOON + 12 * DAY).isoformat()


@pytest.mark.parametrize(
    ("jump", "still"),
    [
        (3650 * DAY, ["meanwhile"]),  # nobody can tell the age of what is dated in the future
        (31 * DAY, ["after", "meanwhile"]),  # what came after that is no older
        (-3650 * DAY, []),
    ],
)
def test_a_clock_that_jumps_and_is_set_right_deletes_nothing(
    store: ThreadStore, clock: Clock, jump: timedelta, still: list[str]
) -> None:
    used(store, "before", NOON - DAY)
    look(store, clock, NOON - DAY)
    look(store, clock, NOON)
    assert look(store, clock, NOON + jump) == ["before"]
    used(store, "meanwhile", NOON + jump)
    for hours in (1, 2, 20):  # servers and chats that begin while it is wrong
        wrong = NOON + jump + timedelta(hours=hours) * 0.9
        assert look(store, clock, wrong) == ["before", "meanwhile"]
    used(store, "after", NOON + DAY)
    for days in range(1, 28):
        assert look(store, clock, NOON + days * DAY) == ["after", "before", "meanwhile"]
    look(store, clock, NOON + 40 * DAY)
    assert look(store, clock, NOON + 42 * DAY) == still


def test_a_look_that_says_nothing_is_none(store: ThreadStore, clock: Clock) -> None:
    used(store, "old", NOON - 40 * DAY)
    for said in ("", "yesterday", "2026-02-01T12:00:00", "\x00" * 9):
        (store.file.parent / LOOKED).write_text(said, "ascii")
        assert look(store, clock, NOON) == ["old"]
    assert look(store, clock, NOON + DAY) == []


def test_without_a_limit_nothing_is_written(store: ThreadStore) -> None:
    expire(store, RetentionSettings())
    assert not store.file.parent.joinpath(LOOKED).exists()


def test_a_look_that_cannot_be_kept_is_told(store: ThreadStore) -> None:
    (store.file.parent / LOOKED).mkdir()
    with pytest.raises(DataError, match="nothing that is too old is deleted"):
        expire(store, MONTH)


def test_a_table_that_was_written_to_while_the_clock_was_set_back_stays(
    store: ThreadStore, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "cache" / "own"))
    file = tmp_path / FOLDER / "ann" / "a.sqlite"
    with closing(TableStore(file)) as table:
        made = datetime.fromisoformat(
            table.make("Rents", "deals", checklist_of(["What is the rent?"])).created
        )
    for one in file.parent.iterdir():
        os.utime(one, (0, 0))
    for days in (1, 2, 29, 30):
        clock.at = made + days * DAY
        expire(store, MONTH)
        assert [one.file for one in every_table()] == [file]
    clock.at = made + 32 * DAY
    expire(store, MONTH)
    clock.at = made + 33 * DAY
    expire(store, MONTH)
    assert [*every_table()] == []


AGES = st.lists(st.integers(-10_000, 100), min_size=1, max_size=8)


@given(ages=AGES)
def test_nothing_goes_that_was_used_after_something_that_stays(ages: list[int]) -> None:
    """Whatever the clock said: of what is not dated in the future, the first so many go."""
    with closing(ThreadStore(IN_MEMORY)) as store:
        for n, days in enumerate(ages):
            at = (NOON + days * DAY).isoformat(timespec="milliseconds")
            store.keep("ann", record(id=str(n), thread=str(n), at=at), [], begins=True)
        store.expire(NOON - 30 * DAY, NOON)
        stay = {int(one.id) for one in store.threads("ann")}
    known = [n for n, days in enumerate(ages) if days <= 0]
    young = [n for n in known if ages[n] >= -30]
    assert stay - {*known} == {n for n, days in enumerate(ages) if days > 0}
    assert stay & {*known} == {n for n in known if young and n >= young[0]}
