"""What is private by its form: addresses, paths, keys. One table; finding and checking both read it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from skillful_eval.sanitise.prose import is_prose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        needs: Lower-case texts of which every match has one, so that most texts need not be searched.
        holds: Whether a match is meant, where its look alone does not tell.
    """

    code: str
    regex: re.Pattern[str]
    needs: tuple[str, ...]
    holds: Callable[[str], bool] = bool

    def find(self, text: str, lowered: str) -> Iterator[re.Match[str]]:
        """What of this form there is in a text, given in lower case too."""
        if any(need in lowered for need in self.needs):
            yield from (match for match in self.regex.finditer(text) if self.holds(match[match.re.groups]))


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
    r"(?<![A-Za-z0-9])(?:[sprw]k[-_][\w-]{12,}|gh[a-z]_\w{10,}|github_pat_\w{10,}|gl[a-z]{1,4}-[\w-]{10,}"
    r"|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|AIza[\w-]{20,}|ya29\.[\w-]{8,}|hf_\w{10,}|npm_\w{10,}"
    r"|pypi-[\w-]{10,}|SG\.[\w-]{8,}\.[\w-]{8,}|do[a-z]_v1_\w{10,}|shp[a-z]{2}_\w{10,}"
    r"|sq0[a-z]{3}-[\w-]{10,}|lin_api_\w{10,}|(?:secret|ntn|r8|gsk)_\w{16,}|whsec_\w{10,}"
    r"|tvly-[\w-]{10,}|dckr_pat_[\w-]{10,}|age-secret-key-\w{10,}|eyJ[\w-]{5,}(?:\.[\w-]*){1,4}"
    r"|(?-i:A(?:KIA|SIA|ROA|IDA)[A-Z0-9]{12,}))"
)
"""How issuers of keys mark them as theirs. A key of any length has a digit, which names such as
``npm_install`` lack."""

_ISSUED_WHOLE = (
    r"(?<![A-Za-z0-9])(?:A(?:KIA|SIA|ROA|IDA)[A-Z2-7]{16}(?![A-Za-z0-9])|gh[opsur]_[A-Za-z0-9]{36,}"
    r"|github_pat_\w{60,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35,}|[prsw]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|sk-(?:proj|ant|svcacct|admin)-[\w-]{20,}|sk-[A-Za-z0-9]{40,}|glpat-[\w-]{20,}"
    r"|npm_[A-Za-z0-9]{36,}|hf_[A-Za-z0-9]{34,})"
)
"""The same at the length that they are issued with, which no name has: such a key needs no digit."""

_SENT = (
    r"\b(?:bearer|basic)\s+((?=\S{0,300}(?:[\d_=/+]|\.\w))[\w.~+/=-]{7,}[\w~+/=-]|[\w.~+/=-]{15,}[\w~+/=-])"
)
"""What a request identifies itself with: 16 characters or more, or fewer with a digit or a sign in them."""

_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_WORDLESS = 24
"""A run of letters alone is a key from so many on, where its case changes like that of a key."""


def _has_digit(found: str) -> bool:
    return any(map(str.isdigit, found)) or found.lower().startswith("eyj")


def _is_sent(found: str) -> bool:
    # Signs alone are a line below a heading.
    return any(map(str.isalnum, found)) and not is_prose(found)


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


def _forms(
    code: str, needs: tuple[str, ...], *patterns: str, holds: Callable[[str], bool] = bool
) -> tuple[Pattern, ...]:
    flags = re.IGNORECASE | re.DOTALL
    return tuple(Pattern(code, re.compile(pattern, flags), needs, holds) for pattern in patterns)


