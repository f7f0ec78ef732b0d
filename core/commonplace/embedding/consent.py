"""Consent: before texts first leave this machine for a provider's server, the user knows of it."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Literal

from attrs import field, frozen

from commonplace.errors import UnavailableError, counted
from commonplace.host.failures import logger
from commonplace.model.reports import Upload
from commonplace.resilience.json_file import read_json, update_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.settings import Settings
    from commonplace.model.reports import UploadListener


_YES = '`commonplace index --yes` sends them; if you never want that, set provider to "none"'

_asking = threading.Lock()


@frozen
class UploadGate:
    """Stands before the requests of one provider to one server; ``path`` is the record of answers.

    ``host`` is the server (``""``: this machine, which needs no consent), ``key`` says where the
    key stands, ``named`` whether the configuration asks for this provider, and ``policy`` is the
    setting ``remote.consent``. ``listener`` is called before the first upload; without one
    a warning is logged, and texts are sent. ``never`` says how to prevent it. Answers are kept for
    all agents and processes; while they cannot be read, nothing is sent that ``policy`` does not
    allow.
    """

    path: str
    provider: str
    host: str
    key: str = ""
    named: bool = False
    policy: Literal["ask", "yes", "no"] = "ask"
    listener: UploadListener | None = None
    clock: Callable[[], float] = time.time
    never: str = 'set memorySearch.provider to "none"'
    _passed: threading.Event = field(factory=threading.Event, init=False)

    def is_open(self) -> bool:
        """Whether texts are sent without notifying or asking the user."""
        if not self.host or self._passed.is_set():
            return True
        if self.policy != "no" and self._answer() in {"yes", "noted"}:
            self._passed.set()
            return True
        return False

    @property
    def refusal(self) -> str:
        """Why nothing is sent, where that is settled; else ``""``."""
        if self.is_open():
            return ""
        if self.policy == "no":
            return f'nothing is sent to {self.host}: remote.consent is "no"'
        if self.policy == "yes":
            return ""
        if problem := self._problem():
            return f"nothing is sent to {self.host}: {problem}"
        if self._answer() == "no":
            return f"nothing is sent to {self.host}: you said no"
        return ""

    def check(self, texts: int, *, query: bool = False) -> str:
        """Let ``texts`` texts be sent; words for a report where there is no listener.

        Raises :class:`~commonplace.errors.UnavailableError` if they must not be.
        """
        if self.is_open():
            return ""
        if self.policy == "no":
            raise UnavailableError(self.refusal, hint="use a provider on this machine, or none")
        if self.policy == "ask" and self._problem():
            hint = f"correct {self.path}, or delete it to be asked again"
            raise UnavailableError(self.refusal, hint=hint)
        # Another thread may wait for an answer just now: a query does not wait with it.
        if not _asking.acquire(blocking=not query):
            raise self._unanswered()
        try:
            return "" if self.is_open() else self._ask(texts, query=query)
        finally:
            _asking.release()

    def _ask(self, texts: int, *, query: bool) -> str:
        upload = Upload(
            provider=self.provider,
            host=self.host,
            texts=texts,
            key=self.key,
            named=self.named or self.policy == "yes",
            declined=bool(self.refusal),
            query=query,
            never=self.never,
        )
        if self.listener is None:
            if upload.declined:
                raise UnavailableError(self.refusal, hint=_YES)
            logger().warning("%s", announcement(upload))
            self._keep("noted")
            return announcement(upload)
        answer = self.listener(upload)
        if answer is None:
            if upload.declined:
                raise UnavailableError(self.refusal, hint=_YES)
            raise self._unanswered()
        problem = self._keep("yes" if answer else "no")
        if not answer:
            but = f" (which is not kept: {problem})" if problem else ""
            raise UnavailableError(f"nothing is sent to {self.host}: you said no{but}", hint=_YES)
        return ""

    def _unanswered(self) -> UnavailableError:
        words = f"nothing is sent to {self.host} before you agree"
        return UnavailableError(words, hint="run `commonplace index`, which asks")

    @property
    def _name(self) -> str:
        return f"{self.provider} {self.host}"

    def _answer(self) -> str:
        entry = read_json(self.path).get(self._name)
        answer = entry.get("answer") if isinstance(entry, dict) else None
        return answer if answer in ("yes", "noted", "no") else ""

    def _problem(self) -> str:
        """Why a kept answer, which may be a no, cannot be read; else ``""``."""
        try:
            answers = read_json(self.path, strict=True)
        except UnavailableError as error:
            return str(error)
        if self._name in answers and not self._answer():
            return f"{self.path} cannot be read: it has no valid answer for {self._name}"
        return ""

    def _keep(self, answer: str) -> str:
        """Keep ``answer``; returns why it cannot be kept, and is asked again; else ``""``."""
        if answer != "no":
            self._passed.set()
        entry = {"answer": answer, "at": round(self.clock())}
        try:
            update_json(self.path, lambda answers: {**answers, self._name: entry}, strict=True)
        except UnavailableError as error:
            return str(error)
        return ""


def check_ranker(
    settings: Settings,
    ranker: str,
    server: str,
    texts: int,
    key: str,
    *,
    clock: Callable[[], float],
    listener: UploadListener | None,
) -> None:
    """Let a ranker that the configuration's chain names send ``texts`` texts to ``server``.

    Raises :class:`~commonplace.errors.UnavailableError` if they must not be.
    """
    UploadGate(
        record_path(settings.state_dir),
        f"the ranker {ranker}",
        server,
        key=key,
        named=True,
        policy=settings.search.remote.consent,
        listener=listener,
        clock=clock,
        never=f"take {ranker} out of ranking.chain",
    ).check(texts, query=True)


def announcement(upload: Upload) -> str:
    """What is about to be sent, to whom, with which key, and how to prevent it; on one line."""
    key = f" (key: {upload.key})" if upload.key and not upload.key.startswith("no key") else ""
    return (
        f"sending {counted(upload.texts, 'text')} of your notes to {upload.provider} "
        f"at {upload.host} for the first time"
        f'{key}; to send nothing, {upload.never}, or remote.consent to "no"'
    )


def record_path(state_dir: str) -> str:
    """Where answers are kept."""
    return os.path.join(state_dir, "memory", "uploads.json")
