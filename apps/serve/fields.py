"""The longest values that a request may have: what is read, compared or written is never longer.

``tests/apps/serve/test_bounds.py`` walks the schemas of all routes and tools, and holds that each
string, list and number in them has a limit.
"""

from typing import Annotated, TypeAlias

from pydantic import Field

MOST_DOCUMENTS, MOST_COLLECTIONS = 500, 100
"""Names of documents or collections in one request."""
FARTHEST = 2**31
"""The largest place in a text or a list."""
CollectionName: TypeAlias = Annotated[
    str,
    # a person's name of up to 100 letters, `~` and the collection's own of as many
    Field(min_length=1, max_length=250, description="As /api/collections names it."),
]
DocumentName: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=4096, description="A document's name.")
]
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
QuestionText: TypeAlias = Annotated[
    str,
    # the server's own limit, max_question_chars, is at most this
    Field(max_length=100_000, description="In words."),
]
Label: TypeAlias = Annotated[str, Field(max_length=500)]
Day: TypeAlias = Annotated[str, Field(max_length=20)]
Place: TypeAlias = Annotated[int, Field(ge=0, le=FARTHEST)]
SettingName: TypeAlias = Annotated[str, Field(max_length=100)]
_Number: TypeAlias = Annotated[float, Field(ge=-1e12, le=1e12)]
_Scalar: TypeAlias = (
    bool
    | Annotated[int, Field(ge=-FARTHEST, le=FARTHEST)]
    | _Number
    | Annotated[str, Field(max_length=1000)]
    | None
)
SettingValue: TypeAlias = (
    _Scalar
    | Annotated[list[_Scalar], Field(max_length=100)]
    | Annotated[dict[SettingName, _Number], Field(max_length=1000)]
)
"""What a caller may give a setting; which values it takes is for the settings to say."""
GivenSettings: TypeAlias = Annotated[
    dict[SettingName, SettingValue],
    Field(max_length=100, description="By flat name; see /api/settings."),
]
