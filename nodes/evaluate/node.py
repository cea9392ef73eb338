"""evaluate: the verdict on this attempt, and at the end the best attempt as the answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from langgraph.runtime import Runtime

from lexloop.core.errors import ConflictError, LexloopError
from lexloop.core.running import computed
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import LEAST
from lexloop.core.state import State, Update, advice_of
from lexloop.core.types import (
    ABSTENTION,
    QUOTED,
    Attempt,
    Best,
    Chosen,
    Citation,
    Evaluation,
    Finding,
    Passage,
    Span,
)
from lexloop.documents.text.languages import (
    MAY_MISS,
    NOT_ANSWERED,
    foreign_languages,
    other_language,
    partly_in,
    read_badly,
)
from lexloop.nodes.context import TRIAD, UNANSWERED, Context, Judgement, drafted
from lexloop.nodes.evaluate.checks import citation_problems, without_told
from lexloop.nodes.markers import numbers_in, spread, unmarked
from lexloop.nodes.messages import answer_message, structured
from lexloop.store.view import View


async def evaluate(state: State, runtime: Runtime[Context]) -> Update:
    """Judge the draft; write the answer when it passes or no retry is left.

    If the retry found what an earlier attempt was written from, there is no draft to judge.
    Without a judge the first attempt is taken unjudged; the engineer may have nothing left to try.
    """
    context = runtime.context
    untranslated = state["turn"].get("untranslated", "")
    if repeats(state):  # nothing new was found, and nothing was written
        attempts = state["attempts"]
    else:
        verdict = await _judged(state, context)
        evaluation = _disputed(verdict, state["draft"].get("conflicts", []))
        attempts = _with_draft(state, evaluation)
        judged = context.judge is not None and not untranslated and not state["turn"].get("edited")
        # an answer that only other documents stand against is the best that there is
        disputed = state["draft"].get("conflicts") and verdict["passed"]
        again = judged and not disputed and may_retry(attempts, context.settings)
        if again and context.engineer.has_more(state["meant"], attempts):
            kept = _kept(state, attempts)
            return {"attempts": attempts, "evaluation": evaluation, "best": kept}
    best = best_attempt(attempts)
    warning = warning_for(best, len(attempts), judged=context.judge is not None)
    if untranslated:
        what_follows = NOT_ANSWERED if best["abstained"] else MAY_MISS
        warning = f"{untranslated} {what_follows} {warning}".strip()
    elif not best["evaluation"]["passed"] and not context.generator.instructions:
        unread = await computed(_unread, state, context.view) if context.view is not None else ""
        warning = f"{unread} {warning}".strip()
    return _final(state, attempts, best, warning, context.settings)


def _unread(state: State, view: View) -> str:
    """Return what is told of languages that are read badly; "" if nothing is."""
    languages = view.language.names
    if said := read_badly(languages):
        return said
    asked = other_language(state["meant"]["text"], languages[:1], ())
    read = [asked] if asked else languages[:1]
    names = dict.fromkeys(passage["document"] for passage in state["passages"])
    strange = {name: foreign_languages(view.text_of(name) or "", read) for name in names}
    return " ".join(partly_in(name, found) for name, found in strange.items() if found)


def unfinished(
    state: State, context: Context, error: LexloopError, *, drafted: bool
) -> Update | None:
    """End a question that cannot go on with the best attempt so far, or None if there is none.

    ``drafted`` says whether the state holds a draft that was not judged; it counts as an attempt.
    """
    attempts = state.get("attempts", [])
    if drafted and not repeats(state):
        problems = _problems(state, context.view)
        attempts = _with_draft(state, _record(_unscored("It was not judged."), problems, False))
    if not attempts:
        return None
    best = best_attempt(attempts)
    warning = _warning_for_unfinished(best, error.what)
    return _final(state, attempts, best, warning, context.settings)


def as_left(state: State, context: Context, answer: str) -> Update:
    """End a turn with the answer as a person left it, or with the abstention if it is empty."""
    kept = [citation for citation in state["citations"] if citation["n"] in numbers_in(answer)]
    told = best_attempt(state["attempts"]).get("told", [])
    draft = drafted(answer or ABSTENTION, kept, told=told)
    edited: State = {**state, "draft": draft, "best": None, "attempts": []}
    problems = _problems(edited, context.view)
    said = "A person edited this answer." if answer else "A person did not approve the answer."
    evaluation = _record(_unscored(said), problems, passed=bool(answer) and not problems)
    (attempt,) = attempts = _with_draft(edited, evaluation)
    warning = warning_for(attempt, 1, judged=True) if answer else said
    ended = _final(edited, attempts, attempt, warning, context.settings)
    return {**ended, "attempts": state["attempts"]}


def _with_draft(state: State, evaluation: Evaluation) -> list[Attempt]:
    draft = state["draft"]
    attempt: Attempt = {
        "number": len(state["attempts"]) + 1,
        "question": state["parsed"]["text"],
        "queries": state["parsed"]["queries"],
        "keywords": state["parsed"]["keywords"],
        "passages": [*map(_chosen, state["passages"])],
        "answer": draft["answer"],
        "abstained": draft["abstained"],
        "citations": [*map(_span, draft["citations"])],
        "evaluation": evaluation,
        "usage": {**state["usage"], "seconds": 0.0},
        "near": [*map(_span, draft["near"])],
        "told": draft["told"],
    }
    return [*state["attempts"], attempt]


def _chosen(passage: Passage) -> Chosen:
    chosen: Chosen = {
        "id": passage["id"],
        "n": passage["n"],
        "score": passage["score"],
        "signals": passage["signals"],
    }
    return {**chosen, "supporting": True} if passage.get("supporting") else chosen


def _span(citation: Citation) -> Span:
    return {
        "n": citation["n"],
        "document": citation["document"],
        "start": citation["start"],
        "end": citation["end"],
    }


def _kept(state: State, attempts: list[Attempt]) -> Best:
    """Return the best attempt: the draft, if it is the last one, or that of an earlier step.

    Raises:
        ConflictError: An earlier version made the attempts.
    """
    if len(attempts) > len(state["attempts"]) and best_attempt(attempts) is attempts[-1]:
        passages, triplets = state["passages"], state["triplets"]
        return {"draft": state["draft"], "passages": passages, "triplets": triplets}
    if (kept := state.get("best")) is None:
        raise ConflictError(
            "The thread has attempts of an earlier version of Lexloop.", "Ask the question again."
        )
    return kept


def _disputed(verdict: Evaluation, conflicts: list[str]) -> Evaluation:
    """Return the verdict on an answer, which does not pass if the documents disagree."""
    if not conflicts:
        return verdict
    return {**verdict, "passed": False, "reasons": [*conflicts, *verdict["reasons"]]}


async def _judged(state: State, context: Context) -> Evaluation:
    draft, problems = state["draft"], await computed(_problems, state, context.view)
    if draft["abstained"]:
        return _record(_unscored(*draft["lacks"]), problems, False)
    if context.judge is None:
        return _record(_unscored("No evaluator is set."), problems, passed=False)
    said = without_told(draft["answer"], draft["told"])
    pointed = state["parsed"].get("pointed")
    if not said and pointed and pointed["units"] and not pointed["only"]:
        # whether the provision answers what is asked of it is to be judged
        said = "\n".join(f"{unmarked(c['quote'])} [{c['n']}]" for c in draft["citations"])
    if not said:
        read = _unscored("It was read off the structure of the documents.")
        # that something was not found has no source, and answers nothing
        return _record(read, problems, passed=not problems and bool(draft["citations"]))
    # every attempt answers the question asked, however it was reworded since
    answers = _likely(state)
    said = spread(said, passages_cited(state["passages"], state["draft"]["citations"]))
    judgement = await context.judge.judge(state["meant"], state["passages"], said, answers)
    unanswered = [f"{UNANSWERED}{part}" for part in [*draft["unanswered"], *judgement.missing]]
    if not judgement.by_model:
        judgement = replace(judgement, answers=answers)
    return weighed(judgement, problems, unanswered, draft["lacks"], context.settings)


def weighed(
    judgement: Judgement,
    problems: list[str],
    unanswered: list[str],
    lacks: list[str],
    settings: Settings,
) -> Evaluation:
    """Return the verdict on an answer.

    Args:
        judgement: What the judge says of it.
        problems: Why its citations do not verify.
        unanswered: What it leaves open.
        lacks: What its writer missed; told if it does not pass.
        settings: They have the marks.
    """
    refused = [*problems, *unanswered, *judgement.unsupported]
    passed = not refused and passes(judgement, settings)
    told = [] if passed else lacks
    reasons = dict.fromkeys([*unanswered, *judgement.unsupported, *told, *judgement.reasons])
    return _record(replace(judgement, reasons=[*reasons]), problems, passed)


def passages_cited(
    passages: Sequence[Passage], citations: Sequence[Citation]
) -> dict[int, list[int]]:
    """Return for each citation, by its number, the numbers of the passages it is in."""
    return {
        citation["n"]: [
            passage["n"]
            for passage in passages
            if citation["document"] == passage["document"]
            and citation.get("collection") == passage.get("collection")
            and passage["start"] < citation["end"]
            and citation["start"] < passage["end"]
        ]
        for citation in citations
    }


def _likely(state: State) -> float | None:
    """Return the probability that the draft answers what was asked, if its writer gives one.

    For a reworded question it is at most that of the first attempt: an answer to another reading
    tells nothing about this one.
    """
    answers, attempts = state["draft"]["answers"], state["attempts"]
    if answers is None or not attempts or state["parsed"]["text"] == state["meant"]["text"]:
        return answers
    return min(answers, attempts[0]["evaluation"].get("answers", 1.0))


def _problems(state: State, view: View | None) -> list[str]:
    """Return the reasons why the draft's citations do not verify."""
    draft = state["draft"]
    if draft["abstained"]:
        return []
    if view is None:
        return ["The answer comes from the model alone: no document backs it."]
    checked = draft["answer"], draft["citations"], view.text_of, draft["told"]
    return citation_problems(*checked, question=state["meant"]["text"])


