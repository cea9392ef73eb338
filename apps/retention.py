"""What is kept no longer than the settings allow: conversations, tables, opinions of answers."""

from lexloop.apps.tables import expire_tables
from lexloop.apps.threads import ThreadStore
from lexloop.core.settings_groups import RetentionSettings


def expire(store: ThreadStore, settings: RetentionSettings) -> None:
    """Delete conversations, tables, and opinions beside conversations, older than allowed.

    Raises:
        DataError: A file cannot be read or written.
    """
    store.expire(settings.threads_days)
    expire_tables(settings.threads_days)
    if settings.feedback_days:
        from lexloop.evaluation.feedback import FeedbackStore, feedback_file

        FeedbackStore(feedback_file(store.file)).expire(settings.feedback_days)
