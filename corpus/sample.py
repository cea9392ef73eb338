"""Makes the index of the sample corpus that is shipped, so that the first question need not wait.

    python -m lexloop.corpus.sample

Run it in an editable install whenever the sample or the format of an index changes; a test says
when it is due. Where another stemmer is installed than here, the search terms are made anew in
memory whenever the sample is opened.
"""

import shutil
from pathlib import Path

from lexloop.core.settings import Settings
from lexloop.corpus.index.generations import LOCK
from lexloop.corpus.index.manifest import Source
from lexloop.corpus.index.writer import write_index
from lexloop.corpus.opening import index_key, sample_folder, shipped_indexes, tools_for
from lexloop.models.embedders import load_shipped

SOURCES = [Source(path="")]
"""What the shipped manifest says; where the sample lies is not known before it is installed."""


def sample_index() -> Path:
    """Where the shipped index of today's code belongs."""
    return shipped_indexes() / index_key(None, tools_for(Settings(), load_shipped()).recipe)


def main() -> None:
    """Write the index if it is due, and remove those of earlier samples."""
    out, tools = sample_index(), tools_for(Settings(), load_shipped())
    for other in shipped_indexes().iterdir():
        if other != out:
            shutil.rmtree(other)
    write_index(out, [Source(str(sample_folder()))], tools, recorded=SOURCES)
    (out / LOCK).unlink()
    print(out.name)


if __name__ == "__main__":
    main()
