"""Every key of the search settings: its default, what it takes, refuses, and brings in bounds."""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.defaults import SEARCH_KEYS
from commonplace.config.load import section_class
from commonplace.config.search import ExtraPath, SearchSettings
from commonplace.config.secret import Secret
from commonplace.config.settings import chain_of
from commonplace.config.shape import Shape
from commonplace.host.host import PluginHost
from commonplace_qmd.settings import QmdPath

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.settings import Settings
    from commonplace.model.plugins import ConfigProblem

INF, NAN = math.inf, math.nan

# key: (name in Python, default, {given: taken}, what a file may not have)
SECTION_CLASSES = partial(section_class, PluginHost(env={}))

KEYS: dict[str, tuple[str, Any, list[tuple[Any, Any]], list[Any]]] = {
    "enabled": ("enabled", True, [(False, False)], ["yes", 1, None, {}]),
    "sources": (
        "sources",
        ("memory",),
        [
            (["memory", "memory"], ("memory",)),
            (["sessions"], ("memory",)),
            ([], ("memory",)),
            ([" tickets ", "memory"], ("tickets", "memory")),
        ],
        ["memory", [1], [""], None],
    ),
    "extraPaths": (
        "extra_paths",
        (),
        [
            (
                [" a ", "", "a", {"path": "b", "pattern": "*.md"}, "  ", "../c"],
                (
                    ExtraPath(path="a"),
                    ExtraPath(path="b", pattern="*.md"),
                    ExtraPath(path="../c"),
                ),
            ),
        ],
        ["a", [1], [{"pattern": "x"}], [{"path": "a", "glob": "b"}], [{"path": 1}], None],
    ),
    "notes.text": ("notes.text", False, [(True, True)], ["yes", 1, None]),
    "redact.patterns": (
        "redact.patterns",
        (),
        [(["BADGE-[0-9]+"], ("BADGE-[0-9]+",)), ([], ())],
        ["x", ["("], [1]],
    ),
    "notes.gitignore": ("notes.gitignore", False, [(True, True)], ["yes", 1, None]),
    "experimental.sessionMemory": ("session_memory", False, [(True, True)], ["on", 0]),
    "rememberAcrossConversations": (
        "remember_across_conversations",
        None,
        [(True, True), (False, False)],
        ["on", None],
    ),
    "provider": ("provider", "auto", [("openai", "openai"), (" none ", "none")], [1, "", None]),
    "model": ("model", "", [("text-embedding-3-small", "text-embedding-3-small")], [1, None]),
    "fallback": ("fallback", "none", [("gemini", "gemini")], [True, ""]),
    "outputDimensionality": (
        "output_dimensionality",
        None,
        [(768, 768), (768.0, 768)],
        [0, -1, 1.5, "768"],
    ),
    "inputType": ("input_type", None, [("passage", "passage")], [1]),
    "queryInputType": ("query_input_type", None, [("query", "query")], [1]),
    "documentInputType": ("document_input_type", None, [("passage", "passage")], [1]),
    "local.modelPath": (
        "@plugins.entries.local.config model_path",
        None,
        [("hf:owner/repo/file.gguf", "hf:owner/repo/file.gguf"), ("/m.gguf", "/m.gguf")],
        [1, ""],
    ),
    "queryPrefix": ("query_prefix", None, [("query: ", "query: "), ("", "")], [1]),
    "documentPrefix": ("document_prefix", None, [("passage: ", "passage: ")], [1]),
    "local.threads": (
        "@plugins.entries.local.config threads",
        None,
        [(4, 4)],
        [0, -1, 1.5, "4"],
    ),
    "local.idleSeconds": (
        "@plugins.entries.local.config idle_seconds",
        None,
        [(60, 60)],
        [0, -1, "60"],
    ),
    "local.modelCacheDir": (
        "@plugins.entries.local.config model_cache_dir",
        None,
        [("/models", "/models")],
        [1, " "],
    ),
    "remote.baseUrl": (
        "remote.base_url",
        None,
        [("https://x.test/v1", "https://x.test/v1"), ("HTTP://x.test", "HTTP://x.test"), ("", "")],
        [1, "127.0.0.1:9", "x.test/v1", "ftp://x.test", "user:secret@x.test"],
    ),
    "remote.apiKey": (
        "remote.api_key",
        None,
        [
            ("sk-1", Secret("sk-1")),
            ({"source": "env", "id": "KEY"}, Secret({"source": "env", "id": "KEY"})),
            ("", None),
            (" ", None),
        ],
        [1, {}, {"source": "env", "id": "lower"}, ["sk"]],
    ),
    "remote.consent": (
        "remote.consent",
        "ask",
        [("yes", "yes"), ("no", "no"), ("ask", "ask")],
        ["", "maybe", True, None, 1],
    ),
    "remote.headers": (
        "remote.headers",
        {},
        [({"X-Team": "blue"}, {"X-Team": Secret("blue")})],
        ["x", {"X": 1}],
    ),
    "remote.batch.enabled": ("remote.batch.enabled", False, [(True, True)], ["on"]),
    "remote.batch.wait": ("remote.batch.wait", True, [(False, False)], [0]),
    "remote.batch.concurrency": ("remote.batch.concurrency", 2, [(5, 5)], [0, 1.5, "2"]),
    "remote.batch.pollIntervalMs": (
        "remote.batch.poll_interval_ms",
        2000,
        [(0, 0), (5, 5)],
        [-1, 0.5],
    ),
    "remote.batch.timeoutMinutes": ("remote.batch.timeout_minutes", 60, [(1, 1)], [0, 0.5]),
    "store.driver": ("store.driver", "sqlite", [("sqlite", "sqlite")], ["lancedb", 1]),
    "store.path": ("store.path", None, [("/i/{agentId}.db", "/i/{agentId}.db")], [1, ""]),
    "store.fts.tokenizer": (
        "store.fts_tokenizer",
        "unicode61",
        [("trigram", "trigram")],
        ["porter", 1],
    ),
    "store.vector.enabled": ("@memory.builtin vector.enabled", True, [(False, False)], ["no"]),
    "store.vector.extensionPath": (
        "@memory.builtin vector.extension_path",
        None,
        [("/v/vec0.so", "/v/vec0.so")],
        [1, ""],
    ),
    "chunking.strategy": (
        "chunking.strategy",
        "markdown",
        [("lines", "lines"), ("mine", "mine")],
        [1, ""],
    ),
    "chunking.tokens": ("chunking.tokens", 200, [(60, 60), (60.0, 60)], [0, -1, 1.5, "60", INF]),
    "chunking.overlap": ("chunking.overlap", 32, [(0, 0), (199, 199), (200, 199)], [-1, 0.5, "0"]),
    "sync.onSessionStart": ("sync.on_session_start", True, [(False, False)], [0]),
    "sync.onSearch": ("sync.on_search", True, [(False, False)], [0]),
    "sync.embedOnSearch": ("sync.embed_on_search", False, [(True, True)], [0]),
    "sync.embedUnasked": ("sync.embed_unasked", 500, [(0, 0), (20, 20)], [-1, 0.5, True]),
    "sync.watch": ("sync.watch", True, [(False, False)], [0]),
    "sync.watchDebounceMs": ("sync.watch_debounce_ms", 1500, [(0, 0)], [-1, 0.5]),
    "sync.intervalMinutes": ("sync.interval_minutes", 0, [(30, 30)], [-1, 0.5]),
    "sync.fullScanMinutes": ("sync.full_scan_minutes", 10, [(0, 0)], [-1, 0.5]),
    "sync.sessions.deltaBytes": (
        "@plugins.entries.codex.config delta_bytes",
        100_000,
        [(0, 0)],
        [-1, 0.5],
    ),
    "sync.sessions.deltaMessages": (
        "@plugins.entries.sessions.config delta_messages",
        50,
        [(0, 0)],
        [-1, 0.5],
    ),
    "sync.sessions.postCompactionForce": (
        "sync.post_compaction_force",
        True,
        [(False, False)],
        [0],
    ),
    "query.maxResults": ("query.max_results", 6, [(1, 1), (500, 500)], [0, -1, 1.5, "6", 1e21]),
    "query.embeddingSeconds": ("query.embedding_seconds", None, [(3, 3)], [0, -1, 1.5, "3"]),
    "query.fold": ("query.fold", True, [(False, False)], [0]),
    "query.join": ("query.join", True, [(False, False)], [0]),
    "query.timeZone": ("query.time_zone", None, [("Asia/Tokyo", "Asia/Tokyo")], [9, "Mars/X"]),
    "query.minScore": ("query.min_score", None, [(0, 0.0), (1, 1.0)], [-0.1, 1.1, NAN, "0"]),
    "query.hybrid.enabled": ("query.hybrid.enabled", True, [(False, False)], [0]),
    "query.hybrid.fusion": (
        "query.hybrid.fusion",
        "evidence",
        [("rrf", "rrf"), ("mine", "mine")],
        [1, ""],
    ),
    "query.hybrid.trust": (
        "@plugins.entries.evidence.config trust",
        "unknown",
        [("weak", "weak"), (0, 0.0), (100, 100.0)],
        ["strong", -1, 101, NAN, True],
    ),
    "query.hybrid.vectorWeight": (
        "query.hybrid.vector_weight",
        0.7,
        [(0, 0.0), (0.3, 0.5), (0.6, 0.6 / 0.9)],
        [-0.1, 1.1, "1"],
    ),
    "query.hybrid.textWeight": (
        "query.hybrid.text_weight",
        0.3,
        [(0, 0.0), (0.7, 0.5)],
        [-0.1, 1.1, "1"],
    ),
    "query.hybrid.candidateMultiplier": (
        "query.hybrid.candidate_multiplier",
        4,
        [(1, 1), (20, 20), (21, 20)],
        [0, 2.5, "4"],
    ),
    "query.hybrid.mmr.enabled": ("@plugins.entries.mmr.config enabled", False, [(True, True)], [1]),
    "query.hybrid.mmr.lambda": (
        "@plugins.entries.mmr.config lambda_",
        0.7,
        [(0, 0.0), (1, 1.0)],
        [2, NAN],
    ),
    "query.hybrid.recency.weight": (
        "@plugins.entries.recency.config weight",
        0.1,
        [(0, 0.0), (1, 1.0)],
        [-0.1, 1.1, NAN],
    ),
    "query.hybrid.recency.halfLifeDays": (
        "@plugins.entries.recency.config half_life_days",
        30,
        [(1, 1)],
        [0, 0.5, INF],
    ),
    "query.hybrid.recency.now": (
        "@plugins.entries.recency.config now",
        0.4,
        [(0, 0.0), (1, 1.0)],
        [-0.1, 1.1, NAN],
    ),
    "query.hybrid.validity.weight": (
        "@plugins.entries.validity.config weight",
        0.3,
        [(0, 0.0), (1, 1.0)],
        [-0.1, 1.1, NAN],
    ),
    "query.hybrid.temporalDecay.enabled": (
        "@plugins.entries.temporal_decay.config enabled",
        False,
        [(True, True)],
        [1],
    ),
    "query.hybrid.temporalDecay.halfLifeDays": (
        "@plugins.entries.temporal_decay.config half_life_days",
        30,
        [(1, 1)],
        [0, 0.5, INF],
    ),
    "limits.maxInjectedChars": (
        "limits.max_injected_chars",
        8000,
        [(500, 500), (9000, 9000)],
        ["9000", 0.5],
    ),
    "cache.enabled": ("cache.enabled", True, [(False, False)], [0]),
    "cache.maxEntries": ("cache.max_entries", None, [(1, 1)], [0, 0.5]),
    "ranking.profile": ("ranking.profile", "default", [("compat", "compat")], ["original", 1]),
    "ranking.chain": (
        "ranking.chain",
        None,
        [(["saturate", "mmr"], ("saturate", "mmr")), ([], ())],
        ["mmr", [1]],
    ),
    "qmd.extraCollections": (
        "@memory.qmd extra_collections",
        (),
        [([{"path": "a", "name": "n"}], (QmdPath(path="a", name="n"),))],
        [["a"], [{"name": "n"}]],
    ),
}

