"""Making gold questions and classifier examples from a corpus, and having people review them."""
