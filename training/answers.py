"""Trains the reader's second output: whether a statement answers, and not only how near it is.

    python -m training.answers DATA --out data/reader

The reader's own output orders texts, and is high for many texts that are near but do not answer.
The second output is three layers that read the states after the reader's ninth layer, only for the
first token, so it costs next to nothing. They start as the reader's last three. DATA has the sets
that ``training.answer_pairs`` draws from. The reader's own output stays the same, byte for byte.

It prints, by set, AUROC on questions that were left out: of the reader's own layers, before, and
after each round.
"""

import argparse
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import replacing
from lexloop.models.minilm import TOKENIZER, genuine_folder
from lexloop_train.encoder_graph import in_bytes
from training.answer_pairs import Draw, Pair

ANSWERS, PREFIX = "answers", "answers/"
_STATES = "/bert/encoder/layer.8/output/LayerNorm/Add_1_output_0"
_LAYERS = (9, 10, 11)
_WIDTH, _HEADS = 384, 12
_LONGEST, _TOKENS = 160, 64
"""The most tokens of a pair, and of a pair that is trained on."""
_ROUNDS, _BATCH, _CHUNK, _RATE, _WARM, _BALANCE = 2, 32, 16, 5e-5, 200, 0.75
_LEFT_OUT = 20
"""One question in so many is left out of the training."""
_LEAST = 1 << 12
Floats = NDArray[np.float32]


def main() -> None:
    """Train and write the reader with both outputs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    reader = bare(arguments.out / "model.onnx")
    pairs = [*Draw(arguments.data).pairs()]
    states = states_of(reader, pairs)
    with replacing(arguments.out / "model.onnx") as file:
        file.write(joined(reader, trained(head_of(reader), pairs, states)))


def bare(path: Path) -> Any:
    """Return the reader's graph without the second output."""
    import onnx

    model = onnx.load(path)
    for nodes in (model.graph.node, model.graph.initializer, model.graph.output):
        others = [node for node in nodes if not _is_ours(node)]
        del nodes[:]
        nodes.extend(others)
    return model


def _is_ours(node: Any) -> bool:
    return bool(node.name == ANSWERS or node.name.startswith(PREFIX))


def states_of(reader: Any, pairs: Sequence[Pair]) -> list[NDArray[np.float16]]:
    """Return the states of each pair that the second output reads, shape (tokens, 384)."""
    import onnx
    import onnxruntime
    from tokenizers import Tokenizer

    model = onnx.ModelProto()
    model.CopyFrom(reader)
    model.graph.output.append(onnx.helper.make_tensor_value_info(_STATES, 1, None))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    tokenizer = Tokenizer.from_file(str(genuine_folder() / TOKENIZER))
    tokenizer.enable_truncation(_LONGEST)
    tokenizer.no_padding()
    all_states: list[NDArray[np.float16]] = []
    for pair in pairs:
        encoded = tokenizer.encode(pair.question, pair.statement)
        fed = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        arrays = {name: np.array([row], dtype=np.int64) for name, row in fed.items()}
        states = session.run([_STATES], arrays)[0][0] if len(encoded.ids) <= _TOKENS else []
        all_states.append(np.asarray(states, dtype=np.float16).reshape(-1, _WIDTH))
    return all_states


