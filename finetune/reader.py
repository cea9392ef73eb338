"""Trains the reader further on what people ask of rules and guides, and what answers them.

    python -m lexloop.finetune.reader DATA --base MODEL.onnx --out data/reader

DATA is as ``finetune.public_pairs`` takes it; what that keeps back is measured on, before and
after. Of each question the reader learns to put the statement that answers before four others of
the same documents that share its words. The lower layers stay as they are. MODEL.onnx is a graph
whose weights have a byte each: they are taken out, trained in bfloat16 and put back, so the graph
stays the same.
"""

import argparse
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.files import write_bytes
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.documents.text.tokens import term_set
from lexloop.finetune.pairs import TrainingPair
from lexloop.finetune.public_pairs import divided
from lexloop.models.minilm import TOKENIZER, genuine_folder
from lexloop.models.reader import Reader

_CAPS = {
    "cfr_questions": 870,
    "doc2dial": 520,
    "faq": 290,
    "conditionalqa": 260,
    "squad": 260,
    "sharc": 200,
    "policyqa": 200,
}
"""The most questions of each set."""
_WRONG, _OTHERS, _FOREIGN = 4, 60, 6
_FROZEN_LAYERS, _TOKENS = 7, 80
_BATCH, _RATE, _WARM_STEPS = 8, 3e-5, 40
_ABSOLUTE = 0.3
"""How much it counts that an answer is above 0 and all else below, beside their order."""
_LAYERS, _WIDTH = 12, 384


@dataclass(frozen=True)
class Example:
    """A question, the statement that answers it, and some that do not; each with its heading."""

    question: str
    right: str
    wrong: list[str]


def main() -> None:
    """Train, write the model, and print how often what answers comes first."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--base", type=Path, required=True, metavar="MODEL.onnx")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    tokenizer = genuine_folder() / TOKENIZER
    base = Reader(given.base, tokenizer, sha256=None)
    learned, kept = divided(given.data)
    examples = [*examples_of(learned, base, np.random.default_rng(1))]
    left_out = [*examples_of(kept, base, np.random.default_rng(2))]
    trained = given.out / "model.onnx"
    write_bytes(trained, train(given.base, examples, tokenizer))
    after = Reader(trained, tokenizer, sha256=None)
    print(f"{len(examples)} questions learned; of {len(left_out)} kept back, what answers is first")
    print(f"before: {_first(base, left_out):.3f}, after: {_first(after, left_out):.3f}")


def _first(reader: Reader, examples: Sequence[Example]) -> float:
    """Return the share of examples whose right statement is read before all others."""
    found = [reader.read(one.question, [one.right, *one.wrong]).argmax() for one in examples]
    return float(np.mean(np.array(found) == 0))


def examples_of(
    pairs: Sequence[TrainingPair], reader: Reader, rng: np.random.Generator
) -> Iterator[Example]:
    """Yield the examples of pairs, in their order by set.

    Of a long answer that statement is the right one which the reader as it was likes best, or all
    of it where it is short. Wrong ones are statements of the same document, and a few of others,
    that share the most with the question.
    """
    by_set, by_document = defaultdict(list), defaultdict(list)
    for pair in pairs:
        by_set[pair.source].append(pair)
        by_document[pair.source, pair.document].append(pair)
    weigh = _rarity([pair.text for pair in pairs])
    for source, some in by_set.items():
        for pair in [some[i] for i in rng.permutation(len(some))[: _CAPS[source]]]:
            beside = by_document[source, pair.document]
            others = [(one, said) for one in beside if one != pair for said in _said(one.text)]
            others = [others[i] for i in rng.permutation(len(others))[:_OTHERS]]
            drawn = [some[i] for i in rng.integers(len(some), size=_FOREIGN)]
            foreign = [one for one in drawn if one.document != pair.document]
            others += [(one, str(rng.choice(_said(one.text)))) for one in foreign]
            if len(others) < _WRONG:
                continue
            terms = term_set(pair.question)
            near = [(_near(terms, one, said, weigh), one, said) for one, said in others]
            near.sort(key=lambda entry: -entry[0])
            wrong = [_headed(one, said) for _, one, said in near[:_WRONG]]
            yield Example(pair.question, _headed(pair, _right(pair, reader, rng)), wrong)


def _right(pair: TrainingPair, reader: Reader, rng: np.random.Generator) -> str:
    said = _said(pair.text)[:5]
    if rng.random() < 0.35 and len(pair.text.split()) <= 90:
        return " ".join(pair.text.split())
    read = reader.read(pair.question, [_headed(pair, one) for one in said])
    return said[int(read.argmax())]


def _rarity(texts: Sequence[str]) -> Mapping[str, float]:
    counts = Counter(term for text in texts for term in term_set(text))
    return {term: math.log(len(texts) / count) for term, count in counts.items()}


def _near(
    terms: frozenset[str], pair: TrainingPair, said: str, weigh: Mapping[str, float]
) -> float:
    """Return how much rare vocabulary a statement shares with a question, for its length."""
    shared = terms & term_set(_headed(pair, said))
    return sum(weigh.get(term, 0.0) for term in shared) / (6 + math.sqrt(len(said.split())))


def _headed(pair: TrainingPair, said: str) -> str:
    heading = pair.heading.strip(" .")
    return f"{heading}. {said}" if heading else said


@cache
def _said(text: str) -> list[str]:
    found = [one.text for one in statements_in_text(text) if 3 <= len(one.text.split()) <= 110]
    return found or [text[:500]]


def train(base: Path, examples: Sequence[Example], tokenizer_file: Path) -> bytes:
    """Return the graph with weights that were trained on the examples."""
    import onnx
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    graph = onnx.load(str(base))
    config = BertConfig(hidden_size=_WIDTH, num_hidden_layers=_LAYERS, intermediate_size=4 * _WIDTH)
    config.num_labels = 1
    model = BertForSequenceClassification(config)
    weights = weights_in(graph, {name: w.shape for name, w in model.state_dict().items()})
    model.load_state_dict({name: torch.tensor(w) for name, w in weights.items()})
    frozen = ("embeddings.", *(f"layer.{n}." for n in range(_FROZEN_LAYERS)))
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not any(part in name for part in frozen)
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.enable_truncation(_TOKENS)
    tokenizer.enable_padding()
    batches = _batches(examples)
    parameters = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=_RATE, weight_decay=0.01)

    def rate(step: int) -> float:
        return min(1.0, (step + 1) / _WARM_STEPS) * max(0.05, 1 - step / len(batches))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    model.train()
    begun = time.monotonic()
    for step, batch in enumerate(batches, 1):
        loss = _loss(model, tokenizer, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 20 == 0:
            print(f"{step}/{len(batches)} {float(loss):.3f} {time.monotonic() - begun:.0f} s")
    trained = {name: w.detach().numpy() for name, w in model.named_parameters() if w.requires_grad}
    put_back(graph, trained)
    return bytes(graph.SerializeToString())


def _batches(examples: Sequence[Example]) -> list[list[Example]]:
    """Return batches of examples of about one length, in random order."""
    rng = np.random.default_rng(0)
    shuffled = [examples[i] for i in rng.permutation(len(examples))]
    batches: list[list[Example]] = []
    for start in range(0, len(shuffled), 260):
        some = sorted(shuffled[start : start + 260], key=_longest)
        batches += [some[n : n + _BATCH] for n in range(0, len(some), _BATCH)]
    return [batches[i] for i in rng.permutation(len(batches))]


def _longest(example: Example) -> int:
    return len(example.question) + max(map(len, [example.right, *example.wrong]))


def _loss(model: Any, tokenizer: Any, batch: Sequence[Example]) -> Any:
    """Return the mean loss: that of the order of each question's statements, and of their signs."""
    import torch
    from torch.nn import functional

    pairs = [(one.question, text) for one in batch for text in (one.right, *one.wrong)]
    read = tokenizer.encode_batch(pairs)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(
            input_ids=torch.tensor([one.ids for one in read]),
            attention_mask=torch.tensor([one.attention_mask for one in read]),
            token_type_ids=torch.tensor([one.type_ids for one in read]),
        ).logits
    scores = logits.float().view(len(batch), -1)
    first = torch.zeros(len(batch), dtype=torch.long)
    right = functional.one_hot(first, scores.shape[1]).float()
    order = functional.cross_entropy(scores, first)
    return order + _ABSOLUTE * functional.binary_cross_entropy_with_logits(scores, right)