def _unscored(*reasons: str) -> Judgement:
    return Judgement(None, None, None, [*reasons])


def _record(judgement: Judgement, problems: list[str], passed: bool) -> Evaluation:
    record: Evaluation = {
        "answer_relevance": judgement.answer_relevance,
        "context_relevance": judgement.context_relevance,
        "groundedness": judgement.groundedness,
        "citations_verified": not problems,
        "passed": passed,
        "reasons": [*problems, *judgement.reasons],
    }
    if judgement.answers is not None:
        record["answers"] = judgement.answers
    if judgement.by_model:
        record["by_model"] = True
    return record


def _final(
    state: State, attempts: list[Attempt], best: Attempt, warning: str, settings: Settings
) -> Update:
    kept = _kept(state, attempts)
    update: Update = {
        "attempts": attempts,
        "answer": ABSTENTION if best["abstained"] else best["answer"],
        "abstained": best["abstained"],
        "warning": warning,
        "citations": kept["draft"]["citations"],
        "finding": finding_of(best),
        "near": kept["draft"]["near"],
        "evaluation": best["evaluation"],
        "draft": drafted(""),  # or later checkpoints would hold it, too
    }
    if state.get("best") is not None:
        update |= {"passages": kept["passages"], "triplets": kept["triplets"], "best": None}
    ended: State = {**state, **update}
    return {
        **update,
        "structured_response": structured(ended),
        "messages": [answer_message(ended, settings.answer.sources)],
    }


