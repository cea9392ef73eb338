"""The cache that is filled many at a time."""

from collections.abc import Sequence

from lexloop.core.errors import hearing, tell_loss
from lexloop.store.engine.store import Recent


def test_only_what_is_not_kept_is_fetched_and_once() -> None:
    kept, asked = Recent[int](2), list[list[str]]()

    def fetch(names: Sequence[str]) -> list[int]:
        asked.append([*names])
        return [len(name) for name in names]

    assert kept.get(["a", "bb", "a"], fetch) == [1, 2, 1]
    assert kept.get(["bb", "ccc"], fetch) == [2, 3]
    assert kept.get(["a"], fetch) == [1]  # the least lately used was forgotten
    assert kept.get([], fetch) == []
    assert asked == [["a", "bb"], ["ccc"], ["a"]]
    assert kept.latest() == ["a", "bb", "ccc"]


def test_what_may_be_less_than_there_is_is_not_kept_and_is_told() -> None:
    kept = Recent[int](9)

    def partly(names: Sequence[str]) -> list[int]:
        tell_loss("all shards", "1 of them", "the others did not answer")
        return [0 for _ in names]

    with hearing() as told:
        assert kept.get(["a"], partly) == [0]
    assert [loss.wanted for loss in told] == ["all shards"]
    assert kept.get(["a"], lambda names: [7 for _ in names]) == [7]
