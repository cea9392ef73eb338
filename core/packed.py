"""A state key that checkpoints hold compressed, since each of them repeats the whole state."""

import json
import zlib
from typing import Any, Self

from langgraph.channels import LastValue


class Packed(LastValue[Any]):
    """The last value of a key: plain data.

    It is kept as JSON, which can hold nothing else, whatever the checkpointer's serializer allows.
    """

    def checkpoint(self) -> Any:
        """Return the value as it is kept; what is empty stays as it is."""
        if not self.is_available() or not self.value:
            return super().checkpoint()
        return zlib.compress(json.dumps(self.value, separators=(",", ":")).encode(), 9)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return the key with a value that was kept; threads of earlier versions keep it plain."""
        if isinstance(checkpoint, bytes):
            checkpoint = json.loads(zlib.decompress(checkpoint))
        return super().from_checkpoint(checkpoint)
