"""What shows how an answer was found: the law asked, its sources, the search, and by whom."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lexloop.apps.plain_text import one_line

Record = Mapping[str, Any]


def asked(record: Record) -> list[tuple[str, str]]:
    """Return when a question was asked, of which law, and of which collections."""
    at = datetime.fromisoformat(record["at"]).astimezone(UTC)
    day = record["as_of"]
    if day == "any":
        day = "any day: versions of all times were searched"
    elif day == "today":
        day = f"{at:%Y-%m-%d}, the day of the question"
    versions = {
        f"{_named(record, citation)} is {citation['version']}": None
        for citation in record["citations"]
        if citation.get("version")
    }
    return [
        ("Asked", f"{at:%Y-%m-%d %H:%M} UTC"),
        ("Law as of", day),
        *([("Version", one_line("; ".join(versions)))] if versions else []),
        ("Collections", ", ".join(map(one_line, record["collections"])) or "none"),
    ]


def place(record: Record, source: Record) -> str:
    """Return where a source stands: document, provision, page, characters and version."""
    pages = f"page {source['page']}" if source["page"] is not None else ""
    span = f"characters {source['start']}–{source['end']}"
    parts = (_named(record, source), source["section"], pages, span, source.get("version", ""))
    return ", ".join(one_line(part) for part in parts if part)


def sources(record: Record) -> list[str]:
    """Return a line for each document that an answer cites, with the provisions cited of it."""
    titles = {_key(passage): passage["title"] for passage in record["passages"]}
    cited: dict[tuple[str, str], list[Record]] = {}
    for citation in record["citations"]:
        cited.setdefault(_key(citation), []).append(citation)
    lines = []
    for key, citations in cited.items():
        title, name = titles.get(key, ""), _named(record, citations[0])
        version = citations[0].get("version", "")
        sections = dict.fromkeys(one_line(c["section"]) for c in citations if c["section"])
        described = f"{title} ({name})" if title and title != name else name
        parts = [one_line(part) for part in (described, version) if part]
        lines.append(": ".join(filter(None, [", ".join(parts), "; ".join(sections)])))
    return lines


def found_how(record: Record) -> list[tuple[str, str]]:
    """Return how an answer was found, name by name: by whom, with which settings and searches."""
    settings = record["variant"]
    if record["plan"]:  # a greeting is answered without one
        plan = ", ".join(f"{name} = {value}" for name, value in record["plan"].items())
        settings = f"{settings}, question of class {record['complexity']}, {plan}"
    rows = [
        ("Model", _model(record)),
        ("Settings", settings),
        ("Searched for", "; ".join(record["queries"]) or "nothing"),
        ("Keywords", ", ".join(record["keywords"])),
        ("Read", f"passages: {len(record['passages'])}, relations: {len(record['triplets'])}"),
        ("Time", f"{record['usage']['seconds']:.1f} s"),
        ("Answer", record["id"]),
    ]
    return [(name, one_line(said)) for name, said in rows if said]


def _model(record: Record) -> str:
    name, hosts, usage = record["model"], record["hosts"], record["usage"]
    where = f"Text was sent to {' and '.join(hosts)}." if hosts else "Nothing left the machine."
    if name is None:
        return f"none. {where}"
    if not usage["model_calls"]:
        return f"{name} was to be asked, and gave nothing of this answer. {where}"
    tokens = f"{usage['tokens_in']} tokens in, {usage['tokens_out']} out"
    return f"{name}, {usage['model_calls']} calls, {tokens}. {where}"


def _named(record: Record, source: Record) -> str:
    """Return a document's name, with its collection's where several were asked."""
    document: str = source["document"]
    return f"{source['collection']}: {document}" if len(record["collections"]) > 1 else document


def _key(source: Record) -> tuple[str, str]:
    return source.get("collection", ""), source["document"]
