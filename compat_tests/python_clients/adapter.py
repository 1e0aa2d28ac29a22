"""What a Python client must give so that python_clients/tests.py can run over it. Its calls block; one thread calls them."""

import abc
import dataclasses
from collections.abc import Callable, Iterable, Iterator

from harness.context import CODECS
from python_clients.support import PARTITIONS


@dataclasses.dataclass(frozen=True)
class Outgoing:
    record_id: int
    value: bytes | None
    key: bytes | None = None
    headers: list = dataclasses.field(default_factory=list)
    partition: int | None = None


@dataclasses.dataclass(frozen=True)
class Record:
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: list
    timestamp: int


class Member(abc.ABC):
    """A consumer in a group. It commits what it has read when partitions are taken from it, and as it leaves."""

    def __init__(self):
        self.assigned: set[int] = set()
        self.reads: list[tuple[int, int, int]] = []  # partition, offset, number

    @abc.abstractmethod
    def poll(self):
        """Lets it work for a moment; what it read is then in `reads`."""

    @abc.abstractmethod
    def commit_instead(self, offsets: dict[int, int]):
        """Commits these and forgets what was read, so that leaving commits nothing more."""

    @abc.abstractmethod
    def committed(self, partitions) -> dict[int, int | None]: ...

    @abc.abstractmethod
    def leave(self): ...


class Adapter(abc.ABC):
    codecs = CODECS
    idempotent = True
    null_headers = True

    @abc.abstractmethod
    def create_topic(self, name: str, partitions: int = PARTITIONS): ...

    @abc.abstractmethod
    def send_all(self, topic: str, records: Iterable[Outgoing | None], delivered: Callable[[int, int, int], None], *,
                 codec: str = "none", acks="all", idempotent: bool | None = None):
        """Returns when all is acknowledged; `delivered(record_id, partition, offset)` was called for each. A None among
        the records means: nothing to send yet, let the client work for a moment."""

    @abc.abstractmethod
    def read_all(self, topic: str, partitions: int = PARTITIONS) -> Iterator[Record]:
        """Every record of the topic from its start to the ends seen at the beginning."""

    @abc.abstractmethod
    def member(self, group: str, topic: str) -> Member: ...
