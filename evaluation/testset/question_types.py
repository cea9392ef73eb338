"""The eleven types of questions (HyPA-RAG, appendix A.3, table 4)."""

from collections.abc import Sequence

from lexloop.core.errors import InputError
from lexloop.evaluation.case import OUT_OF_SCOPE

QUESTION_TYPES: dict[str, str] = {
    "simple": "needs one idea or fact of the documents",
    "complex": "asks for one fact in detail, so that retrieval must be specific",
    "distracting element": "carries a remark that has nothing to do with what is asked",
    "situational": "says who asks, or why, before it asks",
    "double": "asks two distinct things at once",
    "conversational": "makes sense only after the earlier turns of a conversation",
    "complex_situational": "gives a situation and asks a question and a further one about it",
    OUT_OF_SCOPE: "sounds on-topic, but the documents hold no answer",
    "vague": "leaves out what would make it precise",
    "compare": "asks how two things differ and what they share",
    "rule_conclusion": "describes a case and asks what the rules make of it",
}


def chosen_types(names: Sequence[str]) -> tuple[str, ...]:
    """The types of these names, each once, in the order of the table; all where none is named.

    Hyphens, underscores and blanks are alike: ``out-of-scope`` is ``out of scope``.

    Raises:
        InputError: There is no such type.
    """
    known = {_plain(name): name for name in QUESTION_TYPES}
    unknown = [name for name in names if _plain(name) not in known]
    if unknown:
        raise InputError(
            f"There is no question type {unknown[0]!r}.", f"Types: {', '.join(QUESTION_TYPES)}."
        )
    chosen = {known[_plain(name)] for name in names}
    return tuple(name for name in QUESTION_TYPES if not chosen or name in chosen)


def _plain(name: str) -> str:
    return " ".join(name.strip().lower().replace("_", " ").replace("-", " ").split())
