"""What tests can show: they are run, and every law among them is tried twenty times as often."""

import subprocess
import sys
from collections.abc import Iterator

from _shared import ROOT, Line

PROMISES: dict[str, tuple[str, ...]] = {
    "a question that documents repeat is no answer": ("nodes/test_answering.py",),
    "a provision is denied where its numbering is whole alone": (
        "documents/structure/test_references.py",
        "nodes/hybrid_retrieve/test_pointed.py",
    ),
    "greetings are replied to, and what is asked behind one is answered": (
        "nodes/test_small_talk.py",
    ),
    "a reference is whole wherever its line breaks": ("documents/chunks/test_statements.py",),
    "a question and a document match however their letters are coded": (
        "graph/test_codings.py",
        "core/test_folding.py",
    ),
    "a reply of 5 MB is refused": ("models/test_bounded.py",),
    "what drips or hangs ends with its deadline": (
        "models/test_chat_deadline.py",
        "models/test_embedder_deadline.py",
    ),
    "setting the clock neither lifts nor ends a deadline": ("graph/test_deadline.py",),
    "a model and an embedder that fail fall back, and it is told": ("graph/test_fallback.py",),
    "what comes in an answer's place becomes none": (
        "graph/test_written_answers.py",
        "nodes/generate/test_model.py",
    ),
    "no bad answer passes a model that calls everything good": ("benchmarks/test_judged.py",),
    "a question that the rewriter changes is not asked": ("nodes/rewrite/test_model.py",),
    "a password in the model's address is sent, and stands nowhere": ("benchmarks/test_canary.py",),
    "an agent goes on after bad questions": ("integration/test_agents.py",),
    "Ctrl-C clears a half-typed line, then leaves, and the chat can be gone on with": (
        "apps/test_chat.py",
    ),
    "`lexloop example` writes documents of several formats, once": ("apps/test_example.py",),
    "in a home that cannot be written all is answered": ("apps/test_unprivileged.py",),
    "many ask on one thread at once, and no turn is lost": ("graph/test_turns.py",),
    "a conversation is small, and is deleted from a full disk": ("apps/test_thread_store.py",),
    "who signed out on a full disk is out": ("apps/serve/test_people.py",),
    "a document that is removed on a full disk answers no more": ("apps/serve/test_indexing.py",),
    "a second server on one data folder is refused": ("apps/serve/test_serve_command.py",),
    "`lexloop mcp` tells nothing of collections that are not named": (
        "apps/serve/test_mcp_stdio.py",
    ),
    "a body that drips is left after its time, and strangers keep nobody out": (
        "apps/serve/test_guard.py",
    ),
    "uploads at once stay within what one person may store": ("apps/serve/test_uploads.py",),
    "files are read as they are shown, and each word has its place in its file": (
        "documents/reading/test_markdown.py",
        "documents/reading/test_origins.py",
    ),
    "a large hostile document takes time in proportion": (
        "documents/structure/test_laws.py",
        "documents/chunks/test_provisions.py",
    ),
    "no answer, error or `degraded` has a path of the server": ("apps/serve/test_places.py",),
}


def held() -> Iterator[Line]:
    """Run the tests of each."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--hypothesis-profile=long"]
    for promise, files in PROMISES.items():
        command = [*pytest, *(f"tests/{file}" for file in files)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        lines = run.stdout.strip().splitlines() or run.stderr.splitlines()
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        yield Line(promise, "; ".join([*failed[:3], *lines[-1:]]), run.returncode == 0)
