"""``lexloop eval``, ``compare``, ``judge``, ``testset``, ``tune`` and ``feedback``."""
