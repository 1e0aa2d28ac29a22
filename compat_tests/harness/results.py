"""One line per test, counted; the last line of a run is `N passed, N failed`. Any thread may report."""

import contextlib
import threading
import time
import traceback


class Failure(Exception):
    """A test's own verdict; any other exception is a failure too, but with its traceback."""


class Results:
    def __init__(self):
        self._lock = threading.Lock()
        self.passed: set[tuple[str, str]] = set()
        self.failed: list[tuple[str, str]] = []

    def report(self, suite: str, test: str, ok: bool, seconds: float, detail: str = ""):
        with self._lock:
            if ok:
                self.passed.add((suite, test))
            else:
                self.failed.append((suite, test))
            word = "PASS" if ok else "FAIL"
            print(f"{word} {suite} {test} ({seconds:.1f} s){': ' + detail if detail else ''}", flush=True)

    @contextlib.contextmanager
    def test(self, suite: str, name: str):
        """Runs the block as one test. The block may append to the list it is given: shown beside the verdict."""
        start = time.monotonic()
        notes: list[str] = []
        try:
            yield notes
        except Failure as failure:
            self.report(suite, name, False, time.monotonic() - start, str(failure))
        except Exception:
            self.report(suite, name, False, time.monotonic() - start, "\n" + traceback.format_exc())
        else:
            self.report(suite, name, True, time.monotonic() - start, "; ".join(notes))

    def seen(self, suite: str) -> set[str]:
        with self._lock:
            return {test for of, test in self.passed if of == suite} | {test for of, test in self.failed if of == suite}

    def closing_line(self) -> str:
        return f"{len(self.passed)} passed, {len(self.failed)} failed"


def require(condition, sentence: str):
    if not condition:
        raise Failure(sentence)
