from typing import Any, Self, dataclass_transform
from typing import NamedTuple as NamedTuple

@dataclass_transform(kw_only_default=True, frozen_default=True)
class Record:
    _fields: tuple[str, ...]
    def replace(self, **changes: Any) -> Self: ...
