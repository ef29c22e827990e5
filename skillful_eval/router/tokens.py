"""The words that retrieval compares: how a text is split, in whatever language it is written."""

from __future__ import annotations

import polars as pl

_COMMON = """
a an and are as at be been but by can did do does for from had has have he her his if in into is it its
me my of on or our she so than that the their them then there these they this those to us was we were
what when where which who will with you your
"""

STOP_WORDS = frozenset(_COMMON.split())
"""Words that are in every text and tell nothing."""

_SUFFIX = r"(?i)\.(?:md|markdown|toml|json|yaml|yml|txt)\s*$"
_CAMEL = (r"([\p{Ll}\p{Nd}])(\p{Lu})", "$1 $2")
_ACRONYM = (r"(\p{Lu})(\p{Lu}\p{Ll})", "$1 $2")
_WORD = r"[\p{L}\p{N}]+"


def words(text: pl.Expr) -> pl.Expr:
    """The words of a text, stop words among them.

    Args:
        text: Texts; null where there is none.

    Returns:
        Lists of text, in the text's order; null where the text is.

    The text is composed (NFC), so that an accent typed as a mark of its own does not split a word. One
    trailing file suffix (``.md``, ``.markdown``, ``.toml``, ``.json``, ``.yaml``, ``.yml``, ``.txt``, in any
    case, blanks after it passed over) is dropped; a lower-case letter or a digit is parted from a capital
    after it, and an acronym from the word after it; the text is lower-cased, and split at whatever is neither
    a Unicode letter nor a Unicode number.

    >>> pl.select(words(pl.lit("Send claudeFable to HTTPServer, v2.md"))).item().to_list()
    ['send', 'claude', 'fable', 'to', 'http', 'server', 'v2']
    """
    plain = text.str.len_bytes() == text.str.len_chars()
    composed = pl.when(plain).then(text).otherwise(text.str.normalize("NFC"))
    parted = composed.str.replace(_SUFFIX, "").str.replace_all(*_CAMEL).str.replace_all(*_ACRONYM)
    return parted.str.to_lowercase().str.extract_all(_WORD)


def tokens(texts: pl.Series) -> pl.DataFrame:
    """The tokens of texts: their :func:`words` without :data:`STOP_WORDS`.

    Args:
        texts: Texts; null is a text without tokens.

    Returns:
        One row a token, in the texts' order: ``text`` (UInt32, the text's row), ``token`` (text). A token
        that occurs twice has two rows.

    >>> tokens(pl.Series(["What is the weather?", "", "Thời tiết"])).rows()
    [(0, 'weather'), (2, 'thời'), (2, 'tiết')]
    """
    numbered = texts.rename("token").to_frame().with_row_index("text")
    listed = numbered.with_columns(words(pl.col("token"))).explode(
        "token", empty_as_null=False, keep_nulls=False
    )
    return listed.filter(~pl.col("token").is_in(sorted(STOP_WORDS)))
