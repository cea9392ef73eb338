"""Training for both kinds of vectors: which pairs make a batch, and what a step does."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import InputError
from lexloop.models.minilm import genuine_folder
from lexloop_train.late import Trainee, _alike, batches
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import EmbedderRecipe

SMALL = EmbedderRecipe(steps=4, batch=4, run=2)


def pair(number: int, document: str) -> TrainingPair:
    return TrainingPair(
        f"Who pays fee {number}?", f"The owner pays fee {number}.", "Fees", document
    )


PAIRS = [pair(number, f"act {number % 2}") for number in range(4)]


@given(st.lists(st.integers(0, 5), min_size=8, max_size=40))
def test_an_epoch_has_no_pair_twice_and_its_runs_are_of_one_document(owners: list[int]) -> None:
    pairs = [pair(number, f"act {owner}") for number, owner in enumerate(owners)]
    runs = sum(owners.count(owner) // 2 for owner in set(owners))
    loose = sum(owners.count(owner) % 2 for owner in set(owners)) // 2
    drawn = [*islice(batches(pairs, SMALL), (runs + loose) // 2)]
    taken = [member.question for batch in drawn for member in batch]
    assert len(taken) == len(set(taken)) == 4 * ((runs + loose) // 2)
    whole = sum(batch[i].document == batch[i + 1].document for batch in drawn for i in (0, 2))
    assert whole >= len(drawn) * 2 - loose


def test_batches_are_the_same_for_the_same_seed_alone() -> None:
    pairs = [pair(number, f"act {number % 5}") for number in range(40)]
    first = [*islice(batches(pairs, SMALL), 12)]
    assert first == [*islice(batches(pairs, SMALL), 12)]
    assert first != [*islice(batches(pairs, EmbedderRecipe(steps=4, batch=4, run=2, seed=1)), 12)]


def test_a_batch_smaller_than_a_run_is_kept_to() -> None:
    pairs = [pair(number, "act") for number in range(9)]
    drawn = islice(batches(pairs, EmbedderRecipe(batch=3, run=10)), 3)
    assert [len(batch) for batch in drawn] == [3, 3, 3]


def test_too_few_pairs_for_a_batch() -> None:
    with pytest.raises(InputError, match="3 pairs: fewer than make a batch of 4"):
        next(batches(PAIRS[:3], SMALL))


def test_the_same_text_or_question_is_no_negative() -> None:
    other = TrainingPair(PAIRS[0].question.upper(), "Nobody pays.", "", "act 9")
    copy = TrainingPair("And who else?", PAIRS[1].text, "", "act 9")
    assert _alike([PAIRS[0], PAIRS[1], other, copy]) == [
        [False, False, True, False],
        [False, False, False, True],
        [True, False, False, False],
        [False, True, False, False],
    ]


def test_steps_lower_the_loss_of_what_is_learned() -> None:
    trainee = Trainee(
        genuine_folder(), EmbedderRecipe(steps=40, batch=4, run=2, rate=1e-4, headed=0.0)
    )
    optimiser, schedule = trainee.optimisers()
    losses = []
    for number in range(8):
        loss = trainee(**trainee.read([(number, PAIRS)]))["loss"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]


def test_rates_rise_and_then_fall_to_nearly_nothing() -> None:
    _, schedule = Trainee(genuine_folder(), EmbedderRecipe(steps=300)).optimisers()
    [share, _] = schedule.lr_lambdas
    assert [share(step) for step in (0, 14, 150, 299)] == pytest.approx(
        [1 / 15, 1 - 14 / 300, 0.5, 0.05]
    )
    assert schedule.base_lrs == pytest.approx([4e-5, 2e-4])


def test_a_base_that_cannot_be_trained(tmp_path: Path) -> None:
    genuine = genuine_folder()
    for place in (tmp_path, tmp_path / "none", Path("nobody") / "no-such-model"):
        with pytest.raises(InputError, match=r"cannot be loaded: it holds no config\.json"):
            Trainee(place, SMALL)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((genuine / name).read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"code that would be run")
    with pytest.raises(InputError, match=r"cannot be loaded: it holds no model\.safetensors"):
        Trainee(tmp_path, SMALL)
    (tmp_path / "model.safetensors").write_bytes(b"\x08" + b"\x00" * 7 + b"{}")
    with pytest.raises(InputError, match="cannot be loaded"):
        Trainee(tmp_path, SMALL)


def test_vectors_are_those_of_the_model_in_use() -> None:
    from lexloop.models.minilm import load_minilm

    texts = ["Who pays?", "The owner pays the fee of the harbour.", "x"]
    vectors, tokens = Trainee(genuine_folder(), SMALL).vectors(texts)
    np.testing.assert_allclose(vectors, load_minilm().embed(texts), atol=1e-5)
    assert [len(rows) for rows in tokens] == load_minilm().count_tokens_many(texts)