def weights_in(graph: Any, shapes: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the weights of a graph in single precision, by the names of a torch model."""
    kept = _initializers(graph)
    found: dict[str, Any] = {}
    for name, (stored, turned) in _stored(graph, kept, shapes).items():
        if stored in kept:
            found[name] = kept[stored].copy()
            continue
        zero = kept[f"{stored}_zero_point"].astype(np.float32)
        whole = (kept[f"{stored}_quantized"].astype(np.float32) - zero) * kept[f"{stored}_scale"]
        found[name] = np.ascontiguousarray(whole.T if turned else whole)
    return found


def put_back(graph: Any, weights: Mapping[str, Any]) -> None:
    """Write weights into a graph, a signed byte each where they had one."""
    kept = _initializers(graph)
    shapes = {name: w.shape for name, w in weights.items()}
    changed: dict[str, Any] = {}
    for name, (stored, turned) in _stored(graph, kept, shapes).items():
        weight = weights[name].T if turned else weights[name]
        if stored in kept:
            changed[stored] = weight
            continue
        scale = max(float(np.abs(weight).max()) / 127, 1e-12)
        changed[f"{stored}_quantized"] = np.rint(weight / scale)
        changed[f"{stored}_scale"] = np.array(scale)
        changed[f"{stored}_zero_point"] = np.array(0)
    for one in graph.graph.initializer:
        if one.name in changed:
            made = np.ascontiguousarray(changed[one.name].astype(kept[one.name].dtype))
            one.ClearField("float_data")
            one.ClearField("int32_data")
            one.raw_data = made.reshape(kept[one.name].shape).tobytes()


def _initializers(graph: Any) -> dict[str, Any]:
    from onnx import numpy_helper

    return {one.name: numpy_helper.to_array(one) for one in graph.graph.initializer}


def _stored(
    graph: Any, kept: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> dict[str, tuple[str, bool]]:
    """Return by its name in torch how each weight is called in the graph, and whether turned."""
    found = {name: (name, False) for name in shapes if name in kept or f"{name}_quantized" in kept}
    for node in graph.graph.node:
        if node.op_type == "MatMulInteger":
            name = node.name.strip("/").rpartition("/")[0].replace("/", ".") + ".weight"
            found[name] = node.input[1].removesuffix("_quantized"), True
    return {name: place for name, place in found.items() if name in shapes}
