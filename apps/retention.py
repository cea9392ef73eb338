"""Deletion of what is older than the settings allow: conversations, tables, opinions of answers.

The clock may be wrong for a while, and deleted data is gone. So nothing is deleted at once: ages
are counted up to the previous check, which was most of a day ago. A clock that jumps ahead and is
corrected within a day deletes nothing, and one that was set back restarts the wait.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from lexloop.apps.threads import ThreadStore
from lexloop.core.errors import DataError
from lexloop.core.files import write_text
from lexloop.core.packages import stores_that
from lexloop.core.settings_groups import RetentionSettings

LOOKED = "retention-looked"
"""The file, beside the conversations, with the time of the last look in ISO 8601."""
_BETWEEN = timedelta(hours=20)
"""The least time between two looks that count: a server looks once a day."""


def expire(store: ThreadStore, settings: RetentionSettings) -> None:
    """Delete conversations, their opinions, and tables that are older than allowed.

    Raises:
        DataError: A file cannot be read or written.
    """
    if not settings.threads_days and not settings.feedback_days:
        return
    now = datetime.now(UTC)
    looked = _looked(store.file.with_name(LOOKED), now)
    if looked is None:
        return
    if settings.threads_days:
        until = looked - timedelta(days=settings.threads_days)
        store.expire(until, now)
        for expires in stores_that("expire"):
            expires(until)
    if settings.feedback_days:
        from lexloop.apps.feedback import FeedbackStore, feedback_file

        until = looked - timedelta(days=settings.feedback_days)
        FeedbackStore(feedback_file(store.file)).expire(until, now)


def _looked(file: Path, now: datetime) -> datetime | None:
    """Note a look, and return the one before; None if that is too recent, or in the future."""
    try:
        before = datetime.fromisoformat(file.read_text(encoding="ascii").strip())
        waited = now - before
    except (OSError, ValueError, TypeError):  # there was no last look, or its time is unknown
        waited = -_BETWEEN
    if timedelta() <= waited < _BETWEEN:
        return None
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(file, now.isoformat())
    except OSError as error:
        raise DataError(
            f"{file} cannot be written: {error.strerror}, so nothing that is too old is deleted.",
            "Check the disk, or set LEXLOOP_DATA_DIR.",
        ) from error
    return before if waited >= _BETWEEN else None
