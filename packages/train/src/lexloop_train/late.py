"""Train a small BERT for sentence and token vectors at once, among texts of the same document."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lexloop.core.errors import InputError
from lexloop.models.embedding import CODED, Vectors, projection
from lexloop_train.checkpoints import quietly
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import EmbedderRecipe

LATE_SCALE, COSINE_SCALE = 30.0, 20.0
"""Factors of MaxSim and of the cosine before the softmax over the batch."""
_PROJECTION_RATE = 5.0
_WARM, _LEAST_RATE = 15, 0.05
_MOST, _MOST_ASKED = 256, 64
PROJECTION = "token_projection"
_BERT = "bert."


class Trainee(torch.nn.Module):
    """The encoder and the projection of its tokens.

    The word embeddings are frozen, and there is no dropout.

    Args:
        base: A folder with ``config.json``, ``model.safetensors``, ``tokenizer.json`` and
            optionally the projection of token states.

    Raises:
        InputError: The base is missing, or cannot be read.
    """

    def __init__(self, base: Path, recipe: EmbedderRecipe) -> None:
        super().__init__()
        self.bert, self._tokenizer = _loaded(base)
        self.recipe = recipe
        self.token_projection = torch.nn.Parameter(_projection(base))
        for module in self.bert.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        for weights in self.bert.embeddings.parameters():
            weights.requires_grad = False

    def read(self, rows: Sequence[tuple[int, Sequence[TrainingPair]]]) -> dict[str, Any]:
        """Return what ``forward`` takes of the one batch that there is, by its number."""
        [(number, batch)] = rows
        rng = np.random.default_rng((self.recipe.seed, number))
        headed = [p.heading and rng.random() < self.recipe.headed for p in batch]
        texts = [
            f"{p.heading}\n{p.text}" if h else p.text for p, h in zip(batch, headed, strict=True)
        ]
        return {
            "asked": self._tokens([p.question for p in batch], self.recipe.question_tokens),
            "searched": self._tokens(texts, self.recipe.text_tokens),
            "same": torch.tensor(_alike(batch)),
        }

    def forward(self, asked: Any, searched: Any, same: Any) -> dict[str, Any]:
        """Return the loss of a batch.

        It is the cross-entropy of each pair's text among those of the batch, by MaxSim and by the
        cosine. A text that is the same, or answers the same question, is not a negative.
        """
        targets = torch.arange(len(same), device=same.device)
        scales = LATE_SCALE, COSINE_SCALE
        losses = [
            torch.nn.functional.cross_entropy((scale * scores).masked_fill(same, -1e4), targets)
            for scale, scores in zip(
                scales, _scores(self._vectors(asked), self._vectors(searched)), strict=True
            )
        ]
        return {"loss": losses[0] + losses[1]}

    def optimisers(self) -> tuple[Any, Any]:
        """Return the optimiser and its schedule: rates rise, then fall to nearly nothing.

        The gradient of the encoder is clipped to 1, and that of the projection is not clipped.
        """
        rate, steps = self.recipe.rate, self.recipe.steps
        trained = [p for p in self.bert.parameters() if p.requires_grad]
        rates: list[dict[str, Any]] = [
            {"params": trained, "lr": rate},
            {"params": [self.token_projection], "lr": rate * _PROJECTION_RATE},
        ]
        optimiser = torch.optim.AdamW(rates, weight_decay=0.01)

        def clip(*_: Any) -> None:
            torch.nn.utils.clip_grad_norm_(trained, 1.0)

        optimiser.register_step_pre_hook(clip)

        def share(step: int) -> float:
            return min(1.0, (step + 1) / _WARM) * max(_LEAST_RATE, 1 - step / steps)

        return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, share)

    def _tokens(self, texts: list[str], most: int) -> dict[str, Any]:
        tokenized = self._tokenizer(
            texts, padding=True, truncation=True, max_length=most, return_tensors="pt"
        )
        return dict(tokenized)

    def _vectors(self, tokenized: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Sentence vectors, token vectors, and which tokens are words, for one batch."""
        from torch.nn.functional import normalize

        states = self.bert(**tokenized).last_hidden_state
        mask = tokenized["attention_mask"].float()
        lengths = mask.sum(1, keepdim=True)
        sentences = normalize((states * mask[..., None]).sum(1) / lengths, dim=-1)
        words = mask.clone()
        words[:, 0] = 0
        words[torch.arange(len(mask), device=mask.device), lengths[:, 0].long() - 1] = 0
        return sentences, normalize(states @ self.token_projection, dim=-1), words

    def vectors(self, texts: Sequence[str], asked: bool = False) -> tuple[Vectors, list[Vectors]]:
        """Return sentence vectors, shape (texts, 384), and each text's token vectors.

        Questions are cut sooner.
        """
        most, device = _MOST_ASKED if asked else _MOST, self.token_projection.device
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        sentences = np.zeros((len(texts), 384), dtype=np.float32)
        tokens: list[Vectors] = [np.zeros((0, CODED), dtype=np.float32)] * len(texts)
        with torch.no_grad():
            for first in range(0, len(order), 16):
                places = order[first : first + 16]
                tokenized = self._tokens([texts[i] for i in places], most)
                vectors = self._vectors(
                    {name: values.to(device) for name, values in tokenized.items()}
                )
                for i, sentence, rows, words in zip(places, *vectors, strict=True):
                    sentences[i] = sentence.cpu().numpy()
                    tokens[i] = rows[words > 0].cpu().numpy()
        return sentences, tokens

    def weights(self) -> dict[str, Any]:
        """Return the encoder's weights and the projection, copied, by their names."""
        own = {name.removeprefix(_BERT): tensor for name, tensor in self.state_dict().items()}
        return {n: t.detach().cpu().clone() for n, t in own.items() if t.is_floating_point()}

    def take(self, weights: Mapping[str, Any]) -> None:
        """Put such weights in the place of these."""
        named = {n if n == PROJECTION else f"{_BERT}{n}": t for n, t in weights.items()}
        self.load_state_dict(named, strict=False)


