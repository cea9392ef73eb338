"""Which altered answers pass as claims, and which true ones in other words are refused.

    python benchmarks/claims.py

``claims.jsonl`` has small documents, and answers to what they say: each with an exception added,
another party, "and" for "or", or "not" put in or left out; or said otherwise and true. The answers
of ``late`` documents were written after the checks were made. An answer is refused where the judge
gives a reason or less than 0.5, or tells a condition that it leaves out.
"""

from collections import Counter
from pathlib import Path

from _shared import read_rows, table
from altered import is_named

from lexloop.models.minilm import load_shipped
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport

TRUE = "true"
_ROWS = Path(__file__).with_name("claims.jsonl")


def refused() -> tuple[Counter[tuple[bool, str]], list[str]]:
    """Count what passes of each kind, of late documents or not, and return what is taken wrongly.

    A key has whether it is late, and the kind; its count is of the answers taken wrongly.
    """
    embed = load_shipped().embed
    support = ClaimSupport(embed)
    wrong: list[str] = []
    counts: Counter[tuple[bool, str]] = Counter()
    for row in read_rows(_ROWS):
        evidence = evidence_of([row["text"]], embed)
        for kind, said in row["answers"]:
            mistaken = is_named(support, said, evidence) == (kind == TRUE)
            counts[row["late"], kind] += mistaken
            wrong += [f"{kind}: {said}"] if mistaken else []
    return counts, wrong


def main() -> None:
    """Print the counts, and each answer that is taken wrongly."""
    counts, wrong = refused()
    of = Counter((row["late"], kind) for row in read_rows(_ROWS) for kind, _ in row["answers"])
    print(*wrong, sep="\n")
    rows = [
        [kind, *(f"{counts[late, kind]} of {of[late, kind]}" for late in (False, True))]
        for kind in dict.fromkeys(kind for _, kind in of)
    ]
    print(table(["passes, or true and refused", "", "late"], rows))


if __name__ == "__main__":
    main()
