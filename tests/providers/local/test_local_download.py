"""Downloading a model: the hub's contract, breaks, resuming, checking, the shared cache."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.lock import Lease
from commonplace_local.download import CacheFolder, Downloader, cache_folder
from commonplace_local.hub import Hub
from commonplace_local.references import parse_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = bytes(range(256)) * 4000
REFERENCE = "hf:owner/repo/model.gguf"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Fetching:
    """A downloader of one reference, and what it said of its progress."""

    def __init__(self, env: dict[str, str], reference: str = REFERENCE) -> None:
        self.model = parse_hub(reference)
        self.root = cache_folder(None, env)
        self.folder = CacheFolder(self.root, self.model)
        self.hub = Hub(env)
        self.reported: list[tuple[int, int | None]] = []

    def __call__(self, deadline: Deadline = NEVER) -> Path:
        loader = Downloader(
            self.hub, self.folder, lambda here, size: self.reported.append((here, size))
        )
        return Path(loader.fetch(self.model, deadline=deadline))


@pytest.fixture
def fetching(hub_env: dict[str, str]) -> Iterator[Callable[..., Fetching]]:
    made: list[Fetching] = []

    def make(reference: str = REFERENCE, **more: str) -> Fetching:
        made.append(Fetching({**hub_env, **more}, reference))
        return made[-1]

    yield make
    for fetch in made:
        fetch.hub.close()


def refused(fetch: Fetching, deadline: Deadline = NEVER) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        fetch(deadline)
    return caught.value


@pytest.mark.parametrize("large", [True, False])
def test_a_file_comes_whole_into_the_hubs_own_layout(
    hub: Any, fetching: Callable[..., Fetching], large: bool
) -> None:
    hub.files["model.gguf"], hub.large = DATA, large
    fetch = fetching()
    path = fetch()
    assert path.read_bytes() == DATA
    assert path == Path(fetch.root, "models--owner--repo", "snapshots", COMMIT, "model.gguf")
    blob = path.resolve()
    assert blob.name == (sha256(DATA).hexdigest() if large else "a" * 40)
    assert blob.parent.name == "blobs"
    assert not os.path.isabs(os.readlink(path))
    assert Path(fetch.folder.ref()).read_text() == COMMIT
    assert not list(blob.parent.glob("*.incomplete"))
    assert fetch.reported[0] == (0, len(DATA))
    assert fetch.reported[-1] == (len(DATA), len(DATA))
    assert fetch.folder.find() == str(path)


def test_the_hubs_own_library_finds_what_was_downloaded(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    library = pytest.importorskip("huggingface_hub", reason="the hub's own library as judge")
    hub.files["model.gguf"] = DATA
    fetch = fetching()
    path = fetch()
    found = library.hf_hub_download(
        "owner/repo", "model.gguf", cache_dir=fetch.root, local_files_only=True
    )
    assert found == str(path)


def test_what_the_hubs_own_library_downloads_is_found(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    library = pytest.importorskip("huggingface_hub", reason="the hub's own library as judge")
    hub.files["model.gguf"] = DATA
    fetch = fetching()
    library.hf_hub_download(
        "owner/repo", "model.gguf", cache_dir=fetch.root, endpoint=hub.url(), token=False
    )
    found = fetch.folder.find()
    assert found is not None
    assert Path(found).read_bytes() == DATA


def test_a_second_fetch_asks_for_the_head_alone(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    hub.files["model.gguf"] = DATA
    fetch = fetching()
    fetch()
    hub.seen.clear()
    fetch()
    assert [method for _, method, _, _ in hub.seen] == ["HEAD"]


@pytest.mark.parametrize("large", [True, False])
def test_a_broken_connection_is_resumed_where_it_broke(
    hub: Any, fetching: Callable[..., Fetching], large: bool
) -> None:
    hub.files["model.gguf"], hub.large = DATA, large
    hub.breaks += [1000, 70_000]
    assert fetching()().read_bytes() == DATA
    asked = hub.requests("storage" if large else "hub", "GET")
    assert [headers.get("range") for headers in asked] == [None, "bytes=1000-", "bytes=71000-"]
    # The storage's own tag is another: it is given the hub's only where both are one.
    expected = None if large else f'"{"a" * 40}"'
    assert [headers.get("if-range") for headers in asked[1:]] == [expected] * 2


def test_breaks_without_progress_end_it_and_the_next_call_goes_on(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    hub.files["model.gguf"] = DATA
    hub.breaks += [500_000, 0]
    fetch = fetching()
    error = refused(fetch)
    assert error.kind == "unavailable"
    assert "48 % of 1 MB" in str(error)
    assert "continues" in error.hint
    assert fetch.folder.find() is None
    assert fetch().read_bytes() == DATA
    assert hub.requests("storage", "GET")[-1]["range"] == "bytes=500000-"


def test_a_deadline_keeps_what_has_come(
    hub: Any, fetching: Callable[..., Fetching], clock: Any
) -> None:
    hub.files["model.gguf"] = DATA
    fetch = fetching()
    fetch.reported = late = _Late(clock)
    error = refused(fetch, Deadline.after(5, clock))
    assert error.kind == "timeout"
    assert "is here" in str(error)
    clock.now = late.begin
    assert fetch().read_bytes() == DATA
    assert len(hub.requests("storage", "GET")) == 2
    assert "range" in hub.requests("storage", "GET")[1]


class _Late(list[tuple[int, int | None]]):
    """Lets the time run out with the first bytes that come."""

    def __init__(self, clock: Any) -> None:
        super().__init__()
        self.clock = clock
        self.begin = clock.now

    def append(self, reported: tuple[int, int | None]) -> None:
        if reported[0] and len(self) == 1:
            self.clock.now += 10
        super().append(reported)


def test_a_server_without_ranges_starts_over(hub: Any, fetching: Callable[..., Fetching]) -> None:
    hub.files["model.gguf"], hub.ranges = DATA, False
    hub.breaks += [1000]
    assert fetching()().read_bytes() == DATA


def test_a_partial_file_that_is_too_long_or_wrong_is_thrown_away(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    hub.files["model.gguf"] = DATA
    fetch = fetching()
    partial = Path(fetch.folder.blob(sha256(DATA).hexdigest()) + ".incomplete")
    partial.parent.mkdir(parents=True)
    partial.write_bytes(DATA + b"more")
    assert fetch().read_bytes() == DATA


def test_a_finished_partial_file_is_checked_and_used(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    hub.files["model.gguf"] = DATA
    fetch = fetching()
    partial = Path(fetch.folder.blob(sha256(DATA).hexdigest()) + ".incomplete")
    partial.parent.mkdir(parents=True)
    partial.write_bytes(DATA)
    assert fetch().read_bytes() == DATA
    assert not hub.requests("storage", "GET")


def test_content_with_a_wrong_checksum_is_refused_and_not_kept(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    hub.files["model.gguf"] = DATA
    hub.twist = lambda data: b"!" + data[1:]
    fetch = fetching()
    error = refused(fetch)
    assert error.kind == "protocol"
    assert fetch.folder.find() is None
    assert not list(Path(fetch.root).rglob("*.incomplete"))
    hub.twist = None
    assert fetch().read_bytes() == DATA


def test_the_token_goes_to_the_hub_and_never_to_its_storage(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    hub.files["model.gguf"] = DATA
    fetching(HF_TOKEN="hf_sekrit0123")()
    for method in ("HEAD", "GET"):
        for headers in hub.requests("hub", method):
            assert headers["authorization"] == "Bearer hf_sekrit0123"
        for headers in hub.requests("storage", method):
            assert "authorization" not in headers
    assert hub.requests("storage", "GET")


@pytest.mark.parametrize(
    ("status", "code", "kind", "hint"),
    [
        (403, "GatedRepo", "auth", "accept the model's terms"),
        (401, "GatedRepo", "auth", "HF_TOKEN"),
        (401, "RepoNotFound", "not_found", "local.modelPath"),
        (404, "EntryNotFound", "not_found", "local.modelPath"),
        (404, "RevisionNotFound", "not_found", "local.modelPath"),
        (401, "", "auth", "HF_TOKEN"),
        (429, "", "rate_limit", ""),
        (500, "", "unavailable", ""),
        (503, "", "unavailable", ""),
        (400, "", "bad_request", ""),
    ],
)
def test_refusals_have_kinds_and_a_hint(
    hub: Any,
    fetching: Callable[..., Fetching],
    reported: Callable[..., str],
    status: int,
    code: str,
    kind: str,
    hint: str,
) -> None:
    hub.files["model.gguf"] = DATA
    hub.refusals.append((status, code))
    error = refused(fetching(HF_TOKEN="hf_sekrit0123"))
    assert (error.kind, error.status) == (kind, status)
    assert hint in error.hint
    assert "sekrit" not in reported(error)


def test_a_hub_that_is_down_is_unavailable(hub: Any, fetching: Callable[..., Fetching]) -> None:
    fetch = fetching()
    hub.stop()
    error = refused(fetch)
    assert error.kind == "unavailable"
    assert "local.modelPath" in error.hint


def test_a_server_that_is_no_hub_is_reported(hub: Any, fetching: Callable[..., Fetching]) -> None:
    hub.files["model.gguf"], hub.large, hub.etag = DATA, False, "../../escape"
    error = refused(fetching())
    assert error.kind == "protocol"
    assert "HF_ENDPOINT" in error.hint


@pytest.mark.parametrize("endpoint", ["ftp://x", "nonsense", "http://", "file:///etc"])
def test_an_endpoint_that_is_no_address_is_reported(endpoint: str) -> None:
    with pytest.raises(ProviderError, match="HF_ENDPOINT") as caught:
        Hub({"HF_ENDPOINT": endpoint})
    assert caught.value.hint


def test_a_token_that_no_header_can_hold_is_reported_without_it(
    reported: Callable[..., str],
) -> None:
    with pytest.raises(ProviderError) as caught:
        Hub({"HF_TOKEN": "sekrit\u2028sekrit"})
    assert caught.value.kind == "auth"
    assert "sekrit" not in reported(caught.value)


def test_a_proxy_that_cannot_be_used_is_reported(
    monkeypatch: pytest.MonkeyPatch, reported: Callable[..., str]
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://user:sekrit@host:port")
    with pytest.raises(ProviderError) as caught:
        Hub({})
    assert caught.value.kind == "unavailable"
    assert "HTTPS_PROXY" in caught.value.hint
    assert "sekrit" not in reported(caught.value)


def test_all_parts_of_a_split_model_are_fetched(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    names = [f"m-{n:05}-of-00003.gguf" for n in (1, 2, 3)]
    hub.files.update({name: name.encode() * 100 for name in names})
    fetch = fetching(f"hf:owner/repo/{names[0]}")
    path = fetch()
    assert path.name == names[0]
    assert sorted(file.name for file in path.parent.iterdir()) == names
    (path.parent / names[2]).unlink()
    assert fetch.folder.find() is None


def test_a_quantisation_picks_the_file(hub: Any, fetching: Callable[..., Fetching]) -> None:
    hub.files.update({"m-Q8_0.gguf": b"eight", "m-Q4_K_M.gguf": b"four"})
    hub.listing = {"siblings": [{"rfilename": name} for name in ("README.md", *hub.files)]}
    fetch = fetching("hf:owner/repo:q4_k_m")
    assert fetch().read_bytes() == b"four"
    assert fetch.folder.find() is not None
    assert fetching("hf:owner/repo")().read_bytes() == b"eight"
    error = refused(fetching("hf:owner/repo:Q2_K"))
    assert error.kind == "not_found"
    assert "found: none" in str(error)


@pytest.mark.parametrize("listing", [None, [], {"siblings": [{}]}, {"siblings": 1}])
def test_a_listing_that_is_none_is_reported(
    hub: Any, fetching: Callable[..., Fetching], listing: object
) -> None:
    hub.listing = listing
    assert refused(fetching("hf:owner/repo:Q8_0")).kind == "protocol"


def test_a_revision_is_asked_for_and_remembered(
    hub: Any, fetching: Callable[..., Fetching]
) -> None:
    hub.files["model.gguf"] = DATA
    fetch = fetching(f"{REFERENCE}#refs/pr/7")
    assert fetch.folder.find() is None
    path = fetch()
    assert fetch.folder.find() == str(path)
    assert all("/resolve/refs%2Fpr%2F7/" in seen[2] for seen in hub.seen if seen[0] == "hub")
    assert fetching().folder.find() is None


def test_two_that_want_the_same_fetch_it_once(
    hub: Any, fetching: Callable[..., Fetching], clock: Any
) -> None:
    hub.files["model.gguf"] = DATA
    fetch = fetching()
    lock = fetch.folder.lock(sha256(DATA).hexdigest())
    Path(lock).parent.mkdir(parents=True)
    with Lease(lock).processes(0):
        error = refused(fetch, Deadline.after(0.2))
    assert error.kind == "timeout"
    assert not hub.requests("storage", "GET")
    assert fetch().read_bytes() == DATA


def test_where_links_cannot_be_made_the_file_itself_is_put_there(
    hub: Any, fetching: Callable[..., Fetching], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    hub.files["model.gguf"] = DATA
    monkeypatch.setattr("os.symlink", refuse)
    fetch = fetching()
    path = fetch()
    assert path.read_bytes() == DATA
    assert not path.is_symlink()
    assert fetch.folder.find() == str(path)


def test_a_folder_that_cannot_be_written_is_reported(
    hub: Any, hub_env: dict[str, str], tmp_path: Path
) -> None:
    hub.files["model.gguf"] = DATA
    (tmp_path / "file").write_text("in the way")
    fetch = Fetching({**hub_env, "HF_HUB_CACHE": str(tmp_path / "file")})
    try:
        error = refused(fetch)
    finally:
        fetch.hub.close()
    assert error.kind == "unavailable"
    assert "local.modelCacheDir" in error.hint


@pytest.mark.parametrize(
    ("configured", "env", "found"),
    [
        ("/models", {"HF_HOME": "/hf"}, "/models"),
        (None, {"HF_HUB_CACHE": "/c", "HF_HOME": "/hf"}, "/c"),
        (None, {"HF_HOME": "/hf"}, "/hf/hub"),
        (None, {"XDG_CACHE_HOME": "/x"}, "/x/huggingface/hub"),
        (None, {"HOME": "/home/me"}, "/home/me/.cache/huggingface/hub"),
    ],
)
def test_the_cache_is_where_the_hubs_library_has_it(
    configured: str | None, env: dict[str, str], found: str
) -> None:
    assert cache_folder(configured, env) == found
