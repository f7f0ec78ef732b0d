"""The source keeps every law of sources that is not about files; and what mails look like."""

from __future__ import annotations

import mailbox
from contextlib import closing
from datetime import date
from email.message import EmailMessage
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from commonplace.testing import SourceConformance
from commonplace_example_kinds.mbox import MboxSource
from commonplace_example_kinds.plugin import make_source

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from commonplace.plugin import DocumentRef, Source, SourceContext


def mail(name: str, text: str) -> EmailMessage:
    message = EmailMessage()
    message["Message-ID"] = f"<{name}@example.org>"
    message["From"] = "Ada <ada@example.org>"
    message["Subject"] = f"About {name}"
    message["Date"] = "Sun, 01 Feb 2026 10:00:00 +0000"
    message.set_content(text)
    return message


class TestMbox(SourceConformance):
    of_files = False

    def make_source(self, context: SourceContext) -> Source:
        return make_source(context)

    def put(self, name: str, text: str) -> None:
        with closing(mailbox.mbox(f"{self.files.path}/mail.mbox")) as box:
            self.discard(box, name)
            box.add(mail(name, text))

    def remove(self, name: str) -> None:
        with closing(mailbox.mbox(f"{self.files.path}/mail.mbox")) as box:
            self.discard(box, name)

    def discard(self, box: mailbox.mbox, name: str) -> None:
        for key, message in box.items():
            if message["Message-ID"] == f"<{name}@example.org>":
                box.remove(key)

    def is_document(self, ref: DocumentRef, name: str) -> bool:
        return ref.path == f"mbox/{name}@example.org"


def test_a_mail_is_read_with_sender_subject_and_day(tmp_path: Path) -> None:
    with closing(mailbox.mbox(tmp_path / "mail.mbox")) as box:
        box.add(mail("keys", "From now on the key is at the bakery.\n"))
        box.add(mail("keys", "The same Message-ID again.\n"))
    source = MboxSource(str(tmp_path), "mail.mbox")
    first, second = source.scan().documents
    assert (first.path, second.path) == ("mbox/keys@example.org", "mbox/keys@example.org~2")
    document = source.read(first)
    assert document is not None
    assert document.text == (
        "# About keys\n\nFrom: Ada <ada@example.org>\n\nFrom now on the key is at the bakery.\n"
    )
    assert (document.title, document.day) == ("About keys", date(2026, 2, 1))
    assert document.trust == "external"


def test_a_mail_that_comes_leaves_the_others_unchanged(tmp_path: Path) -> None:
    source = MboxSource(str(tmp_path), "mail.mbox")
    with closing(mailbox.mbox(tmp_path / "mail.mbox")) as box:
        box.add(mail("a", "the ant"))
    before = source.scan().documents
    with closing(mailbox.mbox(tmp_path / "mail.mbox")) as box:
        box.add(mail("b", "the bee"))
    assert source.scan().documents[:1] == before


@given(raw=st.binary(max_size=200))
def test_no_bytes_are_too_odd(raw: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "odd.mbox").write_bytes(b"From x\nSubject: " + raw + b"\n\nFrom y\n" + raw)
    source = MboxSource(str(folder), "odd.mbox")
    for ref in source.scan().documents:
        try:
            document = source.read(ref)
        except OSError:
            continue
        assert document is not None
        document.text.encode()
        ref.path.encode()