# What a program may pass, and what becomes of it.
CLAMPED = [
    ("chunking.tokens", -5, 1),
    ("chunking.tokens", 10.9, 10),
    ("chunking.overlap", -5, 0),
    ("chunking.overlap", 10_000, 199),
    ("sync.sessions.deltaBytes", -1, 0),
    ("sync.sessions.deltaMessages", 1.9, 1),
    ("query.minScore", 7, 1.0),
    ("query.minScore", -7, 0.0),
    ("query.hybrid.vectorWeight", 9, 1 / 1.3),
    ("query.hybrid.textWeight", -9, 0.0),
    ("query.hybrid.candidateMultiplier", 0, 1),
    ("query.hybrid.candidateMultiplier", 99, 20),
    ("query.hybrid.mmr.lambda", -1, 0.0),
    ("query.hybrid.mmr.lambda", 2, 1.0),
    ("query.hybrid.mmr.lambda", NAN, 0.7),
    ("query.hybrid.mmr.lambda", INF, 0.7),
    ("query.hybrid.temporalDecay.halfLifeDays", 0, 1),
    ("query.hybrid.temporalDecay.halfLifeDays", 7.9, 7),
    ("query.hybrid.temporalDecay.halfLifeDays", NAN, 30),
    ("cache.maxEntries", 0, 1),
    ("cache.maxEntries", 3.7, 3),
    ("remote.batch.concurrency", 0, 1),
]

