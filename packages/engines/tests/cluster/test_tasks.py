"""Joining of clusters that are not there, and of one that this machine is no part of."""

import socket

import pytest

from lexloop.core.errors import ClusterError, InputError
from lexloop_engines.cluster.tasks import joined


@pytest.mark.parametrize("address", ["ray://", "ray://:20"])
def test_what_is_no_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClusterError, match="is no address of a cluster"), joined(address):
        pass
    monkeypatch.setattr("lexloop.core.packages.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r'pip install "lexloop-engines\[ray\]"'), joined(address):
        pass


@pytest.mark.parametrize("kind", ["", "ray://"])
def test_a_cluster_that_is_not_there(kind: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"{kind}127.0.0.1:{free.getsockname()[1]}"
        said = f"No cluster answers at {address}: "
        with pytest.raises(ClusterError, match=said) as refused, joined(address):
            pass
    assert "ray start --head" in refused.value.hint


def test_a_head_that_could_not_start_a_process_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")
    asked: list[str] = []

    def refused(address: str, **_: object) -> None:
        asked.append(address)
        if len(asked) != 3:  # the third time it joins
            raise ConnectionAbortedError(
                "Initialization failure:\nTraceback\nRuntimeError: it died"
            )

    monkeypatch.setattr(ray, "init", refused)
    monkeypatch.setattr("lexloop_engines.cluster.tasks._check_reachable", lambda _: None)
    with joined("ray://127.0.0.1:9"):
        assert len(asked) == 3
    said = "cannot be joined: Initialization failure: RuntimeError: it died"
    with pytest.raises(ClusterError, match=said), joined("ray://127.0.0.1:9"):
        pass
    assert len(asked) == 6
