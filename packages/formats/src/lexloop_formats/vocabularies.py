"""The vocabularies of legal XML: what the elements of each are to a reader.

What a table does not name is a line where it holds text of its own, and is looked into.
"""

from dataclasses import dataclass, field
from typing import Literal

Role = Literal[
    "division",  # a part, a chapter, an article: its number and heading stand above it
    "group",  # a division without a number, in which provisions go on
    "annex",  # the same, outside of all divisions
    "untitled",  # what holds all annexes, under a word that is no heading of theirs
    "item",  # a paragraph or a point: its number stands in front of it
    "number",
    "heading",
    "source",  # the provision that an annex belongs to
    "head",  # what holds a number and a heading
    "line",  # a paragraph, even where it holds nothing but other elements
    "listed",  # an item that its list numbers
    "quote",  # provisions of another law, which this one changes
    "note",
    "reference",  # to a note that stands elsewhere
    "sign",  # a quotation mark, by its code
    "inline",
    "row",
    "cell",
    "unseen",  # metadata, tables of contents, what was taken out
]


@dataclass(frozen=True)
class Vocabulary:
    """The elements of one vocabulary by their local names.

    Args:
        roles: What each is; those that are not named only hold others.
        carried: Divisions whose heading is that of the first element of a name in them, with its
            number.
        marks: How a number is shown that stands bare in the XML.
        words: Elements whose bare number is shown behind their own name, in English.
        quotes: The marks around provisions of another law, where the XML leaves them out.
        titles: The elements that hold the document's title, the likeliest first.
    """

    roles: dict[str, Role]
    carried: dict[str, str] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    quotes: tuple[str, str] = ("", "")
    titles: tuple[str, ...] = ()


_TABLE: dict[str, Role] = {
    **dict.fromkeys(("tr", "row", "ROW"), "row"),
    **dict.fromkeys(("td", "th", "entry", "column", "CELL"), "cell"),
}
_SEEN_NOWHERE: dict[str, Role] = dict.fromkeys(("script", "style", "svg"), "unseen")
_COMMON: dict[str, Role] = {**_TABLE, **_SEEN_NOWHERE, "p": "line", "li": "listed"}
_HEAD: dict[str, Role] = {"num": "number", "heading": "heading", "subheading": "heading"}
_DC_TITLE = "{http://purl.org/dc/elements/1.1/}title"


def _roles(**named: str) -> dict[str, Role]:
    """Return the roles of elements, each role with the names that are it."""
    found: dict[str, Role] = {}
    for role, names in named.items():
        found.update(dict.fromkeys(names.split(), role))  # type: ignore[arg-type]
    return found


AKOMA_NTOSO = Vocabulary(
    {
        **_COMMON,
        **_HEAD,
        **_roles(
            division="book tome part subpart title subtitle chapter subchapter division subdivision"
            " section article rule clause hcontainer tblock",
            annex="attachment",
            item="alinea indent level paragraph point proviso recital subclause sublist"
            " subparagraph subrule subsection transitional item",
            line="block listIntroduction listWrapUp crossHeading eol br",
            quote="quotedStructure embeddedStructure",
            note="authorialNote",
            reference="noteRef",
            unseen="meta toc coverPage del",
        ),
    },
    words=frozenset("book part subpart title chapter subchapter division article".split()),
    quotes=("“", "”"),
    titles=("docTitle", "shortTitle", "longTitle"),
)
USLM = Vocabulary(
    {
        **_COMMON,
        **_HEAD,
        **_roles(
            division="title subtitle part subpart chapter subchapter division subdivision article"
            " section notes note",
            annex="appendix schedule",
            item="subsection paragraph subparagraph clause subclause item subitem subsubitem level",
            line="content chapeau continuation br",
            quote="quotedContent",
            note="footnote endnote",
            unseen="meta toc page sidenote del",
        ),
    },
    titles=(_DC_TITLE,),
)
FORMEX = Vocabulary(
    {
        **_COMMON,
        **_roles(
            division="DIVISION ARTICLE GR.SEQ",
            annex="ANNEX CONS.ANNEX",
            item="PARAG NP CONSID",
            number="TI.ART NO.PARAG NO.P",
            heading="TI STI STI.ART",
            head="TITLE",
            line="P TXT ALINEA VISA PREAMBLE.INIT PREAMBLE.FINAL GR.CONSID.INIT",
            listed="ITEM",
            quote="QUOT.S",
            sign="QUOT.START QUOT.END",
            note="NOTE",
            unseen="BIB.INSTANCE BIB.INSTANCE.CONS BIB.DATA INFO.CONSLEG INFO.PROD FAM.COMP TOC",
        ),
    },
    titles=("TI",),
)
CLML = Vocabulary(
    {
        **_COMMON,
        **_roles(
            division="Group Part Chapter P1group P1 EUTitle EUPart EUChapter EUSection"
            " EUSubsection Division ExplanatoryNotes EarlierOrders",
            group="Pblock PsubBlock",
            annex="Schedule Appendix Attachment",
            untitled="Schedules",
            source="Reference",
            item="P2 P3 P4 P5 P6 P7",
            number="Number Pnumber",
            heading="Title Subtitle",
            head="TitleBlock",
            line="Text DateText",
            inline="AppendText",
            listed="ListItem",
            quote="BlockAmendment BlockExtract",
            reference="FootnoteRef",
            unseen="Metadata Contents Commentaries CommentaryRef Versions Footnotes MarginNotes"
            " Resources",
        ),
    },
    carried={"P1group": "P1"},
    marks={"P1": "{}.", **dict.fromkeys(("P2", "P3", "P4", "P5", "P6", "P7"), "({})")},
    quotes=("“", "”"),
    titles=(_DC_TITLE,),
)
UNKNOWN = Vocabulary(dict(_COMMON))

_FORMEX_ROOTS = frozenset("ACT AGR ANNEX CONS.ACT CONS.ANNEX CONS.DOC CONS.LIST GENERAL".split())


def vocabulary_of(tag: str, schema: str = "") -> Vocabulary | None:
    """Return the vocabulary of a root element; None if it is unknown.

    Args:
        tag: Its name, with its namespace in braces.
        schema: The address of the schema that it names without a namespace.
    """
    namespace, _, name = tag.rpartition("}")
    if "/uslm/" in namespace:
        return USLM
    if name == "akomaNtoso" or "akomantoso" in namespace or "/akn/" in namespace:
        return AKOMA_NTOSO
    if namespace.endswith("legislation.gov.uk/namespaces/legislation"):
        return CLML
    return FORMEX if "formex" in schema or name in _FORMEX_ROOTS else None
