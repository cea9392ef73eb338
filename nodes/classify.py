"""classify: open the turn, and plan its retrieval by the complexity of the question."""

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from langgraph.runtime import Runtime
from numpy.typing import NDArray

from lexloop.core.conversation import open_turn
from lexloop.core.errors import DataError, SettingsError
from lexloop.core.files import SUMS, check_sums, write_bytes
from lexloop.core.packages import need_extra
from lexloop.core.running import computing
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import ClassCount, PlanSettings
from lexloop.core.state import State, Update
from lexloop.core.types import OpenTurn, Plan
from lexloop.documents.text.tokens import WORD_OR_SIGN
from lexloop.models.embedding import without_bars
from lexloop.nodes.context import Context
from lexloop.nodes.messages import answer_message, structured
from lexloop.nodes.question.parts import parse
from lexloop.nodes.question.small_talk import replied, small_talk

BUCKETS = 1 << 16
MAX_CHARS = 4000
FAMILIES = ("word", "char", "frame")
N_MEASURES = 30
N_PAIRED = N_MEASURES + N_MEASURES * (N_MEASURES - 1) // 2

_START, _END, _CONTENT = "<s>", "</s>", "_"
_QUESTION_WORDS = frozenset(WORD_OR_SIGN.findall("how what when where which who whom whose why"))
_FRAME_WORDS = _QUESTION_WORDS | frozenset(
    WORD_OR_SIGN.findall("""
    a about after against all also among an and any are as at be been before being between both
    by can clarify compare could define definition describe detail details did discuss do does
    during each elaborate explain for from give had has have he her here i identify if impact
    importance in into is it its list may me meaning might must my name no not of on or other our
    outline over overview per please process provide role shall she should so such summarise
    summarize tell than that the their them then there these they this those through to under via
    was we were will with would you your
    """)
)

FILE_NAME = "linear.npz"
FORMAT = 1
MEASURE_SHARE = 0.1
_CLIP = 3.0
_SHAPES: dict[str, tuple[int, ...]] = {
    "format": (1,),
    "idf": (len(FAMILIES), BUCKETS),
    "gram_weights": (len(FAMILIES), BUCKETS, 3),
    "measure_mean": (N_PAIRED,),
    "measure_scale": (N_PAIRED,),
    "measure_weights": (N_PAIRED, 3),
    "bias": (2, 3),
    "calibration_3": (7, 3),
    "calibration_2": (7, 2),
}
# errors of numpy's reader for files that are truncated, damaged or of another kind
_UNREADABLE = (
    OSError,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    MemoryError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)
_RETRAIN = (
    "Reinstall lexloop, or train the classifier again with "
    "`lexloop finetune classifier --data DIR --out FOLDER`."
)
Floats = NDArray[np.floating]
Bag = tuple[NDArray[np.int64], NDArray[np.float64]]


def bucket(gram: str) -> int:
    """Return the bucket of an n-gram, one of ``BUCKETS``; lone surrogates are allowed."""
    return zlib.crc32(gram.encode("utf-8", "surrogatepass")) % BUCKETS


def bags(text: str) -> dict[str, Bag]:
    """Count the hashed n-grams of a question's first ``MAX_CHARS`` characters, by family.

    ``word``: 1-2 words and punctuation marks, with the ends of the text marked. ``char``: 2-5
    characters within a word and its edges. ``frame``: 1-5 over the sentence frame, in which runs of
    content words are one placeholder, so that it applies to other topics.

    Returns:
        For each of ``FAMILIES``, the buckets in ascending order, shape (n,), and their damped
        counts 1 + ln(count), shape (n,).
    """
    lowered = text[:MAX_CHARS].lower()
    tokens = WORD_OR_SIGN.findall(lowered)
    edged = (f" {word} " for word in lowered.split())
    return {
        "word": _bag(_grams([_START, *tokens, _END], 1, 2)),
        "char": _bag(gram for word in edged for gram in _grams(word, 2, 5, "")),
        "frame": _bag(_grams(_frame(tokens), 1, 5)),
    }


