"""The documents of a party, hostile ones of another, and what the first asks."""

from typing import Any

from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document

OWN_TAG, OTHER_TAG = "blue", "red"
HARBOUR = (
    "§ 1-1 Duties of the owner\nThe owner of a boat must pay the mooring fee within 10 days under "
    "§ 1-2. The harbour master may waive the mooring fee.\n\n"
    "§ 1-2 Terms\nThe term “berth permit” means a permit to moor a boat (BP). The owner must "
    "publish the tariff of the port.\n\n"
    "§ 1-3 Fines\nWhoever breaks § 1-1 is liable for a penalty of $500. The penalty is doubled "
    "where the owner did not answer the notice of the harbour master.\n"
)
LEASE = (
    "Lease of a berth\n\n1. Term. The lease ends after two years. Either party may terminate it "
    "with 30 days' notice.\n\n2. Rent. The tenant pays $900 a month to the port.\n"
)
NOTICE = "§ 9 Notice. Every boat must show its berth permit. A boat without one is removed.\n"
OWN = [
    Document("act.txt", "Harbour Act", HARBOUR, Metadata(tags=(OWN_TAG,))),
    Document("lease.txt", "Lease of a berth", LEASE, Metadata(tags=(OWN_TAG,))),
    Document("notice.txt", "Notice", NOTICE),
]
_TEXTS = {
    "copy": HARBOUR,
    "words": "mooring fee owner penalty harbour master " * 60,
    "terms": "§ 1-2 Terms\nThe term “berth permit” means a dog (BP). A “tariff” means a cat.",
    "labels": "".join(f"§ 1-{n} Rule\nThe captain must obey § 1-{n + 1}.\n\n" for n in range(9)),
    "german": "§ 1-1 Pflichten\nDer Eigner eines Bootes zahlt die Gebühr binnen zehn Tagen.\n" * 8,
    "slips": "The moring feee of the ownr is payd by the harbor mastre. The tarif is a berh.\n" * 5,
    "long": "A clause without end that names the boat, the port and every other thing.\n" * 120,
    "blank": "— — —\n",
}
_NAMES = ("0.txt", "act-2.txt", "b.txt", "lease-old.txt", "m.txt", "notice-2.txt", "y.txt", "z.txt")
OTHERS = [
    Document(name, f"Harbour Act ({said})", text, Metadata(tags=(OTHER_TAG,)))
    for name, (said, text) in zip(_NAMES, _TEXTS.items(), strict=True)
]
"""They repeat the words, define the terms, and have the labels and titles of the party's own; their
names stand before, between and behind its names."""
OTHERS[1] = Document(
    "act-2.txt", "Harbour Act", _TEXTS["words"], Metadata(tags=(OTHER_TAG,), supersedes="act.txt")
)
QUESTIONS = (
    "When must the owner pay the mooring fee?",
    "Who may waive the moring fee, and what is the penaly?",
    "What does the term berth permit mean?",
    "What does § 1-1 say?",
    "What does § 1-7 of the Harbour Act say?",
    "How much is the rent a month?",
    "Wann muss der Eigner die Gebühr zahlen?",
    "Must the captain obey the tariff?",
    "What is a BP?",
    "Hello",
)
_ANEW = {
    "id",
    "turn",
    "messages",
    "seconds",
    "created",
    "at",
    "thread",
}
"""What is made anew for each question, and the mark of the state of all files."""


def lasting(value: Any) -> Any:
    """JSON without what differs from one question to the same one asked again."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k not in _ANEW and not k.endswith("seconds")}
        return {name: lasting(held) for name, held in kept.items()}
    return [lasting(one) for one in value] if isinstance(value, list | tuple) else value


def as_file(document: Document) -> str:
    """A document as a file with front matter."""
    known = {"title": document.title, **document.metadata.as_record()}
    rows = [
        f"{name}: {', '.join(said) if isinstance(said, list) else said}"
        for name, said in known.items()
    ]
    return "\n".join(["---", *rows, "---", document.text])
