#!/usr/bin/env python3
"""Small wrong edits in the log and the coordinators, one at a time, each built and run against the tests that should see
it: what survives is a missing test, or a line with a reason in equivalent.txt.

`./dev mutate [n] [--seed N] [--under log coordinator] [--list]`. The checkout is never edited: its files are copied to
build/mutate/tree and built there. The last line is `N survived of M`; the exit code is 1 if any did without a reason.
"""
import argparse
import json
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import edits

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / 'build' / 'mutate'
TREE = WORK / 'tree'
PRESET = 'release'  # its tests take an eighth of the CPU time of those of dev
BUILD = TREE / 'build' / PRESET
EQUIVALENT = pathlib.Path(__file__).resolve().parent / 'equivalent.txt'

# What should see a wrong line of these folders, the quick ones first.
SUITES = {'log': ('log_test', 'sim_test'), 'coordinator': ('coordinator_test', 'sim_test')}
SHARDS = os.cpu_count()  # processes that share the tests of a suite
SLOWER = 4  # a mutant that takes that many times the CPU time of the tests without it hangs, which is noticed too
SECONDS_MIN = 30
STANDS_STILL_S, STANDS_STILL_CPU_S = 120, 0.1  # so does one that uses no more than that of the CPU in that time
MEMORY_MAX = 16 << 30  # of one suite: an edit may make a loop that fills it
# Warnings are errors in every build, but an edit that a warning would catch is to be caught by a test as well.
QUIET = ''.join(f'#pragma GCC diagnostic ignored "-W{name}"\n' for name in (
    'parentheses', 'unused-variable', 'unused-but-set-variable', 'unused-parameter', 'unused-function', 'unused-result',
    'unused-value', 'extra-semi', 'empty-body', 'logical-op', 'logical-not-parentheses', 'tautological-compare',
    'bool-compare', 'duplicated-cond', 'duplicated-branches', 'type-limits', 'sign-compare', 'maybe-uninitialized'))


def copy_tree():
    """Only what differs, so that the next build makes no more than it must."""
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    names = [name for name in listed.stdout.decode().split('\0') if name and (ROOT / name).is_file()]
    for name in names:
        source, copy = ROOT / name, TREE / name
        data = source.read_bytes()
        if not copy.exists() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            shutil.copymode(source, copy)
    known = set(names)
    for path in TREE.rglob('*'):
        name = path.relative_to(TREE).as_posix()
        if path.is_file() and not name.startswith('build/') and name not in known:
            path.unlink()


def build(targets):
    """(whether it compiled, output). Objects come from ccache where another checkout has made them."""
    env = os.environ | {'CCACHE_BASEDIR': str(TREE), 'CCACHE_NOHASHDIR': 'true'}
    if not (BUILD / 'build.ninja').exists():
        subprocess.run(['cmake', '--preset', PRESET], cwd=TREE, check=True, stdout=subprocess.DEVNULL, env=env)
    done = subprocess.run(['cmake', '--build', str(BUILD), '-j', str(os.cpu_count()), '--target', *targets], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    return done.returncode == 0, done.stdout


def start_shard(name, shard, stop_early):
    report = WORK / f'report-{shard}.json'
    report.unlink(missing_ok=True)
    command = [str(BUILD / name), '--gtest_brief=1', f'--gtest_output=json:{report}', *(['--gtest_fail_fast'] if stop_early else [])]
    env = os.environ | {'GTEST_TOTAL_SHARDS': str(SHARDS), 'GTEST_SHARD_INDEX': str(shard)}
    return subprocess.Popen(command, cwd=TREE, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                            start_new_session=True,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX)))


def cpu_seconds(pid):
    """What a process that was not waited for has used, its threads included."""
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def run_suite(name, limit_s, stop_early=True):
    """(failed test or '' if all passed, CPU seconds). Its time counts in CPU seconds: others may want the machine as well."""
    running = {start_shard(name, shard, stop_early): shard for shard in range(SHARDS)}
    done_s, seen_s, moved = 0.0, 0.0, time.monotonic()
    try:
        while running:
            time.sleep(0.05)
            used_s = done_s
            for child, shard in list(running.items()):
                pid, status, usage = os.wait4(child.pid, os.WNOHANG)
                if pid == 0:
                    used_s += cpu_seconds(child.pid)
                    continue
                done_s += usage.ru_utime + usage.ru_stime
                used_s += usage.ru_utime + usage.ru_stime
                del running[child]
                child.returncode = os.waitstatus_to_exitcode(status)
                if child.returncode:
                    return f'{name}: {first_failure(WORK / f"report-{shard}.json") or f"ended with {child.returncode}"}', used_s
            if used_s - seen_s > STANDS_STILL_CPU_S:
                seen_s, moved = used_s, time.monotonic()
            if used_s > limit_s:
                return f'{name}: no end within {limit_s:.0f} s of CPU', used_s
            if time.monotonic() - moved > STANDS_STILL_S:
                return f'{name}: stands still', used_s
        return '', done_s
    finally:
        for child in running:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def first_failure(report):
    if not report.exists():
        return ''
    for suite in json.loads(report.read_text())['testsuites']:
        for test in suite['testsuite']:
            if test.get('failures'):
                return f'{suite["name"]}.{test["name"]}'
    return ''


