"""What the benchmarks share: two brokers side by side, the load generator, figures with their spread."""
import datetime
import json
import mmap
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'compat_tests'))

from harness import broker as brokers  # noqa: E402
from harness import paths  # noqa: E402
from harness.child import Deadline  # noqa: E402

KAFKA_JAVA = ['java', '-Xms1G', '-Xmx1G', '-server', '-XX:+UseG1GC', '-XX:MaxGCPauseMillis=20',
              '-XX:InitiatingHeapOccupancyPercent=35', '-XX:+ExplicitGCInvokesConcurrent', '-Djava.awt.headless=true',
              '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn']
LOADGEN = ROOT / 'build' / 'release' / 'loadgen'
LIMIT = ROOT / 'build' / 'release' / 'limit'
WEIR = ROOT / 'build' / 'release' / 'weir'
PARTITIONS = 6


def tiny_out(name):
    """Where a run leaves its figures that only shows that all of it runs."""
    folder = ROOT / 'build' / 'tiny'
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def start_pair(weir_settings):
    """Weir and Kafka, both running; Kafka with its own script's heap and collector options."""
    subprocess.run(['bash', str(ROOT / 'compat_tests' / 'setup.sh')], check=True, stdout=subprocess.DEVNULL)
    paths.JAVA = tuple(KAFKA_JAVA)
    settings = {'message.max.bytes': 2_000_000}
    pair = (brokers.make_broker('weir', 'bench', WEIR, settings | weir_settings),
            brokers.make_broker('kafka', 'bench', WEIR, settings))
    try:
        for broker in pair:
            broker.start()
    except BaseException:
        for broker in pair:
            broker.remove()
        raise
    return pair


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def resident_mib(pid):
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024
    return 0


def device_bytes(folder):
    """Written to the device below `folder` by anybody, as the kernel counts it."""
    number = os.stat(folder).st_dev
    for line in pathlib.Path('/proc/diskstats').read_text().splitlines():
        fields = line.split()
        if (int(fields[0]), int(fields[1])) == (os.major(number), os.minor(number)):
            return int(fields[9]) * 512
    return 0


def device_rounds(path, seconds=1.0, size=20 << 10, file_size=64 << 20):
    """Rounds a second of what a safe group of 16 records waits for: a direct write and a sync, one after the other, in a
    file that was written before."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    try:
        with mmap.mmap(-1, 1 << 20) as zeros, mmap.mmap(-1, size) as group:
            for at in range(0, file_size, len(zeros)):
                os.pwrite(handle, zeros, at)
            os.fsync(handle)
            rounds, begin = 0, time.monotonic()
            while time.monotonic() - begin < seconds:
                os.pwrite(handle, group, rounds * size % (file_size - size) // size * size)
                os.fdatasync(handle)
                rounds += 1
            return rounds / (time.monotonic() - begin)
    finally:
        os.close(handle)


def load(broker, topic, options, connections=6):
    """One run of the generator; the broker's own CPU comes from the kernel's count for its process."""
    pid = broker.child.process.pid
    os.sync()  # or a run would wait for the disk to take what the one before it wrote
    before, written = cpu_seconds(pid), device_bytes(broker.folder)
    done = subprocess.run([LOADGEN, '--to', broker.address, '--topic', topic, '--connections', str(connections),
                           '--partitions', str(PARTITIONS), *options], stdout=subprocess.PIPE, check=True, timeout=180)
    facts = json.loads(done.stdout)
    gigabytes = facts['bytes'] / 1e9
    cpu = cpu_seconds(pid) - before
    return {'bytes': facts['bytes'], 'mb_s': facts['bytes'] / 1e6 / facts['seconds'], 'req_s': facts['requests'] / facts['seconds'],
            'cpu_gb': cpu / gigabytes, 'cpu_us': cpu / facts['requests'] * 1e6, 'p50_ms': facts['p50_ms'],
            'p99_ms': facts['p99_ms'], 'client_cpu_gb': facts['client_cpu_s'] / gigabytes,
            'cores': cpu / facts['seconds'], 'client_cores': facts['client_cpu_s'] / facts['seconds'],
            'written': (device_bytes(broker.folder) - written) / facts['bytes']}


def make_topic(broker, name, configs=()):
    extra = [part for config in configs for part in ('--config', config)]
    subprocess.run([WEIR, 'topic', 'create', '--to', broker.address, name, '--partitions', str(PARTITIONS), *extra],
                   check=True, stdout=subprocess.DEVNULL, timeout=60)
    await_leaders(broker, name)


def delete_topic(broker, name):
    subprocess.run([WEIR, 'topic', 'delete', '--to', broker.address, name], check=True, stdout=subprocess.DEVNULL,
                   timeout=60)


def await_leaders(broker, name):
    """Kafka answers that a topic is made before all its partitions take records."""
    deadline = Deadline(30)
    probe = [LOADGEN, '--to', broker.address, '--topic', name, '--connections', '1', '--partitions', str(PARTITIONS),
             '--total-mb', '1', '--window', str(PARTITIONS)]
    while subprocess.run(probe, stdout=subprocess.DEVNULL, timeout=60).returncode != 0:
        if deadline.passed:
            raise TimeoutError(f'{broker.kind}: topic {name} takes no records')


def spread(values, digits):
    return f'{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})'


def ratio(weir, kafka, key):
    """Median, lower and upper quartile of the ratios pair by pair."""
    ratios = sorted(w[key] / k[key] for w, k in zip(weir, kafka))
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratios[0],) * 3
    return statistics.median(ratios), low, high


def ratio_text(values):
    return f'{values[0]:.2f} [{values[1]:.2f}-{values[2]:.2f}]'


def machine():
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, stdout=subprocess.PIPE,
                            text=True).stdout.strip()
    cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), '?')
    return f'{datetime.date.today()}, commit {commit}: {os.cpu_count()} cores ({cpu}), Linux {platform.release()}'