TAKEN = [(key, given, taken) for key, (_, _, pairs, _) in KEYS.items() for given, taken in pairs]
REFUSED = [(key, bad) for key, (_, _, _, refused) in KEYS.items() for bad in refused]


def nested(key: str, value: Any) -> Any:
    return reduce(lambda inner, name: {name: inner}, reversed(key.split(".")), value)


def at(settings: Settings, key: str) -> Any:
    path, _, rest = KEYS[key][0].partition(" ")
    if not rest:
        return reduce(getattr, path.split("."), settings.search)
    section = path.removeprefix("@")
    cls = SECTION_CLASSES(section)
    assert cls is not None
    value = settings.section_values.get(section, cls())
    return reduce(getattr, rest.split("."), value)


def test_the_table_has_every_key_there_is() -> None:
    shape = Shape(SearchSettings, SEARCH_KEYS, SECTION_CLASSES).complete()
    assert KEYS.keys() == shape.leaves.keys()


@pytest.mark.parametrize("key", KEYS)
def test_the_default(key: str, load: Callable[..., Settings]) -> None:
    assert at(load(), key) == KEYS[key][1]
    assert at(load(config={"memory": {}}), key) == KEYS[key][1]


@pytest.mark.parametrize(("key", "given", "taken"), TAKEN)
def test_what_a_file_may_have(
    key: str,
    given: Any,
    taken: Any,
    write: Callable[[str, Any], str],
    load: Callable[..., Settings],
) -> None:
    search = nested(key, given)
    spellings = {
        "older": {"agents": {"defaults": {"memorySearch": search}}},
        "newer": {"memory": {"search": search}},
        "one agent": {"agents": {"list": [{"id": "main", "memorySearch": search}]}},
        "one agent, newer": {"agents": {"entries": {"main": {"memory": {"search": search}}}}},
    }
    expected = pytest.approx(taken) if isinstance(taken, float) else taken
    for spelling, file in spellings.items():
        write("user", file)
        settings = load()
        assert at(settings, key) == expected, spelling
        warnings = [w for w in settings.warnings if "sessions are not searched" not in w]
        assert warnings == [], spelling