def head_of(reader: Any) -> Any:
    """Return the layers behind the second output as a torch module, starting as the reader's own.

    It takes states, shape (pairs, tokens, 384), and an offset for the attention of each token,
    shape (pairs, tokens), and returns a log-odd for each pair.
    """
    from torch import nn

    weights = _weights(reader)

    class Layer(nn.Module):
        """A layer of the reader, only for the first token."""

        def __init__(self, number: int) -> None:
            super().__init__()
            at = f"encoder.layer.{number}"
            own = f"{at}.attention.self"
            self.query, self.key, self.value = (
                _linear(weights, f"{own}.{name}") for name in ("query", "key", "value")
            )
            self.mixed = _linear(weights, f"{at}.attention.output.dense")
            self.first = _norm(weights, f"{at}.attention.output.LayerNorm")
            self.wide = _linear(weights, f"{at}.intermediate.dense")
            self.narrow = _linear(weights, f"{at}.output.dense")
            self.second = _norm(weights, f"{at}.output.LayerNorm")
            self.drop = nn.Dropout(0.1)

        def forward(self, first: Any, states: Any, added: Any) -> Any:
            """Return the first token's next state, shape (pairs, 384)."""
            split = (states.shape[0], -1, _HEADS, _WIDTH // _HEADS)
            query = self.query(first).view(split).transpose(1, 2)
            key = self.key(states).view(split).permute(0, 2, 3, 1)
            value = self.value(states).view(split).transpose(1, 2)
            shares = (query @ key) / (_WIDTH // _HEADS) ** 0.5 + added[:, None, None]
            mixed = self.drop(shares.softmax(-1)) @ value
            mixed = self.mixed(mixed.transpose(1, 2).reshape(-1, _WIDTH))
            first = self.first(first + self.drop(mixed))
            wide = nn.functional.gelu(self.wide(first))
            return self.second(first + self.drop(self.narrow(wide)))

    class Head(nn.Module):
        """The layers and what makes one number of the first token's last state."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(Layer(number) for number in _LAYERS)
            self.pooler = _linear(weights, "pooler.dense")
            self.classifier = _linear(weights, "classifier")

        def forward(self, states: Any, added: Any) -> Any:
            """Return a log-odd for each pair."""
            first = states[:, 0]
            for layer in self.layers:
                first = layer(first, states, added)
            return self.classifier(self.pooler(first).tanh())[:, 0]

    return Head()


def _weights(reader: Any) -> dict[str, Floats]:
    """Return the reader's weights by their names, matrices as (inputs, outputs)."""
    from onnx.numpy_helper import to_array

    tensors = {tensor.name: to_array(tensor) for tensor in reader.graph.initializer}
    weights = {
        name.removeprefix("bert."): value.astype(np.float32)
        for name, value in tensors.items()
        if value.dtype == np.float32
    }
    for node in reader.graph.node:
        codes = node.input[1] if node.op_type == "MatMulInteger" else ""
        if codes:
            name = codes.removesuffix("_quantized")
            matrix = tensors[codes].astype(np.float32) - tensors[f"{name}_zero_point"].astype(
                np.float32
            )
            at = node.output[0].partition("/MatMul_output")[0].removeprefix("/bert/")
            at = name.removeprefix("bert.").removesuffix(".weight") if ".weight" in name else at
            weights[f"{at.replace('/', '.')}.weight"] = matrix * tensors[f"{name}_scale"]
    return weights


def _linear(weights: Mapping[str, Floats], name: str) -> Any:
    import torch

    matrix = weights[f"{name}.weight"]
    layer = torch.nn.Linear(*matrix.shape)
    layer.weight.data = torch.tensor(matrix.T.copy())
    layer.bias.data = torch.tensor(weights[f"{name}.bias"].copy())
    return layer


def _norm(weights: Mapping[str, Floats], name: str) -> Any:
    import torch

    layer = torch.nn.LayerNorm(_WIDTH, eps=1e-12)
    layer.weight.data = torch.tensor(weights[f"{name}.weight"].copy())
    layer.bias.data = torch.tensor(weights[f"{name}.bias"].copy())
    return layer


def trained(head: Any, pairs: Sequence[Pair], states: Sequence[NDArray[np.float16]]) -> Any:
    """Return a head trained on the pairs of all questions except those left out."""
    import torch

    torch.manual_seed(0)
    short = np.array([len(state) > 0 for state in states])
    apart = np.array([zlib.crc32(pair.question.encode()) % _LEFT_OUT == 0 for pair in pairs])
    training, held_out = np.where(short & ~apart)[0], np.where(short & apart)[0]
    labels = np.array([pair.answers for pair in pairs], dtype=np.float32)
    counts = _counts([pairs[place] for place in training])
    weights = dict(zip(training.tolist(), counts.tolist(), strict=True))
    _tell("before", head, pairs, states, held_out)
    optimizer = torch.optim.AdamW(head.parameters(), lr=_RATE, weight_decay=0.01)
    steps, step = _ROUNDS * len(training) // _BATCH, 0
    rng = np.random.default_rng(0)
    for number in range(_ROUNDS):
        for batch in _batches(rng, training, states):
            head.train()
            for group in optimizer.param_groups:
                group["lr"] = _RATE * min(1, step / _WARM) * max(0.02, 1 - step / steps)
            loss: Any = torch.nn.functional.binary_cross_entropy_with_logits(
                head(*_padded([states[place] for place in batch])),
                torch.tensor(labels[batch]),
                weight=torch.tensor([weights[place] for place in batch.tolist()]),
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            step += 1
        _tell(f"round {number + 1}", head, pairs, states, held_out)
    return head.eval()


def _counts(pairs: Sequence[Pair]) -> Floats:
    """Return how much each pair counts: both sides of a set the same, large sets less a pair."""
    sources = np.array([pair.source for pair in pairs])
    answers = np.array([pair.answers for pair in pairs])
    counts = np.zeros(len(pairs), dtype=np.float32)
    for source in dict.fromkeys(sources.tolist()):
        of_source = sources == source
        for side in (False, True):
            if (both := of_source & (answers == side)).any():
                counts[both] = of_source.sum() ** _BALANCE / both.sum()
    return np.asarray(counts / counts.mean(), dtype=np.float32)


def _batches(
    rng: np.random.Generator, places: NDArray[np.int64], states: Sequence[Any]
) -> Iterator[NDArray[np.int64]]:
    """Yield batches in a random order, each of pairs of about one length."""
    shuffled, size = rng.permutation(places), _BATCH * _CHUNK
    for begin in range(0, len(shuffled) - size, size):
        chunk = shuffled[begin : begin + size]
        chunk = chunk[np.argsort([len(states[place]) for place in chunk])]
        for number in rng.permutation(_CHUNK):
            yield chunk[number * _BATCH : (number + 1) * _BATCH]


def _padded(rows: Sequence[NDArray[np.float16]]) -> tuple[Any, Any]:
    import torch

    width = max(map(len, rows))
    states = np.zeros((len(rows), width, _WIDTH), dtype=np.float32)
    added = np.full((len(rows), width), -1e4, dtype=np.float32)
    for place, row in enumerate(rows):
        states[place, : len(row)], added[place, : len(row)] = row, 0
    return torch.tensor(states), torch.tensor(added)


def _tell(
    when: str, head: Any, pairs: Sequence[Pair], states: Sequence[Any], held_out: Any
) -> None:
    import torch
    from sklearn.metrics import roc_auc_score

    head.eval()
    with torch.no_grad():
        scores = np.array([head(*_padded([states[place]])).item() for place in held_out])
    labels = np.array([pairs[place].answers for place in held_out])
    sources = np.array([pairs[place].source for place in held_out])
    figures = []
    for source in dict.fromkeys(sources.tolist()):
        of_source = sources == source
        if 0 < labels[of_source].sum() < of_source.sum():
            figures.append(f"{source} {roc_auc_score(labels[of_source], scores[of_source]):.3f}")
    print(f"{when}: {', '.join(figures)}", flush=True)


def joined(reader: Any, head: Any) -> bytes:
    """Return the reader's file with the head behind it; each matrix of the head a byte a weight."""
    import onnx
    import torch

    with TemporaryDirectory() as folder:
        path = Path(folder) / "head.onnx"
        torch.onnx.export(
            head.eval(),
            (torch.zeros(1, 5, _WIDTH), torch.zeros(1, 5)),
            path,
            input_names=["states", "added"],
            output_names=["answers"],
            dynamic_axes={"states": {0: "n", 1: "t"}, "added": {0: "n", 1: "t"}},
            opset_version=reader.opset_import[0].version,
            dynamo=False,
        )
        return _with(reader, onnx.compose.add_prefix(onnx.load(path), PREFIX).graph)


def _with(reader: Any, graph: Any) -> bytes:
    import onnx
    from onnx.numpy_helper import from_array, to_array

    make, float_type = onnx.helper.make_node, onnx.TensorProto.FLOAT
    model = onnx.ModelProto()
    model.CopyFrom(reader)
    for tensor in graph.initializer:
        values = to_array(tensor)
        if values.size < _LEAST:
            model.graph.initializer.append(tensor)
            continue
        codes, scales = in_bytes(values)
        name = tensor.name
        model.graph.initializer.append(from_array(codes, f"{name}.codes"))
        model.graph.initializer.append(from_array(scales, f"{name}.scales"))
        wide = f"{name}.wide"
        model.graph.node.append(
            make("Cast", [f"{name}.codes"], [wide], f"{wide}.cast", to=float_type)
        )
        model.graph.node.append(make("Mul", [wide, f"{name}.scales"], [name], f"{name}.whole"))
    # pairs are read one at a time, so no token is padding
    size, zero = f"{PREFIX}size", f"{PREFIX}zero"
    model.graph.node.append(make("Shape", ["input_ids"], [size], size))
    constant = from_array(np.zeros(1, dtype=np.float32))
    model.graph.node.append(make("ConstantOfShape", [size], [zero], zero, value=constant))
    renamed = {f"{PREFIX}states": _STATES, f"{PREFIX}added": zero, f"{PREFIX}answers": ANSWERS}
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.output[:] = [renamed.get(name, name) for name in node.output]
    model.graph.node.extend(graph.node)
    model.graph.output.append(onnx.helper.make_tensor_value_info(ANSWERS, float_type, [None]))
    onnx.checker.check_model(model)
    text: bytes = model.SerializeToString()
    return text


if __name__ == "__main__":
    main()
