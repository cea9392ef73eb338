"""A Ray cluster on loopback: a head that runs no task, and nodes with a processor each."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# before Ray is imported: it tells nobody, and takes loopback for what other machines reach it by
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_TMPDIR": "/tmp",  # the path of a Unix socket has to be short
    "RAY_DEDUP_LOGS": "0",
    # of gRPC's own handlers the process that the head forks for a driver from elsewhere may die
    "GRPC_ENABLE_FORK_SUPPORT": "0",
    # the process of the tests outlasts the cluster that it was the driver of
    "RAY_gcs_rpc_server_reconnect_timeout_s": "3600",
}
_MEMORY = 100 << 20

os.environ.update(QUIET)


@contextmanager
def running(nodes: int = 2, client_port: int | None = None) -> Iterator[Any]:
    """A cluster, whose ``address`` a driver joins; its processes end with the context.

    At ``ray://127.0.0.1:CLIENT_PORT`` drivers of other machines join it.
    """
    from ray.cluster_utils import Cluster

    small = {"node_ip_address": "127.0.0.1", "object_store_memory": _MEMORY}
    head = {**small, "num_cpus": 0, "include_dashboard": False}
    if client_port:
        head["ray_client_server_port"] = client_port
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves files of its log open
        cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes):
            cluster.add_node(num_cpus=1, **small)
        yield cluster
    finally:
        cluster.shutdown()
