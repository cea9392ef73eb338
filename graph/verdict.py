"""The verdict on an answer that a model wrote from several collections, as the loop gives it."""

from collections.abc import Mapping, Sequence

from lexloop.core.state import AgentUpdate
from lexloop.core.types import ParsedQuestion, Passage
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.models.embedding import Vectors
from lexloop.nodes.context import UNANSWERED, Context
from lexloop.nodes.evaluate.judges import EmbeddedJudge, ModelJudge
from lexloop.nodes.evaluate.node import passages_cited, weighed
from lexloop.nodes.markers import spread
from lexloop.store.view import View


async def judged(
    update: AgentUpdate, question: ParsedQuestion, context: Context, views: Mapping[str, View]
) -> AgentUpdate:
    """Return the answer with its verdict; an abstention or what no source backs as it is.

    Args:
        update: As ``combine.written`` returns it.
        question: The question of the turn.
        context: Has the judge and the marks.
        views: The collections, by name.
    """
    judge, citations = context.judge, update.get("citations", [])
    if judge is None or update["abstained"] or not citations:
        return update
    passages = update["passages"]
    if isinstance(judge, EmbeddedJudge | ModelJudge):
        judge = judge.over(_Joined(views, passages))
    said = spread(update["answer"], passages_cited(passages, citations))
    judgement = await judge.judge(question, passages, said)
    missing = [f"{UNANSWERED}{part}" for part in judgement.missing]
    problems = update["evaluation"]["reasons"]
    evaluation = weighed(judgement, problems, missing, [], context.settings)
    if not update["evaluation"]["citations_verified"]:
        evaluation |= {"citations_verified": False, "passed": False}
    if evaluation["passed"]:
        return {**update, "evaluation": evaluation, "finding": "answers"}
    why = " ".join(evaluation["reasons"][:3])
    warning = f"This answer did not pass the evaluation. {why}".strip()
    return {**update, "evaluation": evaluation, "finding": "in part", "warning": warning}


class _Joined:
    """Passages of several collections, as the embedded judge reads them.

    Vectors are made anew by the first collection's embedder: the others may have another one.

    Args:
        views: The collections, by name.
        passages: Passages with the names of their collections.
    """

    def __init__(self, views: Mapping[str, View], passages: Sequence[Passage]) -> None:
        self._views = [*views.values()]
        self._owners = {passage["id"]: views[passage["collection"]] for passage in passages}

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._views[0].embed(texts)

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk and their vectors."""
        statements, _ = self._owners[chunk_id].statements(chunk_id)
        return statements, self.embed([statement.text for statement in statements])

    def tree_of(self, document: str) -> Tree | None:
        """Return the tree of the first document of that name, or None."""
        trees = (view.tree_of(document) for view in self._views)
        return next((tree for tree in trees if tree is not None), None)

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term where it is most common."""
        return min(view.idf(term) for view in self._views)

    def knows(self, term: str) -> bool:
        """Return whether any collection has a term."""
        return any(view.knows(term) for view in self._views)

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """Return None: token vectors are not compared across collections."""
        return None