def measures(text: str) -> NDArray[np.float64]:
    """Measure length, coordination, question words, punctuation and case of a question.

    Only its first ``MAX_CHARS`` characters are read. Shape (30,): counts, shares in [0, 1] and 0/1
    flags.
    """
    text = text[:MAX_CHARS]
    cased = WORD_OR_SIGN.findall(text)
    tokens = WORD_OR_SIGN.findall(text.lower())
    words = [token for token in tokens if token.isalnum()]
    n_tokens, counts = len(tokens), Counter(tokens)
    ands, commas = counts["and"], counts[","]
    asking = sum(counts[word] for word in _QUESTION_WORDS)
    ending = text.rstrip()[-1:]
    values = [
        np.log1p(n_tokens),
        np.log1p(len(text)),
        *(min(ands, 4), min(commas, 4), min(asking, 4), min(counts["or"], 3)),
        *(min(counts["the"], 5), min(counts["of"], 5), min(counts["?"], 5)),
        *(ending == "?", ending == ".", text[:1].isupper(), text.islower()),
        bool(words) and words[0] in _QUESTION_WORDS,
        sum(map(len, words)) / (len(words) + 1),
        len(set(words)) / (len(words) + 1),
        (n_tokens - len(words)) / (n_tokens + 1),
        sum(token[0].isupper() for token in cased) / (n_tokens + 1),
        *(n_tokens < bound for bound in (6, 9, 13, 18, 25)),
        *(ands >= bound for bound in (1, 2)),
        *(commas >= bound for bound in (1, 2, 3)),
        *(asking >= bound for bound in (2, 3)),
    ]
    return np.array(values, dtype=np.float64)


