"""What the context of a user says of the documents: which are left out, and which come first."""

from collections.abc import Collection, Mapping

from lexloop.core.metadata import Metadata
from lexloop.core.settings_groups import UserSettings
from lexloop.core.types import ABSTENTION, Draft
from lexloop.nodes.markers import unmarked
from lexloop.store.view import View

FAVOUR = 0.1
"""What favouring a document adds, on the scale of a cosine, as the authority of a source does."""


def for_user(view: View, user: UserSettings) -> View:
    """Return the view without the documents of other jurisdictions; all of it if none is left."""
    if not user.jurisdiction:
        return view
    metadata = view.metadata(view.documents)
    return view.within([name for name in view.documents if _applies(metadata[name], user)])


def favoured(metadata: Mapping[str, Metadata], user: UserSettings) -> list[str]:
    """Return the documents that the user prefers, and those for the user's role."""
    return [
        name
        for name, of in metadata.items()
        if name.endswith(user.documents) or _same(user.role, of.audience.split(","))
    ]


def with_user(draft: Draft, documents: Collection[str], view: View, user: UserSettings) -> Draft:
    """Return the draft with a line on what the context of the user changed.

    Args:
        draft: The draft. If it abstains, the line goes to what is lacking.
        documents: The documents of its passages.
        view: The documents that were searched.
        user: The context.
    """
    lines: list[str] = []
    if user.jurisdiction:
        own = user.jurisdiction
        every = view.metadata(view.documents).values()
        narrowed = all(_applies(metadata, user) for metadata in every)
        lines.append(
            f"Only documents of {own} or of no named jurisdiction were searched."
            if narrowed
            else f"No document is of {own}; those of other jurisdictions were searched."
        )
    if names := favoured(view.metadata(sorted(documents)), user):
        lines.append(f"Put first for you: {', '.join(names)}.")
    # a document that the asker may not see is absent, too
    if absent := [own for own in user.documents if not _ending(view.documents, own)]:
        lines.append(f"No document has a name that ends with {', '.join(absent)}.")
    if not lines:
        return draft
    told = unmarked(" ".join(lines))
    if draft["answer"] == ABSTENTION:
        return {**draft, "lacks": [*draft["lacks"], told]}
    return {**draft, "answer": f"{draft['answer']}\n{told}", "told": [*draft["told"], told]}


def _ending(names: Collection[str], end: str) -> bool:
    return any(name.endswith(end) for name in names)


def _applies(metadata: Metadata, user: UserSettings) -> bool:
    return not metadata.jurisdiction or _same(user.jurisdiction, [metadata.jurisdiction])


def _same(wanted: str, names: Collection[str]) -> bool:
    return bool(wanted) and wanted.strip().casefold() in {one.strip().casefold() for one in names}
