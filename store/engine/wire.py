"""JSON to and from an engine: by orjson, and what that refuses by the client's own serializer."""

from typing import Any

import orjson
from opensearchpy.serializer import JSONSerializer


class FastJSON(JSONSerializer):
    """The client's serializer, with orjson where that can; arrays of float32 take half the room."""

    def loads(self, s: str) -> Any:
        """Return what a text of JSON says; lone surrogates are read too."""
        try:
            return orjson.loads(s)
        except orjson.JSONDecodeError:
            return super().loads(s)  # type: ignore[no-untyped-call,unused-ignore]

    def dumps(self, data: Any) -> str:
        """Return something as JSON; a text is returned as it is."""
        if isinstance(data, str):
            return data
        try:
            return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY).decode()
        except TypeError:  # lone surrogates, which it does not write
            return str(super().dumps(data))
