"""What is private by its form: addresses, paths, keys. One table; finding and checking both read it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

URL, EMAIL, IP, PATH, SECRET, TARGET, NAME = CODES = (
    "url",
    "email",
    "ip",
    "path",
    "secret",
    "mcp-target",
    "withheld-name",
)
"""What can be taken out of a text, in the order in which reports list it."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One form of private text.

    Attributes:
        code: What it is.
        regex: How it looks; where it has a group, only the group is taken out.
        holds: Whether a match is meant, where its look alone does not tell.
    """

    code: str
    regex: re.Pattern[str]
    holds: Callable[[str], bool] = bool


_TLD = (
    "(?:com|org|net|edu|gov|mil|int|info|biz|io|dev|ai|app|co|cloud|me|tech|xyz|site|online|store|page|link|gg|"
    "tv|us|uk|de|fr|nl|be|eu|ch|at|es|it|pt|se|no|fi|dk|pl|cz|ru|ua|cn|jp|kr|in|vn|th|br|mx|au|ca|nz|sg|hk|tw|"
    "test|example|invalid|internal|local|localhost|corp|lan|intranet|home|localdomain)"
)
_HOST = rf"(?:localhost|(?!asp\.net\b)(?:[\w-]+\.)+{_TLD})(?![\w-]|\.\w)"
_REST = r"""[^\s<>"`]*[^\s<>"`.,;:!?)\]}'*]"""
"""The rest of an address: up to a blank or quote, without the punctuation of the sentence around it."""

# Inside a path: everything but blanks and what encloses a path; a blank behind a backslash belongs to it.
_PART = r"""(?:\\[ ]|[^\s/\\"'`<>|,;()\[\]{}])"""
_SPACED = r"""[^\s/\\"'`<>|]+(?:[ ][^\s/\\"'`<>|]+){0,3}(?=[/\\])"""
_TAIL = (
    rf"(?:[/\\]+(?:(?:Application[ ]Support|Program[ ]Files(?:[ ]\(x86\))?|Mobile[ ]Documents|{_PART}+))?)*"
)
_TOP = (
    "(?:home|Users|root|etc|usr|var|opt|tmp|private|mnt|media|srv|Volumes|Library|Applications|System|Network|"
    "data|app|proc|dev|run|snap|nix|workspaces?|bin|sbin|lib|boot)"
)
_LEFT = r"(?<![\w.~/\\)\]}*%-])"
"""What a path may not follow, or it is a part of something else: ``and/or``, ``./here``."""

_NAMED = (
    r"(?:(?:api|private|access|secret|signing|encryption)[_ -]?key|secret|token|passw(?:or)?d|passphrase|pwd"
    r"|credential|auth(?:orization)?(?![a-z]))s?\d{0,3}(?:[_-]\w{1,20})?"
)
_ISSUED = (
    r"(?:[sprw]k[-_](?=[\w-]*\d)[\w-]{12,}|gh[a-z]_\w{10,}|github_pat_\w{10,}|gl[a-z]{1,4}-[\w-]{10,}"
    r"|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|A(?:KIA|SIA|ROA|IDA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ya29\.[\w-]{8,}"
    r"|eyJ[\w-]{5,}(?:\.[\w-]*){1,4}|hf_\w{10,}|npm_\w{10,}|pypi-[\w-]{10,}|SG\.[\w-]{8,}\.[\w-]{8,}"
    r"|do[a-z]_v1_\w{10,}|shp[a-z]{2}_\w{10,}|sq0[a-z]{3}-[\w-]{10,}|lin_api_\w{10,}|(?:secret|ntn|r8|gsk)_\w{16,}"
    r"|AGE-SECRET-KEY-\w{10,}|whsec_\w{10,}|tvly-[\w-]{10,}|dckr_pat_[\w-]{10,})"
)
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_WORDLESS = 24
"""A run of letters alone is a key from so many on, where its case changes like that of a key."""


def _is_random(found: str) -> bool:
    return any(_changes(run) for run in _RUN.findall(found))


def _changes(run: str) -> bool:
    """Whether lower case, upper case and digits change as often as they do in keys, and not in words."""
    classes = ["0" if char.isdigit() else "a" if char.islower() else "A" for char in run]
    changed = sum(one != other for one, other in pairwise(classes)) / len(run)
    if "0" in classes:
        return changed >= 0.33  # noqa: PLR2004 - hexadecimal digits change at 0.47, base 62 at 0.6
    return len(run) >= _WORDLESS and changed >= 0.45  # noqa: PLR2004 - camel case changes at about 0.3


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_version_4(found: str) -> bool:
    return _is_address(re.split("[:/]", found, maxsplit=1)[0])


def _is_version_6(found: str) -> bool:
    return any(map(str.isalnum, found)) and _is_address(found.partition("%")[0])


def _regex(pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags)


PATTERNS = (
    Pattern(
        SECRET, _regex(r"-----BEGIN [A-Z0-9 ]{0,60}-----.*?(?:-----END [A-Z0-9 ]{0,60}-----|\Z)", re.DOTALL)
    ),
    Pattern(URL, _regex(rf"[a-z][a-z0-9+.-]{{1,30}}:[/\\]{{2,}}{_REST}")),
    Pattern(
        URL,
        _regex(
            r"\b(?:mailto:(?=\S*@)|data:[\w.+/-]{0,80}[;,]|(?:tel|sms):(?=\+?\d{5})|magnet:\?|urn:[\w-]{2,32}:)"
            rf"{_REST}"
        ),
    ),
    Pattern(URL, _regex(rf"(?<![\w.-])www\d?\.{_REST}")),
    Pattern(URL, _regex(rf"(?<![\w:/.])//(?:[\w-]+\.)+[a-z]{{2,}}(?:[:/]{_REST})?")),
    Pattern(URL, _regex(rf"(?<![\w.-]){_HOST}(?::\d{{1,5}})?[/?#]{_REST}")),
    Pattern(URL, _regex(rf"(?<![\w.-]){_HOST}:\d{{2,5}}(?!\d)")),
    Pattern(URL, _regex(r"(?<![\w.-])(?!asp\.net\b)(?:[\w-]+\.)+(?:com|org|net|edu|gov)(?![\w-]|\.\w)")),
    Pattern(URL, _regex(rf"(?<![\w.-])[\w-]+\.(?:[\w-]+\.)+{_TLD}(?![\w-]|\.\w)")),
    Pattern(URL, _regex(r"(?<![\w.-])(?:[\w-]+\.)+(?:internal|corp|lan|intranet|localdomain)(?![\w-]|\.\w)")),
    Pattern(URL, _regex(rf"[\w.+-]{{1,64}}@[\w.-]{{1,253}}:(?=[\w~/]){_REST}")),
    Pattern(
        EMAIL,
        _regex(r"""[^\s@<>"(),:;\[\]`]{1,254}@(?:localhost\b|(?:[\w-]{1,63}\.){1,10}[^\W\d_][\w-]{1,62})"""),
    ),
    Pattern(
        IP,
        _regex(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)(?::\d{1,5})?(?:/\w[^\s<>\"`]*)?"),
        _is_version_4,
    ),
    Pattern(IP, _regex(r"(?<![\w:.])([0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*(?:%\w+)?)(?![\w:])"), _is_version_6),
    Pattern(PATH, _regex(r"""(?<=["'`])(?:~[\w.-]*|[a-z]:|/(?!/)[^\s/"'`]+)[/\\][^"'`\n]{0,500}(?=["'`])""")),
    Pattern(PATH, _regex(rf"(?<![\w~/\\])~[\w.-]*[/\\]{_PART}*{_TAIL}")),
    Pattern(PATH, _regex(rf"(?<![\w$])\$(?:\{{\w+\}}|(?:env:)?[a-z_]\w*)[/\\]{_PART}*{_TAIL}")),
    Pattern(PATH, _regex(rf"%\w{{2,40}}%[/\\]{_PART}*{_TAIL}")),
    Pattern(PATH, _regex(rf"(?<!\w)[a-z]:[/\\]+Users[/\\]+{_SPACED}{_TAIL}")),
    Pattern(PATH, _regex(rf"(?<!\w)[a-z]:{_TAIL}(?<=[/\\\w.])(?<!:)")),
    Pattern(PATH, _regex(rf"(?<![\\\w])\\\\+[\w.$?-]+\\+{_PART}*{_TAIL}")),
    Pattern(PATH, _regex(rf"{_LEFT}/(?:Users|home|Volumes)/{_SPACED}{_TAIL}")),
    Pattern(
        PATH, _regex(rf"{_LEFT}/Applications/(?:[\w.+-]+[ ]){{0,3}}[\w.+-]+(?:[ ]\(\w+\))?\.app\b{_TAIL}")
    ),
    Pattern(PATH, _regex(rf"{_LEFT}/{_TOP}(?![\w-]){_TAIL}")),
    Pattern(PATH, _regex(rf"{_LEFT}/{_PART}+[/\\]{_PART}*{_TAIL}")),
    Pattern(PATH, _regex(rf"{_LEFT}/[\w-]+\.[a-z]\w{{0,5}}(?!\w)")),
    Pattern(SECRET, _regex(rf"(?<![A-Za-z0-9]){_ISSUED}", re.NOFLAG)),
    Pattern(SECRET, _regex(r"\b(?:bearer|basic)\s+((?=\S*[\d_.=/+])[\w.~+/=-]{8,})")),
    Pattern(SECRET, _regex(rf"""{_NAMED}["']?\s?(?::=|=>|=)\s?["']?((?!\d+\b)[^\s"',;)]{{4,}})""")),
    Pattern(SECRET, _regex(rf"""{_NAMED}["']\s?:\s?["']([^"']{{4,}})""")),
    Pattern(
        SECRET,
        _regex(
            rf"""{_NAMED}["']?(?:\s?:\s?|\s+(?:is|was)\s+)["'`]?"""
            r"""((?=[^\s"'`]*\d)(?=[^\s"'`]*[^\W\d_])[^\s"'`,;)]{6,})"""
        ),
    ),
    Pattern(SECRET, _regex(r"(?<![A-Za-z0-9])[A-Za-z0-9+/_=-]{16,}"), _is_random),
    Pattern(SECRET, _regex(r"(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])")),
    Pattern(TARGET, _regex(r"\bMCP server \([\w -]{1,20}\):\s*(\S[^\n]*)")),
    Pattern(
        TARGET,
        _regex(
            r"\b(?:npx|uvx|bunx|pipx run|uv run|pnpm dlx|yarn dlx|deno run|docker run|node|python3?)\s+"
            r"(?:-\S+\s+){0,6}\S{0,80}mcp\S{0,200}"
        ),
    ),
)
"""Every form, tried in this order; all that match are taken out."""
