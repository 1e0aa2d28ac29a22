"""Runs the weir binary as a user does: words in, exit code, stdout and stderr out."""

import json
import pathlib
import subprocess

from harness.results import require

SECONDS = 60


class Weir:
    """The binary and the broker that its commands are sent to."""

    def __init__(self, binary: pathlib.Path, address: str):
        self.binary = binary
        self.address = address

    def bare(self, *words, data: bytes = b"") -> subprocess.CompletedProcess:
        return subprocess.run([self.binary, *map(str, words)], input=data, capture_output=True, timeout=SECONDS, check=False)

    def run(self, *words, data: bytes = b"", code: int = 0) -> subprocess.CompletedProcess:
        done = self.bare(*words, "--server", self.address, data=data)
        require(done.returncode == code, f"weir {' '.join(map(str, words))} ended with {done.returncode}, not {code}: {done.stderr[-400:]}")
        return done

    def out(self, *words, data: bytes = b"") -> str:
        return self.run(*words, data=data).stdout.decode()

    def json(self, *words):
        return self.parsed(self.run(*words, "--json"))

    @staticmethod
    def parsed(done: subprocess.CompletedProcess):
        return json.loads(done.stdout)

    def lines(self, *words) -> list:
        return [json.loads(line) for line in self.run(*words, "--json").stdout.splitlines()]

    def refused(self, *words, code: int = 1) -> str:
        """The one sentence on stderr; nothing but that, and nothing on stdout."""
        return one_sentence(self.run(*words, code=code), words)


def one_sentence(done: subprocess.CompletedProcess, words) -> str:
    text = done.stderr.decode()
    require(text.startswith("weir: ") and text.endswith("\n") and text.count("\n") == 1, f"{words}: not one sentence on stderr: {text!r}")
    require(not done.stdout, f"{words}: something on stdout: {done.stdout!r}")
    return text