PATTERNS = (
    *_forms(SECRET, ("-----",), r"-----BEGIN [A-Z0-9 ]{0,60}-----.*?(?:-----END [A-Z0-9 ]{0,60}-----|\Z)"),
    *_forms(
        URL,
        (":/", ":\\"),
        rf"[a-z][a-z0-9+.-]{{1,30}}:[/\\]{{2,}}{_REST}",
    ),
    *_forms(
        URL,
        ("mailto:", "data:", "tel:", "sms:", "magnet:", "urn:"),
        rf"\b(?:mailto:(?=\S{{0,300}}@)|data:[\w.+/-]{{0,80}}[;,]|(?:tel|sms):(?=\+?\d{{5}})){_REST}",
        rf"\b(?:magnet:\?|urn:[\w-]{{2,32}}:){_REST}",
    ),
    *_forms(URL, ("www",), rf"(?<![\w.-])www\d?\.{_REST}"),
    *_forms(URL, ("//",), rf"(?<![\w:/.])//(?:[\w-]+\.)+[a-z]{{2,}}(?:[:/]{_REST})?"),
    *_forms(
        URL,
        (".", "localhost"),
        rf"(?<![\w.-]){_HOST}(?:(?::\d{{1,5}})?[/?#]{_REST}|:\d{{2,5}}(?!\d))",
        r"(?<![\w.-])(?!asp\.net\b)(?:[\w-]+\.)+(?:com|org|net|edu|gov)(?![\w-]|\.\w)",
        rf"(?<![\w.-])[\w-]+\.(?:[\w-]+\.)+{_TLD}(?![\w-]|\.\w)",
        r"(?<![\w.-])(?:[\w-]+\.)+(?:internal|corp|lan|intranet|localdomain)(?![\w-]|\.\w)",
    ),
    *_forms(URL, ("@",), rf"[\w.+-]{{1,64}}@[\w.-]{{1,253}}:(?=[\w~/]){_REST}"),
    *_forms(
        EMAIL,
        ("@",),
        r"""[^\s@<>"(),:;\[\]`]{1,254}@(?:localhost\b|(?:[\w-]{1,63}\.){1,10}[^\W\d_][\w-]{1,62})""",
    ),
    *_forms(
        IP,
        (".",),
        r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)(?::\d{1,5})?(?:/\w[^\s<>\"`]*)?",
        holds=_is_version_4,
    ),
    *_forms(
        IP,
        (":",),
        r"(?<![\w:.])([0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*(?:%\w+)?)(?![\w:])",
        holds=_is_version_6,
    ),
    *_forms(
        PATH,
        ("/", "\\"),
        r"""(?<=["'`])(?:~[\w.-]*|[a-z]:|/(?!/)[^\s/"'`]+)[/\\][^"'`\n]{0,500}(?=["'`])""",
        rf"(?<![\w~/\\])~[\w.-]*[/\\]{_PART}*{_TAIL}",
        rf"(?<![\w$])\$(?:\{{\w+\}}|(?:env:)?[a-z_]\w*)[/\\]{_PART}*{_TAIL}",
        rf"%\w{{2,40}}%[/\\]{_PART}*{_TAIL}",
        rf"(?<!\w)[a-z]:[/\\]+Users[/\\]+{_SPACED}{_TAIL}",
        rf"(?<!\w)[a-z]:{_TAIL}(?<=[/\\\w.])(?<!:)",
        rf"(?<![\\\w])\\\\+[\w.$?-]+\\+{_PART}*{_TAIL}",
        rf"{_LEFT}/(?:Users|home|Volumes)/{_SPACED}{_TAIL}",
        rf"{_LEFT}/Applications/(?:[\w.+-]+[ ]){{0,3}}[\w.+-]+(?:[ ]\(\w+\))?\.app\b{_TAIL}",
        rf"{_LEFT}/{_TOP}(?![\w-]){_TAIL}",
        rf"{_LEFT}/{_PART}+[/\\]{_PART}*{_TAIL}",
        rf"{_LEFT}/[\w-]+\.[a-z]\w{{0,5}}(?!\w)",
    ),
    *_forms(SECRET, ("_", "-", ".", "a"), _ISSUED, holds=_has_digit),
    *_forms(SECRET, ("_", "-", "a"), _ISSUED_WHOLE),
    *_forms(SECRET, ("bearer", "basic"), _SENT, holds=_is_sent),
    *_forms(
        SECRET,
        ("key", "secret", "token", "pass", "pwd", "credential", "auth"),
        rf"""{_NAMED}["']?\s?(?::=|=>|=)\s?["']?((?!\d+\b)[^\s"',;)]{{4,}})""",
        rf"""{_NAMED}["']\s?:\s?["']([^"']{{4,}})""",
        rf"""{_NAMED}["']?(?:\s?:\s?|\s+(?:is|was)\s+)["'`]?"""
        r"""((?=[^\s"'`]{0,300}\d)(?=[^\s"'`]{0,300}[^\W\d_])[^\s"'`,;)]{6,})""",
    ),
    *_forms(SECRET, ("",), r"(?<![A-Za-z0-9])[A-Za-z0-9+/_=-]{16,}", holds=_is_random),
    *_forms(SECRET, ("-",), r"(?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])"),
    *_forms(
        TARGET,
        ("mcp",),
        r"\bMCP server \([\w -]{1,20}\):\s*(\S[^\n]*)",
        r"\b(?:npx|uvx|bunx|pipx run|uv run|pnpm dlx|yarn dlx|deno run|docker run|node|python3?)\s+"
        r"(?:-\S+\s+){0,6}\S{0,80}mcp\S{0,200}",
    ),
)
"""Every form; all that match are taken out."""
