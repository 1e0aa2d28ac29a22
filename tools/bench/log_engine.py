#!/usr/bin/env python3
"""The log engine beside Apache Kafka and beside the limit program: docs/LOG_BENCHMARKS*.md.

As beside_kafka.py: both brokers run, one is loaded at a time, in pairs whose order alternates. `durable` topics have
flush.messages=1 on both: Kafka syncs each append, Weir groups what waits. `--io` chooses how Weir writes.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import typing
import urllib.request

from measure import (LIMIT, LOADGEN, ROOT, delete_topic, device_bytes, device_rounds, load, machine, make_topic, ratio, ratio_text,
                     resident_mib, spread, start_pair, tiny_out)

DURABLE = ('flush.messages=1',)
MEMORY = ('mq.storage=memory',)
OUT = {'direct': 'LOG_BENCHMARKS.md', 'buffered': 'LOG_BENCHMARKS_BUFFERED.md'}  # in docs/
RUN_MS = 4_000  # of what waits for the device
TAIL_RECORDS = 5_000


class Claim(typing.NamedTuple):
    key: str  # of measure.load()
    unit: str
    digits: int
    asked: str  # of the ratio Weir / Kafka; '' is told only
    holds: typing.Callable[[float, float, float], bool]  # median, lower and upper quartile


def at_least(key, unit, digits, bound):
    return Claim(key, unit, digits, f'>= {bound:g}', lambda _, low, __: low >= bound)


def at_most(key, unit, digits, bound):
    return Claim(key, unit, digits, f'<= {bound:.3g}', lambda _, __, high: high <= bound)


def told(key, unit, digits):
    return Claim(key, unit, digits, '', lambda *_: True)


class Work(typing.NamedTuple):
    title: str
    connections: int
    options: tuple
    weir: tuple  # configs of the topic
    kafka: tuple
    claims: tuple
    in_log: bool = False  # what a batch byte takes in Weir's log is told


def waiting(producers, speed):
    claims = [at_least('req_s', 'records/s', 0, speed), told('p99_ms', 'p99 ms', 2), told('cores', 'cores of the broker', 2),
              told('client_cores', 'cores of the generator', 2), told('written', 'bytes written per byte', 2)]
    if producers == 64:
        claims[1] = at_most('p99_ms', 'p99 ms', 2, 0.1)
    return Work(f'acks=all, on the device, {producers} producers with one record in flight', producers,
                ('--records', '1', '--window', '1', '--total-mb', '20000', '--limit-ms', str(RUN_MS)), DURABLE, DURABLE,
                tuple(claims), in_log=True)


SINGLY = ('--records', '1', '--window', '5', '--total-mb', '60')
SMALL = ('--records', '15', '--window', '5', '--total-mb', '400')
LARGE = ('--records', '880', '--window', '3', '--total-mb', '800')
WORK = (
    waiting(1, 2), waiting(16, 10), waiting(64, 20),
    Work('async, 1 KiB records singly, 5 in flight', 6, SINGLY, (), (),
         (at_most('cpu_us', 'CPU us/request', 1, 1 / 6), at_least('req_s', 'requests/s', 0, 5),
          told('client_cores', 'cores of the generator', 2))),
    Work('async, 16 KB batches, 5 in flight', 6, SMALL, (), (),
         (at_least('mb_s', 'MB/s', 0, 2), at_most('cpu_gb', 'CPU s/GB', 2, 1 / 3))),
    Work('async, 0.9 MB batches, 3 in flight', 6, LARGE, (), (),
         (at_least('mb_s', 'MB/s', 0, 1.3), at_most('cpu_gb', 'CPU s/GB', 2, 0.75),
          told('written', 'bytes written per byte', 2))),
    Work('Weir safe, Kafka unsafe, 16 KB batches', 6, SMALL, DURABLE, (), (at_least('mb_s', 'MB/s', 0, 1),), in_log=True),
    Work('Weir safe, Kafka unsafe, 0.9 MB batches', 6, LARGE, DURABLE, (), (at_least('mb_s', 'MB/s', 0, 0.8),), in_log=True),
    Work('end to end, 1 KiB records, 1,000/s, async', 2, ('--tail', str(TAIL_RECORDS)), (), (),
         (told('p50_ms', 'p50 ms', 2), at_most('p99_ms', 'p99 ms', 2, 1 / 3))),
)
# Behind all else, for what they hold (mq.memory.bytes) stays resident.
MEMORY_WORK = (
    Work('memory topic, Kafka on disk, 1 KiB records singly', 6, SINGLY, MEMORY, (),
         (told('req_s', 'requests/s', 0), told('cpu_us', 'CPU us/request', 1))),
    Work('memory topic, Kafka on disk, 16 KB batches', 6, SMALL, MEMORY, (),
         (told('mb_s', 'MB/s', 0), told('cpu_gb', 'CPU s/GB', 2))),
)


def log_bytes(weir):
    """What the broker has handed to the kernel for its log so far, padding and headers included."""
    address = re.search(r'http://[0-9.:]+/metrics', weir.log.read_text()).group()
    with urllib.request.urlopen(address, timeout=10) as answer:
        return float(re.search(r'^weir_log_written_bytes_total (\S+)', answer.read().decode(), re.MULTILINE).group(1))


def run_work(broker, name, work):
    before = log_bytes(broker) if broker.kind == 'weir' else 0
    done = load(broker, name, work.options, work.connections)
    if broker.kind == 'weir' and work.in_log:
        done['in_log'] = (log_bytes(broker) - before) / done['bytes']
    return done


def run_pair(number, pair, results, works):
    for index, work in enumerate(works):
        name = f'bench-{number}-{index}-of-{len(works)}'
        for broker in pair if number % 2 == 0 else pair[::-1]:
            make_topic(broker, name, work.weir if broker.kind == 'weir' else work.kafka)
            done = run_work(broker, name, work)
            results[work.title][broker.kind].append(done)
            print(f'pair {number} {broker.kind:6} {work.title}: {done}', flush=True)
            delete_topic(broker, name)


def limit_run(folder, large):
    """CPU seconds per GB of the limit program, and MB/s, for the 0.9 MB batches that a broker gets."""
    sink = subprocess.Popen([LIMIT, '--file', folder / 'limit', '--connections', '6'], stdout=subprocess.PIPE, text=True)
    try:
        port = json.loads(sink.stdout.readline())['port']
        done = subprocess.run([LOADGEN, '--to', f'127.0.0.1:{port}', '--topic', 'limit', '--connections', '6', '--partitions',
                               '6', *large], stdout=subprocess.PIPE, check=True, timeout=180)
        facts = json.loads(done.stdout)
        cpu = json.loads(sink.stdout.readline())['cpu_s']
        return {'cpu_gb': cpu / facts['bytes'] * 1e9, 'mb_s': facts['bytes'] / 1e6 / facts['seconds']}
    finally:
        sink.kill()
        sink.wait()


def against_limit(weir, pairs, large):
    weirs, limits, rounds = [], [], []
    with tempfile.TemporaryDirectory(prefix='weir-limit-') as folder:
        for number in range(pairs):
            rounds.append(device_rounds(pathlib.Path(folder) / 'rounds'))
            limits.append(limit_run(pathlib.Path(folder), large))
            name = f'limit-{number}'
            make_topic(weir, name)
            weirs.append(load(weir, name, large))
            delete_topic(weir, name)
            print(f'limit {number}: {limits[-1]}, weir {weirs[-1]}', flush=True)
    return weirs, limits, rounds


def tiny(work):
    """Of the same work a few megabytes, or tenths of a second."""
    small = {'--total-mb': '4', '--limit-ms': '200', '--tail': '100'}
    options = list(work.options)
    for at, option in enumerate(options[:-1]):
        options[at + 1] = small.get(option, options[at + 1])
    return work._replace(options=tuple(options))


def await_quiet(broker, limit_s):
    """Until what the broker writes ahead is written: seconds."""
    begin, before = time.monotonic(), device_bytes(broker.folder)
    while time.monotonic() - begin < limit_s:
        time.sleep(1.5)
        now = device_bytes(broker.folder)
        if now - before < 2_000_000:
            break
        before = now
    return time.monotonic() - begin


def report(results, limited, resident, pairs, io, warm_s):
    lines = [
        '# The log engine beside Apache Kafka 4.4.0 and beside the limit', '',
        f'Made by `./dev bench log --io {io}` on {machine()}. {pairs} interleaved pairs, 6 partitions, Weir with '
        f'`mq.log.io={io}`, {warm_s:.0f} s after its start (its first files had been written ahead). "On the device": '
        'flush.messages=1 on both. Median (range); ratios pair by pair: median [lower-upper quartile]; a claim holds if that '
        'quartile holds too. Written bytes are those of the whole device.', '',
        '| work | what | Kafka | Weir | Weir/Kafka | asked | holds |', '| --- | --- | --- | --- | --- | --- | --- |']
    done = [work for work in WORK + MEMORY_WORK if results[work.title]['weir']]
    for work in done:
        w, k = results[work.title]['weir'], results[work.title]['kafka']
        for claim in work.claims:
            values = ratio(w, k, claim.key)
            lines.append(
                f'| {work.title} | {claim.unit} | {spread([r[claim.key] for r in k], claim.digits)} | '
                f'{spread([r[claim.key] for r in w], claim.digits)} | {ratio_text(values)} | {claim.asked or "-"} | '
                f'{("yes" if claim.holds(*values) else "**no**") if claim.asked else "-"} |')
    lines += ['', '**Bytes in Weir\'s log per byte of batches** (entry headers, and the padding of what is written while somebody waits; asked: '
                  '<= 1.05 in groups of 256 KB and more):', '', '| work | bytes |', '| --- | --- |']
    lines += [f"| {work.title} | {spread([r['in_log'] for r in results[work.title]['weir']], 3)} |" for work in done if work.in_log]
    weirs, limits, rounds = limited
    values = ratio(weirs, limits, 'cpu_gb')
    lines += ['', f'**The device** by itself: {spread(rounds, 0)} rounds/s of a direct write of 20 KiB and a sync, one after the other. '
                  'What 16 or 64 producers wait for takes one such round, or two where their records meet it under way.', '',
              f"**The limit** (`tools/limit`: receive, CRC32C, direct write, answer), 0.9 MB batches: "
                  f"{spread([r['cpu_gb'] for r in limits], 2)} CPU s/GB at {statistics.median(r['mb_s'] for r in limits):.0f} MB/s; "
                  f"Weir {spread([r['cpu_gb'] for r in weirs], 2)}: {ratio_text(values)} times the limit (asked: <= 1.5).", '',
              f'**Resident memory** after all of it but the memory topics: Kafka {resident[1]:.0f} MiB, Weir {resident[0]:.0f} MiB '
              '(asked: <= 256).', '']
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pairs', type=int, default=5)
    parser.add_argument('--io', choices=('buffered', 'direct'), default='direct')
    parser.add_argument('--out')
    parser.add_argument('--tiny', action='store_true', help='a few megabytes of some, to see that it runs; its figures say nothing')
    options = parser.parse_args()
    out = options.out or ROOT / 'docs' / OUT[options.io]
    works, memory_works, large = WORK, MEMORY_WORK, LARGE
    if options.tiny:
        out, options.pairs = tiny_out(OUT[options.io]), 1
        works, memory_works = tuple(map(tiny, WORK[::3])), tuple(map(tiny, MEMORY_WORK[:1]))
        large = tiny(WORK[0]._replace(options=LARGE)).options
    pair = start_pair({'mq.flush': 'async', 'mq.log.io': options.io})
    def no_results():
        return {work.title: {'weir': [], 'kafka': []} for work in WORK + MEMORY_WORK}

    results = no_results()
    try:
        warm_s = await_quiet(pair[0], 2 if options.tiny else 60)
        if not options.tiny:
            run_pair(-1, pair, no_results(), works)  # the JVM compiles; thrown away
        for number in range(options.pairs):
            run_pair(number, pair, results, works)
        limited = against_limit(pair[0], options.pairs, large)
        resident = [resident_mib(broker.child.process.pid) for broker in pair]
        for number in range(options.pairs):
            run_pair(number, pair, results, memory_works)
        text = report(results, limited, resident, options.pairs, options.io, warm_s)
        pathlib.Path(out).write_text(text)
        print(text)
    finally:
        for broker in pair:
            broker.remove()


if __name__ == '__main__':
    main()
