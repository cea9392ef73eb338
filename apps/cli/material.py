"""The documents and the model of a command that makes something of a corpus."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

from lexloop.apps.cli.terminal import one_line, plain, progress_console
from lexloop.core.filters import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.view import View
from lexloop.corpus.opening import left_out
from lexloop.evaluation.asking import Asker, asker_for
from lexloop.graph.resources import Resources

_MOST_NAMED = 5
Report = Callable[[str, int, int], None]


@contextmanager
def opened(
    settings: Settings, connection: Connection, report: Report
) -> Iterator[tuple[Collection, View]]:
    """The collection that the settings name and what may be seen of it; what is missing is told.

    Raises:
        LexloopError: The documents or the embedder cannot be used.
    """
    settings = settings.changed(model=None, **{"index.triplets": "embedded"})
    with closing(Resources(connection, progress=report)) as resources:
        collection, troubles = resources.collection(settings)
        view = collection.seen_by(Filters.of(settings))
        missing = [*left_out(view), *troubles]
        tell([f"Left out: {item['wanted']}: {item['reason']}" for item in missing[:_MOST_NAMED]])
        if len(missing) > _MOST_NAMED:
            tell([f"Left out: {len(missing) - _MOST_NAMED} more."])
        yield collection, view


@contextmanager
def asking(settings: Settings, connection: Connection) -> Iterator[Asker | None]:
    """What asks the model that the settings name; None where they name none.

    Raises:
        LexloopError: The model cannot be used.
    """
    if settings.model.name is None:
        yield None
        return
    with asker_for(settings, connection) as asker:
        yield asker


def tell(notes: Sequence[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        progress_console().print(plain(one_line(note), "dim"))
