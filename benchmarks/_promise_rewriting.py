"""What people wrote out of a follow-up is taken from a model, and another question is not.

``LEXLOOP_DATA`` has ``reader/canard_dev/rewrites.jsonl`` and the like (see ``followups.py``).
"""

import random
from collections.abc import Iterator

from _shared import DATA, Line, read_rows
from followups import turns

from lexloop.models.minilm import load_shipped
from lexloop.nodes.rewrite import drift

_ANSWERED = {"canard_dev": True, "trec_cast_rewrites": False}
_PAIRS, _SEED, _LEAST_TAKEN, _LEAST_REFUSED = 300, 13, 0.95, 0.98


def held() -> Iterator[Line]:
    """Offer each turn what a person wrote of it, and what one wrote of another conversation."""
    embed = load_shipped().embed
    for name, answered in _ANSWERED.items() if DATA else ():
        rows = [r for r in read_rows(DATA / "reader" / name / "rewrites.jsonl") if r["history"]]
        rows = random.Random(_SEED).sample(rows, min(_PAIRS, len(rows)))
        taken = refused = 0
        for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
            history = turns(row["history"], answered)
            taken += not drift(row["standalone"], row["q"], history, embed)
            refused += bool(drift(other["standalone"], row["q"], history, embed))
        yield Line(
            f"{name}: what a person wrote out is taken, another question is not",
            f"{taken / len(rows):.3f} taken, {refused / len(rows):.3f} refused of {len(rows)}",
            taken >= _LEAST_TAKEN * len(rows) and refused >= _LEAST_REFUSED * len(rows),
        )
