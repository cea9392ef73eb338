"""Joining of a Ray cluster, and leaving it."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from lexloop.core.errors import ClusterError, need_extra

_REACHED_S = 10.0
_START = (
    "Start one with `ray start --head`, and give its address: auto, HOST:PORT or ray://HOST:PORT."
)


@contextmanager
def joined(address: str) -> Iterator[None]:
    """Be the driver of a cluster inside.

    Args:
        address: ``auto`` for the cluster that this machine belongs to, ``HOST:PORT`` of a head, or
            ``ray://HOST:PORT`` of one that this machine is no part of.

    Raises:
        InputError: Ray is not installed.
        ClusterError: No cluster answers there, or it runs another version of Ray or Python.
    """
    need_extra("ray", "ray", "fsspec")
    if address != "auto":
        _check_reachable(address)
    # Ray would try for several minutes
    os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise ClusterError(f"The cluster {address} cannot be joined: {said[0]}", _START) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ClusterError(f"{address!r} is no address of a cluster.", _START)
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACHED_S).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"No cluster answers at {address}: {error}.", _START) from error
