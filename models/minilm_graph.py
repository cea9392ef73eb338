"""The BERT encoder of all-MiniLM-L6-v2, with mean pooling and normalisation, as an ONNX graph."""

from typing import Any

from lexloop.models.embedding import Vectors

VECTORS, STATES, PROJECTED = "vectors", "states", "projected"
_LAYERS, _HEADS, _WIDTH, _EPSILON = 6, 12, 384, 1e-12


def build_graph(
    tensors: dict[str, Any], data_start: int, file_name: str, projection: Vectors
) -> bytes:
    """Serialise the graph; its weights stay in the safetensors file.

    Args:
        tensors: The safetensors table: name -> dtype, shape and data_offsets.
        data_start: Offset in bytes of the tensors' data in the file.
        file_name: The file's name, without folder.
        projection: What token states are multiplied with, shape (384, fewer).

    Returns:
        A model with inputs ``tokens`` int64 (n, width) and ``mask`` float (n, width) and three
        outputs: ``vectors``, which are unit vectors, float (n, 384), and the tokens' ``states``,
        float (n, width, 384), and what the projection makes of them, ``projected``.

    Raises:
        KeyError: A weight is missing from the table.
        ValueError: A weight is not float32.
    """
    return _GraphWriter(tensors, data_start, file_name).model(projection)


