"""What Lexloop asks of a cluster that prepares files."""

from lexloop_engines.cluster.ingesting import expected, ingest
from lexloop_engines.clustered import on_cluster

__all__ = ["expected", "ingest", "on_cluster"]
