"""What searches may find, for laws: few chunks of few documents, and scores that often tie."""

from random import Random

from hypothesis import strategies as st

from lexloop.nodes.fusion import Scores, SearchResults

IDS = ("act#0", "act#9", "act#10", "guide#0", "guide#5", "case#0", "rule#0", "rule#7")
DOCUMENTS = {chunk_id: chunk_id.partition("#")[0] for chunk_id in IDS}


def best_first(scores: dict[str, float]) -> Scores:
    """The same scores, sorted as a backend does."""
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _rankings(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Scores]:
    return st.dictionaries(st.sampled_from(IDS), scores).map(best_first)


BM25 = st.sampled_from([0.5, 1.0, 4.0]) | st.floats(0.015625, 64.0)
COSINES = st.sampled_from([-0.25, 0.0, 0.5]) | st.floats(-1.0, 1.0)
LEXICAL, VECTOR = _rankings(BM25), _rankings(COSINES)


@st.composite
def found(draw: st.DrawFn) -> SearchResults:
    """What one to four queries find; token vectors are kept or not."""
    size = draw(st.integers(1, 4))
    lexical = draw(st.lists(LEXICAL, min_size=size, max_size=size))
    vector = draw(st.lists(VECTOR, min_size=size, max_size=size))
    near = draw(st.lists(VECTOR, min_size=size, max_size=size) | st.just([]))
    late = [
        {name: scores.get(name, 0.0) for name in {**one, **other}}
        for scores, one, other in zip(near, lexical, vector, strict=False)
    ]
    return SearchResults(lexical, vector, DOCUMENTS, late=late)


def ties_shuffled(ranking: Scores, chance: Random) -> Scores:
    """The same ranking with equal scores in another order."""
    items = list(ranking.items())
    chance.shuffle(items)
    return best_first(dict(items))
