"""Where the user's own data lie."""

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of threads, opinions and uploads; ``LEXLOOP_DATA_DIR`` moves it."""
    from platformdirs import user_data_path

    return Path(os.environ.get("LEXLOOP_DATA_DIR") or user_data_path("lexloop"))
