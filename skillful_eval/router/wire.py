"""The models of what an endpoint answers; imported where an answer is read, since it takes a while."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from skillful_eval.documents import encodes
from skillful_eval.router.answers import NAME_CHARACTERS
from skillful_eval.schema import TOKEN_LIMIT

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""


def _whole(text: str) -> str:
    if not encodes(text):
        raise ValueError("half of a surrogate pair is no text")
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""Text that can be written."""

Tokens = Annotated[int, Field(ge=0, le=TOKEN_LIMIT)]
"""A count of tokens."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Primary(_Strict):
    """Which candidate was chosen."""

    type: Literal["choice"] | None = None
    choice: Text
    probabilities: dict[str, Probability]
    confidence: Probability | None = None


class Useful(_Strict):
    """How useful one candidate is."""

    type: Literal["noul"] | None = None
    noul: Probability | None = None


class Answers(_Strict):
    """The answers; those about single candidates are taken aside, see :attr:`Reply.useful`."""

    primary: Primary


class Usage(_Strict):
    """What the answer cost."""

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None


class Reply(_Strict):
    """An answer.

    Attributes:
        answers: The choice.
        useful: What is said of each candidate, by position; null where nothing.
        model: The model that answered.
        usage: What it cost.
    """

    answers: Answers
    useful: list[Useful | None]
    model: Annotated[Text, Field(max_length=NAME_CHARACTERS)] | None = None
    usage: Usage | None = None
