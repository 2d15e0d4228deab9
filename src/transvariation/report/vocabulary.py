"""The vocabulary of a reader: casework speaks of fragments and sources, a laboratory of samples and authenticity.

Sentences are written once, in the words of casework. What a report, a figure, the screen or the page shows passes
through :func:`said`, which replaces the words by one table. Names from the tables of a case stay as they are.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from transvariation.casework.settings import TABLES_OF_CASE, words_for

if TYPE_CHECKING:
    from transvariation.casework import CaseResult

# In this order: phrases before the words in them. Capital letters at the start are kept.
_SAMPLE = (
    (
        r"could the recovered fragments come from the same source as the control fragments\?",
        "are the new samples authentic?",
    ),
    (r"could these fragments come from the same source\?", "are these samples authentic?"),
    (
        r"control fragments, whose source is known, and a table of recovered fragments, whose source is in question",
        "known samples of a class and a table of new samples that may not belong to it",
    ),
    (r"(\d+) of (\d+) recovered fragments? excluded", r"\1 of \2 new samples not authentic"),
    (r"^not excluded(?=:|$)", "authentic"),
    (r"^excluded(?=:|$)", "not authentic"),
    (r"not excluded", "accepted"),
    (r"not be excluded", "be accepted"),
    (r"an excluded", "a rejected"),
    (r"excluded", "rejected"),
    (r"excludes", "rejects"),
    (r"exclude", "reject"),
    (r"exclusion", "rejection"),
    (r"fragments of the same source", "authentic samples"),
    (r"the (?:control's|source of the control) own source|the control's (?:own )?source", "the known class"),
    (r"the source of the control fragments", "the class of the known samples"),
    (
        r"the control(?! (?:fragment|replicate|sample|row|table|measurement|mean|spectr|band|standard))",
        "the known class",
    ),
    (r"control (standard deviations?|mean|band)", r"\1 of the known class"),
    (r"control", "known"),
    (r"recovered", "new"),
    (r"fragments", "samples"),
    (r"fragment", "sample"),
    (r"sources", "classes"),
    (r"source", "class"),
    (r"case and request", "request"),
)
_PATTERNS = [(re.compile(r"(?<!\w)(?:" + phrase + r")(?!\w)", re.IGNORECASE), words) for phrase, words in _SAMPLE]
_NAMES_KEPT = 2_000  # of a case; more take long to look for

_NAMES = ("name", "fragment", "source", "sources", "variable", "features", "axes", "svg", "spectrum", "known", "kinds")

_speaks: ContextVar[tuple[str, re.Pattern[str] | None]] = ContextVar("vocabulary", default=("case", None))


def words_of(result: "CaseResult") -> str:
    """Return the vocabulary of a result, "case" or "sample": as asked for, otherwise samples for a spectrum."""
    return words_for(result.settings, result.spectra is not None)


@contextmanager
def speaking(result: "CaseResult") -> Iterator[str]:
    """Speak in the vocabulary of a result, which is yielded, until the block ends."""
    names = {c.fragment for c in result.conclusions} | {k.fragment for k in result.inputs.known}
    names |= {*result.inputs.features, *(k.source for k in result.inputs.known if k.source)}
    files = [str(table["file"]) for which in TABLES_OF_CASE if (table := getattr(result.inputs, which))]
    names |= {file for file in files if file not in TABLES_OF_CASE}  # as tables in memory are called
    with speaking_of(words_of(result), names):
        yield words_of(result)


@contextmanager
def speaking_of(words: str, names: Iterable[str]) -> Iterator[None]:
    """Speak in a vocabulary, "case" or "sample", until the block ends; names from the tables stay."""
    token = _speaks.set((words, _kept(names) if words == "sample" else None))
    try:
        yield
    finally:
        _speaks.reset(token)


def _kept(names: Iterable[str]) -> re.Pattern[str] | None:
    """Match the names that hold a word of the vocabulary."""
    own = sorted({name for name in names if replaced(name) != name}, key=len, reverse=True)[:_NAMES_KEPT]
    return re.compile("|".join(map(re.escape, own))) if own else None


def said(text: str) -> str:
    """Put a text in the present vocabulary; names from the tables stay."""
    words, kept = _speaks.get()
    if words != "sample":
        return text
    if kept is None:
        return replaced(text)
    parts, names = kept.split(text), kept.findall(text)
    return "".join(a + b for a, b in zip(map(replaced, parts), [*names, ""], strict=True))


def spoken(content: Any) -> Any:  # noqa: ANN401  # parsed JSON
    """Put all texts of a JSON value in the present vocabulary, but names, files and drawings."""
    if isinstance(content, str):
        return said(content)
    if isinstance(content, dict):
        return {key: value if key in _NAMES else spoken(value) for key, value in content.items()}
    return [spoken(each) for each in content] if isinstance(content, list | tuple) else content


def replaced(text: str) -> str:
    """Replace the words of casework by those of a laboratory.

    Examples
    --------
    >>> from transvariation.report.vocabulary import replaced
    >>> replaced("Not excluded: the fragment cannot be distinguished from the control (p = 0.3).")
    'Authentic: the sample cannot be distinguished from the known class (p = 0.3).'
    >>> replaced("3 of 5 recovered fragments excluded.")
    '3 of 5 new samples not authentic.'
    """
    for pattern, words in _PATTERNS:
        text = pattern.sub(partial(_put, words), text)
    return text


def _put(words: str, found: re.Match[str]) -> str:
    after = found.expand(words)
    return after[:1].upper() + after[1:] if found[0][:1].isupper() else after


class _Texts(HTMLParser):
    """Collect the texts and labels of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if value and name in ("aria-label", "data-busy")]

    def handle_data(self, data: str) -> None:
        self.found.append(" ".join(data.split()))


def page_vocabulary(page: str, further: Iterable[str] = ()) -> dict[str, str]:
    """Return the texts of a page, as they are in HTML, that differ for a laboratory, and how they read there.

    Parameters
    ----------
    page : str
    further : iterable of str
        Texts that scripts put into the page.

    Examples
    --------
    >>> from transvariation.report.vocabulary import page_vocabulary
    >>> page_vocabulary("<h1>Recovered  fragments</h1><p>p-value</p>")
    {'Recovered fragments': 'New samples'}
    """
    texts = _Texts()
    texts.feed(page)
    return {text: after for text in (*texts.found, *further) if (after := replaced(text)) != text}
