"""Learns the words of asking: words of questions that their answers do without.

    python -m training.asking DATA --out data/asking.txt

DATA is as for ``training.public_pairs``. A word of asking is used about anything: questions of most
sets have it, on many documents. And the answers to many of them lack it: "amount" in "the deposit
is 900 euros". That no document has such a word says nothing.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

from lexloop.core.files import write_text
from lexloop.documents.text.tokens import term_set, tokenize, words
from lexloop_train.pairs import TrainingPair
from training.public_pairs import divided, read_rows

HELD = 0.65
"""The share of answers that have a word of their question, from which on it belongs to the subject:
"penalty" .87, "licence" .92, "tax" .92; "amount" .64, "time" .50, "say" .03."""
_SETS, _DOCUMENTS, _FORMS = 5, 30, 3


def main() -> None:
    """Write the words, one a line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    training, held_out = divided(arguments.data)
    pairs = [pair for pair in [*training, *held_out] if pair.source != "conditionalqa"]
    words = asking([*pairs, *bare_questions(arguments.data / "conditionalqa")])
    write_text(arguments.out, "".join(f"{word}\n" for word in words))


def bare_questions(folder: Path) -> Iterable[TrainingPair]:
    """Yield ConditionalQA's questions without the situations that people describe."""
    texts = {row["id"]: row["text"] for row in read_rows(folder / "train_passages.jsonl")}
    for row in read_rows(folder / "train.jsonl"):
        text = " ".join(texts.get(name, "") for name in row["relevant_ids"])
        if text.strip() and not row["not_answerable"]:
            page = row["document_id"]
            yield TrainingPair(row["question"], text, page.replace("-", " "), page, "conditionalqa")


def asking(pairs: Collection[TrainingPair]) -> list[str]:
    """Return the words of asking, in small letters and each form that questions have."""
    in_questions, in_answers, forms = Counter[str](), Counter[str](), Counter[str]()
    by_set: dict[str, Counter[str]] = defaultdict(Counter)
    documents: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        answer = term_set(f"{pair.heading} {pair.text}")
        forms.update(set(words(pair.question)))
        for term in term_set(pair.question):
            in_questions[term] += 1
            in_answers[term] += term in answer
            by_set[pair.source][term] += 1
            documents[term].add(pair.document)
    general = {
        term
        for term, n in in_questions.items()
        if len(documents[term]) >= _DOCUMENTS
        and sum(counts[term] >= _FORMS for counts in by_set.values()) >= _SETS
        and in_answers[term] < HELD * n
    }
    return sorted(
        word
        for word, n in forms.items()
        if n >= _FORMS and word.isalpha() and (terms := tokenize(word)) and general >= {*terms}
    )


if __name__ == "__main__":
    main()