class _GraphWriter:
    """Collects nodes and initialisers; each method appends one block and names its output."""

    def __init__(self, tensors: dict[str, Any], data_start: int, file_name: str) -> None:
        from onnx import TensorProto, helper

        self._helper, self._types = helper, TensorProto
        self._tensors, self._data_start, self._file_name = tensors, data_start, file_name
        self._nodes: list[Any] = []
        self._initializers: list[Any] = []
        self._known: set[str] = set()

    def model(self, projection: Vectors) -> bytes:
        hidden = self._embeddings()
        bias = self._mask_bias()
        for layer in range(_LAYERS):
            hidden = self._encoder_layer(f"encoder.layer.{layer}", hidden, bias)
        self._pool(self._node("Identity", [hidden], STATES))
        # here and not in numpy, whose threads would wait for work and keep processors from this
        width = projection.shape[1]
        self._initializers.append(
            self._helper.make_tensor(
                "projection", self._types.FLOAT, projection.shape, projection.tobytes(), raw=True
            )
        )
        self._node("MatMul", [STATES, "projection"], PROJECTED)
        make, kinds = self._helper.make_tensor_value_info, self._types
        graph = self._helper.make_graph(
            self._nodes,
            "minilm",
            [
                make("tokens", kinds.INT64, ["n", "width"]),
                make("mask", kinds.FLOAT, ["n", "width"]),
            ],
            [
                make(VECTORS, kinds.FLOAT, ["n", _WIDTH]),
                make(STATES, kinds.FLOAT, ["n", "width", _WIDTH]),
                make(PROJECTED, kinds.FLOAT, ["n", "width", width]),
            ],
            self._initializers,
        )
        model = self._helper.make_model(
            graph, opset_imports=[self._helper.make_opsetid("", 20)], ir_version=9
        )
        serialised: bytes = model.SerializeToString()
        return serialised

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(self._helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _weight(self, name: str) -> str:
        if name in self._known:
            return name
        entry = self._tensors[name]
        if entry["dtype"] != "F32":
            raise ValueError(f"{name} is {entry['dtype']}, not F32")
        begin, end = entry["data_offsets"]
        tensor = self._types(name=name, data_type=self._types.FLOAT, dims=entry["shape"])
        tensor.data_location = self._types.EXTERNAL
        place = {
            "location": self._file_name,
            "offset": self._data_start + begin,
            "length": end - begin,
        }
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._initializers.append(tensor)
        self._known.add(name)
        return name

    def _constant(self, name: str, values: list[float] | list[int]) -> str:
        if name not in self._known:
            kind = self._types.INT64 if isinstance(values[0], int) else self._types.FLOAT
            self._initializers.append(self._helper.make_tensor(name, kind, [len(values)], values))
            self._known.add(name)
        return name

    def _linear(self, prefix: str, hidden: str) -> str:
        turned = self._node(
            "Transpose", [self._weight(f"{prefix}.weight")], f"{prefix}.turned", perm=[1, 0]
        )
        product = self._node("MatMul", [hidden, turned], f"{prefix}.product")
        return self._node("Add", [product, self._weight(f"{prefix}.bias")], f"{prefix}.out")

    def _layer_norm(self, prefix: str, hidden: str) -> str:
        inputs = [hidden, self._weight(f"{prefix}.weight"), self._weight(f"{prefix}.bias")]
        return self._node("LayerNormalization", inputs, f"{prefix}.out", axis=-1, epsilon=_EPSILON)

    def _embeddings(self) -> str:
        prefix = "embeddings"
        words = self._node(
            "Gather", [self._weight(f"{prefix}.word_embeddings.weight"), "tokens"], "words"
        )
        self._node("Shape", ["tokens"], "width", start=1, end=2)
        positions = self._node(
            "Slice",
            [
                self._weight(f"{prefix}.position_embeddings.weight"),
                self._constant("zero", [0]),
                "width",
            ],
            "positions",
        )
        kind = self._node(
            "Slice",
            [
                self._weight(f"{prefix}.token_type_embeddings.weight"),
                "zero",
                self._constant("one", [1]),
            ],
            "kind",
        )
        placed = self._node("Add", [words, positions], "placed")
        return self._layer_norm(f"{prefix}.LayerNorm", self._node("Add", [placed, kind], "typed"))

    def _mask_bias(self) -> str:
        """Zero where a token stands, a large negative number where padding does."""
        self._node("Sub", ["mask", self._constant("unit", [1.0])], "padding")
        scaled = self._node("Mul", ["padding", self._constant("huge", [1e9])], "scaled")
        return self._node("Unsqueeze", [scaled, self._constant("axes", [1, 2])], "bias")

    def _heads(self, prefix: str, hidden: str, perm: list[int]) -> str:
        size = _WIDTH // _HEADS
        split = self._node(
            "Reshape",
            [self._linear(prefix, hidden), self._constant("split", [0, 0, _HEADS, size])],
            f"{prefix}.split",
        )
        return self._node("Transpose", [split], f"{prefix}.heads", perm=perm)

    def _encoder_layer(self, prefix: str, hidden: str, bias: str) -> str:
        attention = f"{prefix}.attention"
        query = self._heads(f"{attention}.self.query", hidden, [0, 2, 1, 3])
        key = self._heads(f"{attention}.self.key", hidden, [0, 2, 3, 1])
        value = self._heads(f"{attention}.self.value", hidden, [0, 2, 1, 3])
        product = self._node("MatMul", [query, key], f"{prefix}.product")
        scale = self._constant("scale", [(_WIDTH // _HEADS) ** -0.5])
        scores = self._node("Mul", [product, scale], f"{prefix}.scores")
        masked = self._node("Add", [scores, bias], f"{prefix}.masked")
        weights = self._node("Softmax", [masked], f"{prefix}.weights", axis=-1)
        mixed = self._node("MatMul", [weights, value], f"{prefix}.mixed")
        joined = self._node("Transpose", [mixed], f"{prefix}.joined", perm=[0, 2, 1, 3])
        context = self._node(
            "Reshape", [joined, self._constant("join", [0, 0, _WIDTH])], f"{prefix}.context"
        )
        attended = self._linear(f"{attention}.output.dense", context)
        summed = self._node("Add", [attended, hidden], f"{prefix}.attended")
        hidden = self._layer_norm(f"{attention}.output.LayerNorm", summed)
        wide = self._linear(f"{prefix}.intermediate.dense", hidden)
        active = self._node("Gelu", [wide], f"{prefix}.active")
        narrow = self._linear(f"{prefix}.output.dense", active)
        summed = self._node("Add", [narrow, hidden], f"{prefix}.summed")
        return self._layer_norm(f"{prefix}.output.LayerNorm", summed)

    def _pool(self, hidden: str) -> None:
        """The mean over the tokens, as a unit vector."""
        weights = self._node("Unsqueeze", ["mask", self._constant("last", [2])], "token_weights")
        kept = self._node("Mul", [hidden, weights], "kept")
        total = self._node("ReduceSum", [kept, "one"], "total", keepdims=0)
        self._node("LpNormalization", [total], VECTORS, axis=-1, p=2)
