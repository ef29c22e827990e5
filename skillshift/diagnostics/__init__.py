"""The four diagnostics: from records to cells, from cells to marginals, and what must hold of them."""
