"""``lexloop finetune generator``: two LoRA adapters, merged into one model of text."""

from lexloop.apps.cli.edge import reported


def generator() -> None:
    """Train a model that writes answers: two LoRA adapters, merged."""
    with reported():
        raise NotImplementedError
