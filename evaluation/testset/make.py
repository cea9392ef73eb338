"""A test set: questions dealt evenly over the types, without repetition, tied to their evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lexloop.core.errors import CorpusError, InputError
from lexloop.evaluation.case import Case
from lexloop.evaluation.testset.alike import Asked
from lexloop.evaluation.testset.connect import is_connected
from lexloop.evaluation.testset.draft import Draft
from lexloop.evaluation.testset.material import Material

Maker = Callable[[str, int], Sequence[Draft]]
Progress = Callable[[str, int, int], None]


@dataclass
class MadeSet:
    """What was made.

    Args:
        questions: In the order of their types.
        shortfall: How many of each type are missing from an even share; types without one left out.
        repeated: How many questions were left out because they repeat another.
        unconnected: How many because retrieval finds none of their evidence.
    """

    questions: list[Case] = field(default_factory=list)
    shortfall: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    unconnected: int = 0


def make_test_set(
    material: Material,
    maker: Maker,
    n: int,
    types: Sequence[str],
    progress: Progress = lambda *_: None,
) -> MadeSet:
    """Make ``n`` questions, or as many as the documents allow.

    Every type gets an even share first; what a type cannot give is shared among the others, and
    reported.

    Args:
        material: The documents.
        maker: Gives the candidates of a type, in the order of preference, and is told how many
            are wanted.
        n: How many questions.
        types: Of which types.
        progress: Told how many of ``n`` there are.

    Raises:
        InputError: ``n`` is less than 1.
        CorpusError: Not one question could be made.
    """
    if n < 1:
        raise InputError(f"n is {n}.", "Ask for at least 1 question.")
    deal = _Deal(material, maker, types, progress, n)
    shares = even_shares(n, types)
    for kind in types:
        deal.fill(kind, shares[kind])
    result = deal.result
    result.shortfall = {
        kind: share - deal.count(kind) for kind, share in shares.items() if deal.count(kind) < share
    }
    while deal.left > 0 and deal.open:
        for kind in [kind for kind in types if kind in deal.open][: deal.left]:
            deal.fill(kind, deal.count(kind) + 1)
    result.questions = deal.questions()
    if not result.questions:
        raise CorpusError(
            "No question could be made of the documents.",
            "They hold too little text, or none that states rules; with --model a model asks.",
        )
    return result


def even_shares(n: int, types: Sequence[str]) -> dict[str, int]:
    """``n`` over the types, the first ones getting what does not divide."""
    base, more = divmod(n, len(types))
    return {kind: base + (place < more) for place, kind in enumerate(types)}


class _Deal:
    """Takes candidates type by type, those first whose evidence was least asked about."""

    def __init__(
        self, material: Material, maker: Maker, types: Sequence[str], progress: Progress, n: int
    ) -> None:
        self.result = MadeSet()
        self.open = set(types)
        self._n, self._types = n, types
        self._material, self._maker, self._progress = material, maker, progress
        self._asked = Asked()
        self._left: dict[str, list[Draft]] = {}
        self._taken: dict[str, list[Draft]] = {kind: [] for kind in types}
        self._used: dict[object, int] = {}

    @property
    def left(self) -> int:
        return self._n - sum(map(len, self._taken.values()))

    def count(self, kind: str) -> int:
        return len(self._taken[kind])

    def fill(self, kind: str, wanted: int) -> None:
        """Take candidates of a type until there are ``wanted`` or none is left."""
        left = self._left.setdefault(kind, list(self._maker(kind, wanted)))
        while self.count(kind) < wanted:
            if not left:
                self.open.discard(kind)
                return
            best = min(range(len(left)), key=lambda place: self._wear(left[place]))
            draft = left.pop(best)
            if self._takes(draft):
                self._taken[kind].append(draft)
                for span in draft.spans:
                    self._used[span] = self._used.get(span, 0) + 1
                self._progress("questions", self._n - self.left, self._n)

    def _wear(self, draft: Draft) -> tuple[bool, int]:
        return draft.spare, sum(self._used.get(span, 0) for span in draft.spans)

    def _takes(self, draft: Draft) -> bool:
        if not is_connected(draft, self._material):
            self.result.unconnected += 1
            return False
        vector = self._material.view.embed([draft.whole])[0]
        if not self._asked.take(draft.whole, vector):
            self.result.repeated += 1
            return False
        return True

    def questions(self) -> list[Case]:
        """What was taken, each under the name of its type and a number."""
        return [
            draft.as_gold(
                f"{kind.replace(' ', '-').replace('_', '-')}-{number:02d}", self._material
            )
            for kind in self._types
            for number, draft in enumerate(self._taken[kind], start=1)
        ]
