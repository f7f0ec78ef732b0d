"""Asks a model hub about files, by its wire contract."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
from attrs import frozen

from commonplace.plugin import is_loopback, shown_host
from commonplace_local.errors import local_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from commonplace.plugin import Deadline, ProviderError, ProviderErrorKind
    from commonplace_local.references import HubModel


_ENDPOINT = "https://huggingface.co"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ETAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_READ_SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_HOPS = 5


@frozen
class RemoteFile:
    """What the hub says of a file: ``size`` in bytes, ``etag`` bare (SHA-256 for large files)."""

    commit: str
    etag: str
    size: int | None


class Hub:
    """One hub, by ``HF_ENDPOINT``; a token (``HF_TOKEN``) is sent to no other host."""

    def __init__(
        self, env: Mapping[str, str], *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._token = env.get("HF_TOKEN", "").strip()
        if not (self._token.isascii() and self._token.isprintable()):
            raise local_error(
                "auth", "HF_TOKEN holds a character that no token has", hint="copy it again"
            )
        self.endpoint = (env.get("HF_ENDPOINT") or _ENDPOINT).strip().rstrip("/")
        try:
            self._origin = _origin(httpx.URL(self.endpoint))
        except httpx.InvalidURL:
            self._origin = ("", "", None)
        if self._origin[0] not in ("http", "https") or not self._origin[1]:
            raise local_error(
                "bad_request",
                "HF_ENDPOINT is not an http(s) address",
                hint=f"unset it, or set it to {_ENDPOINT}",
            )
        host = self._origin[1]
        # A proxy has no business between this machine and itself.
        mounts = {f"all://{shown_host(host)}": None} if is_loopback(host) else None
        try:
            self._client = httpx.Client(
                transport=transport,
                mounts=mounts,
                follow_redirects=False,
                headers={"User-Agent": "commonplace", "Accept-Encoding": "identity"},
            )
        except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
            # Proxies and certificates are read from the environment here.
            raise local_error(
                "unavailable",
                f"the environment's proxy or certificates cannot be used: {error}",
                hint="check HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
                secrets=(),
            ) from None

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def head(self, model: HubModel, path: str, *, deadline: Deadline) -> RemoteFile:
        """What the hub says of a file, without fetching it."""
        url = self._url(model, path)
        with self._opened("HEAD", url, {}, deadline, leave=False) as response:
            headers = response.headers
            commit = headers.get("x-repo-commit", "")
            etag = headers.get("x-linked-etag") or headers.get("etag") or ""
            etag = etag.removeprefix("W/").strip('"')
            size = headers.get("x-linked-size")
            if size is None and response.is_success:
                size = headers.get("content-length")
        if not _COMMIT.fullmatch(commit) or not _ETAG.fullmatch(etag):
            raise local_error(
                "protocol",
                f"{self._origin[1]} does not answer as a model hub does",
                hint="check HF_ENDPOINT",
            )
        return RemoteFile(commit, etag, int(size) if size and size.isdecimal() else None)

    def pick(self, model: HubModel, *, deadline: Deadline) -> HubModel:
        """``model`` with the path of the one file it means."""
        revision = quote(model.revision, safe="")
        url = f"{self.endpoint}/api/models/{model.repository}/revision/{revision}"
        with self._opened("GET", url, {}, deadline, leave=False) as response:
            try:
                response.read()
                names = [str(item["rfilename"]) for item in response.json()["siblings"]]
            except (ValueError, TypeError, KeyError):
                raise local_error("protocol", f"{self._origin[1]} sends no list of files") from None
            except httpx.HTTPError as error:
                raise _broken(error) from None
        fit = [path for path in sorted(names) if model.picks(path)]
        if not model.quant and len(fit) > 1:
            fit = [p for p in fit if model._replace(quant="Q8_0").picks(p)] or fit
        if len(fit) == 1:
            return model._replace(path=fit[0])
        found = ", ".join(fit[:8]) if fit else "none"
        raise local_error(
            "not_found",
            f"{model} should mean one GGUF file; found: {found}",
            hint=f"set local.modelPath to hf:{model.repository}/<file>.gguf",
        )

    @contextmanager
    def content(
        self, model: HubModel, path: str, *, start: int, etag: str, deadline: Deadline
    ) -> Iterator[httpx.Response]:
        """The open answer with the file's bytes from ``start`` on (206), or all of them (200)."""
        # The storage behind the hub has tags of its own: there, the checksum guards the content.
        extra = {"Range": f"bytes={start}-", "If-Range": f'"{etag}"'} if start else {}
        with self._opened("GET", self._url(model, path), extra, deadline, leave=True) as response:
            yield response

    @contextmanager
    def _opened(
        self, method: str, url: str, extra: Mapping[str, str], deadline: Deadline, *, leave: bool
    ) -> Iterator[httpx.Response]:
        """An answer after redirects; unless ``leave``, the one that would lead to another host."""
        target = httpx.URL(url)
        for _ in range(_HOPS):
            response = self._asked(method, target, extra, deadline)
            try:
                onward = self._onward(response)
                away = onward is not None and _origin(onward) != self._origin
                if onward is None or (away and not leave):
                    self._check(response, quiet=onward is not None)
                    yield response
                    return
                target = onward
            finally:
                response.close()
        raise local_error("protocol", f"{self._origin[1]} redirects without end")

    def _asked(
        self, method: str, url: httpx.URL, extra: Mapping[str, str], deadline: Deadline
    ) -> httpx.Response:
        if deadline.expired:
            raise local_error("timeout", "no time was left for fetching the model")
        headers = dict(extra)
        if _origin(url) != self._origin:
            headers.pop("If-Range", None)
        elif self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        wait = min(deadline.remaining(), _READ_SECONDS)
        timeout = httpx.Timeout(wait, connect=min(wait, _CONNECT_SECONDS))
        request = self._client.build_request(method, url, headers=headers, timeout=timeout)
        try:
            return self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise _broken(error) from None

    def _onward(self, response: httpx.Response) -> httpx.URL | None:
        if not response.has_redirect_location:
            return None
        try:
            target = response.url.join(response.headers["location"])
        except httpx.InvalidURL:
            target = httpx.URL("")
        allowed = ("https",) if response.url.scheme == "https" else ("http", "https")
        if target.scheme not in allowed:
            raise local_error(
                "protocol", f"{response.url.host} redirects to what is no safe address"
            )
        return target

    def _check(self, response: httpx.Response, *, quiet: bool) -> None:
        if response.is_success or quiet or response.status_code == 416:
            return
        raise _refused(response, self._token)

    def _url(self, model: HubModel, path: str) -> str:
        revision = quote(model.revision, safe="")
        return f"{self.endpoint}/{model.repository}/resolve/{revision}/{quote(path)}"


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _broken(error: httpx.HTTPError) -> ProviderError:
    words = str(error) or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return local_error(
            "timeout", f"fetching the model: no answer in time ({words})", secrets=()
        )
    return local_error(
        "unavailable",
        f"fetching the model: {words}",
        secrets=(),
        hint="check the network; or download the file by hand and name it in local.modelPath",
    )


def _refused(response: httpx.Response, token: str) -> ProviderError:
    status, code = response.status_code, response.headers.get("x-error-code", "")
    words = response.headers.get("x-error-message") or f"HTTP {status}"
    message = f"the hub refuses the model: {words}" + (f" ({code})" if code else "")
    secrets = (token,)
    if code == "GatedRepo":
        hint = "accept the model's terms on the hub, then set HF_TOKEN to a token of that account"
        return local_error("auth", message, hint=hint, status=status, secrets=secrets)
    if status == 404 or code in ("RepoNotFound", "EntryNotFound", "RevisionNotFound"):
        hint = "check the owner, repository, file and revision in local.modelPath"
        return local_error("not_found", message, hint=hint, status=status, secrets=secrets)
    if status in (401, 403):
        return local_error("auth", message, hint="check HF_TOKEN", status=status, secrets=secrets)
    after = response.headers.get("retry-after", "")
    delay = float(after) if after.isdecimal() else None
    if status == 429:
        return local_error("rate_limit", message, status=status, retry_after=delay, secrets=secrets)
    kind: ProviderErrorKind = "unavailable" if status >= 500 else "bad_request"
    return local_error(kind, message, status=status, retry_after=delay, secrets=secrets)
