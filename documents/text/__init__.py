"""Analysis of texts: sentences, search terms, spelling slips and languages."""