def passes(judgement: Judgement, settings: Settings) -> bool:
    """Return whether each score reaches its setting; an unresolved score never does.

    If the probability that the answer answers is known, it stands for relevance.
    """
    marks = settings.loop.marks(by_model=judgement.by_model)
    pairs = [(judgement.groundedness, marks.groundedness)]
    if judgement.answers is not None:
        pairs.append((judgement.answers, LEAST[settings.loop.care].passed))
    else:
        pairs.append((judgement.answer_relevance, marks.answer_relevance))
        pairs.append((judgement.context_relevance, marks.context_relevance))
    return all(score is not None and score >= least for score, least in pairs)


def may_retry(attempts: list[Attempt], settings: Settings) -> bool:
    """Return whether the last attempt did not pass and another is allowed.

    Without documents there is nothing that a better question could find.
    """
    if attempts[-1]["evaluation"]["passed"] or settings.retrieval.source == "none":
        return False
    return len(attempts) <= settings.loop.max_retries


def repeats(state: State) -> bool:
    """Return whether the next answer would be written from the same as an earlier one.

    That is: from the same question, the same passages and the same guidance.
    """
    attempts, advice = state["attempts"], advice_of(state)
    given = [a["advice"]["guidance"] if "advice" in a else "" for a in attempts]
    now = (state["parsed"]["text"], _ids(state["passages"]), advice["guidance"] if advice else "")
    return any(
        now == (attempt["question"], _ids(attempt["passages"]), guidance)
        for attempt, guidance in zip(attempts, ["", *given], strict=False)
    )


