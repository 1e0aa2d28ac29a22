"""Free loopback ports that a broker can come back to after a kill.

The ports lie below the kernel's ephemeral range on purpose. A client that keeps connecting to a dead broker on an
ephemeral port can be given that very port as its own source and so connect to itself; the restarted broker would then
find its port taken.
"""

import pathlib
import random
import socket
import threading

_RANGE_FILE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 10_000
_given: set[int] = set()
_lock = threading.Lock()


def free_port() -> int:
    below = int(_RANGE_FILE.read_text().split()[0]) if _RANGE_FILE.exists() else 32_768
    for _ in range(1_000):
        port = random.randrange(_LOWEST, max(below, _LOWEST + 1_000))
        with _lock:
            if port in _given:
                continue
            _given.add(port)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free loopback port in 1,000 tries")
