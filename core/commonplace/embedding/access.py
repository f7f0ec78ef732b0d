"""How a provider is reached: its address, headers and keys, each sent only where it belongs.

Whatever is sent with a request was configured together with the address that it goes to:

- what the section ``remote`` holds goes to its own address; without one, to that of
  ``models.providers.<id>``, or else to the vendor;
- what ``models.providers.<id>`` holds goes to the address there, or else to the vendor;
- keys in variables go to the address in a variable of the same place, or else to the vendor;
- a key of the keyring goes to the vendor.

A key that belongs elsewhere is withheld, and errors say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from commonplace.config.credentials import Environment, Place, original_places
from commonplace.config.search import RemoteSettings
from commonplace.embedding.http.provider import Endpoint
from commonplace.embedding.keys import configured_key, key_of_keyring, keys_of_place
from commonplace.errors import ProviderError
from commonplace.model.plugins import Credentials, Group
from commonplace.protocols.providers import ProviderContext

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from commonplace.config.credentials import ProviderSection
    from commonplace.config.settings import Settings
    from commonplace.embedding.keys import Key
    from commonplace.model.plugins import Registration
    from commonplace.protocols.providers import EmbeddingProvider


_REMOTE = "memorySearch.remote"


@frozen
class Access:
    """How one provider is reached.

    ``base_url`` is ``None`` for the vendor's own address; ``address_origin`` says where it stands.
    ``keys`` are of one source, the first to be tried first. ``withheld`` says in words which key
    was found and is not sent. ``named`` says that the configuration of the memory asks for this
    provider: by its id, its address or its key.
    """

    base_url: str | None = None
    address_origin: str = ""
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    keys: tuple[Key, ...] = ()
    withheld: str = ""
    named: bool = False

    @property
    def key_origin(self) -> str:
        """Where the key comes from, or why none is sent; ``""`` where there is none at all."""
        return self.keys[0].origin if self.keys else self.withheld


def access_of(
    settings: Settings,
    env: Mapping[str, str],
    registration: Registration[EmbeddingProvider],
    *,
    primary: bool,
) -> Access:
    """How the provider of ``registration`` is reached with these settings.

    The section ``remote`` is for the ``primary`` provider alone. Raises
    :class:`~commonplace.errors.UnavailableError` for a reference that leads nowhere.
    """
    return _Finding(settings, env, registration, primary=primary).access()


class _Finding:
    """Finds the parts of one access."""

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        registration: Registration[EmbeddingProvider],
        *,
        primary: bool,
    ) -> None:
        credentials = registration.credentials
        self._settings = settings
        self._credentials = credentials or Credentials(config=(registration.id,))
        self._remote = settings.search.remote if primary else RemoteSettings()
        self._named = not primary or settings.search.provider != "auto"
        self._section = _section(settings, self._credentials)
        self._env = env
        self._wide = Environment(env, settings.openclaw_dirs, settings.env_blocks)
        self._remote_url = (self._remote.base_url or "").strip()
        self._section_url = self._section.base_url(self._wide) if self._section else ""
        self._url, self._url_origin = self._address()

    def access(self) -> Access:
        keys, withheld = self._keys()
        return Access(
            base_url=self._url or None,
            address_origin=self._url_origin,
            headers=self._headers(),
            keys=keys,
            withheld=withheld,
            named=self._named or bool(self._remote_url) or any(key.named for key in keys),
        )

    def _address(self) -> tuple[str, str]:
        if self._remote_url:
            return self._remote_url, f"{_REMOTE}.baseUrl"
        if self._section is not None and self._section_url:
            return self._section_url, self._section.place("baseUrl")
        if variable := self._credentials.address:
            for place in self._places():
                if value := place.values.get(variable, "").strip():
                    return value, place.origin(variable)
        return "", ""

    def _places(self) -> Iterator[Place]:
        """The places of variables, nearest first; files are read when they are reached."""
        settings = self._settings
        yield Place(self._env)
        yield from original_places(settings.openclaw_dirs, settings.env_blocks)

    def _belongs(self, own: str) -> bool:
        """Whether what was configured for the address ``own`` (``""``: none) may be sent."""
        if own and self._url:
            return _server(own) == _server(self._url)
        return not own and (not self._url or self._is_vendors())

    def _is_vendors(self) -> bool:
        try:
            endpoint = Endpoint("", self._url)
        except ProviderError:
            return False
        return endpoint.origin.startswith("https://") and any(
            endpoint.host == host or endpoint.host.endswith(f".{host}")
            for host in self._credentials.hosts
        )

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        if self._section is not None and self._belongs(self._section_url):
            headers = self._section.headers(self._wide)
        if self._belongs(self._remote_url or self._section_url):
            remote = {
                name: value.reveal(self._wide) for name, value in self._remote.headers.items()
            }
            own = {name.lower() for name in remote}
            headers = {n: v for n, v in headers.items() if n.lower() not in own} | remote
        return headers

    def _keys(self) -> tuple[tuple[Key, ...], str]:
        """The keys of the first source that has any to be sent, and words on one that is not."""
        withheld = ""
        for keys, own in self._sources():
            if keys and self._belongs(own):
                return keys, ""
            if keys and not withheld:
                home = _server(own) or "the vendor"
                withheld = f"no key was sent: that of {keys[0].origin} is for {home} alone"
        return (), withheld

    def _sources(self) -> Iterator[tuple[tuple[Key, ...], str]]:
        """The keys of each source, in order, and the address that they were configured for."""
        credentials = self._credentials
        remote = configured_key(self._remote.api_key, credentials, self._wide)
        yield remote, self._remote_url or self._section_url
        if self._section is not None:
            secret = self._section.api_key()
            yield configured_key(secret, credentials, self._wide), self._section_url
        places = self._places_of_keys()
        yield next(places)
        if self._belongs(""):
            yield key_of_keyring(credentials.keyring), ""
        yield from places

    def _places_of_keys(self) -> Iterator[tuple[tuple[Key, ...], str]]:
        address = self._credentials.address
        for place in self._places():
            own = place.values.get(address, "").strip() if address else ""
            yield keys_of_place(place, self._credentials), own


def _section(settings: Settings, credentials: Credentials) -> ProviderSection | None:
    """The provider's section of ``models.providers``: the first that says how it is reached."""
    for id_ in credentials.config:
        section: ProviderSection | None = settings.providers.get(id_)
        if section is not None and section.connects:
            return section
    return None


