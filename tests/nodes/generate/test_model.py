"""The model's generators over real HTTP, and the citations of what they write."""

from collections.abc import Callable
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from hypothesis import given
from hypothesis import strategies as st
from records import Read, passage, triplet

from lexloop.core.errors import ModelReplyError
from lexloop.core.types import ABSTENTION, Advice, Draft, Passage
from lexloop.documents.chunks.statements import Statement
from lexloop.models.request import Chat
from lexloop.nodes.generate.model import (
    ModelAlone,
    ModelGenerator,
    abstains,
    citation_for,
    cited_answer,
    need_answer,
    with_markers,
)
from lexloop.nodes.markers import cited_sentences
from lexloop.nodes.question.parts import parse

Converse = Callable[..., Any]
PASSAGES = [
    passage(1, "The fee is $50. It is due on 1 May.", start=100, section="§ 5-301"),
    passage(2, "A notice must be posted.", section="§ 5-304"),
]


def generator(chat: Chat) -> ModelGenerator:
    return ModelGenerator(chat, Read(*PASSAGES))


def test_what_the_model_is_shown(server: FakeOpenAI, converse: Converse) -> None:
    server.otherwise = Reply("The fee is $50 [1].")
    relations = [triplet("fee", "is due on", "1 May")]
    advice: Advice = {"question": "q", "queries": [], "guidance": "Name it.", "strategy": "reread"}
    converse(lambda chat: generator(chat).generate(parse("When?"), PASSAGES, relations, advice))
    [request] = server.requests
    assert request.body["stream"] is True
    assert 'passage="1">\nRule | § 5-301\nThe fee is $50.' in request.user
    assert 'passage="2">\nRule | § 5-304\nA notice' in request.user
    assert 'kind="relations">\nfee | is due on | 1 May\n' in request.user
    assert 'kind="guidance">\nName it.\n' in request.user
    assert 'kind="question">\nWhen?\n' in request.user
    assert ABSTENTION in request.user


def test_alone_without_passages_or_citations(server: FakeOpenAI, converse: Converse) -> None:
    server.play("answer_alone", Reply("In May [1].\n"))
    draft = converse(lambda chat: ModelAlone(chat).generate(parse("When?"), PASSAGES, [], None))
    assert draft["answer"] == "In May [1]."
    assert draft["citations"] == []
    assert "fee" not in server.requests[0].user


GATEWAYS = (
    '{"foo": "The fee is $50 [1]."}',
    "<html><body>The fee is $50 [1].</body></html>",
    "upstream connect error or disconnect/reset before headers",
)
ANSWERS = ("The fee is $50.", "Fifty dollars, says the first passage [1].", ABSTENTION, "[1]")


def test_what_a_gateway_says_is_no_answer() -> None:
    for reply in GATEWAYS:
        with pytest.raises(ModelReplyError, match="in place of an answer"):
            need_answer(reply, PASSAGES)
    for reply in ANSWERS:
        need_answer(reply, PASSAGES)


def test_what_is_no_answer_is_not_shown_where_it_recites_the_instructions() -> None:
    rules = "Name each passage that you cite, and leave out what you cannot cite at all."
    with pytest.raises(ModelReplyError) as recited:
        need_answer(f"Gladly. {rules}", PASSAGES, rules)
    assert "cannot cite" not in str(recited.value)
    with pytest.raises(ModelReplyError, match="disconnect/reset"):
        need_answer(GATEWAYS[2], PASSAGES, rules)


SHOWN = {1, 2, 3}


@pytest.mark.parametrize(
    "written",
    [
        "See [2021] EWCA Civ 5 [sic] [a] [1a] and [Section 1].",
        "Passage 9 of the book, and (Document 9).",  # neither was shown
    ],
)
def test_what_is_no_citation_stays(written: str) -> None:
    assert with_markers(written, SHOWN) == written


FORMS = st.sampled_from(
    [
        *("[{n}]", "【{n}】", "[^{n}]", "[Passage {n}]", "(passage {n})", "[[{n}]]", "[#{n}]"),
        *("【{n}†source】", "[Source {n}, § 5-301]", "<sup>{n}</sup>", "[{n}](#p{n})", "［{n}］"),
    ]
)
SENTENCES = st.lists(
    st.tuples(
        st.sampled_from(["The fee is $50", "Post a notice", "It is due on 1 May"]),
        st.lists(st.tuples(st.integers(1, 3), FORMS), min_size=1, max_size=3),
        st.sampled_from(["{text} {cited}.", "{text}. {cited}", "{text}.{cited}"]),
    ),
    min_size=1,
    max_size=4,
)
STYLES = st.sampled_from(["{text}", "- {text}", "{i}. {text}", "{i}) {text}", "**{i}.** {text}"])


