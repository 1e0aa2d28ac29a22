#!/usr/bin/env python3
"""Weir beside Apache Kafka on this machine: docs/BENCHMARKS.md.

Both brokers run all the time, one is loaded at a time, in pairs whose order alternates, and each run begins with nothing
left to write back; the load is the same raw-frame
generator (build/release/loadgen) for both. A figure is the median of the pairs with its range; a ratio is taken pair by
pair. The broker's own CPU seconds come from the kernel's count for its process. Kafka gets its own script's heap and
collector options and a warm-up.
"""
import argparse
import pathlib
import statistics
import typing

from measure import (PARTITIONS, ROOT, delete_topic, load, machine, make_topic, ratio, ratio_text, resident_mib, spread,
                     start_pair, tiny_out)


class Work(typing.NamedTuple):
    title: str
    shape: str  # each shape of batches has a topic of its own
    options: list
    megabytes: int  # a run
    speed_asked: float  # MB/s at least this ratio
    cpu_asked: typing.Optional[float]  # CPU per GB at most this ratio


# A fetch reads a topic that was written in the same pair again and again: from the caches of the broker and the kernel.
FETCH = ['--fetch', '--window', '1', '--fetch-bytes']
WORK = [
    Work('1 KiB records singly, 5 in flight', '1k', ['--records', '1', '--window', '5'], 60, 1.0, 0.5),
    Work('16 KB batches, 5 in flight', '16k', ['--records', '15', '--window', '5'], 400, 1.0, 0.5),
    Work('0.9 MB batches, 3 in flight', '900k', ['--records', '880', '--window', '3'], 800, 1.0, None),
    Work('fetch 1 MB of 1 KiB batches', '1k', [*FETCH, '1048576'], 1000, 1.0, None),
    Work('fetch 1 MB of 16 KB batches', '16k', [*FETCH, '1048576'], 2000, 1.0, None),
    Work('fetch 1 MB of 0.9 MB batches', '900k', [*FETCH, '1048576'], 2000, 0.9, None),
    Work('fetch 10 MB of 0.9 MB batches', '900k', [*FETCH, '10485760'], 2000, 0.9, None),
]
# What a reader of the tables asks next.
NOTES = """
**Fetch of 1 KiB batches** is where one shared log costs. Batches of all partitions lie side by side, so an answer is
gathered batch by batch, where Kafka hands one stretch of one file to the kernel. Of the broker's time two fifths is the kernel's copy
into the socket, which takes the cache misses, up to an eighth reading blocks from the page cache, a twentieth checking them
(perf, 6 partitions).

**0.9 MB batches** through the page cache come in two states, on both brokers and from one run to the next: near 1,000 MB/s at 1 to
1.7 CPU s/GB, or 350 to 450 at 3 to 4. The slow one is this virtual machine's: memory that nobody used for a while is back with
the host, and the first touch of it runs at 0.3 to 0.45 GB/s (a loop over fresh memory, same hour; 1.5 GB/s over memory just freed). Whoever fills new
pages of the page cache pays that. There Weir is behind by a tenth to a seventh, in the other state ahead: its one log is one file, which a file
system fills by one thread at a time, and Kafka's are six. `mq.log.io=direct` fills no pages: [LOG_BENCHMARKS.md](LOG_BENCHMARKS.md).
"""
SHAPES = sorted({work.shape for work in WORK})


def run_pair(number, pair, results, works):
    """Each piece of work on both brokers; who is first alternates."""
    names = {shape: f'bench-{number}-{shape}' for shape in SHAPES}
    for broker in pair:
        for name in names.values():
            make_topic(broker, name)
    order = pair if number % 2 == 0 else pair[::-1]
    for work in works:
        for broker in order:
            done = load(broker, names[work.shape], ['--total-mb', str(work.megabytes), *work.options])
            results[work.title][broker.kind].append(done)
            print(f'pair {number} {broker.kind:6} {work.title}: {done}', flush=True)
    for broker in pair:
        for name in names.values():
            delete_topic(broker, name)


def report(results, pair, pairs):
    weir, kafka = pair
    lines = [
        '# Beside Apache Kafka 4.4.0', '',
        f'Made by `./dev bench` on {machine()}. {pairs} interleaved pairs, {PARTITIONS} partitions, 6 connections, '
        'acks=all, Weir with `mq.flush=async` (as Kafka: answered from memory of the kernel). MB = 10^6 bytes of batches. Median '
        '(range); ratios pair by pair: median [lower-upper quartile]. CPU is the broker process alone. The generator shares '
        'the two cores, so MB/s of the cheaper broker is bounded by it.', '',
        '| work | Kafka MB/s | Weir MB/s | Weir/Kafka | asked | Kafka CPU s/GB | Weir CPU s/GB | Weir/Kafka | asked |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |']
    for title, _, _, _, speed_asked, cpu_asked in WORK:
        w, k = results[title]['weir'], results[title]['kafka']
        speed, cost = ratio(w, k, 'mb_s'), ratio(w, k, 'cpu_gb')
        lines.append(
            f"| {title} | {spread([r['mb_s'] for r in k], 0)} | {spread([r['mb_s'] for r in w], 0)} | "
            f'{ratio_text(speed)} | >= {speed_asked} | '
            f"{spread([r['cpu_gb'] for r in k], 2)} | {spread([r['cpu_gb'] for r in w], 2)} | "
            f'{ratio_text(cost)} | {"<= " + str(cpu_asked) if cpu_asked else "-"} |')
    lines += ['', '| work | Kafka requests/s | Weir requests/s | Kafka p99 ms | Weir p99 ms | generator CPU s/GB (Kafka, Weir) |',
              '| --- | --- | --- | --- | --- | --- |']
    for title, *_ in WORK:
        w, k = results[title]['weir'], results[title]['kafka']
        lines.append(f"| {title} | {spread([r['req_s'] for r in k], 0)} | {spread([r['req_s'] for r in w], 0)} | "
                     f"{spread([r['p99_ms'] for r in k], 1)} | {spread([r['p99_ms'] for r in w], 1)} | "
                     f"{statistics.median(r['client_cpu_gb'] for r in k):.2f}, {statistics.median(r['client_cpu_gb'] for r in w):.2f} |")
    lines += ['', f'Resident memory after all of it: Kafka {resident_mib(kafka.child.process.pid):.0f} MiB, '
                  f'Weir {resident_mib(weir.child.process.pid):.0f} MiB.', NOTES]
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pairs', type=int, default=5)
    parser.add_argument('--out', default=str(ROOT / 'docs' / 'BENCHMARKS.md'))
    parser.add_argument('--tiny', action='store_true', help='a few megabytes of each, to see that all runs; its figures say nothing')
    options = parser.parse_args()
    works = WORK
    if options.tiny:
        works, options.pairs, options.out = [work._replace(megabytes=4) for work in WORK], 1, str(tiny_out('beside_kafka.md'))
    pair = start_pair({'mq.flush': 'async'})
    results = {work.title: {'weir': [], 'kafka': []} for work in WORK}
    try:
        warm_up = {work.title: {'weir': [], 'kafka': []} for work in WORK}
        run_pair(-1, pair, warm_up, works)  # the JVM compiles; thrown away
        for number in range(options.pairs):
            run_pair(number, pair, results, works)
        pathlib.Path(options.out).write_text(report(results, pair, options.pairs))
    finally:
        for broker in pair:
            broker.remove()
    print(f'written: {options.out}')


if __name__ == '__main__':
    main()
