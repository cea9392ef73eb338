"""What no command can use: one clear line, the code that scripts go by, and nothing is written."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
CLERKS = [
    {
        "question": f"Who keeps the {thing}?",
        "text": f"Clerk {n} keeps the {thing}.",
        "document": f"act {n % 3}",
    }
    for n, thing in enumerate("register seal keys purse lamp gate".split())
]
FILES = {
    "gold.jsonl": "\n".join(
        json.dumps({"question": row["question"], "reference_answer": row["text"]}) for row in CLERKS
    ),
    "pairs.jsonl": "\n".join(map(json.dumps, CLERKS)),
    "answers.jsonl": '{"question": "a", "answer": "b"}',
    "half.jsonl": '{"question": "a", "answer": "b"}\n{"question": "a"}',
    "bad.jsonl": '{"question": "Why?"}\n{"question": 7}\n\n{"quest',
    "sum.json": '{"fusion": "sum"}',
}
ENGINE = "opensearch://127.0.0.1:9/dogs"
EVAL = "eval gold.jsonl --out new"
TUNE = "tune gold.jsonl --out new"
CLASSIFIER = "finetune classifier --out new"
PAIRS = "finetune pairs documents --out new"
COMPARE = "compare-embedders"
EMBEDDER = "finetune embedder pairs.jsonl --out new"


@pytest.fixture
def place(documents: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in: two documents below it, and files that some take."""
    for name, text in FILES.items():
        (documents.parent / name).write_text(text, "utf-8")
    monkeypatch.chdir(documents.parent)
    return documents.parent


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("ask ''", 2, "The question is empty. Give a text of 1 to 4000 characters."),
        (f"ask {'x' * 4001}", 2, "The question has 4001 characters; the limit is 4000."),
        ("ask Why? --corpus nowhere", 4, "nowhere does not exist."),
        ("ask Why? --variant huge", 2, "hypa, pa, fixed, llm_only"),
        ("ask Why? --k 0", 2, "should be greater than or equal to 1"),
        ("ask Why? --set retrieval.rerank=none", 2, "Did you mean 'retrieval.rer"),
        ("ask Why? --variant llm_only", 2, "and none is configured"),
        ("ask Why? --model openai:gpt-4o-mini", 6, "There is no key"),
        ("ask Why? --model gpt-4o-mini", 2, "Write it as `provider:name`"),
        ("ask Why? --base-url ftp://host", 2, "base_url is 'ftp://host'"),
        ("ask Why? --as-of 2023-02-30 --corpus nowhere", 2, "as_of is '2023-02-30'"),
        ("ask Why? --kind gossip", 2, "access.kinds is 'gossip'"),
        ("ask Why? --settings sum.json", 2, "'sum'"),
        ("ask Why? --collections sample,sample", 2, "named twice"),
        ("ask Why? --collections sample,nowhere", 4, "There is nothing at nowhere"),
        ("ask Why? --collections sample --corpus sample", 2, "both given"),
        ("ask Why? --collections sample --set corpus=sample", 2, "both given"),
        ("search rent --collections sample --set corpus=sample", 2, "both given"),
        ("chat --thread ' '", 2, "The thread's name is empty."),
        ("chat --thread a --threads-file documents/dogs.txt/t", 5, "cannot be"),
        ("testset nowhere", 4, "nowhere does not exist"),
        ("index nowhere --out new", 4, "nowhere does not exist"),
        ("index documents", 2, "Give one, e.g. `lexloop index documents --out documents.index`."),
        ("index documents --out new --set index.triplets=model", 2, "no model is configured"),
        ("index documents --out new --max-cost 1", 2, "--price-in"),
        (f"index info {ENGINE}", 13, "cannot be reached"),
        (f"ask Why? --corpus {ENGINE.replace('dogs', 'Dogs')}", 2, "Dogs"),
        ("ask Why? --corpus opensearch://a:b@127.0.0.1:9/dogs", 2, "LEXLOOP_ENGINE_PASSWORD"),
        (f"index {ENGINE} --out new", 2, "takes a folder"),
        (f"index add {ENGINE} documents", 2, "takes a folder"),
        (f"index remove {ENGINE} dogs.txt", 2, "takes a folder"),
        (f"index pull {ENGINE} documents", 4, "documents already exists"),
        (f"index documents --out {ENGINE} --vectors binary", 2, "Use float or int8."),
        ("index documents --out new --vectors int8", 2, "--vectors"),
        (f"{EVAL} --variant llm_only", 2, "No variant can be run: llm_only: no model"),
        (f"{EVAL} --ablation nowhere.json", 2, "The variants in nowhere.json cannot be read"),
        (f"{EVAL} --corpus nowhere", 4, "nowhere does not exist"),
        (f"{EVAL} --negative nowhere.jsonl", 2, "nowhere.jsonl cannot be read"),
        ("eval bad.jsonl --out new", 2, "line 2, field question"),
        ("compare nowhere nowhere", 2, "There is no run in nowhere"),
        ("tune gold.jsonl --out no/such/folder/s.json", 2, "cannot be written"),
        (f"{TUNE} --set bm25_bost=1", 2, "no setting 'bm25_bost'"),
        (f"{TUNE} --corpus nowhere", 4, "nowhere"),
        ("judge half.jsonl", 2, "line 2, field answer"),
        ("judge answers.jsonl --human lawyer", 2, "no line has a score in"),
        ("judge answers.jsonl --write-questions", 2, "Add --model and --corpus."),
        ("judge answers.jsonl --pairs nowhere.jsonl", 2, "cannot be read"),
        ("testset documents --types funny", 2, "no question type 'funny'"),
        ("testset documents --out /nowhere/gold.jsonl", 2, "/nowhere is no folder"),
        ("testset documents --types vague", 2, "Rules make no question of type 'vague'"),
        (CLASSIFIER, 2, "nothing to train on"),
        (f"{CLASSIFIER} --data /nowhere", 4, "train.csv cannot be read"),
        (f"{CLASSIFIER} --label depth --questions /nowhere", 2, "/nowhere cannot be read"),
        (f"{PAIRS} --keep 1", 2, "--keep is 1.0"),
        (f"{PAIRS} --each 0", 2, "--each is 0"),
        ("finetune pairs documents --out /nowhere/pairs.jsonl", 2, "/nowhere is no folder"),
        ("finetune pairs documents/dogs.txt --out new", 2, "holds one document"),
        (f"{PAIRS} --feedback", 5, "There is no feedback"),
        (f"{EMBEDDER} --recipe infonce", 2, "field query"),
        (f"{EMBEDDER} --kept /nowhere.jsonl", 2, "/nowhere.jsonl cannot be read"),
        (f"{EMBEDDER} --base /nowhere", 2, "it holds no model.safetensors"),
        (f"{COMPARE} pairs.jsonl --embedder minilm --k 0,5", 2, "--k is '0,5'"),
        (f"{COMPARE} pairs.jsonl --embedder minilm --out documents", 2, "documents is a folder"),
        (f"{COMPARE} pairs.jsonl --embedder nothing", 2, "index.embedder"),
        (f"{COMPARE} nowhere.jsonl --embedder minilm", 2, "nowhere.jsonl cannot be read"),
        (f"{COMPARE} gold.jsonl --embedder minilm", 2, "names no evidence"),
        (f"{COMPARE} pairs.jsonl --embedder trained:documents", 5, "no folder of a trained"),
        (f"{COMPARE} pairs.jsonl --embedder sentence-transformers:documents", 5, "no model.safe"),
    ],
)
def test_a_refusal_is_one_clear_line(
    run: Run, place: Path, command: str, code: int, said: str
) -> None:
    before = sorted(place.rglob("*"))
    result = run(*shlex.split(command))
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in " ".join(result.stderr.split())
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    if not command.startswith(EMBEDDER):  # which keeps what it embedded for another try
        assert sorted(place.rglob("*")) == before
    assert not (place / "new" / "card.json").exists()
