"""The words by which a text excepts from a rule: one list for all that look for exceptions."""

import re

DEROGATING = r"derogat\w*|exceptions?|notwithstanding"
"""Words that except from what they name, before it."""
PROVIDED = r"provided(?:\s+(?:also|further))?,?\s+(?:that|however)"
"""The words that open a proviso."""
CONDITIONS = rf"unless|{PROVIDED}|subject\s+to"
_DO_NOT = r"(?:shall|do|does|is|are|will|may|must|need)\s+not\s+(?:\w+\s+)?"
NOT_APPLYING = rf"{_DO_NOT}appl(?:y|ies|icable)|not\s+applicable"
EXCEPTING = re.compile(
    rf"\b(?:{DEROGATING}|except\w*|exempt\w*|{NOT_APPLYING}"
    rf"|{_DO_NOT}(?:(?:be\s+)?required|necessary|needed)|not\s+be\s+required)\b",
    re.IGNORECASE,
)
"""Words that free from a duty or a rule."""
LIMITING = re.compile(
    rf"\b(?:{DEROGATING}|except\w*|exempt\w*|{NOT_APPLYING}|{CONDITIONS})\b", re.IGNORECASE
)
"""Words of exceptions, conditions and provisos."""
