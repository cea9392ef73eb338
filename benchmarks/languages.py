"""Whether a question in another language than the documents is told so, and no other.

    python benchmarks/languages.py [--corpus PATH] [--questions FILE ...]

A line of a file is a question and, where it is in another language than the documents, that
language. Without ``--questions`` it is languages.jsonl: short questions in eight languages, and
English ones with Latin, names and slips; the rule was made with these in sight. ``named`` counts
those whose language is named, alone or
as one of two; ``ms`` is the time of one question.
"""

import argparse
import time
from pathlib import Path

from _pipeline import read_rows

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import open_corpus, tools_for


def main() -> None:
    """Ask for the language of every question and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--corpus", default=Settings().corpus)
    own = Path(__file__).with_suffix(".jsonl")
    parser.add_argument("--questions", type=Path, nargs="+", default=[own])
    options = parser.parse_args()
    settings = Settings(corpus=options.corpus)
    collection, _ = open_corpus(options.corpus, tools_for(settings, load_minilm()))
    view = collection.seen_by(Filters.of(settings))
    print(f"The documents are in {' and '.join(view.languages()) or 'no language known here'}.")
    print("| questions in | n | another language | named | ms |\n|---|---|---|---|---|")
    rows = [row for file in options.questions for row in read_rows(file)]
    for language in dict.fromkeys(row.get("language", "") for row in rows):
        asked = [row["question"] for row in rows if row.get("language", "") == language]
        began = time.perf_counter()
        found = [view.other_language(question) for question in asked]
        spent_ms = 1000 * (time.perf_counter() - began) / len(asked)
        told = sum(map(bool, found))
        named = sum(language in name.split(" or ") for name in found) if language else "-"
        shown = language or "the documents' own"
        print(f"| {shown} | {len(asked)} | {told} | {named} | {spent_ms:.2f} |")
        for question, name in zip(asked, found, strict=True):
            if name and not language:
                print(f"  told of {name}: {question}")


if __name__ == "__main__":
    main()
