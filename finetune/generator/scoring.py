"""What a model is worth on the files to be measured on.

Of choices and classes the one counts that the model finds likeliest: the mean log-probability of
its tokens as the reply. Free answers are written, the likeliest token at a time.
"""

from collections.abc import Sequence
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.score import Score
from lexloop.evaluation.metrics.bleu import corpus_bleu
from lexloop.evaluation.metrics.text import exact_match, rouge_l, rouge_n, token_f1
from lexloop.evaluation.statistics import Estimate, estimate
from lexloop.finetune.generator.rows import Question, Test
from lexloop.models.local_model import LocalModel

Figures = dict[str, Any]
"""By metric: ``mean`` with its 95 % interval ``low`` to ``high``, or a number alone."""


def measure(local: LocalModel, test: Test, most: int, at_once: int) -> Figures:
    """The figures of one model on one file.

    Args:
        local: The model.
        test: The file.
        most: The most tokens of a written answer.
        at_once: How many answers are written side by side.

    Raises:
        InputError: A question does not fit the model's window.
    """
    prompts = [local.prompt(question.turns) for question in test.questions]
    longest = max(map(len, prompts))
    if longest + most > local.window:
        raise InputError(
            f"A question of {test.path} has {longest} tokens; with {most} for the reply it "
            f"does not fit the model's window of {local.window}.",
            "Shorten its context, or lower --reply-tokens.",
        )
    if test.kind != "question answering":
        pairs = zip(prompts, test.questions, strict=True)
        chosen = [_likeliest(local, prompt, question) for prompt, question in pairs]
        right = [
            float(one == question.answer)
            for one, question in zip(chosen, test.questions, strict=True)
        ]
        return {"accuracy": _told(right)}
    parts = [prompts[i : i + at_once] for i in range(0, len(prompts), at_once)]
    said = [local.text(ids) for part in parts for ids in local.write(part, most)]
    return _compared(said, [question.answer for question in test.questions])


def _compared(said: Sequence[str], wanted: Sequence[str]) -> Figures:
    pairs = list(zip(said, wanted, strict=True))
    bleu = corpus_bleu(said, wanted)
    return {
        "exact_match": _told([exact_match(*pair) for pair in pairs]),
        "f1": _told([token_f1(*pair) for pair in pairs]),
        "bleu": bleu if isinstance(bleu, float) else None,
        "rouge_1": _told([rouge_n(*pair, 1) for pair in pairs]),
        "rouge_2": _told([rouge_n(*pair, 2) for pair in pairs]),
        "rouge_l": _told([rouge_l(*pair) for pair in pairs]),
    }


def _told(scores: Sequence[Score]) -> dict[str, float] | None:
    found = estimate(scores)
    if not isinstance(found, Estimate):
        return None
    return {part: round(getattr(found, part), 4) for part in ("mean", "low", "high")}


def _likeliest(local: LocalModel, prompt: list[int], question: Question) -> str:
    import torch

    means = []
    for option in question.options:
        reply = local.reply(question.turns, option)
        ids = torch.tensor([[*prompt, *reply]], device=local.model.device)
        with torch.inference_mode():
            logits = local.model(input_ids=ids, logits_to_keep=len(reply) + 1).logits
        likely = torch.log_softmax(logits[0, -len(reply) - 1 : -1].float(), dim=-1)
        of_reply = likely.gather(1, ids[0, -len(reply) :, None])
        means.append(of_reply.mean().item())
    return question.options[max(range(len(means)), key=means.__getitem__)]