@pytest.mark.parametrize(("key", "bad"), REFUSED)
def test_what_a_file_may_not_have(
    key: str,
    bad: Any,
    write: Callable[[str, Any], str],
    problems: Callable[..., list[ConfigProblem]],
) -> None:
    path = write("user", {"memory": {"search": nested(key, bad)}})
    found = problems()
    assert found, f"{bad!r} was taken"
    for problem in found:
        assert problem.file == path
        assert problem.key.startswith(f"memory.search.{key}")
        assert problem.line >= 3


@pytest.mark.parametrize(("key", "given", "taken"), CLAMPED)
def test_what_a_program_may_pass(
    key: str, given: Any, taken: Any, load: Callable[..., Settings]
) -> None:
    settings = load(config={"memory": {"search": nested(key, given)}})
    assert at(settings, key) == (pytest.approx(taken) if isinstance(taken, float) else taken)


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        ("query.maxResults", 0),
        ("outputDimensionality", 0),
        ("sync.watchDebounceMs", -1),
        ("remote.batch.timeoutMinutes", 0),
        ("chunking.tokens", "400"),
        ("cache.maxEntries", None),
    ],
)
def test_what_a_program_may_not_pass(
    key: str, bad: Any, problems: Callable[..., list[ConfigProblem]]
) -> None:
    (problem,) = problems(config={"memory": {"search": nested(key, bad)}})
    assert (problem.file, problem.line, problem.key) == (
        "config argument",
        0,
        f"memory.search.{key}",
    )


@pytest.mark.parametrize(
    ("chunking", "tokens", "overlap"),
    [
        ({}, 200, 32),
        ({"strategy": "lines"}, 400, 80),
        ({"strategy": "lines", "tokens": 50}, 50, 49),
        ({"strategy": "lines", "overlap": 10}, 400, 10),
        ({"tokens": 20}, 20, 19),
        ({"tokens": 1}, 1, 0),
        ({"strategy": "markdown", "tokens": 400, "overlap": 80}, 400, 80),
        ({"strategy": "a_plugins_own"}, 200, 32),
    ],
)
def test_chunk_sizes_hang_on_the_strategy(
    chunking: dict[str, Any], tokens: int, overlap: int, load: Callable[..., Settings]
) -> None:
    found = load(config={"memory": {"search": {"chunking": chunking}}}).search.chunking
    assert (found.tokens, found.overlap) == (tokens, overlap)


