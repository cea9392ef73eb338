"""An answer as shown to the person who labels it, without the variant that wrote it."""

from typing import Any

from lexloop.apps.shapes.text import one_line, places
from lexloop.core.types import Citation
from lexloop_eval.labels import RunAnswer

SCALE = {
    "correct": "Is the answer correct? 1 wrong, 2 mostly wrong, 3 right in part, 4 right but for "
    "little, 5 right in full.",
    "supported": "Do the passages support all that the answer says? y yes, n no.",
}
"""The questions to the person who labels."""
KEYS: dict[str, dict[str, int]] = {
    "correct": {str(label): label for label in range(1, 6)},
    "supported": {"y": 1, "n": 0},
}
"""The key of each label."""


def as_shown(answer: RunAnswer) -> dict[str, Any]:
    """Return question, earlier turns, answer, reference and sources of an answer, as JSON."""
    return {
        "question": answer.question,
        "history": [{"role": turn["role"], "content": turn["content"]} for turn in answer.history],
        "answer": answer.answer,
        "reference": answer.reference,
        "sources": [_source(n, source) for n, source in enumerate(answer.sources, start=1)],
    }


def _source(n: int, source: Citation | str) -> dict[str, str]:
    if isinstance(source, str):
        return {"where": f"[{n}]", "quote": source}
    place = ", ".join([one_line(source["document"]), *places(source)])
    quote = " ".join(filter(None, (source.get("lead", ""), source["quote"])))
    return {"where": f"[{source['n']}] {place}", "quote": quote}
