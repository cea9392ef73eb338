"""Pairs of questions and answers by others, and what each answer rests on."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from lexloop.evaluation.eval_rag.authority import MOST_CHARS, Authority, Entry
from lexloop.evaluation.eval_rag.cited import CitedProvisions
from lexloop.evaluation.eval_rag.provisions import Provision
from lexloop.evaluation.jsonl import read_jsonl


class Pair(BaseModel):
    """A question with its answer; gold questions with a ``reference_answer`` are pairs too."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1, pattern=r"\S")
    answer: str = Field(
        min_length=1,
        pattern=r"\S",
        validation_alias=AliasChoices("answer", "reference_answer"),
    )


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a JSON Lines file.

    Raises:
        InputError: The file cannot be read, or a line is malformed.
    """
    return read_jsonl(path, Pair)


def pair_entries(pairs: Sequence[Pair], provisions: Sequence[Provision]) -> list[Entry]:
    """Each pair's question with the document extracted from its answer (Eval-RAG, section 2).

    That is the text of the provisions and cases that the answer cites, where the corpus holds
    them; otherwise the answer itself. The authority's ``origin`` says which.
    """
    cited = CitedProvisions(provisions)
    return [Entry(pair.question, _authority(pair, cited.of(pair.answer))) for pair in pairs]


def _authority(pair: Pair, cited: Sequence[Provision]) -> Authority:
    if not cited:
        return Authority("pair", "answer", "a known answer", pair.answer.strip())
    taken: list[Authority] = []
    for provision in cited:
        held = sum(len(one.text) for one in taken)
        if not taken or held + len(provision.authority.text) <= MOST_CHARS:
            taken.append(provision.authority)
    return Authority(
        "pair",
        "cited",
        ", ".join(dict.fromkeys(one.label for one in taken)),
        "\n\n".join(one.text for one in taken),
        tuple(dict.fromkeys(name for one in taken for name in one.documents)),
    )
