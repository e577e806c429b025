"""The base of classes whose instances must be closed."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A context manager that closes at its end."""

    def close(self) -> None:
        """Ends what the instance has started or holds open."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