def read_reasons():
    """{edit's name: reason}; see edits.Edit.name."""
    reasons = {}
    for line in EQUIVALENT.read_text().splitlines():
        if line and not line.startswith('#'):
            name, _, reason = line.rpartition(' | ')
            reasons[name] = reason
    return reasons


class Check:
    def __init__(self, folders):
        self.folders = folders
        self.limits = {}
        self.survivors = []
        self.noticed = 0

    def prepare(self):
        targets = sorted({target for folder in self.folders for target in SUITES[folder]})
        print(f'building {", ".join(targets)}', flush=True)
        copy_tree()
        good, output = build(targets)
        if not good:
            sys.exit(f'{output[-5000:]}\nthe tree does not build as it is')
        for target in targets:
            failed, took = run_suite(target, math.inf)
            if failed:
                sys.exit(f'{failed}, without any edit')
            self.limits[target] = max(SLOWER * took, SECONDS_MIN)
            print(f'{target}: {took:.0f} s of CPU without any edit', flush=True)

    def try_one(self, edit):
        """False: it does not compile, so it says nothing."""
        path = TREE / edit.path
        sound = path.read_text()
        path.write_text(QUIET + edit.apply(sound))
        try:
            folder = edit.path.split('/')[0]
            begun = time.monotonic()
            for suite in SUITES[folder]:
                good, _ = build([suite])
                if not good:
                    return False
                failed, _ = run_suite(suite, self.limits[suite])
                if failed:
                    self.noticed += 1
                    print(f'noticed   {edit.place()} {edit.what}  by {failed}  ({time.monotonic() - begun:.0f} s)', flush=True)
                    return True
            self.survivors.append(edit)
            print(f'SURVIVES  {edit.place()} {edit.what}  ({time.monotonic() - begun:.0f} s)\n{edit.shown()}', flush=True)
            return True
        finally:
            path.write_text(sound)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('count', type=int, nargs='?', default=20)
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 31))
    parser.add_argument('--under', nargs='+', default=['log', 'coordinator'], help='folders (of them the .cpp files), or files')
    parser.add_argument('--list', action='store_true', help='tell the edits and their number, and build nothing')
    options = parser.parse_args()
    for under in options.under:
        if under.split('/')[0] not in SUITES or not (ROOT / under).exists():
            parser.error(f'{under}: there is no such folder or file of {", ".join(SUITES)}')
    every = edits.find_all(ROOT, options.under)
    reasons = read_reasons()
    named = sorted({name.split(' | ')[0] for name in reasons if (ROOT / name.split(' | ')[0]).is_file()})
    gone = set(reasons) - {edit.name for edit in edits.find_all(ROOT, named)}
    if gone:
        sys.exit('equivalent.txt names edits that are not there any more:\n' + '\n'.join(sorted(gone)))
    open_edits = [edit for edit in every if edit.name not in reasons]
    print(f'seed {options.seed}: {options.count} of {len(open_edits)} edits; {len(every) - len(open_edits)} more have a reason to survive',
          flush=True)
    random.Random(options.seed).shuffle(open_edits)
    if options.list:
        for edit in open_edits[:options.count]:
            print(f'{edit.name}\n{edit.shown()}')
        return 0
    check = Check(sorted({under.split('/')[0] for under in options.under}))
    check.prepare()
    tried = 0
    for edit in open_edits:
        if tried == options.count:
            break
        tried += check.try_one(edit)
    for edit in check.survivors:
        print(f'survived: {edit.name}')
    print(f'{len(check.survivors)} survived of {tried}')
    return 1 if check.survivors else 0


if __name__ == '__main__':
    sys.exit(main())
