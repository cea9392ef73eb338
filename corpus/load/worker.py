"""The process that parses untrusted files: ``python -P -m lexloop.corpus.load.worker BYTES``.

Reads requests from standard input and answers on standard output, as frames.py says. A file that
crashes the parser, or takes too much, ends this process and no other.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Limits, Part
from lexloop.corpus.load.formats import read_bytes
from lexloop.corpus.load.frames import Frame, encode, to_frame
from lexloop.corpus.load.opening import read_file

OUT_OF_MEMORY = 71
"""Exit code of a worker that ran into its memory limit."""
_GRACE = 5.0
_WORN = 0.25
"""The share of its memory a worker may once have used and still be given another file."""


def main() -> None:
    """Answer requests until there are no more."""
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # whatever a library prints must not get between the frames
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        try:
            for line in sys.stdin.buffer:
                _answer(json.loads(line), out)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)


def _answer(request: Frame, out: BinaryIO) -> None:
    limits = Limits(**request["limits"])
    for frame in _frames(request, limits):
        out.write(encode(frame))
        if "part" in frame:
            out.flush()
    signal.setitimer(signal.ITIMER_REAL, 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    out.write(encode({"end": peak < _WORN * limits.memory}))
    out.flush()


def _set_alarm(limits: Limits) -> None:
    """End this process even where nobody is left to do it."""
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + _GRACE)


def _frames(request: Frame, limits: Limits) -> Iterator[Frame]:
    _set_alarm(limits)
    try:
        data = read_file(Path(request["path"]), request["sha256"], limits)
        for found in read_bytes(data, request["name"], limits, request["start"]):
            if isinstance(found, Part):
                _set_alarm(limits)
            yield to_frame(found)
    except CorpusError as error:
        yield {"failed": error.what}


if __name__ == "__main__":
    main()
