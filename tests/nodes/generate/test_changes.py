"""What another document amends, repeals or replaces is quoted with what changed it."""

from typing import Any

import pytest
from indexes import view_of
from sets import rows

from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.changes import changes
from lexloop.store.view import View

_ACT = (
    "Goats Act 2009",
    "GOATS ACT 2009\n\nSection 1 Fee\nThe fee for a goat is 4 marks. It is paid in May.\n\n"
    "Section 2 Kids\nThe Council pays 1 mark for each kid.\n",
)
_LEASE = (
    "Lease of the Barn",
    "LEASE OF THE BARN\n\n1. Term\nIt ends on 1 May 2030.\n\n2. Rent\nThe rent is 80 euros.\n",
)
_OTHER = (
    "Lease of the Mill",
    "LEASE OF THE MILL\n\n1. Term\nIt ends on 1 June 2031.\n\n2. Rent\nThe rent is 30 euros.\n",
)


def _view(**texts: tuple[str, str]) -> View:
    documents = [Document(f"{name}.txt", title, text) for name, (title, text) in texts.items()]
    return view_of(*documents, embedder=load_minilm())


def _found(view: View) -> list[list[Any]]:
    """Each change: its document and the beginning of the provision, its words, and what does it."""
    return [
        [
            one.document,
            (view.text_of(one.document) or "")[one.start : one.end].split("\n")[0],
            sorted(one.quoted),
            " ".join(one.by["quote"].split()),
        ]
        for one in changes(view)
    ]


DOCUMENTS = {"act": {"act": _ACT, "lease": _LEASE}, "leases": {"barn": _LEASE, "mill": _OTHER}}


@pytest.mark.parametrize(("among", "title", "text", "said", "changed"), rows("changes"))
def test_a_provision_is_changed_by_what_names_it(
    among: str, title: str, text: str, said: str, changed: list[Any] | None
) -> None:
    view = _view(**DOCUMENTS[among], zz=(title, text))
    assert _found(view) == ([[*changed, " ".join(said.split())]] if changed else [])
