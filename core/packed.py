"""A state key that checkpoints hold compressed, since each of them repeats the whole state."""

import zlib
from typing import Any, Self

from langgraph.channels import LastValue
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_SERDE = JsonPlusSerializer()


class Packed(LastValue[Any]):
    """The last value of a key: plain data."""

    def checkpoint(self) -> Any:
        """Return the value as it is kept; what is empty stays as it is."""
        if not self.is_available() or not self.value:
            return super().checkpoint()
        return zlib.compress(_SERDE.dumps_typed(self.value)[1])

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return the key with a value that was kept; threads of earlier versions keep it plain."""
        if isinstance(checkpoint, bytes):
            checkpoint = _SERDE.loads_typed(("msgpack", zlib.decompress(checkpoint)))
        return super().from_checkpoint(checkpoint)
