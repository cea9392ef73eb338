"""What a list of models says of a model's window."""

from types import SimpleNamespace
from typing import Any

import pytest

from lexloop.models.window import told_window


def listed(*models: tuple[str, dict[str, Any] | None]) -> Any:
    return SimpleNamespace(data=[SimpleNamespace(id=n, model_extra=extra) for n, extra in models])


@pytest.mark.parametrize(
    ("found", "window"),
    [
        (listed(("m", {"max_model_len": 8192})), 8192),
        (listed(("other", {"n_ctx": 1}), ("m", {"context_length": 32768})), 32768),
        (listed(("m", {"meta": {"n_ctx": 4096}})), 4096),
        (listed(("m", {"max_model_len": "8192"})), None),
        (listed(("m", {"max_model_len": -1, "n_ctx": 0})), None),
        (listed(("m", {"meta": [4096]})), None),
        (listed(("m", None)), None),
        (listed(("other", {"n_ctx": 4096})), None),
        (SimpleNamespace(data="<html>"), None),
        ("<html>", None),
        (None, None),
    ],
)
def test_what_is_told_of_it(found: Any, window: int | None) -> None:
    assert told_window(found, "m") == window
