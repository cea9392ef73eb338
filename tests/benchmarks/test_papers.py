"""The rows of the papers that run here: ours beside what was published, and why one does not."""

import papers

METRICS = {"correctness": None}
SUMMARY = {
    "variants": [
        {
            "name": "Fixed k = 3",
            "source": "HyPA-RAG table 2",
            "differs": ["generator: quotes"],
            "metrics": {"correctness": {"mean": 3.5, "low": 3.0, "high": 4.0}},
        },
        {"name": "k", "source": "another", "metrics": {}},
    ],
    "skipped": [{"variant": "LLM only", "source": "HyPA-RAG table 2", "reason": "no model"}],
}


def test_ours_stands_before_theirs_and_what_was_not_run_says_why() -> None:
    rows = {"Fixed k = 3": {"correctness": 4.04}, "LLM only": {"correctness": 2.7}}
    there = {"metrics": METRICS, "rows": rows}
    shown = papers.shown("HyPA-RAG table 2", there, SUMMARY).splitlines()
    assert shown[2:] == [
        "| Fixed k = 3 | 3.500 [3.000, 4.000] | 4.04 | generator: quotes |",
        "| LLM only | – | 2.7 | not run: no model |",
    ]