def paired(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Append the product of every two measures, so that a linear model can weigh them together.

    Shape (30,) becomes (465,).
    """
    left, right = np.triu_indices(len(values), k=1)
    return np.concatenate([values, values[left] * values[right]])


def _bag(grams: Iterable[str]) -> Bag:
    hashed = np.fromiter((bucket(gram) for gram in grams), dtype=np.int64)
    buckets, counts = np.unique(hashed, return_counts=True)
    return buckets, 1.0 + np.log(counts)


def _grams(tokens: Sequence[str], shortest: int, longest: int, joint: str = " ") -> Iterator[str]:
    for n in range(shortest, longest + 1):
        for i in range(len(tokens) - n + 1):
            yield joint.join(tokens[i : i + n])


def _frame(tokens: list[str]) -> list[str]:
    frame = [_START]
    for token in tokens:
        if token in _FRAME_WORDS or not token.isalnum():
            frame.append(token)
        elif frame[-1] != _CONTENT:
            frame.append(_CONTENT)
    return [*frame, _END]


@dataclass(frozen=True)
class LinearClassifier:
    """A complexity classifier by a question's wording and sentence frame."""

    idf: Floats  # of each bucket, 0 if not in the training data; shape (3 families, buckets)
    gram_weights: Floats  # of each bucket for the three classes; shape (3, buckets, 3)
    measure_mean: Floats  # of each paired measure in training; shape (465,)
    measure_scale: Floats  # their standard deviation, 1 for a constant; shape (465,)
    measure_weights: Floats  # of the standardised measures; shape (465, 3)
    bias: Floats  # the intercepts of the wording and of the frame model; shape (2, 3)
    calibration_3: Floats  # coefficients of the six scores, intercepts last; shape (7, 3)
    calibration_2: Floats  # the same for the two-class task; shape (7, 2)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a trained classifier from the folder with ``linear.npz``.

        Raises:
            DataError: The file is missing, unreadable, of another format or shape, has numbers that
                are not finite, or does not match its checksum.
        """
        path = folder / FILE_NAME
        if (folder / SUMS).is_file():
            check_sums(folder)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in _SHAPES}
            _check(arrays)
        except FileNotFoundError as error:
            raise DataError(f"The classifier file {path} does not exist.", _RETRAIN) from error
        except _UNREADABLE as error:
            what = f"The classifier file {path} cannot be read: {error}"
            raise DataError(what, _RETRAIN) from error
        del arrays["format"]
        return cls(**{name: array.astype(np.float32) for name, array in arrays.items()})

    def save(self, folder: Path) -> Path:
        """Write the classifier in half precision, completely or not at all; return the path."""
        folder.mkdir(parents=True, exist_ok=True)
        # half precision does not change scores by n-grams; the few other numbers stay exact
        halved = {"idf", "gram_weights"}
        arrays = {
            name: getattr(self, name).astype(np.float16 if name in halved else np.float32)
            for name in _SHAPES
            if name != "format"
        }
        content = io.BytesIO()
        np.savez_compressed(content, format=np.array([FORMAT]), **arrays)
        path = folder / FILE_NAME
        write_bytes(path, content.getvalue())
        return path

    def probabilities(self, question: str, classes: ClassCount) -> list[float]:
        """Return the probability of each number of pieces of context, the lowest first.

        Three classes are one, two, and three or more pieces; two are one, and more than one; four
        and five lie between those of three.
        """
        calibration = self.calibration_2 if classes == 2 else self.calibration_3
        logits = np.append(self.scores(question), 1.0) @ calibration.astype(np.float64)
        exponentials = np.exp(logits - logits.max())
        shares = [float(share) for share in exponentials / exponentials.sum()]
        return shares if len(shares) == classes else finer(shares, classes)

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return uncalibrated scores, shape (6,): of the wording by class, then of the frame."""
        grams = {}
        for family, (buckets, counts) in bags(question).items():
            row = FAMILIES.index(family)
            weighted = counts * self.idf[row, buckets]
            length = float(np.linalg.norm(weighted)) or 1.0
            grams[family] = (weighted / length) @ self.gram_weights[row, buckets]
        surface = standardise(paired(measures(question)), self.measure_mean, self.measure_scale)
        wording = grams["word"] + grams["char"] + self.bias[0]
        frame = grams["frame"] + surface @ self.measure_weights + self.bias[1]
        return np.concatenate([wording, frame]).astype(np.float64)


def finer(shares: Sequence[float], classes: int) -> list[float]:
    """Return probabilities of more classes: all at the two between which the expected class lies.

    No questions are labelled by more than three classes, so these grade what three tell.
    """
    expected = sum(place * share for place, share in enumerate(shares))
    scaled = expected * (classes - 1) / (len(shares) - 1)
    return [max(0.0, 1.0 - abs(scaled - place)) for place in range(classes)]


def standardise(values: NDArray[np.float64], mean: Floats, scale: Floats) -> NDArray[np.float64]:
    """Bring paired measures to one scale, a tenth of the length of an n-gram vector.

    Args:
        values: Paired measures, shape (..., 465).
        mean: Shape (465,).
        scale: Shape (465,), never 0.
    """
    return np.clip((values - mean) / scale, -_CLIP, _CLIP) * MEASURE_SHARE


def _check(arrays: dict[str, NDArray[np.generic]]) -> None:
    for name, shape in _SHAPES.items():
        array = arrays[name]
        if array.shape != shape:
            raise ValueError(f"it holds {name} of shape {array.shape}; {shape} is needed.")
        if array.dtype.kind not in "fi" or not np.isfinite(array.astype(np.float64)).all():
            raise ValueError(f"it holds values of {name} that are no finite numbers.")
    if (version := int(arrays["format"].astype(np.int64)[0])) != FORMAT:
        raise ValueError(f"it has format {version}; this version reads {FORMAT}.")
    if (arrays["measure_scale"].astype(np.float64) <= 0).any():
        raise ValueError("it holds a measure_scale of 0 or less.")


@computing
def classify(state: State, runtime: Runtime[Context]) -> Update:
    """Open the turn and plan the retrieval for its question, or reply to small talk.

    Raises:
        QuestionError: There is no question, or it cannot be used.
        SettingsError: The thread was answered for a user with more access.
    """
    context = runtime.context
    settings, corpus = context.settings, context.corpus
    turn = open_turn(state, settings.access.tags, settings.max_question_chars)
    probabilities = context.classifier.probabilities(turn["asked"], settings.plan.count)
    complexity = chosen_class(probabilities, settings.plan.min_class_probability)
    known: OpenTurn = {**turn["turn"], "probabilities": probabilities}
    if settings.answer.ask_back:
        known["clarified"] = None
    opened: Update = {
        **turn,
        "turn": known,
        "complexity": complexity,
        "plan": plan_for(complexity, settings),
        "degraded": [*corpus.degraded, *([] if turn["history"] else corpus.unread)],
    }
    names = context.view.documents if context.view else ()
    if not names or not (reply := small_talk(turn["asked"], "documents", names)):
        return opened
    ended: State = {**opened, "parsed": parse(turn["asked"]), **replied(reply)}
    messages = [*turn["messages"], answer_message(ended)]
    return {**ended, "structured_response": structured(ended), "messages": messages}


TABLES: dict[ClassCount, tuple[Plan, ...]] = {
    2: (
        {"k": 5, "Q": 3, "K": 4, "S": 2},
        {"k": 10, "Q": 5, "K": 5, "S": 3},
    ),
    3: (
        {"k": 3, "Q": 3, "K": 3, "S": 1},
        {"k": 5, "Q": 5, "K": 4, "S": 2},
        {"k": 7, "Q": 7, "K": 5, "S": 3},
    ),
    4: (
        {"k": 3, "Q": 3, "K": 3, "S": 1},
        {"k": 4, "Q": 4, "K": 4, "S": 2},
        {"k": 6, "Q": 6, "K": 4, "S": 2},
        {"k": 7, "Q": 7, "K": 5, "S": 3},
    ),
    5: (
        {"k": 3, "Q": 3, "K": 3, "S": 1},
        {"k": 4, "Q": 4, "K": 4, "S": 2},
        {"k": 5, "Q": 5, "K": 4, "S": 2},
        {"k": 6, "Q": 6, "K": 5, "S": 3},
        {"k": 7, "Q": 7, "K": 5, "S": 3},
    ),
}
"""Class count -> class -> plan. Four and five lie between three; HyPA-RAG leaves them to later."""


def plan_for(complexity: int, settings: Settings) -> Plan:
    """Return the plan of a class, with the numbers of the settings, and 0 for disabled steps.

    If the scores determine k, rerank replaces the class's k.
    """
    plan, retrieval = settings.plan, settings.retrieval
    if retrieval.source == "none":
        return {"k": 0, "Q": 0, "K": 0, "S": 0}
    row = class_plans(plan)[complexity]
    rewritten, walked = retrieval.rewriter != "none", retrieval.knowledge_graph != "none"
    return {
        "k": plan.k if isinstance(plan.k, int) else row["k"],
        "Q": (row["Q"] if plan.Q is None else plan.Q) if rewritten else 0,
        "K": (row["K"] if plan.K is None else plan.K) if walked else 0,
        "S": (row["S"] if plan.S is None else plan.S) if walked else 0,
    }


def class_plans(plan: PlanSettings) -> tuple[Plan, ...]:
    """Return k, Q, K and S of every class, simplest first."""
    if isinstance(plan.classes, int):
        return TABLES[plan.classes]
    return tuple({"k": row.k, "Q": row.Q, "K": row.K, "S": row.S} for row in plan.classes)


def chosen_class(probabilities: list[float], least: float) -> int:
    """Return the likeliest class, or the middle one if none reaches ``least``.

    The middle one of two is the second, which retrieves more.
    """
    likeliest = max(range(len(probabilities)), key=probabilities.__getitem__)
    return likeliest if probabilities[likeliest] >= least else len(probabilities) // 2


_LONGEST = 512
_HINT = (
    "Set classifier_model to a folder or hub id of a sequence-classification model in "
    "safetensors form."
)


class TransformerClassifier:
    """A complexity classifier by a fine-tuned transformer whose label ids are the classes.

    Args:
        name: A local folder, or a hub id that transformers may download or has in its cache.

    Raises:
        SettingsError: The model cannot be loaded; see ``_load_sequence_classifier``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tokenizer, self._model = _load_sequence_classifier(name)

    def probabilities(self, question: str, classes: ClassCount) -> list[float]:
        """Return the probability of each number of pieces of context, the lowest first.

        A question is cut to the model's window.

        Raises:
            SettingsError: The model was trained for another number of classes.
        """
        import torch

        labels = int(self._model.config.num_labels)
        if labels != classes:
            raise SettingsError(
                f"The classifier {self._name} has {labels} labels, not {classes}.",
                "Set classes to the number of labels of the model, 2 to 5, or use another model.",
            )
        inputs = self._tokenizer(question, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            logits = self._model(**inputs).logits[0]
        shares: list[float] = torch.softmax(logits.double(), dim=-1).tolist()
        return shares


def _load_sequence_classifier(name: str) -> tuple[Any, Any]:
    """Load tokenizer and weights, only from safetensors and without the repository's code.

    The tokenizer gets the model's window, and the model is in evaluation mode.

    Raises:
        InputError: The extra ``torch`` is not installed.
        SettingsError: The folder or id has no such model, its weights are not safetensors or are
            damaged, or it lacks a trained classification head.
        DataError: A folder's files do not match its checksums.
    """
    need_extra(f"The classifier {name!r}", "torch", "torch", "transformers")
    if (Path(name) / SUMS).is_file():
        check_sums(Path(name))
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        with without_bars():
            tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
            model, loading = AutoModelForSequenceClassification.from_pretrained(
                name, trust_remote_code=False, use_safetensors=True, output_loading_info=True
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise SettingsError(f"The classifier {name} cannot be loaded: {error}", _HINT) from error
    if loading["missing_keys"]:
        # transformers would use random weights for these and only log a warning
        missing = ", ".join(sorted(loading["missing_keys"]))
        raise SettingsError(f"The classifier {name} lacks trained weights: {missing}.", _HINT)
    positions = getattr(model.config, "max_position_embeddings", None) or _LONGEST
    # RoBERTa counts its positions from two
    tokenizer.model_max_length = min(tokenizer.model_max_length, positions - 2, _LONGEST)
    return tokenizer, model.eval()


_BETWEEN = "question about two things"
DESCRIPTIONS: Mapping[ClassCount, tuple[str, ...]] = {
    2: ("simple question", "complex question"),
    3: ("simple question", "complex question", "overview question"),
    4: ("simple question", _BETWEEN, "complex question", "overview question"),
    5: ("simple question", "detailed question", _BETWEEN, "complex question", "overview question"),
}
"""Class count -> the label of each class; those of two and three are HyPA-RAG's."""


class ZeroShotClassifier:
    """A complexity classifier by the description that a question entails for an NLI model.

    HyPA-RAG, section 4.

    Args:
        name: A local folder or a hub id, for example ``facebook/bart-large-mnli``.

    Raises:
        SettingsError: The model cannot be loaded, or has no label for entailment.
    """

    def __init__(self, name: str) -> None:
        tokenizer, model = _load_sequence_classifier(name)
        from transformers import pipeline

        labels = [str(label) for label in model.config.label2id]
        if not any(label.lower().startswith("entail") for label in labels):
            raise SettingsError(
                f"The classifier {name} has the labels {', '.join(labels)} and no entailment.",
                "Set classifier_model to a model trained for natural-language inference.",
            )
        self._pipeline: Any = pipeline(
            "zero-shot-classification", model=model, tokenizer=tokenizer, device="cpu"
        )

    def probabilities(self, question: str, classes: ClassCount) -> list[float]:
        """Return the probability of each of ``DESCRIPTIONS`` for the question.

        A question is cut to the model's window. For blank text, which entails nothing, every class
        is equally likely.
        """
        described = DESCRIPTIONS[classes]
        if not question.strip():
            return [1.0 / classes] * classes
        output = self._pipeline(question, list(described))
        share_of = dict(zip(output["labels"], output["scores"], strict=True))
        return [float(share_of[label]) for label in described]
