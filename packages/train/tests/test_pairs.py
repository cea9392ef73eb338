"""Pairs of a question and its provision: the file, the split, click logs, and how they are made."""

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fake_openai import FakeOpenAI, Reply, Request
from hypothesis import given
from hypothesis import strategies as st

from lexloop.apps.feedback import Opinion
from lexloop.core.errors import CorpusError, InputError, ModelUnavailable
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Citation
from lexloop.store.view import Collection, View
from lexloop_eval.asking import Asker
from lexloop_train.pairs import (
    FEWEST,
    TrainingPair,
    by_question,
    deduplicated,
    make_pairs,
    miner,
    read_clicks,
    read_pairs,
    split,
    write_pairs,
)
from lexloop_train.questions import (
    AnsweredQuestion,
    ModelAsker,
    ProvisionText,
    chosen_provisions,
    every_provision,
    provision_around,
    questions_by_rules,
    questions_with_thumbs,
)

FEE = TrainingPair(
    "What is the fee?", "The fee is 5 euros.", "Fees", "a.txt", "rule", ("Boats pay.",)
)
LINE = '{"question": "What?", "text": "That.", "document": "a"}'


def many(count: int, documents: int) -> list[TrainingPair]:
    return [
        TrainingPair(f"Why {n}?", f"Because of {n}.", "", f"d{n % documents}") for n in range(count)
    ]


