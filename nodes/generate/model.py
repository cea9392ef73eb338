"""The model's generators: from numbered passages, or alone."""

from dataclasses import replace

from lexloop import prompts
from lexloop.core.running import computed
from lexloop.core.types import ABSTENTION, Advice, Draft, ParsedQuestion, Passage, Pointed, Triplet
from lexloop.knowledge.predicates import reading
from lexloop.models.request import Chat, ChatRequest
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.citations import abstains, cited_answer
from lexloop.nodes.markers import unmarked
from lexloop.nodes.relevance import Sources


class ModelGenerator:
    """A generator by a chat model from the passages; code makes the citations."""

    def __init__(self, chat: Chat, sources: Sources) -> None:
        self._chat, self._sources = chat, sources
        self._prompt = prompts.load("generate", {"passages", "triplets", "guidance", "question"})
        self.instructions = self._prompt.system

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Answer from the passages; without any there is nothing to ask the model."""
        if not passages:
            return drafted(ABSTENTION)
        system, user = self._prompt.render(
            passages=[replace(one, text=unmarked(one.text)) for one in prompts.numbered(passages)],
            triplets=[prompts.Data("relation", unmarked(_stated(one))) for one in triplets],
            guidance=advice["guidance"] if advice else [],
            question=question["text"],
        )
        reply = await self._chat.ask(ChatRequest("generate", system, user, stream=True))
        statements = self._sources.statements
        return await computed(cited_answer, reply.text, passages, lambda name: statements(name)[0])


class ModelAlone:
    """A generator by a chat model from its own knowledge: the ablation without retrieval."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._prompt = prompts.load("answer_alone", {"question"})
        self.instructions = self._prompt.system

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Answer without passages and so without citations."""
        system, user = self._prompt.render(question=question["text"])
        reply = await self._chat.ask(ChatRequest("generate", system, user, stream=True))
        return drafted(ABSTENTION if abstains(reply.text) else reply.text.strip())


def _stated(triplet: Triplet) -> str:
    return f"{triplet['subject']} | {reading(triplet['predicate'])} | {triplet['object']}"
