"""Questions that a model writes to provisions (the synthetic questions of LQ-RAG)."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

from pydantic import BaseModel

from lexloop.core.errors import CorpusError, ModelUnavailable
from lexloop.core.score import Unresolved
from lexloop.corpus.index.view import View
from lexloop.evaluation.asking import Asker
from lexloop.finetune.asked import Asked
from lexloop.finetune.provisions import Provision, every_provision
from lexloop.models.request import ChatRequest, parsed
from lexloop.prompts import Data, load

_AT_ONCE = 4
_HOPELESS = 4
_FEWEST_CHARS = 60
_FEWEST_WORDS = 3
Report = Callable[[str, int, int], None]


class WrittenQuestions(BaseModel):
    """What the model is asked for."""

    questions: list[str]


def chosen_provisions(view: View, most: int | None, seed: int) -> list[Provision]:
    """The provisions that a model is asked about, in order.

    Args:
        view: The documents.
        most: How many, drawn at random; None for all.
        seed: Of the draw.

    Raises:
        CorpusError: There is none that is long enough to ask about.
    """
    found = list(every_provision(view, _FEWEST_CHARS))
    if not found:
        raise CorpusError("The documents hold no provision to ask about.", "Give more documents.")
    if most is not None and most < len(found):
        chosen = Random(seed).sample(range(len(found)), most)  # noqa: S311 - a choice, no secret
        return [found[place] for place in sorted(chosen)]
    return found


class ModelAsker:
    """Asks a model for questions to provisions; its replies are kept, so that a rerun goes on.

    Args:
        asker: Asks the model.
        each: How many questions to a provision.
        report: Told how many provisions of how many are done.
    """

    def __init__(self, asker: Asker, each: int, report: Report = lambda *_: None) -> None:
        self._asker, self._each, self._report = asker, each, report
        self.failed = 0

    def __call__(self, provisions: Sequence[Provision]) -> Iterator[Asked]:
        """The questions in the order of the provisions; where a reply is of no use, none.

        Raises:
            ModelAuthError: The host refused the key.
            ModelUnknown: The host knows no such model.
            ModelUnavailable: The first replies all came to nothing.
        """
        written = 0
        for first in range(0, len(provisions), _AT_ONCE):
            batch = provisions[first : first + _AT_ONCE]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                replies = list(pool.map(lambda one: self._asker.settle(self._writing(one)), batch))
            for provision, reply in zip(batch, replies, strict=True):
                if isinstance(reply, Unresolved):
                    self.failed += 1
                    self._refuse_hopeless(written, len(provisions), reply)
                    continue
                written += 1
                yield from self._asked(provision, reply)
            self._report("provisions", first + len(batch), len(provisions))

    def _asked(self, provision: Provision, reply: WrittenQuestions) -> Iterator[Asked]:
        lines = (" ".join(question.split()) for question in reply.questions)
        for line in dict.fromkeys(lines):
            if len(line.split()) >= _FEWEST_WORDS:
                yield Asked(line, provision, f"model {self._asker.name}")

    def _refuse_hopeless(self, written: int, provisions: int, reply: Unresolved) -> None:
        if not written and self.failed >= min(_HOPELESS, provisions):
            raise ModelUnavailable(
                f"The model wrote no question: {reply.reason}", "Try again, or leave out --model."
            )

    async def _writing(self, provision: Provision) -> WrittenQuestions:
        prompt = load("ask_provision", ("number", "headings", "provision"))
        system, user = prompt.render(
            number=self._each,
            headings=[Data("headings", provision.heading)] if provision.heading else [],
            provision=[Data("provision", provision.text)],
        )
        request = ChatRequest("ask_provision", system, user, WrittenQuestions)
        return parsed(await self._asker.ask(request), WrittenQuestions)
