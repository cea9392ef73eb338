"""The words for exceptions: one list for all functions that look for them."""

import re

DEROGATING = r"derogat\w*|exceptions?|notwithstanding"
"""Words that make an exception to the provision named after them."""
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
