"""The process that a model runs in: ``python -m commonplace_local.child``.

It reads requests from standard input and writes answers to standard output, one JSON object a
line, one at a time and in order:

- ``{"id": 1, "load": {"engine", "path", "threads", "context", "pooling", "idle"}}`` is answered by
  ``{"id": 1, "loaded": {"context", "pooling"}}``
- ``{"id": 2, "embed": ["text", ...]}`` by ``{"id": 2, "vectors": ["base64 of float32", ...]}``
- ``{"id": 2, "rank": {"query", "texts"}}`` by ``{"id": 2, "scores": [0.5, ...]}``, where the model
  was loaded with the pooling ``rank``
- either by ``{"id": 2, "error": {"kind", "message"}}``

It ends by itself, with status 0, after ``idle`` seconds (of the load request) without work, and at
once when standard input ends: the host has gone.
"""

from __future__ import annotations

import json
import os
import sys
from binascii import b2a_base64
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from commonplace_local.engines import RANK, EngineError, Job, load
from commonplace_local.gguf import BrokenFileError, read_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_local.engines import Engine


_POOLINGS = {1: "mean", 2: "cls", 3: "last"}
_RANKING = 4
_FIRST_WORK_SECONDS = 60.0


def serve(
    inbox: SimpleQueue[Any],
    answer: Callable[[dict[str, Any]], None],
    load: Callable[[Job], Engine] = load,
) -> bool:
    """Answer requests until there were none for as long as the load request allows.

    Also ends, with ``False``, if the model cannot be loaded.
    """
    engine: Engine | None = None
    idle: float | None = None
    timeout: float | None = None
    while True:
        try:
            request = inbox.get(timeout=timeout)
        except Empty:
            return True
        result: dict[str, Any]
        try:
            if "load" in request:
                idle = request["load"]["idle"]
                engine, loaded = _loaded(request["load"], load)
                result = {"loaded": loaded}
                timeout = max(idle, _FIRST_WORK_SECONDS)
            else:
                assert engine is not None
                if "rank" in request:
                    result = {"scores": engine.rank(**request["rank"])}
                else:
                    result = {"vectors": [_text(v) for v in engine.embed(request["embed"])]}
                timeout = idle
        except EngineError as error:
            result = {"error": {"kind": error.kind, "message": str(error)}}
        except (BrokenFileError, OSError) as error:
            result = {"error": {"kind": "not_found", "message": str(error)}}
        except Exception as error:  # noqa: BLE001 - an engine may raise anything; the host judges
            words = f"{type(error).__name__}: {error}"
            result = {"error": {"kind": "protocol", "message": words}}
        answer({"id": request["id"], **result})
        if engine is None:
            return False


def _loaded(asked: dict[str, Any], load: Callable[[Job], Engine]) -> tuple[Engine, dict[str, Any]]:
    metadata = read_metadata(asked["path"], whole=True)
    kind = metadata.get("general.architecture", "")
    trained = int(metadata.get(f"{kind}.context_length", 0)) or asked["context"]
    context = min(int(trained), asked["context"])
    number = metadata.get(f"{kind}.pooling_type", 0)
    if (number == _RANKING) != (asked["pooling"] == RANK):
        does, wanted = ("ranks", "embeds") if number == _RANKING else ("embeds", "ranks")
        raise EngineError("not_found", f"it is a model that {does}, not one that {wanted}")
    pooling = None if number in _POOLINGS else asked["pooling"]
    engine = load(Job(asked["engine"], asked["path"], context, asked["threads"], pooling))
    return engine, {"context": context, "pooling": pooling or _POOLINGS[int(number)]}


def _text(vector: bytes) -> str:
    if sys.byteorder == "big":
        from array import array

        numbers = array("f", vector)
        numbers.byteswap()
        vector = numbers.tobytes()
    return b2a_base64(vector, newline=False).decode()


def main() -> None:
    """Serve the process's own pipes."""
    # Engines print what they like: answers to the host go to a copy of standard output.
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    input_ = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    inbox: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read, args=(input_, inbox), daemon=True).start()

    def answer(result: dict[str, Any]) -> None:
        raw = json.dumps(result).encode() + b"\n"
        while raw:
            raw = raw[output.write(raw) or 0 :]

    if serve(inbox, answer):
        # Without the engine's clean-up, which may wait for its threads. If loading failed, only the
        # clean-up prints the engine's last messages.
        os._exit(0)


def _read(input_: BinaryIO, inbox: SimpleQueue[Any]) -> None:
    for line in input_:
        inbox.put(json.loads(line))
    # The host is gone, and the engine may be in the middle of a long computation.
    os._exit(0)


if __name__ == "__main__":
    main()
