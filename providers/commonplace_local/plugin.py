"""Offers the provider ``local``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Group, Probe, hookimpl, how_to_install, setting

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, ProviderRegistrar


class LocalSettings(Group):
    """The section ``local``: a model on this machine."""

    model_path: str | None = setting(
        "GGUF file, or a reference such as `hf:owner/repo/file.gguf`.", default=None, path=True
    )
    model_cache_dir: str | None = setting(
        "Folder that downloaded models are kept in.", default=None, path=True
    )
    threads: int | None = setting(
        "Threads that a model computes with.", default=None, minimum=1, shown="as suits the machine"
    )
    idle_seconds: int | None = setting(
        "Quiet time after which a model's process ends; it starts again when it is needed.",
        default=None,
        unit="seconds",
        minimum=1,
        shown="300",
    )


@hookimpl
def commonplace_register_providers(register: ProviderRegistrar) -> None:
    """Add it."""
    register.provider(
        "local",
        _local,
        summary="a GGUF model on this machine (local.modelPath: a file, or hf:owner/repo/file)",
        config=LocalSettings,
        priority=10,
        probe=_probe,
        ready=_ready,
    )


def _local(context: ProviderContext) -> EmbeddingProvider:
    import os

    from commonplace_local.provider import LocalProvider

    return LocalProvider(context, env=os.environ)


def _probe() -> Probe:
    from commonplace_local.engines import engine

    if engine() is not None:
        return Probe(available=True)
    return Probe(
        available=False,
        reason="neither xllamacpp nor llama-cpp-python is installed",
        hint=how_to_install("commonplace[local]"),
    )


def _ready(context: ProviderContext) -> Probe:
    """Automatic choice takes a file that is there, and never downloads one."""
    import os

    path = context.options.get("model_path") or ""
    if not path:
        return Probe(available=False, reason="local.modelPath is not set")
    from commonplace_local.references import is_remote

    if is_remote(path):
        reason = "automatic choice downloads nothing"
        return Probe(available=False, reason=reason, hint='set provider to "local"')
    there = os.path.expanduser(path)
    if not os.path.isfile(there):
        reason = f"{path} is a folder, not a model" if os.path.isdir(there) else f"no file {path}"
        return Probe(available=False, reason=reason, hint="set local.modelPath to a GGUF file")
    return _probe()
