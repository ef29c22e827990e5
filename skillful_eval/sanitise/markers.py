"""Private markers: words of which an entry that carries one is withheld."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillful_eval.sanitise.views import fold, is_unspaced, joined, parted, views
from skillshift.frame.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

SHORT = 6
"""Markers with fewer letters and digits match whole words only: ``orca`` is not in ``orcamento``."""

_FIELD = "markers"
_WHAT = f'a TOML file with {_FIELD} = ["...", "..."]'
_SIZE_LIMIT = 1_000_000

_WORD = re.compile(r"[^\W_]+")
_RUN = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class Marker:
    """One private marker.

    Attributes:
        number: Its place in the file, from 1: messages name it by that, since its text is private.
        words: Its words, folded, one blank between two.
        whole: Whether it matches whole words only.
    """

    number: int
    words: str
    whole: bool

    def occurs(self, readings: Readings) -> bool:
        """Whether a text carries the marker."""
        if self.whole:
            return any(f" {self.words} " in f" {text} " for text in readings.spaced)
        solid = self.words.replace(" ", "")
        return any(self.words in text for text in readings.spaced) or any(
            solid in text for text in readings.solid
        )


@dataclass(frozen=True, slots=True)
class Readings:
    """A text as markers are compared with it.

    Attributes:
        spaced: Its words with one blank between two, each way to part it into words.
        solid: The same where hyphens, full stops and underscores join instead of parting.
    """

    spaced: frozenset[str]
    solid: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Readings:
        """Read a text in every way.

        >>> sorted(Readings.of("OrcaDeploy-2").spaced)
        ['orca deploy 2', 'orcadeploy 2', 'orcadeploy2']
        """
        spaced: set[str] = set()
        solid: set[str] = set()
        for view in views(text):
            together = joined(view.text)
            solid.add(_words(fold(together), _WORD))
            for reading in {view.text, together, parted(view.text)}:
                folded = fold(reading)
                spaced |= {_words(folded, _WORD), _words(folded, _RUN)}
        return cls(frozenset(spaced), frozenset(solid | spaced))


def _words(text: str, pattern: re.Pattern[str]) -> str:
    return " ".join(pattern.findall(text))


@dataclass(frozen=True, slots=True)
class Markers:
    """Private markers, and which texts carry one.

    >>> markers = Markers.of(["orca"])
    >>> markers.first("Deploys with OrcaCLI"), markers.first("orchestration, orcamento")
    (1, None)
    """

    markers: tuple[Marker, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Markers:
        """Markers from their texts.

        Raises:
            InputError: A marker has neither letter nor digit, so that it would match nothing.
        """
        return cls(tuple(_markers(texts, "markers")))

    def first(self, text: str) -> int | None:
        """The number of the first marker that a text carries, null where it carries none."""
        if not self.markers:
            return None
        readings = Readings.of(text)
        return next((marker.number for marker in self.markers if marker.occurs(readings)), None)


def read_markers(path: str | PathLike[str]) -> Markers:
    """Read private markers.

    Args:
        path: A TOML file with ``markers``, a list of texts. Case, accents and invisible characters do not
            matter, and between the words of a marker any punctuation may stand. A marker with fewer than six
            letters and digits matches whole words only.

    Raises:
        InputError: The file cannot be read or is no such file. Its texts are never repeated in a message.
    """
    where = str(path)
    document = _document(Path(path), where)
    unknown = [key for key in document if key != _FIELD]
    if unknown or _FIELD not in document:
        found = f"{len(unknown)} other field(s)" if unknown else f"no field {_FIELD}"
        raise InputError(f"{where}: found {found}, expected {_WHAT} and nothing else")
    texts = document[_FIELD]
    if not isinstance(texts, list) or not texts:
        raise InputError(f"{where}: {_FIELD}: expected a list of at least one text; {_WHAT}")
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise InputError(f"{where}: {_FIELD}: marker {number} is no text; expected {_WHAT}")
    return Markers(tuple(_markers(texts, where)))


def _document(path: Path, where: str) -> dict[str, Any]:
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            raise InputError(f"{where}: larger than {_SIZE_LIMIT:,} bytes; expected {_WHAT}")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{where}: cannot be read: {error.strerror}; expected {_WHAT}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text; expected {_WHAT}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"line \d+", str(error))
        place = f" ({line[0]})" if line else ""
        raise InputError(f"{where}: not TOML{place}; expected {_WHAT}") from None


def _markers(texts: Iterable[str], where: str) -> Iterator[Marker]:
    for number, text in enumerate(texts, start=1):
        words = _words(fold(text), _WORD)
        if not words:
            raise InputError(
                f"{where}: marker {number} has neither letter nor digit, so it would match nothing; "
                "expected a word that is private"
            )
        letters = sum(map(str.isalnum, text))
        yield Marker(number, words, letters < SHORT and not any(map(is_unspaced, text)))
