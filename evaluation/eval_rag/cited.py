"""Which provisions and cases of the corpus a text cites."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from lexloop.corpus.structure.references import Cited, cited, every_cited
from lexloop.corpus.text.tokens import tokenize
from lexloop.evaluation.eval_rag.provisions import Provision

_CASE_NUMBER = re.compile(r"\b(?=\w*\d)(?:\d{2,4}[A-Z]{1,4}\d{1,6}|\w+[-/]\d+(?:[-/]\w+)*)\b")
_LEAST_TITLE = 8
"""A shorter title of a case may well stand in a text that does not mean the case."""


class CitedProvisions:
    """Looks up references in a corpus.

    Args:
        provisions: All that the corpus holds.
    """

    def __init__(self, provisions: Sequence[Provision]) -> None:
        self._by_section: dict[tuple[str, str], list[Provision]] = defaultdict(list)
        self._cases: dict[str, list[Provision]] = defaultdict(list)
        for provision in provisions:
            if found := cited(provision.section):
                self._by_section[_section(found)].append(provision)
            if provision.authority.kind == "case":
                for name in _names_of_case(provision):
                    self._cases[name].append(provision)

    def of(self, text: str) -> list[Provision]:
        """The provisions and cases that ``text`` cites, in its order, each once.

        A section number that several documents have stands for that of the document which the
        reference names, and otherwise for the one that shares most words with ``text``.
        """
        places: list[tuple[int, list[Provision]]] = []
        for found in every_cited(text):
            if held := self._by_section.get(_section(found)):
                places.append((found.start, self._meant(held, found.act, text)))
        lowered = text.lower()
        for name, provisions in self._cases.items():
            if (place := lowered.find(name)) >= 0:
                places.append((place, provisions))
        places.sort(key=lambda found: found[0])
        cited = [provision for _, provisions in places for provision in provisions]
        return list(dict.fromkeys(cited))

    @staticmethod
    def _meant(candidates: Sequence[Provision], act: str, text: str) -> list[Provision]:
        """All parts of the section in the one document that is meant."""
        by_document: dict[tuple[str, ...], list[Provision]] = defaultdict(list)
        for provision in candidates:
            by_document[provision.authority.documents].append(provision)
        instrument = act.lower()
        said = set(tokenize(text))

        def merit(provisions: Sequence[Provision]) -> tuple[bool, int]:
            named = len(instrument) >= _LEAST_TITLE and instrument in _names(provisions[0])
            held = set(tokenize(" ".join(one.authority.text for one in provisions)))
            return named, len(said & held)

        return max(by_document.values(), key=merit)


def _section(found: Cited) -> tuple[str, str]:
    """What a text and a label meet in: subdivisions left out."""
    return found.kind, found.number.partition("|")[0]


def _names(provision: Provision) -> str:
    """Title and file name, as a reference might write them."""
    stem = PurePosixPath(provision.authority.documents[0]).stem
    return f"{provision.title}\n{re.sub(r'[_-]+', ' ', stem)}".lower()


def _names_of_case(provision: Provision) -> set[str]:
    """What a text calls a case: its title, or the number in its title or file name."""
    title = provision.title.strip()
    stem = PurePosixPath(provision.authority.documents[0]).stem
    found = {number.lower() for name in (title, stem) for number in _CASE_NUMBER.findall(name)}
    return found | ({title.lower()} if len(title) >= _LEAST_TITLE else set())
