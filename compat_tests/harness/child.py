"""Child processes: output to a file, lines watched as they come, an end in every case.

Every child is registered and is killed by its own pid when this process ends, however it ends.
"""

import atexit
import pathlib
import signal
import subprocess
import threading
import time

_alive: set["Child"] = set()
_lock = threading.Lock()


class Deadline:
    """A point in time that a wait must not pass; the only clock that the tests wait by."""

    def __init__(self, seconds: float):
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.left == 0.0

    def pause(self, seconds: float = 0.05):
        """Between two looks at a condition."""
        time.sleep(min(seconds, self.left))


class Child:
    """One process whose stdout and stderr go to `log`. With `watch`, its stdout lines go to that callable instead."""

    def __init__(self, args, log: pathlib.Path, *, env=None, stdin=False, watch=None, watch_stderr=None):
        self.args = [str(a) for a in args]
        self.log = log
        self._out = open(log, "ab")
        self.process = subprocess.Popen(
            self.args,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE if watch else self._out,
            stderr=subprocess.PIPE if watch_stderr else self._out,
            env=env,
        )
        with _lock:
            _alive.add(self)
        self._readers = []
        for pipe, callback in ((self.process.stdout, watch), (self.process.stderr, watch_stderr)):
            if callback:
                reader = threading.Thread(target=self._read, args=(pipe, callback), daemon=True)
                reader.start()
                self._readers.append(reader)

    def _read(self, pipe, callback):
        for line in pipe:
            callback(line.decode("utf-8", "replace").rstrip("\n"))

    @property
    def pid(self) -> int:
        return self.process.pid

    def running(self) -> bool:
        return self.process.poll() is None

    def say(self, line: str):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def close_stdin(self):
        self.process.stdin.close()

    def wait(self, seconds: float) -> int:
        """The exit code; a child that is not done in time is killed and that is an error."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill9()
            raise TimeoutError(f"{pathlib.Path(self.args[0]).name} was not done after {seconds:.0f} s\n{self.tail()}")
        self._done()
        return code

    def terminate(self, seconds: float) -> int:
        if self.running():
            self.process.send_signal(signal.SIGTERM)
        return self.wait(seconds)

    def kill9(self):
        if self.running():
            self.process.kill()
        self.process.wait()
        self._done()

    def _done(self):
        for reader in self._readers:
            reader.join(10)
        self._out.close()
        with _lock:
            _alive.discard(self)

    def tail(self, lines: int = 15) -> str:
        if not self._out.closed:
            self._out.flush()
        text = self.log.read_text(errors="replace").splitlines()
        return "\n".join(f"    | {line}" for line in text[-lines:])


@atexit.register
def kill_all():
    with _lock:
        left = list(_alive)
    for child in left:
        if child.running():
            child.process.kill()
