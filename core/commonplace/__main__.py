"""``python -m commonplace`` is the command ``commonplace``."""

from __future__ import annotations

from commonplace.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
