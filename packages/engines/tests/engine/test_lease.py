"""Who may write an index of an engine, where the clocks of machines differ."""

import time

import pytest
from fake_engine import FakeEngine

from lexloop.core.errors import IndexWriteError
from lexloop.store.address import Address
from lexloop_engines.engine.client import Engine
from lexloop_engines.engine.generation import Lease


@pytest.mark.parametrize(("left", "taken"), [(-1.0, True), (50.0, False), (3e8, True)])
def test_a_lease_for_longer_than_there_are_locks_nobody_out(left: float, taken: bool) -> None:
    """One for ten years was taken by a machine whose clock was ahead."""
    held = {"who": "another:1:0", "until": time.time() + left}
    found = {"found": True, "_source": held, "_seq_no": 4, "_primary_term": 2}
    with FakeEngine() as fake:
        fake.answers |= {
            "/lexloop-laws.meta": (200, {"lexloop-laws.meta": {}}),
            "/lexloop-laws.meta/_doc/lease": (200, found),
        }
        engine = Engine(Address.parse(f"{fake.base}/laws"), {})
        if not taken:
            with pytest.raises(IndexWriteError, match="another:1:0 is writing the index"):
                Lease(engine)
            return
        Lease(engine).end()
        writes = [path for method, path, _ in fake.requests if method == "PUT"]
        assert len(writes) == 1
        assert "if_seq_no=4" in writes[0]  # a writer that lives is not overwritten unseen
