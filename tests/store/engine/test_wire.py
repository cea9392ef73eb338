"""JSON goes to an engine and comes back as it was, whatever texts hold."""

import json

import numpy as np
import pytest

from lexloop.store.engine.wire import FastJSON


@pytest.mark.parametrize("text", ["Ä § \u2028", "\ud800 alone", '{"not": "read"'])
def test_what_is_written_is_read_again(text: str) -> None:
    wire = FastJSON()
    assert wire.loads(wire.dumps({"text": [text]})) == {"text": [text]}


def test_a_text_is_sent_as_it_is() -> None:
    assert FastJSON().dumps('{"index": {}}\n') == '{"index": {}}\n'


def test_vectors_are_written_in_their_own_precision() -> None:
    vector = np.array([0.1, -0.25, 1e-4], dtype=np.float32)
    written = FastJSON().dumps({"vector": vector})
    assert written == '{"vector":[0.1,-0.25,0.0001]}'
    assert np.array_equal(np.array(json.loads(written)["vector"], dtype=np.float32), vector)


def test_lone_surrogates_that_an_engine_escapes_are_read() -> None:
    assert FastJSON().loads('{"a": "\\ud800"}') == {"a": "\ud800"}
