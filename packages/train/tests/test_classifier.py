"""Training of the complexity classifier, on questions made up here."""

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import CorpusError, DataError, InputError
from lexloop.core.files import SUMS
from lexloop.nodes.classify import FILE_NAME, LinearClassifier
from lexloop_train.classifier import LabelledQuestions, grouped_folds, near_duplicates, read, train
from lexloop_train.classifier_report import baselines, save, table_row, train_and_measure

TOPICS = ["penguins", "volcanoes", "harpsichords", "glaciers", "saffron", "zeppelins", "obsidian"]
PLACES = ["Norway", "Lisbon", "the Andes"]


def made_up() -> list[dict[str, str]]:
    rows = []
    for topic, place in itertools.product(TOPICS, PLACES):
        for label, clean in enumerate(
            [
                f"What are {topic} in {place}?",
                f"What are {topic} in {place} and who studies them?",
                f"What are {topic} in {place}, who studies them, and why do they matter?",
            ]
        ):
            noisy = clean.lower().replace("what are", "so what are").rstrip("?")
            rows.append({"question": noisy, "label": str(label), "question_clean": clean})
    return rows


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["question", "label", "question_clean"])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rows = made_up()
    write(folder / "train.csv", rows[:54])
    write(folder / "validation.csv", rows[54:])
    return folder


def test_training_writes_measures_and_repeats(folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    lines = list(train_and_measure(first, folder))
    table = "\n".join(lines)
    again = "\n".join(train_and_measure(second, folder))
    assert (first / FILE_NAME).read_bytes() == (second / FILE_NAME).read_bytes()
    assert table.replace("first", "second") == again
    for name in ("random labels", "LR, TF-IDF", "SVM, TF-IDF", "SVM, word + char", "lexloop"):
        assert len([line for line in lines if line.startswith(f"| {name} |")]) == 4
    assert "| lexloop | 3 | clean | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 - 1.000 |" in table
    card = json.loads((first / "card.json").read_text("utf-8"))
    assert [entry["file"] for entry in card["data"]] == ["train.csv", "validation.csv"]
    best = [row for row in card["figures"] if row["name"] == "lexloop" and row["text"] == "clean"]
    assert [(row["classes"], row["f1"]) for row in best] == [(3, 1.0), (2, 1.0)]

    classifier = LinearClassifier.load(first)
    shares = classifier.probabilities("What are comets, who studies them, and why?", 3)
    assert int(np.argmax(shares)) == 2
    content = (first / FILE_NAME).read_bytes().lower()
    with np.load(first / FILE_NAME) as stored:
        content += b"".join(stored[name].tobytes() for name in stored.files).lower()
    assert not any(topic.encode() in content for topic in TOPICS)


def test_evaluating_trains_and_writes_nothing(folder: Path, tmp_path: Path) -> None:
    written = train(read(folder / "train.csv"), ("noisy", "clean"), 0).save(tmp_path)
    before = written.stat().st_mtime_ns
    printed = list(train_and_measure(tmp_path, evaluate=folder / "validation.csv"))
    assert printed[1] == "9 rows:"
    assert not any("SVM" in line for line in printed)
    assert written.stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_file_that_is_not_the_one_that_was_trained(folder: Path, tmp_path: Path) -> None:
    trained = train(read(folder / "train.csv"), ("clean",), 0)
    save(trained, tmp_path)
    digest, rest = (tmp_path / SUMS).read_text().split(" ", 1)
    (tmp_path / SUMS).write_text(f"{digest[::-1]} {rest}")
    with pytest.raises(DataError, match=r"linear\.npz has SHA-256"):
        LinearClassifier.load(tmp_path)
    save(trained, tmp_path)
    LinearClassifier.load(tmp_path)


def test_nothing_to_do_and_nowhere_to_write(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"train\.csv cannot be read"):
        list(train_and_measure(tmp_path, tmp_path))
    with pytest.raises(InputError, match="nothing to train on"):
        list(train_and_measure(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        list(train_and_measure(tmp_path / "file", folder))


def test_stored_weights_score_as_trained_ones(folder: Path, tmp_path: Path) -> None:
    trained = train(read(folder / "train.csv"), ("noisy", "clean"), 0)
    trained.save(tmp_path)
    stored = LinearClassifier.load(tmp_path)
    for question in read(folder / "validation.csv").noisy:
        assert stored.scores(question) == pytest.approx(trained.scores(question), abs=0.01)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no rows"),
        (b"question,label,question_clean\n", "holds no rows"),
        (b"question,label\nwho?,1\n", "line 2, field question_clean"),
        (b"question,label,question_clean\nwho?,3,who?\n", "line 2, field label"),
        (b"question,label,question_clean\n\xff,0,who?\n", "cannot be read"),
    ],
)
def test_unusable_data_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        read(path)


def test_too_few_rows_are_refused() -> None:
    rows = LabelledQuestions(["a"] * 6, ["a"] * 6, np.array([0, 0, 0, 1, 1, 2]))
    with pytest.raises(CorpusError, match=r"\[3, 2, 1\] rows"):
        train(rows, ("clean",), 0)


def test_a_label_of_one_repeated_question_is_refused() -> None:
    rows = made_up()
    texts = [row["question_clean"] for row in rows if row["label"] != "2"] + ["Why?"] * 5
    labels = np.array([int(row["label"]) for row in rows if row["label"] != "2"] + [2] * 5)
    with pytest.raises(CorpusError, match="only among near-duplicates"):
        train(LabelledQuestions(texts, texts, labels), ("clean",), 0)


def test_near_duplicates_share_a_group() -> None:
    texts = ["what is a bias audit", "What is  a bias audit", "who pays the penalty"]
    groups = near_duplicates(LabelledQuestions(texts, texts, np.zeros(3, np.int64)))
    assert groups[0] == groups[1] != groups[2]


def test_folds_keep_groups_whole_and_cover_every_row() -> None:
    groups = np.array([0, 0, 1, 2, 3, 3, 4, 5])
    dealt = grouped_folds(groups, 3, seed=1)
    assert sorted(np.concatenate(dealt).tolist()) == list(range(8))
    owners = [set(groups[fold].tolist()) for fold in dealt]
    assert all(not a & b for a, b in itertools.combinations(owners, 2))
    assert all(len(owned) == 2 for owned in owners)


def test_baselines_learn_what_is_plain(folder: Path) -> None:
    rows = read(folder / "train.csv")
    for name, predict in baselines(rows, ("noisy", "clean"), 0).items():
        f1 = table_row((name, 3, "noisy"), rows.labels, predict(rows.noisy, 3)).f1
        assert f1 < 0.6 if name == "random labels" else f1 > 0.95
