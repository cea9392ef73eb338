"""Work with documents and answers, in addition to single questions."""
