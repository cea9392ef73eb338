"""How settings are offered, by commands and by the page alike: under which heading, how called."""

HEADINGS = {
    "Documents and model": ("corpus", "model", "index", "chunking"),
    "Which documents": ("access",),
    "Breadth": ("plan.k", "retrieval.candidates"),
    "Care": ("loop.max_retries", "loop.min_answers", "deadline_s"),
    "The answer": ("answer",),
    "Advanced": (),
}
"""What people choose, by settings or their groups; all else, with the papers' names, comes last."""
TITLES = {
    "plan.k": "passages that are read",
    "retrieval.candidates": "passages that are compared",
    "loop.max_retries": "further tries",
    "loop.min_answers": "how sure an answer must be",
    "deadline_s": "longest time, in seconds",
    "plan.Q": "sub-queries (Q)",
    "plan.K": "keywords for the graph (K)",
    "plan.S": "path length in the graph (S)",
}
"""What settings are called whose names say too little."""


def heading_of(setting: str) -> str:
    """Return the heading that a setting is offered under."""
    group = setting.partition(".")[0]
    among = (title for title, names in HEADINGS.items() if setting in names or group in names)
    return next(among, "Advanced")


def title_of(setting: str) -> str:
    """Return what a setting is called."""
    return TITLES.get(setting) or setting.rpartition(".")[2].replace("_", " ")
