"""The work that is done with documents and answers, beside single questions."""