def _server(url: str) -> str:
    """Scheme, host and port of ``url``, or ``url`` itself where it is no http(s) URL."""
    try:
        return Endpoint("", url).server
    except ProviderError:
        return url


def missing_key(provider: str, credentials: Credentials, access: Access) -> tuple[str, str]:
    """What is wrong without a key, and how to fix it."""
    names = " or ".join(credentials.env)
    note = f" ({credentials.note})" if credentials.note else ""
    withheld = f"; {access.withheld}" if access.withheld else ""
    return (
        f"{provider}: no API key found{note}{withheld}",
        f"set {names}, or remote.apiKey, or models.providers.{provider}.apiKey"
        if names
        else "set remote.apiKey",
    )


def context_of(
    settings: Settings,
    registration: Registration[EmbeddingProvider],
    access: Access,
    *,
    primary: bool,
) -> ProviderContext:
    """The context of a factory for these settings, with the first of several keys."""
    search = settings.search
    config = settings.plugin_config(registration.id)
    options: dict[str, object] = {}
    if isinstance(config, Group):
        own = ((name, getattr(config, name)) for name in config.fields())
        options = {name: value for name, value in own if value is not None}
    context = ProviderContext(
        base_url=access.base_url,
        headers=access.headers,
        api_key=access.keys[0].value if access.keys else None,
        key_origin=access.key_origin,
        options=options,
        state_dir=settings.state_dir,
        cache_dir=settings.cache_dir,
        config=config,
    )
    if not primary:  # model and prefixes are settings of the primary alone
        return context
    options |= {
        "input_type": search.input_type,
        "query_input_type": search.query_input_type,
        "document_input_type": search.document_input_type,
    }
    return evolve(
        context,
        # A model belongs to a named provider, or to the server at a given address.
        model=search.model if search.provider != "auto" or search.remote.base_url else "",
        dims=search.output_dimensionality,
        query_prefix=search.query_prefix,
        document_prefix=search.document_prefix,
    )