def _ids(passages: Sequence[Passage | Chosen]) -> frozenset[str]:
    """Return the ids of the passages found, not of those that an answer added as quotes."""
    return frozenset(passage["id"] for passage in passages if QUOTED not in passage["signals"])


class AttemptRank(NamedTuple):
    """The rank of an attempt among those of its question."""

    passed: bool  # whether the verdict passed it
    verified: bool  # whether its citations verify; an abstention has none that could fail
    abstained: bool  # whether it is an abstention
    score: float  # what was judged of it; nothing of an abstention

    def beats(self, earlier: "AttemptRank") -> bool:
        """Return whether this attempt takes the place of an earlier one.

        An abstention gives way to an answer that passed, and to no other; nor does an answer whose
        citations verify give way to an abstention.
        """
        if self.passed != earlier.passed:
            return self.passed
        if self.verified != earlier.verified:
            return self.verified
        if self.abstained or earlier.abstained:
            return False
        return self.score > earlier.score


def rank_of(attempt: Attempt) -> AttemptRank:
    """Return the rank of an attempt."""
    evaluation = attempt["evaluation"]
    verified, score = evaluation["citations_verified"], lowest_score(evaluation)
    return AttemptRank(evaluation["passed"], verified, attempt["abstained"], score)


def best_rank(ranks: Sequence[AttemptRank]) -> int:
    """Return the place of the answer: the first attempt unless a later one beats it."""
    best = 0
    for place, later in enumerate(ranks):
        if later.beats(ranks[best]):
            best = place
    return best


def best_attempt(attempts: list[Attempt]) -> Attempt:
    """Return the attempt that is the answer."""
    return attempts[best_rank([*map(rank_of, attempts)])]


def lowest_score(evaluation: Evaluation) -> float:
    """Return the probability that the answer answers, if known, else the lowest of the scores.

    -1 when one of them is unresolved.
    """
    if "answers" in evaluation:
        return evaluation["answers"]
    scores = (evaluation[name] for name in TRIAD)
    return min((-1.0 if score is None else score) for score in scores)


def finding_of(best: Attempt) -> Finding:
    """Return the outcome of the question."""
    if best["abstained"]:
        return "near" if best.get("near") else "absent"
    return "answers" if best["evaluation"]["passed"] else "in part"


def warning_for(best: Attempt, attempts: int, judged: bool) -> str:
    """Return the warning about an answer that did not pass; empty for one that did.

    Args:
        best: The answer's attempt.
        attempts: How many there were.
        judged: Whether there is a judge.
    """
    if best["evaluation"]["passed"] or best["abstained"]:
        return ""
    if not judged and best["evaluation"]["citations_verified"]:
        return "This answer was not evaluated."
    said = "This answer did not pass the evaluation."
    if attempts > 1:
        said = f"None of {attempts} attempts passed the evaluation; this is the best one."
    return f"{said} {_reasons(best)}".strip()


def _warning_for_unfinished(best: Attempt, what: str) -> str:
    """Return the warning about a question that ended early, also for an abstention.

    ``what`` says what failed.
    """
    return f"{what} This is the best attempt so far. {_reasons(best)}".strip()


def _reasons(best: Attempt) -> str:
    return " ".join(best["evaluation"]["reasons"][:3])
