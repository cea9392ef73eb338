"""Relations read off legal text: by rules that know no particular law, or by a model."""