@pytest.mark.parametrize(
    ("vector", "text", "normalised"),
    [(1, 1, (0.5, 0.5)), (0, 0, (0.7, 0.3)), (0, 1, (0, 1)), (0.9, 0.3, (0.75, 0.25))],
)
def test_weights_are_shares(
    vector: float, text: float, normalised: tuple[float, float], load: Callable[..., Settings]
) -> None:
    weights = {"vectorWeight": vector, "textWeight": text}
    hybrid = load(config={"memory": {"search": {"query": {"hybrid": weights}}}}).search.query.hybrid
    assert (hybrid.vector_weight, hybrid.text_weight) == pytest.approx(normalised)


@pytest.mark.parametrize(
    ("ranking", "hybrid", "chain"),
    [
        ({}, {}, ("evidence", "recency", "validity")),
        ({"profile": "plain"}, {"fusion": "rrf"}, ("rrf", "recency")),
        ({}, {"textWeight": 0.4}, ("weighted", "recency", "validity")),
        ({}, {"textWeight": 0.4, "fusion": "evidence"}, ("evidence", "recency", "validity")),
        ({"profile": "compat"}, {"fusion": "rrf"}, ("weighted", "lexical_boost")),
        ({"chain": ["single"]}, {"fusion": "rrf"}, ("single",)),
    ],
)
def test_the_fusion_stands_in_the_chain_of_a_profile(
    ranking: dict[str, Any],
    hybrid: dict[str, Any],
    chain: tuple[str, ...],
    load: Callable[..., Settings],
) -> None:
    search = {"ranking": ranking, "query": {"hybrid": hybrid}}
    assert chain_of(load(config={"memory": {"search": search}})) == chain


@pytest.mark.parametrize(
    ("sources", "profile", "last"),
    [
        (["memory", "sessions"], "default", "source_balance"),
        (["memory", "claude-code"], "default", "source_balance"),
        (["sessions"], "default", "validity"),
        (["memory"], "default", "validity"),
        (["memory", "sessions"], "plain", "recency"),
        (["memory", "sessions"], "compat", "lexical_boost"),
    ],
)
def test_other_sources_beside_notes_are_balanced(
    sources: list[str], profile: str, last: str, load: Callable[..., Settings]
) -> None:
    session_memory = {"sessionMemory": "sessions" in sources}
    search = {"sources": sources, "experimental": session_memory, "ranking": {"profile": profile}}
    assert chain_of(load(config={"memory": {"search": search}}))[-1] == last


@pytest.mark.parametrize(
    ("search", "sources"),
    [
        ({"sources": ["memory", "sessions"]}, ("memory",)),
        (
            {"sources": ["sessions", "memory"], "experimental": {"sessionMemory": True}},
            ("sessions", "memory"),
        ),
        ({"experimental": {"sessionMemory": True}}, ("memory",)),
        ({"sources": ["sessions"], "experimental": {"sessionMemory": True}}, ("sessions",)),
        ({"rememberAcrossConversations": True}, ("memory", "sessions")),
        ({"rememberAcrossConversations": False}, ("memory",)),
    ],
)
def test_transcripts_are_a_source_only_when_asked_for(
    search: dict[str, Any], sources: tuple[str, ...], load: Callable[..., Settings]
) -> None:
    settings = load(config={"memory": {"search": search}})
    assert settings.search.sources == sources
    half = {"sources", "experimental"} & search.keys() and "sessions" not in sources
    warnings = [words for words in settings.warnings if "sessions are not searched: " in words]
    assert len(warnings) == bool(half)


def test_a_path_starts_from_the_folder_of_its_file(
    write: Callable[[str, Any], str], env: dict[str, str], load: Callable[..., Settings]
) -> None:
    write(
        "user", {"memory": {"search": {"store": {"path": "~/i.db"}, "local": {"modelPath": "m"}}}}
    )
    settings = load()
    assert settings.search.store.path == f"{env['HOME']}/i.db"
    assert settings.plugin_config("local").model_path == f"{env['HOME']}/.config/commonplace/m"


@pytest.mark.parametrize("name", ["markdwn", "Lines", "lnes"])
def test_a_name_that_looks_like_a_slip_is_warned_of(
    name: str, load: Callable[..., Settings]
) -> None:
    settings = load(config={"memory": {"search": {"chunking": {"strategy": name}}}})
    assert settings.search.chunking.strategy == name, "it may be a plugin's"
    (warning,) = settings.warnings
    assert "did you mean" in warning
    assert name not in warning