@given(SENTENCES, STYLES, st.sampled_from(["", "Here it is:\n", "# Fees\n"]))
def test_every_marker_is_read_in_every_form_and_style(
    sentences: list[tuple[str, list[tuple[int, str]], str]], style: str, lead: str
) -> None:
    lines = []
    for i, (text, marks, shape) in enumerate(sentences, start=1):
        cited = "".join(form.format(n=n) for n, form in marks)
        lines.append(style.format(i=i, text=shape.format(text=text, cited=cited)))
    found = cited_sentences(with_markers(lead + "\n".join(lines), SHOWN))
    assert [set(s.numbers) for s in found if not s.led] == [
        {n for n, _ in marks} for _, marks, _ in sentences
    ]
    for sentence, (text, _, _) in zip(found[-len(sentences) :], sentences, strict=True):
        assert sentence.text.lstrip("- ").rstrip(". ") == text


@given(st.text(st.sampled_from("[]【】()^#1239 ,;-–.passage†<>/sup&to"), max_size=60))
def test_what_was_read_reads_the_same_again(written: str) -> None:
    once = with_markers(written, SHOWN)
    assert with_markers(once, SHOWN) == once


TEXT = (
    "The employer must publish a summary. The fee is $50. It is due on 1 May 2024. "
    "Appeals go to the board under § 5-303(b). The board sits in spring."
)
LIST = "Article 7\nSurveys\nA survey must state:\n(a) the date; and\n(b) the depth.\n"


def said_in(given: Passage) -> list[Statement]:
    return Read(given).statements(given["id"])[0]


def draft_of(answer: str, passages: list[Passage]) -> Draft:
    read = Read(*passages)
    return cited_answer(answer, passages, lambda chunk_id: read.statements(chunk_id)[0])


def test_a_point_is_cited_with_the_words_that_it_completes() -> None:
    given = passage(1, LIST)
    found = citation_for("The depth (b) is stated.", given, said_in(given), 1)
    assert found["quote"] == "(b) the depth."
    assert found["section"] == "Article 7(b)"
    assert found["lead"] == "A survey must state:"
    assert found["lead_spans"] == [[18, 38]]


def test_sources_are_numbered_in_the_order_of_use() -> None:
    passages = [passage(n, TEXT, start=10 * n) for n in range(1, 6)]
    draft = draft_of("The fee is $50 [4]. It is due on 1 May [2, 4]. Boards sit [5][4].", passages)
    assert draft["answer"] == "The fee is $50 [1]. It is due on 1 May [2][1]. Boards sit [3][1]."
    documents = {c["n"]: c["document"] for c in draft["citations"]}
    assert documents == {1: "d4.txt", 2: "d2.txt", 3: "d5.txt"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"Sorry. {ABSTENTION.upper()} Ask elsewhere.", True),
        (" ".join(reversed(ABSTENTION.rstrip(".").split())), True),
        ("The fee is not due in this question.", False),
        ("", False),
    ],
)
def test_abstentions(answer: str, expected: bool) -> None:
    assert abstains(answer) is expected


WORDS = st.sampled_from(["fee", "$50", "[1]", "[2]", "[9]", ".", "\n", "§ 5-303(b)", "board", "["])


@given(answer=st.lists(WORDS).map(" ".join), start=st.integers(0, 500))
def test_every_citation_quotes_its_document_exactly(answer: str, start: int) -> None:
    passages = [passage(1, TEXT, start=start), passage(2, "The fee\nis due.", start=start)]
    texts = {given["document"]: " " * start + given["text"] for given in passages}
    citations = draft_of(answer, passages)["citations"]
    for citation in citations:
        document = texts[citation["document"]]
        assert document[citation["start"] : citation["end"]] == citation["quote"]
        assert citation["quote"]
    # numbered from 1, each of another document, in the order of use
    named = {c["n"]: c["document"] for c in citations}
    assert list(named) == list(range(1, len(named) + 1))
    assert len(set(named.values())) == len(named)
