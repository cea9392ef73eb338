"""A small corpus of two acts with a section number in common, and one case."""

from pathlib import Path

import pytest

from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import Embedder
from lexloop.store.opening import open_corpus, tools_for
from lexloop.store.view import View
from lexloop_eval.eval_rag.questions import (
    Authority,
    Entry,
    QuestionIndex,
    authorities_of,
    entries_by_rule,
)

DOGS = """# Dog Licence Act

§ 1 Licence. A dog licence costs 40 euros a year. The owner pays the fee by 31 March.

§ 2 Leash. Every dog is kept on a leash in the town park.
"""
CATS = """# Cat Welfare Act

§ 1 No licence. A cat needs no licence, and its owner pays no fee.

§ 7 Chips. Every cat that goes outdoors wears a chip.
"""
CASE = """---
title: Miller v Town of Ferrow
kind: case
---
Case No. 2013MU2250. The court held that the fee of a dog that died in January is refunded in part.
"""


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    return load_embedder("embedded", Connection())


@pytest.fixture(scope="session")
def acts(tmp_path_factory: pytest.TempPathFactory, minilm: Embedder) -> View:
    folder: Path = tmp_path_factory.mktemp("acts")
    (folder / "dog_act.txt").write_text(DOGS, "utf-8")
    (folder / "cat_act.txt").write_text(CATS, "utf-8")
    (folder / "2013MU2250.txt").write_text(CASE, "utf-8")
    settings = Settings(corpus=str(folder))
    return open_corpus(settings.corpus, tools_for(settings, minilm))[0].seen_by(Filters())


@pytest.fixture(scope="session")
def index(acts: View, minilm: Embedder) -> QuestionIndex:
    """The questions of the corpus by rule, and one of a known answer."""
    answer = Authority("pair", "answer", "a known answer", "Chips cost 20 euros.")
    known = Entry("What is the price of a chip?", answer)
    entries = [*entries_by_rule(authorities_of(acts)), known]
    return QuestionIndex(entries, minilm, lambda *_: None)
