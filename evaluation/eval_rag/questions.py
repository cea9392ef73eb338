"""Questions that provisions and cases answer, by rules or by a model (Eval-RAG, section 2)."""

import re
from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field

from lexloop import prompts
from lexloop.core.score import Unresolved
from lexloop.corpus.structure.statements import statements_in_text
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.eval_rag.authority import Entry
from lexloop.evaluation.eval_rag.provisions import Provision
from lexloop.evaluation.eval_rag.side_by_side import side_by_side
from lexloop.models.request import Chat, ChatRequest, parsed

Progress = Callable[[int, int], None]
_MOST_HEADING = 120
_MOST_QUESTIONS = 10
_MARKS = re.compile(r"^[#\s]+")


def questions_by_rule(provision: Provision) -> list[str]:
    """A question on the heading, and every statement as what a question asks for.

    Statements serve as they are: an embedder trained on questions and answers puts a question
    closer to the words that answer it than to a template filled with them.
    """
    text = provision.authority.text
    heading = _MARKS.sub("", text.partition("\n")[0])[:_MOST_HEADING]
    said = [statement.text for statement in statements_in_text(text)]
    return list(dict.fromkeys([f"What does {provision.section} say? {heading}".strip(), *said]))


def entries_by_rule(provisions: Sequence[Provision]) -> list[Entry]:
    """The questions of every provision."""
    return [
        Entry(question, provision.authority)
        for provision in provisions
        for question in questions_by_rule(provision)
    ]


class WrittenQuestions(BaseModel):
    """What the model is asked for."""

    questions: list[str] = Field(min_length=1, max_length=_MOST_QUESTIONS)


async def written_questions(chat: Chat, provision: Provision, count: int) -> list[str]:
    """Have a model write the questions that a provision answers.

    Args:
        chat: The model.
        provision: What they are to be about.
        count: How many.
    """
    prompt = prompts.load("eval_rag_questions", {"document", "label", "count"})
    system, user = prompt.render(
        document=provision.authority.text, label=provision.authority.label, count=count
    )
    request = ChatRequest("eval_rag_questions", system, user, WrittenQuestions)
    reply = parsed(await chat.ask(request), WrittenQuestions)
    return [question.strip() for question in reply.questions if question.strip()][:count]


def entries_by_model(
    provisions: Sequence[Provision], asker: Asker, count: int, progress: Progress, workers: int
) -> tuple[list[Entry], list[str]]:
    """The questions that a model writes for every provision.

    Args:
        provisions: What they are to be about.
        asker: Asks the model.
        count: How many for each.
        progress: Called with the provisions done and the provisions in all.
        workers: How many provisions are put to the model at once.

    Returns:
        The entries, and for each provision that the model gave none for, its label and why: it has
        the questions by rule instead.

    Raises:
        ModelError: No further question could be asked.
    """
    entries: list[Entry] = []
    missing: list[str] = []

    def take(provision: Provision, found: list[str] | Unresolved) -> None:
        if isinstance(found, Unresolved) or not found:
            reason = found.reason if isinstance(found, Unresolved) else "no question was written"
            missing.append(f"{provision.authority.label}: {reason}")
            found = questions_by_rule(provision)
        entries.extend(Entry(question, provision.authority) for question in found)

    side_by_side(
        lambda provision: asker.settle(written_questions(asker, provision, count)),
        provisions, take, progress, workers,
    )  # fmt: skip
    return entries, missing
