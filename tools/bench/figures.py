#!/usr/bin/env python3
"""Figures of the release build: docs/FIGURES.md. Medians of several runs; --parts makes only some of its parts anew."""
import argparse
import datetime
import os
import pathlib
import platform
import statistics
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'compat_tests'))

from harness import broker as brokers  # noqa: E402
from harness.child import Deadline  # noqa: E402
from hostile import wire  # noqa: E402
from scale import measures  # noqa: E402
from scale import suite as scale  # noqa: E402
from scale.flock import raise_descriptor_limit  # noqa: E402

WEIR = ROOT / 'build' / 'release' / 'weir'
LOADGEN = ROOT / 'build' / 'release' / 'loadgen'
TOPIC = 'figures'
GIGABYTE_MB = 1000
TINY_MB = 20
FRESH_MB = 130  # written before each kill: a recovery that follows another has nothing left to scan


def fetch_request(topic):
    name = topic.encode()
    body = struct.pack('>iiiib', -1, 100, 1, 1 << 20, 0) + struct.pack('>i', 1) + struct.pack('>h', len(name)) + name
    return wire.frame(wire.header(1, 4, 1) + body + struct.pack('>i', 1) + struct.pack('>iqi', 0, 0, 1 << 20))


def ask_until_good(port, request, good, seconds=60):
    """Connects and asks as fast as it may until an answer is good; from a client's view the broker is there then."""
    deadline = Deadline(seconds)
    while not deadline.passed:
        try:
            with wire.Wire(port, 10) as connection:
                while True:
                    connection.send(request)
                    if good(connection.answer()):
                        return
        except (OSError, EOFError):
            time.sleep(0.001)
    raise TimeoutError('no good answer')


def fetched_records(answer):
    """Fetch v4, one partition: error 0 and some bytes of records."""
    at = 4 + 4 + 4 + 2 + len(TOPIC) + 4 + 4
    (error,) = struct.unpack('>h', answer[at:at + 2])
    (size,) = struct.unpack('>i', answer[at + 2 + 8 + 8 + 4:at + 2 + 8 + 8 + 8])
    return error == 0 and size > 0


def resident_mib(pid):
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024
    raise ValueError('no VmRSS')


class Server:
    def __init__(self, **settings):
        self.broker = brokers.make_broker('weir', 'figures', WEIR, settings)
        self.pid = None

    def spawn(self):
        self.broker.child = self.broker._spawn()
        self.pid = self.broker.child.pid


def start_figures(runs, settle_s=5):
    start_ms, rss_mib, stop_ms = [], [], []
    for number in range(runs):
        server = Server()
        try:
            begun = time.monotonic()
            server.spawn()
            ask_until_good(server.broker.port, wire.metadata('x'), lambda answer: len(answer) > 8)
            start_ms.append((time.monotonic() - begun) * 1000)
            if number < 3:
                time.sleep(settle_s)  # the figure is "5 s after start"
                rss_mib.append(resident_mib(server.pid))
            begun = time.monotonic()
            server.broker.stop()
            stop_ms.append((time.monotonic() - begun) * 1000)
        finally:
            server.broker.remove()
    return start_ms, rss_mib, stop_ms


def recovery_figures(partitions, runs, before_mb=GIGABYTE_MB, fresh_mb=FRESH_MB):
    server = Server(**{'num.partitions': partitions, 'mq.flush': 'async', 'message.max.bytes': 2_000_000})
    took_ms = []
    try:
        server.broker.start()
        port = server.broker.port
        ask_until_good(port, wire.metadata(TOPIC), lambda answer: len(answer) > 60 + 20 * partitions)
        records = '880' if partitions < 100 else '15'

        def write(megabytes):
            subprocess.run([LOADGEN, '--to', server.broker.address, '--topic', TOPIC, '--partitions', str(partitions),
                            '--records', records, '--window', '3', '--total-mb', str(megabytes)], check=True,
                           stdout=subprocess.DEVNULL, timeout=300)

        write(before_mb)
        for _ in range(runs):
            write(fresh_mb)
            server.broker.kill9()
            begun = time.monotonic()
            server.spawn()
            ask_until_good(port, fetch_request(TOPIC), fetched_records)
            took_ms.append((time.monotonic() - begun) * 1000)
    finally:
        server.broker.remove()
    return took_ms


