"""One contestant of latency.py in a process of its own, so that its memory is its own.

Reads one JSON object a line: ``{"question": ...}`` is answered with the milliseconds from the
question to the ten texts and with their ids, ``{"known": [questions]}`` embeds questions ahead, so
that only searching is left to measure, and ``{}`` asks for the resident memory.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from _contest import Contestant, QuestionEmbedder
from _mixture import Chunks


def contestant(name: str, corpus: Path, embedder: QuestionEmbedder) -> Contestant:
    """The contestant of that name, with the corpus indexed."""
    if name == "lexloop":
        from _ours import Ours

        return Ours(corpus, embedder)
    from _peers import PEERS

    return PEERS[name](Chunks.load(corpus), embedder)


def resident_mb() -> float:
    """Resident memory of this process, files mapped into it included, in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    """Index the corpus, say so, and answer line by line."""
    name, corpus = sys.argv[1], Path(sys.argv[2])
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no reply
    embedder = QuestionEmbedder()
    began = time.perf_counter()
    entered = contestant(name, corpus, embedder)
    reply: dict[str, Any] = {"ready_s": round(time.perf_counter() - began, 1)}
    while True:
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
        line = sys.stdin.readline()
        if not line:
            return
        asked = json.loads(line)
        if "known" in asked:
            embedder.know(asked["known"])
            reply = {}
        elif "question" in asked:
            began = time.perf_counter()
            found = entered.search(asked["question"])
            took = 1000 * (time.perf_counter() - began)
            reply = {"ms": took, "ids": [chunk_id for chunk_id, _ in found]}
        else:
            reply = {"resident_mb": round(resident_mb())}


if __name__ == "__main__":
    main()
