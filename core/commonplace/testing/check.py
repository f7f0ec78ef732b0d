"""Runs the conformance tests on an installed plugin, and reports each law as a line of JSON."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

import pytest
from attrs import evolve

from commonplace.errors import CommonplaceError
from commonplace.host.host import PluginHost
from commonplace.protocols.contexts import SourceContext, StoreContext
from commonplace.protocols.providers import ProviderContext
from commonplace.resilience.bounded_call import failure_of
from commonplace.testing.chunker import ChunkerConformance
from commonplace.testing.manager import MemoryManagerConformance
from commonplace.testing.provider import EmbeddingProviderConformance
from commonplace.testing.ranker import RankerConformance
from commonplace.testing.source import SourceConformance
from commonplace.testing.store import StoreConformance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.model.plugins import Registration
    from commonplace.protocols.parts import WatchedSource
    from commonplace.protocols.providers import EmbeddingProvider

suite: type[Any]
"""The tests of the plugin that is checked; the file of tests that is written takes it from here."""

_FILE = "from commonplace.testing import check\n\nTestPlugin = check.suite\n"


class NotCheckableError(CommonplaceError):
    """The plugin cannot be checked without what only its author knows."""


def suite_of(role: str, registration: Registration[Any], base_url: str = "") -> type[Any]:
    """The conformance tests of the ``role`` that is registered, with settings at defaults.

    ``base_url`` is a stand-in for the server of a provider. Raises :class:`NotCheckableError`.
    """
    make = registration.factory
    if role == "provider":
        return _of_provider(make, base_url)
    if role == "source":
        return _of_source(make, registration.id)
    suites: Mapping[str, tuple[type[Any], dict[str, Any]]] = {
        "store": (
            StoreConformance,
            {"open_store": lambda _, folder: make(StoreContext(path=f"{folder}/index"))},
        ),
        "manager": (
            MemoryManagerConformance,
            {
                "capabilities": registration.capabilities,
                "open_manager": lambda _, context: make(context),
            },
        ),
        "chunker": (ChunkerConformance, {"make_chunker": lambda _, context: make(context)}),
        "ranker": (
            RankerConformance,
            {
                "registered_as": registration.id,
                "make_ranker": lambda _, context: make(context),
            },
        ),
    }
    if role not in suites:
        raise NotCheckableError(
            f"there are no conformance tests for a {role}", hint="run its own tests: pytest"
        )
    base, methods = suites[role]
    return type("TestPlugin", (base,), methods)


def _of_provider(make: Callable[[Any], EmbeddingProvider], base_url: str) -> type[Any]:
    usual = ProviderContext(api_key="key-of-a-test", base_url=base_url)
    provider = make(usual)
    remote = "remote" in provider.capabilities
    provider.close()
    if remote and not base_url:
        raise NotCheckableError(
            "the provider sends texts to a server, and no conformance test may use the network",
            hint="name a stand-in on this machine, --base-url http://127.0.0.1:PORT, or run its "
            "own tests",
        )

    def failures(self: EmbeddingProviderConformance) -> Mapping[str, ProviderContext]:
        return self.failing(
            {
                "a model that there is not": evolve(usual, model="no-such-model"),
                "no server listens": evolve(usual, base_url="http://127.0.0.1:9"),
            }
        )

    def variants(self: EmbeddingProviderConformance) -> Mapping[str, ProviderContext]:
        return self.changing(
            {
                "query prefix": evolve(usual, query_prefix="find: "),
                "document prefix": evolve(usual, document_prefix="keep: "),
                "dimensions": evolve(usual, dims=64),
            }
        )

    own = {"variants": variants, "failures": failures} if remote else {}
    return type(
        "TestPlugin",
        (EmbeddingProviderConformance,),
        {
            "make_provider": lambda _, context: make(context),
            "context": lambda _: usual,
            **own,
        },
    )


def _of_source(make: Callable[[Any], Any], id_: str) -> type[Any]:
    """Documents are put where the source is watched: nothing else says where they lie."""
    workspace = "/workspace"
    source = make(SourceContext(workspace=workspace, agent="main"))
    places = []
    if "watched" in source.capabilities:
        places = [
            place
            for place in cast("WatchedSource", source).watched()
            if place.location.startswith(f"{workspace}/") and place.suffix
        ]
    if not places:
        raise NotCheckableError(
            "nothing says where the documents of this source lie: it watches no folder of the "
            "workspace for files of one ending",
            hint="subclass SourceConformance in its own tests, and define file_of or put",
        )
    folder = os.path.relpath(places[0].location, workspace)
    suffix = places[0].suffix
    return type(
        "TestPlugin",
        (SourceConformance,),
        {
            "registered_as": id_,
            "make_source": lambda _, context: make(context),
            "file_of": lambda _, name: os.path.join(folder, name + suffix),
        },
    )


class Reporter:
    """A plugin of pytest that hands each law's result to ``report``."""

    def __init__(self, report: Callable[[Mapping[str, object]], None]) -> None:
        self._report = report
        self._laws: dict[str, tuple[str, str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Report how many laws there are."""
        for item in session.items:
            words = (getattr(getattr(item, "obj", None), "__doc__", "") or "").strip()
            name = item.name.removeprefix("test_").replace("_", " ")
            self._laws[item.nodeid] = name, " ".join(words.partition("\n\n")[0].split())
        self._report({"total": len(session.items)})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report what a law came to: its call, or what kept it from being called."""
        if report.when != "call" and report.outcome == "passed":
            return
        reason = ""
        if isinstance(report.longrepr, tuple):  # skipped: file, line, reason
            reason = report.longrepr[2].removeprefix("Skipped: ")
        elif report.longrepr is not None:
            reason = str(report.longrepr)
        law, meaning = self._laws[report.nodeid]
        self._report(
            {
                "law": law,
                "meaning": meaning,
                "result": report.outcome,
                "seconds": round(report.duration, 3),
                "reason": reason,
            }
        )


def main(descriptor: int, kind: str, id_: str, base_url: str) -> int:
    """Run the tests in the current folder, which is empty; reports go to ``descriptor``."""
    global suite  # noqa: PLW0603 - how the file of tests gets at it
    with open(descriptor, "w", encoding="utf-8") as stream:

        def report(message: Mapping[str, object]) -> None:
            stream.write(json.dumps(message) + "\n")
            stream.flush()

        try:
            host = PluginHost()
            registration = host.get(cast("Any", kind), id_)
            role = host.backend(id_).role if kind == "backend" else kind
            suite = suite_of(role, registration, base_url)
        except CommonplaceError as error:
            report({"refused": str(error), "hint": error.hint})
            return 2
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            words = f"{kind} {id_!r} could not be made: {failure_of(error)}"
            report({"refused": words, "hint": "run its own tests for the traceback: pytest"})
            return 2
        with open("test_plugin.py", "w", encoding="utf-8") as file:
            file.write(_FILE)
        with open("pytest.ini", "w", encoding="utf-8") as file:
            file.write("[pytest]\n")
        return int(
            pytest.main(
                ["-q", "-p", "no:cacheprovider", "--tb=short", "test_plugin.py"],
                plugins=[Reporter(report)],
            )
        )
