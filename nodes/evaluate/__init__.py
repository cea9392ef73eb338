"""Three scores, the checks of citations, and the verdict."""
