"""After any edits of its sources an updated index is the one that would be made anew."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from indexes import Letters, content, letter_tools, sources
from laws import examples

from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.opening import verify_index
from lexloop.store.writer import write_index

NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
NAMES = st.sampled_from(["a.txt", "b.txt", "c/d.md", "rows.jsonl"])
TEXTS = st.sampled_from(
    [
        "The owner must pay the fee.",
        "§ 1 Fees\nThe guest may not moor.\n\n§ 2 Fines\nA fine is $500.\n",
        "The auditor must do an audit under § 1.",
        "",
    ]
)
EDITS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.lists(TEXTS, min_size=1, max_size=3)),
    st.tuples(st.just("delete"), NAMES, st.just([])),
    st.tuples(st.just("tag"), NAMES, st.just([])),
)


def edit(folder: Path, kind: str, name: str, texts: list[str]) -> None:
    path = folder / name
    if kind == "delete":
        path.unlink(missing_ok=True)
    elif kind == "tag":
        (folder / "metadata.csv").write_text(f"file,tags,in_force_from\n{name},x,2024-01-01\n")
    elif name.endswith(".jsonl"):
        rows = [f'{{"id": "{i}", "text": "{t[:20].strip()}"}}' for i, t in enumerate(texts)]
        path.write_text("\n".join(rows))
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(texts))


@settings(
    max_examples=examples(12),
    phases=NO_SHRINKING,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_an_updated_index_equals_a_fresh_one(
    parsed: list[str], steps: list[list[tuple[str, str, list[str]]]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, index = Path(place, "source"), Path(place, "index")
        folder.mkdir()
        (folder / "base.txt").write_text("A vessel may lie at a berth.")
        write_index(index, sources(folder), letter_tools())
        for step in steps:
            for change in step:
                edit(folder, *change)
            parsed.clear()
            outcome = write_index(index, sources(folder), letter_tools())
            changes = outcome.difference
            assert sorted(parsed) == sorted(changes.added + changes.changed)
        write_index(Path(place, "fresh"), sources(folder), letter_tools())
        assert content(index) == content(Path(place, "fresh"))
        verify_index(index, Letters())
        assert len(list((index / GENERATIONS).iterdir())) == 1
        shutil.rmtree(index)
