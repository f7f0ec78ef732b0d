"""A source whose documents are not files: the mails in one mbox file."""

from __future__ import annotations

import errno
import os
import re
import stat
from email import message_from_bytes, policy
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import (
    Document,
    DocumentRef,
    RootFailure,
    ScanReport,
    WatchedPath,
)

if TYPE_CHECKING:
    from datetime import date
    from email.message import EmailMessage

_BORDER = re.compile(rb"^From [^\n]*\n", re.MULTILINE)
_ID = re.compile(rb"^message-id:\s*<?([^>\s]{1,200})", re.IGNORECASE | re.MULTILINE)


class Mail(NamedTuple):
    """One mail as it lies in the file, and its reference."""

    ref: DocumentRef
    raw: bytes


class MboxSource:
    """The mails of the file ``path``; a mail is known by its Message-ID.

    A mail's stamp is a checksum of it: a scan reads the file as a whole, so that a mail that comes
    or goes leaves all others unchanged, wherever they move to in the file.
    """

    id = "mbox"
    version = "1"
    capabilities = frozenset({"watched"})

    def __init__(self, workspace: str, path: str) -> None:
        self._path = os.path.join(workspace, os.path.expanduser(path))

    def watched(self) -> tuple[WatchedPath, ...]:
        """The file."""
        return (WatchedPath(self._path, recursive=False),)

    def scan(self) -> ScanReport:
        """All mails; where the file is missing or unreadable, nothing is known of them."""
        try:
            mails = self._mails()
        except FileNotFoundError:
            absent = RootFailure(self.id, f"there is no file {self._path}")
            return ScanReport((), (), absent_roots=(absent,))
        except OSError as error:
            return ScanReport((), (), (RootFailure(self.id, error.strerror or str(error)),))
        return ScanReport(tuple(mail.ref for mail in mails.values()), (self.id,))

    def read(self, ref: DocumentRef) -> Document | None:
        """The mail as text: sender, subject and the plain text of its body.

        Raises ``OSError`` where the file cannot be read, or the mail not be parsed.
        """
        try:
            mail = self._mails().get(ref.path)
        except FileNotFoundError:
            return None
        if mail is None:
            return None
        try:
            sender, subject, text, day = _parsed(mail.raw)
        except Exception as error:  # the parser has no base for what hostile mails make it raise
            raise OSError(errno.EBADMSG, f"the mail cannot be parsed: {error!r}") from error
        return Document(
            mail.ref,
            f"# {subject}\n\nFrom: {sender}\n\n{text}",
            mail.ref.stamp,
            day=day,
            trust="external",
            title=subject,
        )

    def _mails(self) -> dict[str, Mail]:
        """The mails by their paths; of two with one Message-ID the second has a number."""
        opened = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        with open(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise OSError(errno.EINVAL, f"{self._path} is not a regular file")
            raw = file.read()
        mails: dict[str, Mail] = {}
        for piece in _BORDER.split(raw)[1:]:
            found = _ID.search(piece.partition(b"\n\n")[0])
            digest = sha256(piece).hexdigest()
            name = found[1].decode("ascii", "replace") if found else digest
            stem = f"{self.id}/{re.sub(r'[^A-Za-z0-9@._+-]', '_', name)}"
            path, number = stem, 2
            while path in mails:
                path, number = f"{stem}~{number}", number + 1
            mails[path] = Mail(DocumentRef(self.id, path, name, digest), piece)
        return mails


def _parsed(raw: bytes) -> tuple[str, str, str, date | None]:
    message: EmailMessage = message_from_bytes(raw, policy=policy.default)
    body = message.get_body(("plain",))
    text = f"{body.get_content().rstrip()}\n" if body is not None else ""
    sender, subject = _line(message["from"]), _line(message["subject"])
    try:
        day = parsedate_to_datetime(message["date"]).date()
    except (TypeError, ValueError):
        day = None
    return sender, subject, _storable(re.sub(r"(?m)^>From ", "From ", text)), day


def _line(value: object) -> str:
    return _storable(" ".join(str(value or "").split()))


def _storable(text: str) -> str:
    """``text`` without lone surrogates, which bytes of no known encoding become."""
    return text.encode("utf-8", "replace").decode("utf-8")
