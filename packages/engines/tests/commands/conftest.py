"""Every test of the command line has a data folder of its own, and reads files in its process."""

import pytest


@pytest.fixture(autouse=True)
def _alone(own_data_folder: None, reading_here: None) -> None: ...