def test_pairs_survive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    other = TrainingPair("Wofür? \u2028", "Für „alles“.", "", "b")
    write_pairs(path, [FEE, other])
    assert read_pairs(path) == [FEE, other]
    first, second = (json.loads(line) for line in path.read_text("utf-8").strip().split("\n"))
    assert list(first) == ["question", "text", "heading", "document", "source", "negatives"]
    assert "negatives" not in second


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{LINE}\n\n{{"question": "What?", "text": "That."}}', "line 3, field document"),
        (f'{LINE}\n{{"question": " ", "text": "t", "document": "a"}}', "line 2, field question"),
        (f'{LINE}\n{{"question": "q", "text": 1, "document": "a"}}', "line 2, field text"),
        (LINE, "holds 1 pairs"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_pairs(path)


def test_repeats_are_told_by_their_words() -> None:
    shouted = TrainingPair("what is the FEE", "The fee is 5 euros", "Other", "b.txt")
    same_question = TrainingPair(FEE.question, "It is 6 euros.", "", "a.txt")
    assert deduplicated([FEE, shouted, same_question]) == [FEE, same_question]
    assert deduplicated([]) == []


def test_the_split_is_the_same_on_every_machine() -> None:
    # SHA-256 of "0:d4" begins with 53b3, of "0:d0" with 5a03, of "0:d3" with b4f8: .33, .35, .71
    training, kept = split(many(14, 7), 0.36)
    assert {pair.document for pair in kept} == {"d0", "d4"}
    assert [pair.question for pair in training] == [
        f"Why {n}?" for n in range(14) if n % 7 not in (0, 4)
    ]
    assert split(many(14, 7), 0.36, seed=1)[1] != kept
    # none is below a tenth, and all are below 99 %: the nearest one changes sides
    assert {pair.document for pair in split(many(14, 7), 0.1)[1]} == {"d4"}
    assert {pair.document for pair in split(many(14, 7), 0.99)[0]} == {"d6"}


@pytest.mark.parametrize("share", [0.01, 0.2, 0.99])
def test_two_pairs_are_kept_where_a_document_has_one(share: float) -> None:
    training, kept = split(many(7, 7), share)
    assert len(kept) >= FEWEST
    assert training
    assert len(kept) == {0.01: 2, 0.2: 2, 0.99: 6}[share]


@given(st.integers(2, 40), st.floats(0.01, 0.99), st.integers(0, 5))
def test_no_document_is_on_both_sides(documents: int, share: float, seed: int) -> None:
    pairs = many(2 * documents, documents)
    training, kept = split(pairs, share, seed)
    assert training
    assert kept
    assert not {p.document for p in training} & {p.document for p in kept}
    assert len(training) + len(kept) == len(pairs)
    # another document moves none of those that decide for themselves
    again, _ = split([*pairs, TrainingPair("New?", "New.", "", "new")], share, seed)
    if 1 < len({p.document for p in kept}) < documents - 1:
        assert [p for p in again if p.document != "new"] == training


def test_a_text_that_is_kept_is_not_trained_on() -> None:
    copied = [TrainingPair(f"Who {n}?", "because of 4", "", "d0") for n in range(2)]
    training, kept = split([*many(14, 7), *copied], 0.1)
    assert "Because of 4." in [pair.text for pair in kept]
    assert len(training) == 12


@pytest.mark.parametrize("share", [0.0, 1.0, float("nan")])
def test_a_share_that_is_none_and_a_side_that_is_empty(share: float) -> None:
    with pytest.raises(InputError, match="share"):
        split(many(4, 2), share)
    for count in (0, 4):
        with pytest.raises(InputError, match="for training and"):
            split(many(count, 1), 0.5)


CLICKED = """query,document,title,body,clicks
pdf merge,d1,Merge files,How to merge files.,3
pdf merge,d2,Split files,How to split files.,0
pdf merge,d1,Merge files,How to merge files.,1
sign,,Sign,,2
"""


def test_clicks_are_pairs_with_title_and_body(tmp_path: Path) -> None:
    table, lines = tmp_path / "clicks.csv", tmp_path / "clicks.jsonl"
    table.write_text(CLICKED, encoding="utf-8")
    expected = [
        TrainingPair("pdf merge", "Merge files", "", "d1", "clicks, title"),
        TrainingPair("pdf merge", "How to merge files.", "Merge files", "d1", "clicks, body"),
        TrainingPair("sign", "Sign", "", "Sign", "clicks, title"),
    ]
    assert read_clicks(table) == expected
    rows = [
        {"query": "pdf merge", "document": 1, "title": "Merge files", "body": "How.", "clicks": 3},
        {"query": "sign", "title": "Sign", "clicks": 2},
    ]
    lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [pair.document for pair in read_clicks(lines)] == ["1", "1", "Sign"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("clicks.txt", CLICKED, "not a click log"),
        ("clicks.csv", CLICKED.replace(",3\n", ",many\n"), "line 2, field clicks"),
        ("clicks.csv", CLICKED.replace("query,", "asked,"), "line 2, field query"),
        ("clicks.csv", "", "holds 0 pairs"),
        ("clicks.csv", "query,title,clicks\na,b,0\n", "holds 0 pairs"),
        ("clicks.csv", 'query,title,clicks\n"a,b,0\n', "cannot be read"),
        ("clicks.jsonl", '{"query": "a", "title": "b", "clicks": -1}', "line 1, field clicks"),
    ],
)
def test_a_click_log_that_cannot_be_used(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_clicks(tmp_path / name)


@pytest.fixture(scope="session")
def view(index: Collection) -> View:
    return index.seen_by(Filters())


@pytest.fixture(scope="session")
def ruled(view: View) -> list[AnsweredQuestion]:
    return list(questions_by_rules(view))


def span_of(view: View, document: str, words: str) -> tuple[str, int, int]:
    start = (view.text_of(document) or "").index(words)
    return document, start, start + len(words)


def provision(name: str, text: str = "", start: int = 0) -> ProvisionText:
    return ProvisionText(name, start, start + 10, text or f"It is said in {name}.", "")


def test_a_point_is_answered_for_by_its_list(view: View) -> None:
    around = provision_around(view, *span_of(view, "rule.txt", "a photograph of the keel"))
    assert around is not None
    assert around.text.startswith("A hull inspection is a check")
    assert around.text.endswith("3. a statement that the hull is sound.")
    assert "\n" not in around.text
    assert provision_around(view, "rule.txt", 3, 3) is None
    assert provision_around(view, "gone.txt", 0, 9) is None


def test_provisions_cover_a_law_and_do_not_overlap(view: View) -> None:
    provisions = list(every_provision(view, 40))
    assert {first.document for first in provisions} == {"law.txt", "rule.txt", "guide.md"}
    assert any(
        "“" not in first.text and "must pay the mooring fee" in first.text for first in provisions
    )
    for first, other in itertools.pairwise(provisions):
        assert not first.overlaps(other.document, other.start, other.end)
        assert 40 <= len(first.text) <= 2000
    assert list(every_provision(view, 10_000)) == []


def test_rules_ask_by_headings_and_by_what_is_stated(ruled: list[AnsweredQuestion]) -> None:
    by_words = {answered.question: answered for answered in ruled}
    cost = by_words["What does a winter permit cost?"]
    assert cost.source == "heading"
    assert cost.provision.heading == "Boats in winter"
    assert cost.provision.text == "A winter permit costs $80. It is sold by the harbour master."
    duty = by_words["What does § 10-2 say about duties of owners?"]
    assert duty.source == "label"
    assert "10 business days" in duty.provision.text
    term = by_words["What does “mooring fee” mean?"]
    assert term.provision.text.startswith('"Mooring fee" means')
    assert {"definition", "topic", "number"} < {answered.source for answered in ruled}


def test_what_too_many_texts_answer_is_no_question() -> None:
    answers = [AnsweredQuestion("What is said?", provision(f"d{n}"), "rule") for n in range(4)]
    assert by_question(answers) == []
    repeated = [
        *answers[:3],
        AnsweredQuestion("what is said", provision("e", "It is said in D0"), "rule"),
    ]
    assert by_question(repeated) == [answers[:3]]


def mined(
    question: str, answers: list[ProvisionText], documents: frozenset[str]
) -> tuple[str, ...]:
    return (f"{len(answers)} of {','.join(sorted(documents))}",)


def test_negatives_come_from_the_same_side() -> None:
    asked = [AnsweredQuestion(f"Why {n}?", provision(f"d{n}"), "rule") for n in range(7)]
    both = AnsweredQuestion("why 4", provision("d4", "And so on.", 20), "rule")
    made = make_pairs([*asked, both], [f"d{n}" for n in range(8)], share=0.1, seed=0, mine=mined)
    assert [(p.question, p.text) for p in made.kept] == [
        ("Why 4?", "It is said in d4."),
        ("Why 4?", "And so on."),
    ]
    assert {p.negatives for p in made.kept} == {("2 of d4",)}
    assert {p.negatives for p in made.training} == {("1 of d0,d1,d2,d3,d5,d6,d7",)}
    assert made.left_out == 0
    everything = make_pairs(asked, [], share=0.0, seed=0)
    assert (len(everything.training), everything.kept) == (7, [])


def test_too_few_questions() -> None:
    with pytest.raises(CorpusError, match="give 1 pairs"):
        make_pairs([AnsweredQuestion("Why?", provision("d"), "rule")], ["d"], share=0.0, seed=0)


def test_negatives_are_near_and_no_answer(index: Collection, view: View) -> None:
    mine = miner(index, Settings())
    answer = provision_around(view, *span_of(view, "law.txt", "must pay the mooring fee"))
    assert answer is not None
    question = "When must the owner pay the mooring fee?"
    texts = mine(question, [answer], frozenset(view.documents))
    assert 0 < len(texts) <= 3
    assert not any("must pay the mooring fee" in text for text in texts)
    assert any("mooring fee" in text for text in texts)
    own = " ".join((view.text_of("rule.txt") or "").split())
    assert all(text in own for text in mine(question, [answer], frozenset({"rule.txt"})))
    assert mine(question, [answer], frozenset()) == ()


def opinion(vote: str, *citations: Citation, abstained: bool = False) -> Opinion:
    return Opinion(
        answer_id="a", vote=vote, question="And then?", standalone="What is the mooring fee?",
        answer="Said.", abstained=abstained, citations=list(citations), contexts=[], scores={},
        variant="hypa", corpus="c", model=None, at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def test_thumbs_up_give_what_was_cited(view: View) -> None:
    document, start, end = span_of(view, "law.txt", "The fee is $1,500")
    cited: Citation = {"n": 1, "document": document, "section": "§ 10-2", "page": None,
                       "start": start, "end": end, "quote": "The fee is $1,500"}  # fmt: skip
    gone: Citation = {**cited, "document": "gone.txt", "lead": "It must include:"}
    asked = list(
        questions_with_thumbs(
            [
                opinion("up", cited, gone),
                opinion("down", cited),
                opinion("up", cited, abstained=True),
            ],
            view,
        )
    )
    whole, quoted = asked
    assert whole.question == "What is the mooring fee?"
    assert whole.provision.text.startswith("A boat owner must pay the mooring fee")
    assert (quoted.provision.text, quoted.provision.heading, quoted.source) == (
        "It must include: The fee is $1,500", "§ 10-2", "feedback",
    )  # fmt: skip


def written(request: Request) -> Reply:
    """A question on the first words of the provision, twice, and one that is too short."""
    topic = " ".join(request.user.split("provision")[1].split()[1:5])
    question = f"What about {topic}?"
    return Reply(json.dumps({"questions": [question, f"{question}\n", "Why?"]}))


def test_a_model_writes_questions_once(server: FakeOpenAI, asker: Asker, view: View) -> None:
    server.play("ask_provision", written)
    provisions = chosen_provisions(view, 3, 7)
    questions = list(ModelAsker(asker, 2)(provisions))
    assert [question.provision for question in questions] == provisions
    assert all(question.source == "model openai:scripted" for question in questions)
    assert "Write 2 different questions" in server.requests[0].system
    count = len(server.requests)
    assert list(ModelAsker(asker, 2)(provisions)) == questions
    assert len(server.requests) == count
    assert asker.spent["model_calls"] == count == 3


def test_a_model_of_no_use(server: FakeOpenAI, asker: Asker, view: View) -> None:
    server.play("ask_provision", Reply("I would rather not."))
    with pytest.raises(ModelUnavailable, match="wrote no question"):
        list(ModelAsker(asker, 2)(chosen_provisions(view, None, 7)))


def test_some_replies_of_no_use_are_counted(server: FakeOpenAI, asker: Asker, view: View) -> None:
    good = Reply(json.dumps({"questions": ["What about this?"]}))
    server.play("ask_provision", lambda r: Reply("No.") if "permit costs" in r.user else good)
    writer = ModelAsker(asker, 1)
    provisions = chosen_provisions(view, None, 7)
    assert len(list(writer(provisions))) == len(provisions) - 1
    assert writer.failed == 1
