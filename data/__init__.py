"""The sample corpus, its gold questions, and the trained classifier."""