def scale_figures(runs):
    """A fresh broker for each run, as in the suite of the same name."""
    values = {name: [] for name in ('idle', 'up', 'vanish', 'list', 'names', 'others', 'scrape')}
    raise_descriptor_limit()
    for _ in range(runs):
        server = Server(**scale.SETTINGS)
        try:
            server.broker.start()
            broker = server.broker
            values['idle'].append(measures.idle_connections(broker).value)
            measures.make_topics(broker, {measures.SCALED_TOPIC: measures.SCALED_PARTITIONS})
            values['up'].append(measures.scale_up(broker, 0).value)
            values['vanish'].append(measures.vanish(broker, 0).value)
            measures.make_wide(broker)
            values['list'].append(measures.list_offsets(broker).value)
            names, others_ms = measures.unknown_names(broker)
            values['names'].append(names.value)
            values['others'].append(others_ms)
            values['scrape'].append(measures.scrape(broker).value)
            broker.stop()
        finally:
            server.broker.remove()
    return values


def row(what, values, unit, asked, digits=0):
    return (f'| {what} | {statistics.median(values):.{digits}f} {unit} | {min(values):.{digits}f}-{max(values):.{digits}f} | '
            f'{len(values)} | {asked} |')


def life_rows(runs):
    start_ms, rss_mib, stop_ms = start_figures(runs)
    return [row('start on an empty folder to the first Metadata answer', start_ms, 'ms', '<= 300 ms'),
            row('resident 5 s after start', rss_mib, 'MiB', '<= 64 MiB'),
            row('SIGTERM to the end of the process', stop_ms, 'ms', '<= 1 s'),
            row('start after kill -9 to the first Fetch answer with records, 1 GB in 6 partitions', recovery_figures(6, runs),
                'ms', '<= 1 s'),
            row('the same, 1 GB in 1,000 partitions', recovery_figures(1000, runs), 'ms', '<= 1 s')]


def many_rows(runs):
    found = scale_figures(max(runs // 2, 3))
    return [row('resident with 5,000 idle connections', found['idle'], 'MiB', '<= 200 MiB'),
            row('ListOffsets of 10,000 partitions, the slowest of by end, by start and by time', found['list'], 'ms', '<= 50 ms'),
            row('Metadata of 200,000 unknown names', found['names'], 'ms', '<= 1 s'),
            row('the slowest answer to others meanwhile', found['others'], 'ms', '<= 50 ms'),
            row('a group grows from 1 to 200 members on 1,000 partitions, until it has settled; clients heartbeat every 3 s',
                found['up'], 's', '<= 5 s', 2),
            row('2,000 members vanish at once: the slowest answer to others until their group is empty', found['vanish'], 'ms',
                'nobody notices: <= 50 ms, no rebalance'),
            row('/metrics with 10,000 partitions and their lags', found['scrape'], 'ms', '<= 200 ms')]


PARTS = {
    'life': ('Start, stop, memory, recovery', life_rows, 'From the start of the process to the first good answer on a socket.'),
    'many': ('Many of everything', many_rows,
             'From where to where each is measured: the docstrings of `compat_tests/scale/measures.py`, which CI runs too.'),
}
HEAD = '# Figures\n\nMade by `./dev figures`; each part says when. Release build; client and broker on one machine.\n'


def write(path, made):
    """Parts that were not made stay as they are."""
    old = path.read_text().split('\n## ')[1:] if path.exists() else []
    texts = {text.split('\n', 1)[0]: text.strip() for text in old} | made
    ordered = [texts[title] for title, *_ in PARTS.values() if title in texts]
    path.write_text(HEAD + ''.join(f'\n## {text}\n' for text in ordered))


def tiny():
    """That all runs; its figures say nothing. The second part is a suite of the client tests as well."""
    start_ms, rss_mib, stop_ms = start_figures(1, settle_s=0)
    took_ms = [recovery_figures(partitions, 1, TINY_MB, TINY_MB)[0] for partitions in (6, 1000)]
    print(f'start {start_ms[0]:.0f} ms, {rss_mib[0]:.0f} MiB, stop {stop_ms[0]:.0f} ms, recovery {took_ms[0]:.0f} and {took_ms[1]:.0f} ms')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tiny', action='store_true', help='a little of it, to see that it runs; writes nothing')
    parser.add_argument('--runs', type=int, default=10)
    parser.add_argument('--parts', nargs='+', choices=PARTS, default=list(PARTS))
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'docs' / 'FIGURES.md')
    options = parser.parse_args()
    if options.tiny:
        return tiny()
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()
    made = {}
    for part in options.parts:
        title, rows, words = PARTS[part]
        machine = f'{os.cpu_count()} cores (load {os.getloadavg()[0]:.0f} before), Linux {platform.release()}'
        lines = [title, f'{datetime.date.today()}, commit {commit}, {machine}. {words}', '',
                 '| what | median | range | runs | asked |', '| --- | --- | --- | --- | --- |', *rows(options.runs)]
        made[title] = '\n'.join(lines)
        print(made[title], flush=True)
    write(options.out, made)


if __name__ == '__main__':
    main()