def _projection(base: Path) -> Any:
    """Return the projection beside the base's weights, or that of the untrained model."""
    from safetensors.torch import load_file

    file = base / f"{PROJECTION}.safetensors"
    return load_file(file)[PROJECTION] if file.is_file() else torch.tensor(projection())


def _loaded(base: Path) -> tuple[Any, Any]:
    """Return the encoder and the tokenizer of a folder, without asking a hub."""
    from safetensors import SafetensorError
    from transformers import AutoModel, AutoTokenizer

    try:
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            if not (base / name).is_file():
                raise ValueError(f"it holds no {name}")
        with quietly():
            encoder: Any = AutoModel.from_pretrained(str(base), use_safetensors=True)
            tokenizer: Any = AutoTokenizer.from_pretrained(str(base))
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise InputError(
            f"The base model {base} cannot be loaded: {str(error).rstrip('.')}.",
            "Name a folder that holds model.safetensors and tokenizer.json.",
        ) from error
    return encoder, tokenizer


def batches(pairs: Sequence[TrainingPair], recipe: EmbedderRecipe) -> Iterator[list[TrainingPair]]:
    """Yield batches without end, each made of runs of pairs of one document.

    The remaining pairs of a document are combined with others of the same source.

    Raises:
        InputError: There are too few pairs for one batch.
    """
    epoch = 0
    while True:
        rng = np.random.default_rng((recipe.seed, epoch))
        run = min(recipe.run, recipe.batch)
        runs = [*_runs(pairs, run, rng)]
        rng.shuffle(runs)
        runs_per_batch = recipe.batch // run
        if len(runs) < runs_per_batch:
            raise InputError(
                f"There are {len(pairs)} pairs: fewer than make a batch of {recipe.batch}.",
                "Give more pairs, or a smaller --batch.",
            )
        for first in range(0, len(runs) - runs_per_batch + 1, runs_per_batch):
            yield [pair for run in runs[first : first + runs_per_batch] for pair in run]
        epoch += 1


def _runs(
    pairs: Sequence[TrainingPair], length: int, rng: np.random.Generator
) -> Iterator[list[TrainingPair]]:
    by_document: dict[str, list[TrainingPair]] = defaultdict(list)
    loose: dict[str, list[TrainingPair]] = defaultdict(list)
    for pair in pairs:
        by_document[pair.document].append(pair)
    for group in by_document.values():
        rng.shuffle(group)
        full = len(group) // length * length
        yield from (group[first : first + length] for first in range(0, full, length))
        for pair in group[full:]:
            loose[pair.source].append(pair)
    for group in loose.values():
        full = len(group) // length * length
        yield from (group[first : first + length] for first in range(0, full, length))


def _alike(batch: Sequence[TrainingPair]) -> list[list[bool]]:
    """For each pair which texts of others would be wrong as negatives."""
    keys = [(pair.text[:120], pair.question.casefold()) for pair in batch]
    return [
        [
            i != j and (key[0] == other_key[0] or key[1] == other_key[1])
            for j, other_key in enumerate(keys)
        ]
        for i, key in enumerate(keys)
    ]


def _scores(
    questions: tuple[Any, Any, Any], texts_encoded: tuple[Any, Any, Any]
) -> tuple[Any, Any]:
    """MaxSim and cosines of every question with every text, each of shape (questions, texts)."""
    sentences, rows, words = questions
    texts, tokens, held = texts_encoded
    count, length, width = rows.shape
    flat = rows.reshape(count * length, width) @ tokens.reshape(-1, width).T
    similarities = flat.view(count, length, *held.shape).masked_fill(held[None, None] == 0, -1)
    best = similarities.amax(-1)
    late = (best * words[..., None]).sum(1) / words.sum(1, keepdim=True).clamp(min=1)
    return late, sentences @ texts.T
