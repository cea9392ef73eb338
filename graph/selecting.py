"""Which of several collections are asked where only some documents are."""

from collections.abc import Mapping

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.graph.resources import Resources
from lexloop.store.naming import documents_named


def selected(collections: Mapping[str, Settings], resources: Resources) -> dict[str, Settings]:
    """Return the settings of the collections that have documents of ``access.only``.

    Each keeps only the names of its own documents. If none are named, all are returned.

    Raises:
        LexloopError: No collection has a named document, or a collection cannot be opened.
    """
    names = next((each.access.only for each in collections.values() if each.access.only), ())
    if not names:
        return dict(collections)
    known = {}
    for name, settings in collections.items():
        every = settings.changed(**{"access.only": (), "access.passage": None})
        view = resources.collection(every)[0].seen_by(Filters.of(every))
        known[name] = view.documents
    documents = documents_named(known, names)
    return {
        name: collections[name].changed(**{"access.only": tuple(documents[name])})
        for name in collections
        if name in documents
    }
