"""What a benchmark of indexing makes of texts that it does not embed."""

from _listening import Listener


def test_texts_that_are_not_read_have_as_many_tokens_as_they_would() -> None:
    texts = ["the register", "a clerk keeps the seal of the city", "", "it"]
    whole = Listener().encode_tokens(texts, lambda *_: None)[1]
    part = Listener(every=3)
    vectors, codes = part.encode_tokens(texts, lambda *_: None)
    assert [one.shape for one in codes] == [one.shape for one in whole]
    assert (vectors.shape, part.given, part.texts) == ((4, 384), 4, ["the register", "it"])
