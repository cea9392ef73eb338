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
    said = next((one.access.only for one in collections.values() if one.access.only), ())
    if not said:
        return dict(collections)
    known = {}
    for name, settings in collections.items():
        every = settings.changed(**{"access.only": (), "access.passage": None})
        view = resources.collection(every)[0].seen_by(Filters.of(every))
        known[name] = view.documents
    found = documents_named(known, said)
    return {
        name: collections[name].changed(**{"access.only": tuple(found[name])})
        for name in collections
        if name in found
    }
