"""What became of each plugin, as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from commonplace.host.advice import mend_failure, mend_switch
from commonplace.host.catalogue import conflict
from commonplace.host.loader import Failure, attempt
from commonplace.model.plugin_info import PluginInfo

if TYPE_CHECKING:
    from commonplace.host.catalogue import Catalogue
    from commonplace.host.entrypoints import EntryPoint
    from commonplace.host.loader import Loader
    from commonplace.host.offers import Offers
    from commonplace.model.plugins import Probe

__all__ = ["describe"]


def describe(
    catalogue: Catalogue, loader: Loader, offers: Offers, *, probe: bool = False
) -> tuple[PluginInfo, ...]:
    """One report for each entry point and each thing offered in process, by name. Loads nothing.

    With ``probe``, what is loaded is asked whether it can work here.
    """
    infos = [_of_entry(entry, catalogue, loader, offers) for entry in catalogue.entries]
    for plugin, names in offers.in_process.items():
        for name in names or (f"events.{plugin}",):
            blank = PluginInfo(
                name=name, module=plugin, distribution="", version="", state="loaded"
            )
            infos.append(_with_details(blank, loader, offers))
    if probe:
        infos = [_probed(info, offers) if info.state == "loaded" else info for info in infos]
    return tuple(sorted(infos, key=lambda info: (info.name, info.distribution)))


def _of_entry(
    entry: EntryPoint, catalogue: Catalogue, loader: Loader, offers: Offers
) -> PluginInfo:
    info = PluginInfo(
        name=entry.name,
        module=entry.module,
        distribution=entry.distribution,
        version=entry.version,
        state="available",
    )
    if entry.fault:
        return evolve(info, state="failed", error=entry.fault)
    variable = catalogue.switched_off(entry)
    if variable:
        hint = mend_switch(variable, entry.name)
        return evolve(info, state="disabled", notices=(f"switched off by {variable}",), hint=hint)
    rivals = catalogue.rivals(entry.name)
    if len(rivals) > 1:
        error = conflict(entry.name, rivals)
        return evolve(info, state="failed", error=str(error), hint=error.hint)
    if not offers.tried(entry):
        return info
    outcome = offers.load(entry)
    if isinstance(outcome, Failure):
        return evolve(
            info,
            state="failed",
            error=outcome.error,
            traceback=outcome.traceback,
            hint=mend_failure(entry, outcome.cause),
        )
    notices = tuple(
        f"{entry.module} offers {entry.kind} {id_!r}, too, but no entry point is named"
        f" {entry.kind}.{id_}: it cannot be asked for"
        for id_ in offers.undeclared(entry)
    )
    return _with_details(evolve(info, state="loaded", notices=notices), loader, offers)


def _with_details(info: PluginInfo, loader: Loader, offers: Offers) -> PluginInfo:
    """``info`` with what is known once a plugin is loaded."""
    offer = offers.get(info.name)
    if offer is None:
        words = str(getattr(loader.plugin(info.module), "__doc__", None) or "").strip()
        summary, capabilities = words.partition("\n")[0], frozenset[str]()
    else:
        summary, capabilities = offer.registration.summary, offer.registration.capabilities
    return evolve(info, summary=summary, capabilities=capabilities, hooks=loader.hooks(info.module))


def _probed(info: PluginInfo, offers: Offers) -> PluginInfo:
    """``info``, with what it lacks to work here, if anything."""
    offer = offers.get(info.name)
    if offer is None:
        return info
    lacking = attempt(lambda: _lacking(offer.registration.probe()))
    if isinstance(lacking, Failure):
        return evolve(info, notices=(*info.notices, f"its probe failed: {lacking.error}"))
    if lacking is None:
        return info
    reason, hint = lacking
    notices = (*info.notices, f"cannot work here: {reason}")
    return evolve(info, notices=notices, hint=info.hint or hint)


def _lacking(probe: Probe) -> tuple[str, str] | None:
    return None if probe.available else (probe.reason, probe.hint)
