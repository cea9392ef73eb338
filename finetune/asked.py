"""Questions with the provisions that answer them, before negatives are found for them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lexloop.corpus.index.view import View
from lexloop.corpus.text.tokens import words
from lexloop.evaluation.feedback import Opinion
from lexloop.finetune.pairs import Pair
from lexloop.finetune.provisions import Provision, provision_around

MOST_ANSWERS = 3
"""A question that more provisions answer is too general to tell any of them from the rest."""


@dataclass(frozen=True)
class Asked:
    """A question with one of the provisions that answer it.

    Args:
        question: What is asked.
        provision: What answers it, alone or with others.
        source: How the question was made.
    """

    question: str
    provision: Provision
    source: str

    def pair(self, negatives: tuple[str, ...] = ()) -> Pair:
        """It as a pair."""
        found = self.provision
        return Pair(
            self.question, found.text, found.heading, found.document, self.source, negatives
        )


def by_question(asked: Iterable[Asked]) -> list[list[Asked]]:
    """What answers each question, by its words; those that more than three texts answer left out.

    A text that answers a question twice counts once.
    """
    groups: dict[str, dict[str, Asked]] = defaultdict(dict)
    for one in asked:
        key = " ".join(words(one.question)) or one.question
        groups[key].setdefault(" ".join(words(one.provision.text)), one)
    return [[*group.values()] for group in groups.values() if len(group) <= MOST_ANSWERS]


def asked_with_thumbs(opinions: Sequence[Opinion], view: View) -> Iterator[Asked]:
    """The questions whose answers got a thumb up, with what the answers cite.

    Args:
        opinions: What people thought of answers.
        view: The documents; a citation that still stands in one of them gives its provision, any
            other its quote.
    """
    for one in opinions:
        if one.vote != "up" or one.abstained:
            continue
        for cited in one.citations:
            start, end, quote = cited["start"], cited["end"], cited["quote"]
            text = view.text_of(cited["document"]) or ""
            found = None
            if text[start:end] == quote:
                found = provision_around(view, cited["document"], start, end)
            said = " ".join(f"{cited.get('lead', '')} {quote}".split())
            yield Asked(
                one.standalone,
                found or Provision(cited["document"], start, end, said, cited["section"]),
                "feedback",
            )
