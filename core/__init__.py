"""What every room speaks: types, state, settings, errors."""
