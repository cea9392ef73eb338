"""Does with its own checkout's code what ``_law_timing.py`` says, line by line, and tells the time.

``{"index": CORPUS, "out": INDEX}`` indexes; ``{"ask": QUESTION, "corpus": INDEX}`` asks. Only what
every checkout has is imported, and nothing of this folder.
"""

import json
import sys
import time
from pathlib import Path

from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_shipped
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.writer import write_index


def main() -> None:
    """Do each line's bidding until there are no more."""
    minilm = load_shipped()
    minilm.embed(["The first call prepares what later ones find ready."])
    graph = build_graph(Resources(Connection()))
    for line in sys.stdin:
        wanted = json.loads(line)
        began = time.perf_counter()
        if "index" in wanted:
            tools = tools_for(Settings(), minilm)
            write_index(Path(wanted["out"]), [IndexSource(wanted["index"])], tools)
        else:
            graph.invoke({"question": wanted["ask"]}, context=Settings(corpus=wanted["corpus"]))
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
