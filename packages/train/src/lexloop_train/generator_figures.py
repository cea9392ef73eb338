"""The figures of a generator: choices by their likelihood, free answers by text metrics."""

from collections.abc import Sequence
from typing import Any

from lexloop.core.errors import InputError
from lexloop.models.embedding import Embed
from lexloop.models.local_model import LocalModel
from lexloop.models.minilm import load_shipped
from lexloop.models.request import Unreadable, read_json
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import SUPPORTED, ClaimSupport
from lexloop.nodes.generate.model import abstains, with_markers
from lexloop.nodes.markers import cited_sentences
from lexloop.nodes.question.rewrite import RewriteReply
from lexloop_eval.metrics.text import exact_match, rouge_l, rouge_n, token_f1
from lexloop_eval.score import Score
from lexloop_eval.statistics import Estimate, estimate
from lexloop_train.generator_rows import MeasuredFile, MeasuredRow


def measure(local: LocalModel, test: MeasuredFile, most: int, at_once: int) -> dict[str, Any]:
    """Return the figures of one model on one file.

    For choices and classes, the model's most likely one counts, by the mean log-probability of its
    tokens as the reply. Free answers are written greedily.

    Returns:
        By metric: ``mean`` with its 95 % interval ``low`` to ``high``, or only a number.

    Raises:
        InputError: A question does not fit the model's window.
    """
    import sacrebleu

    prompts = [local.prompt(question.turns(question.choices)) for question in test.questions]
    longest = max(map(len, prompts))
    if longest + most > local.window:
        raise InputError(
            f"A question of {test.path} has {longest} tokens; with {most} for the reply it "
            f"does not fit the model's window of {local.window}.",
            "Shorten its context, or lower --reply-tokens.",
        )
    right = [question.right for question in test.questions]
    if test.kind != "question answering":
        chosen = [_likeliest(local, *pair) for pair in zip(prompts, test.questions, strict=True)]
        return {"accuracy": _figure([float(a == b) for a, b in zip(chosen, right, strict=True)])}
    parts = [prompts[i : i + at_once] for i in range(0, len(prompts), at_once)]
    replies = [local.text(ids) for part in parts for ids in local.write(part, most)]
    answers = [_read(*pair) for pair in zip(test.questions, replies, strict=True)]
    pairs = list(zip([text or "" for text in answers], right, strict=True))
    return {
        "exact_match": _figure([exact_match(*pair) for pair in pairs]),
        "f1": _figure([token_f1(*pair) for pair in pairs]),
        "bleu": sacrebleu.corpus_bleu([text for text, _ in pairs], [right]).score / 100,
        "rouge_1": _figure([rouge_n(*pair, 1) for pair in pairs]),
        "rouge_2": _figure([rouge_n(*pair, 2) for pair in pairs]),
        "rouge_l": _figure([rouge_l(*pair) for pair in pairs]),
        **_of_form(test.questions, answers),
    }


def _read(row: MeasuredRow, reply: str) -> str | None:
    """Return the answer in a reply, or None if it has another form than the prompt asks for."""
    if row.history is None:
        return reply
    try:
        return read_json(reply, RewriteReply).standalone
    except Unreadable:
        return None


def _of_form(rows: Sequence[MeasuredRow], answers: Sequence[str | None]) -> dict[str, Any]:
    """Return the figures of replies in a fixed form, or with passages to cite.

    ``in_form`` is the share of rewritten questions that could be read. Of the sentences of answers
    from passages, ``cited`` is the share that name a passage which supports them, ``invented`` the
    share that no passage supports. ``abstained`` is the share of answers that say there is none.
    """
    if all(row.history is not None for row in rows):
        return {"in_form": _figure([float(text is not None) for text in answers])}
    from_passages = [
        (row, text or "") for row, text in zip(rows, answers, strict=True) if row.passages
    ]
    if not from_passages:
        return {}
    embed = load_shipped().embed
    support = ClaimSupport(embed)
    borne = [
        scores for row, text in from_passages for scores in _borne_out(row, text, support, embed)
    ]
    return {
        "cited": _figure([cited for cited, _ in borne]),
        "invented": _figure([invented for _, invented in borne]),
        "abstained": _figure([float(abstains(text)) for _, text in from_passages]),
    }


def _borne_out(
    row: MeasuredRow, answer: str, support: ClaimSupport, embed: Embed
) -> list[tuple[float, float]]:
    """Return for each sentence whether it is cited and invented, each 0 or 1."""
    if abstains(answer):
        return []
    by_number = dict(enumerate(row.passages, 1))
    scores = []
    for sentence in cited_sentences(with_markers(answer, by_number.keys())):
        if not sentence.says_something:
            continue
        cited = [by_number[n] for n in sentence.numbers if n in by_number]

        def holds(texts: Sequence[str], claim: str = sentence.text) -> bool:
            evidence = evidence_of([*texts], embed)
            return bool(texts) and support.of([claim], evidence)[0].probability >= SUPPORTED

        scores.append((float(holds(cited)), float(not holds(row.passages))))
    return scores


def _figure(scores: Sequence[Score]) -> dict[str, float] | None:
    result = estimate(scores)
    if not isinstance(result, Estimate):
        return None
    return {part: round(getattr(result, part), 4) for part in ("mean", "low", "high")}


def _likeliest(local: LocalModel, prompt: list[int], question: MeasuredRow) -> str:
    import torch

    means = []
    for option in question.choices:
        reply = local.reply(question.turns(question.choices), option)
        ids = torch.tensor([[*prompt, *reply]], device=local.model.device)
        with torch.inference_mode():
            logits = local.model(input_ids=ids, logits_to_keep=len(reply) + 1).logits
        likely = torch.log_softmax(logits[0, -len(reply) - 1 : -1].float(), dim=-1)
        means.append(likely.gather(1, ids[0, -len(reply) :, None]).mean().item())
    return question.choices[max(range(len(means)), key=means.__getitem__)]
