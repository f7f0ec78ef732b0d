"""What may be written: size, control characters, secrets, text that reads like an instruction."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.errors import CallerError, WriteRefusedError
from commonplace.model.tuples import NamedTuple
from commonplace.text.redaction import redact
from commonplace.writing.notefile import WESTERN, changed_lines, read_note, readable, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.model.receipts import Origin
    from commonplace.writing.notefile import NoteFile

LONGEST_TEXT = 100_000
"""Characters of one remembered text; more is a document, and belongs into a file of its own."""

LONGEST_CHANGE = 2_000_000
"""Characters of the lines that one change of a file adds."""

_LONGEST_HEADING = 200
_LONGEST_WHY = 500

# Tab, line feed and carriage return are text.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MASKED = "secrets in it were masked"
_KEEPING = "make its bytes by read_note(data, path).with_lines(lines).data() (commonplace.plugin)"


class Screened(NamedTuple):
    """A text as it may be written. ``suspicion`` says why it reads like an instruction, or ``""``.

    ``notes`` are for the receipt.
    """

    text: str
    suspicion: str
    notes: tuple[str, ...]


def screened(
    text: str, origin: Origin, patterns: tuple[str, ...] = (), *, longest: int = LONGEST_TEXT
) -> Screened:
    r"""``text`` with secrets masked and lines that end in ``\n``.

    Only text that is not the owner's own is suspected. ``patterns`` are the user's own patterns of
    secrets. Raises
    :class:`~commonplace.errors.WriteRefusedError` for an empty text, one that is longer than
    ``longest`` characters, and one with control characters.
    """
    if len(text) > longest:
        raise WriteRefusedError(
            f"the text has {len(text)} characters, more than {longest}",
            kind="text",
            hint="save it as a note of its own, or write down what matters in it",
        )
    check_characters(text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not text.strip():
        raise WriteRefusedError("the text is empty", kind="text", hint="give its words")
    masked = redact(text, patterns)
    notes = (_MASKED,) if masked != text else ()
    return Screened(masked, "" if origin == "owner" else instruction_in(masked), notes)


def check_characters(text: str) -> None:
    """Raise :class:`~commonplace.errors.WriteRefusedError` for what is no text."""
    found = _CONTROL.search(text) or _SURROGATE.search(text)
    if found is not None:
        raise WriteRefusedError(
            f"the text has the character U+{ord(found[0]):04X} at position {found.start()}",
            kind="text",
            hint="notes are plain text: leave out control characters and lone surrogates",
        )


def checked_heading(heading: str, origin: Origin, patterns: tuple[str, ...] = ()) -> str:
    """A heading as it may be written; raises as :func:`screened` and :func:`refuse_instruction`.

    Raises :class:`~commonplace.errors.CallerError` for several lines or more than 200 characters.
    """
    if not heading:
        return ""
    check_characters(heading)
    if "\n" in heading or len(heading) > _LONGEST_HEADING:
        raise CallerError(
            f"the heading is not one line of at most {_LONGEST_HEADING} characters",
        )
    named = screened(heading, origin, patterns)
    refuse_instruction(named.suspicion)
    return named.text


def checked_reason(why: str, patterns: tuple[str, ...] = ()) -> str:
    """A reason as the journal keeps it: on one line, masked, without half characters."""
    return redact(" ".join(_SURROGATE.sub("\ufffd", why).split()), patterns)[:_LONGEST_WHY]


def refuse_instruction(suspicion: str) -> None:
    """Raise :class:`~commonplace.errors.WriteRefusedError` if there is a suspicion."""
    if suspicion:
        raise WriteRefusedError(
            f"the text reads like an instruction to an agent: {suspicion}",
            kind="instruction",
            hint="write it as a fact, or ask the owner to write it",
        )


def screened_change(
    base: bytes | None,
    data: bytes | None,
    path: str,
    origin: Origin,
    patterns: tuple[str, ...] = (),
) -> tuple[bytes | None, tuple[str, ...]]:
    """``data`` with secrets masked in the lines that are not in ``base``, and notes on that.

    Raises as :func:`screened` does, for the same faults in these lines, and
    :class:`~commonplace.errors.WriteRefusedError` if they read like an instruction to an agent and
    are not the owner's.
    """
    if data is None or data == base:
        return data, ()
    if not isinstance(data, bytes):
        raise CallerError(f"edit must give bytes or None, not {type(data).__name__}")
    note, former = read_note(data, path), read_note(base, path)
    old = former.lines
    if former.lines and note.is_mixed and not former.is_mixed:
        raise former.unfit("and the change would add another encoding", _KEEPING)
    if base and former.encoding != note.encoding and _reads_otherwise(base, former, data, note):
        raise former.unfit("and the change would have its lines read in another encoding", _KEEPING)
    _, after = changed_lines(old, note.lines)
    known = set(old)
    lines = list(note.lines[: after.start - 1])
    notes: tuple[str, ...] = ()
    for run, is_new in _runs(note.lines[after.start - 1 : after.end], known):
        text = "".join(run)
        if is_new and text.strip():
            if WESTERN == note.encoding == former.encoding and any(map(_is_utf_8, run)):
                raise former.unfit("and the change would add UTF-8", _KEEPING)
            checked = screened(text, origin, patterns, longest=LONGEST_CHANGE)
            refuse_instruction(checked.suspicion)
            notes += checked.notes
            if checked.notes:  # line ends and blank lines stay what they are
                text = redact(text, patterns)
        lines += split_lines(text)
    lines += note.lines[after.end :]
    return (note.with_lines(lines).data() if notes else data), notes[:1]


def _reads_otherwise(base: bytes, former: NoteFile, data: bytes, note: NoteFile) -> bool:
    """Whether a line that kept its bytes reads as something else in the changed note.

    Where a note is converted as a whole, no line with a byte beyond ASCII keeps its bytes.
    """
    read = dict(zip(_bare(base), map(readable, former.lines), strict=False))
    return any(
        not line.isascii() and line in read and read[line].rstrip("\r\n") != now.rstrip("\r\n")
        for line, now in zip(_bare(data), map(readable, note.lines), strict=False)
    )


def _bare(data: bytes) -> list[bytes]:
    return [line.rstrip(b"\r") for line in data.removeprefix(BOM_UTF8).split(b"\n")]


def _is_utf_8(text: str) -> bool:
    """Whether a text that was read as :data:`WESTERN` was written as UTF-8."""
    with suppress(UnicodeError):
        return text.encode(WESTERN).decode() != text
    return False


def _runs(lines: Sequence[str], known: set[str]) -> Iterator[tuple[list[str], bool]]:
    """Runs of lines that are all new, or all known."""
    run: list[str] = []
    for line in lines:
        if run and (line in known) != (run[-1] in known):
            yield run, run[-1] not in known
            run = []
        run.append(line)
    if run:
        yield run, run[-1] not in known


_GAP = r"[\W_]{1,8}"
_FEW = r"(?:\w{1,20}[\W_]{1,8}){0,4}?"

_INSTRUCTIONS = {
    "it asks to ignore instructions": r"""
        \b(?:ignore|disregard|forget|override|bypass)␣…
        (?:instructions?|prompts?|rules|guidelines|directives)\b
    """,
    "it asks to ignore instructions, in another language": r"""
        ignorier\w{0,9}\ .{0,60}(?:anweisung|regel|vorgabe)
        | ignore[zs]?\ .{0,60}(?:consignes|règles)
        | ignora\w{0,9}\ .{0,60}(?:instrucciones|instruções|istruzioni|reglas|regras|regole)
        | игнориру\w{0,9}\ .{0,60}(?:инструкц|правил)
        | ignoruj\w{0,9}\ .{0,60}(?:pokyn|instrukc|polece)
        | (?:忽略|无视|無視).{0,20}(?:指令|指示|提示|规则|規則) | 指示を(?:無視|忘れ)
        | (?:지시|명령|규칙).{0,10}무시
    """,
    "it asks not to follow the system or developer": r"""
        \b(?:do␣not|don.?t|never)␣(?:follow|obey|listen␣to)␣…
        (?:system|developer|instructions?|rules)\b
    """,
    "it quotes a system or developer message": r"""
        \b(?:system␣(?:prompt|message)|developer␣(?:message|prompt))\b
    """,
    "it has the tags of a conversation's roles": r"""
        <\s*/?\s*(?:system|assistant|developer|user|tool|instructions?|function_calls?)\b
        | <\|(?:im_start|im_end|system|user|assistant)\b
        | \[/?(?:INST|SYSTEM)\]
        | ^\W{0,8}(?:system|assistant|developer)\s*:
    """,
    "it asks to run or call something": r"""
        \b(?:run|execute|call|invoke)␣(?:(?:the|this|following)␣){0,3}
        (?:tools?|commands?|shell)\b
    """,
    "it gives the reader another role": r"""
        \b(?:you␣are␣now␣(?:an?|the|my|in|called|named)|from␣now␣on␣you
        | act␣as␣(?:an?␣)?(?:admin|root|system|developer) | new␣instructions?)\b
    """,
}
_INSTRUCTION_FLAGS = re.IGNORECASE | re.MULTILINE | re.VERBOSE
_INSTRUCTION_RULES = tuple(
    (reason, re.compile(pattern.replace("␣", _GAP).replace("…", _FEW), _INSTRUCTION_FLAGS))
    for reason, pattern in _INSTRUCTIONS.items()
)
"""Why a text is suspected, and its pattern; no two repetitions of one can match the same text."""


def instruction_in(text: str) -> str:
    """Why ``text`` reads like an instruction to an agent, in a few words; ``""`` if it does not.

    A heuristic for text that no person has seen: it also suspects harmless sentences about
    prompts, and cannot know every wording. Whatever is read from memory is fenced all the same.
    """
    return next((reason for reason, pattern in _INSTRUCTION_RULES if pattern.search(text)), "")
