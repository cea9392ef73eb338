"""Forgetting of a document in conversations, and in opinions on their answers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from typing import Any

from lexloop.apps.feedback import FeedbackStore, feedback_file
from lexloop.apps.threads import ThreadStore
from lexloop.apps.withdrawing import NOTE, Traces, withdrawn, without
from lexloop.core.errors import DataError
from lexloop.store.forgetting import Corpora, Forgotten, Removal, Target

FORGETS = 10


def quotes(removal: Removal) -> bool:
    """Return whether an answer has something of the document."""
    for file, corpora in removal.conversations:
        traces = traces_of(removal.target, corpora)
        with closing(ThreadStore(file)) as store, suppress(DataError):
            if any(withdrawn(answer, traces(person)) != answer for person, answer in store.every()):
                return True
    return False


def forget(removal: Removal, done: Forgotten) -> None:
    """Remove the document from the answers, and from the opinions in the same folders."""
    for file, corpora in removal.conversations:
        with closing(ThreadStore(file)) as store:
            withdraw(store, traces_of(removal.target, corpora, removal.texts), done)


def traces_of(
    target: Target, corpora: Corpora, texts: Sequence[str] = ()
) -> Callable[[str], Traces]:
    """Return a function that returns the traces of a document in a person's answers.

    Args:
        target: The document.
        corpora: Returns the corpora that a collection in a person's answer may mean.
        texts: The texts of the document, if they are still known.
    """

    @cache
    def found(person: str) -> Traces:
        traces = Traces(
            lambda collection: any(map(target.may_hold, corpora(person, collection))),
            lambda collection, name: any(
                target.is_of(corpus, name) for corpus in corpora(person, collection)
            ),
        )
        for text in texts:
            traces.learn(text)
        return traces

    return found


def withdraw(store: ThreadStore, traces: Callable[[str], Traces], done: Forgotten) -> None:
    """Remove a document from kept answers and opinions. Opinions are changed first.

    Args:
        store: The store of the answers. Opinions are beside it.
        traces: Returns the traces for a person's answers. "" stands for the author of an opinion
            on an answer that is not kept.
        done: Records the changes.
    """
    feedback = FeedbackStore(feedback_file(store.file))
    whose: dict[str, str] = {}
    emptied: set[str] = set()

    def changed(person: str, answer: dict[str, Any]) -> Mapping[str, Any]:
        rest = withdrawn(answer, traces(person))
        if rest["answer"] == NOTE:
            emptied.add(answer["id"])
        return rest

    with done.trying(store.file):
        for person, answer in store.every():
            whose[answer["id"]] = person
            traces(person).note(answer)
    with done.trying(feedback.file):
        for id in feedback.rewrite(
            lambda opinion: without(opinion, traces(whose.get(opinion["answer_id"], "")))
        ):
            done.touch("feedback", feedback.file, f"what was said of answer {id}")
    with done.trying(store.file):
        for _, thread, id in store.rewrite(changed):
            part = "" if id in emptied else "passages of "
            done.touch("thread", store.file, f"{part}the answer {id} of thread {thread}")
