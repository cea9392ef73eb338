"""The graph that ships without its weights."""

from importlib import resources

from lexloop.finetune.encoder_graph import encoder_graph
from lexloop.models.minilm import GRAPH, genuine_folder


def test_the_shipped_graph_is_the_one_that_the_command_writes() -> None:
    shipped = resources.files("lexloop.data") / "embedder" / GRAPH
    assert shipped.read_bytes() == encoder_graph(genuine_folder() / "model.safetensors")
