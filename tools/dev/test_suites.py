#!/usr/bin/env python3
"""Runs the test suites of the built presets and sums them up.

Each gtest binary writes a JSON report; repository rules and the generator's own tests are Python; fuzz targets replay
their corpus; the clients' runner prints its own lines. The last line is `N passed, N failed`.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZER_ENV = {
    'asan': {'ASAN_OPTIONS': 'detect_stack_use_after_return=1:strict_string_checks=1',
             'UBSAN_OPTIONS': 'print_stacktrace=1'},
    'tsan': {'TSAN_OPTIONS': 'halt_on_error=1:second_deadlock_stack=1'},
}
SUITE_TIMEOUT_S = 1200
VERB_BUILD_TIMEOUT_S = 2400
VERB_TIMEOUT_S = 600
# What `./dev` does besides these suites, each for some seconds: a verb that nobody runs does not work for long.
# (`unit` and `clients` are the suites themselves; the figures of the tiny runs say nothing.)
VERBS = (('sim', '3'), ('cuts', '2'), ('kills', '3'), ('outages', '3'), ('differ', '5'), ('tsan', '--short'), ('fuzz', '1'), ('mutate', '3', '--list'),
         ('bench', '--tiny'), ('bench', 'log', '--tiny', '--io', 'buffered'), ('figures', '--tiny'))


class Totals:
    def __init__(self):
        self.passed = self.failed = 0

    def add(self, name, passed, failed, seconds, output=''):
        self.passed += passed
        self.failed += failed
        print(f'{name}: {passed} passed, {failed} failed in {seconds:.1f} s', flush=True)
        if failed and output:
            print(output[-20000:], flush=True)


def run(name, command, env=None, timeout=SUITE_TIMEOUT_S):
    """Says when it begins: some suites take minutes and print nothing before their end."""
    print(f'{name} ...', flush=True)
    started = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout.decode(errors='replace'), time.monotonic() - started
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b'').decode(errors='replace')
        return 1, f'{output}\nno end within {timeout} s', time.monotonic() - started


def gtest(totals, preset, binary):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / 'report.json'
        code, output, seconds = run(f'{preset} {binary.name}', [str(binary), f'--gtest_output=json:{report}', '--gtest_brief=1'],
                                    SANITIZER_ENV.get(preset))
        facts = json.loads(report.read_text()) if report.exists() else {'tests': 0, 'failures': 0}
    failed = facts['failures']
    if code != 0 and failed == 0:
        failed = 1  # died, or a sanitizer spoke
    totals.add(f'{preset} {binary.name}', facts['tests'] - facts['failures'], failed, seconds, output)


def fuzz_replay(totals, preset, binary):
    own = ROOT / 'build' / 'corpus' / binary.name.removesuffix('_replay')
    corpus = [str(own)] if own.is_dir() else []
    code, output, seconds = run(f'{preset} {binary.name}', [str(binary), *corpus, str(ROOT / 'build' / 'corpus' / 'common')], SANITIZER_ENV.get(preset))
    totals.add(f'{preset} {binary.name}', int(code == 0), int(code != 0), seconds, output)


def preset_suites(totals, preset):
    build = ROOT / 'build' / preset
    for binary in sorted(p for p in build.iterdir() if p.name.endswith('_test') and os.access(p, os.X_OK) and p.is_file()):
        gtest(totals, preset, binary)
    if preset == 'asan':
        for binary in sorted(build.glob('*_replay')):
            fuzz_replay(totals, preset, binary)


def command_suite(totals, name, command, timeout=SUITE_TIMEOUT_S):
    """A command whose own last count line is taken, or whose exit code counts as one test."""
    code, output, seconds = run(name, command, timeout=timeout)
    counts = re.findall(r'^(\d+) passed, (\d+) failed$', output, re.M)
    passed, failed = map(int, counts[-1]) if counts else (int(code == 0), int(code != 0))
    if code != 0 and failed == 0:
        failed = 1
    totals.add(name, passed, failed, seconds, output)


def verb_suites(totals):
    """Built first, so that a verb's seconds are its own. The simulator's verbs run with the sanitizer, whose tests are built anyway."""
    for preset, targets in (('release', ('weir', 'loadgen', 'limit')), ('tsan', ('weir',)), ('fuzz', ('fuzz_targets',))):
        command_suite(totals, f'build of what the verbs run, {preset}', ['bash', '-c', f'[ -f build/{preset}/build.ninja ] || cmake --preset '
                      f'{preset} >/dev/null; cmake --build build/{preset} -j "$(nproc)" --target {" ".join(targets)}'], timeout=VERB_BUILD_TIMEOUT_S)
    for verb in VERBS:
        command_suite(totals, f'./dev {" ".join(verb)}', ['env', 'WEIR_PRESET=asan', './dev', *verb], timeout=VERB_TIMEOUT_S)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--preset', action='append', default=[])
    parser.add_argument('--clients', action='store_true')
    parser.add_argument('--verbs', action='store_true')
    parser.add_argument('--full', action='store_true')
    options = parser.parse_args()
    totals = Totals()
    command_suite(totals, 'repository rules', [sys.executable, 'tools/tidy.py'])
    command_suite(totals, 'format (./dev format mends it)', ['bash', '-c', "git ls-files '*.cpp' '*.hpp' | xargs clang-format-19 --dry-run -Werror"])
    command_suite(totals, 'message generator', [sys.executable, 'tools/gen_messages/test_gen_messages.py'])
    command_suite(totals, 'edits of ./dev mutate', [sys.executable, 'tools/mutate/edits_test.py'])
    command_suite(totals, 'repository rules themselves', [sys.executable, 'tools/tidy_test.py'])
    command_suite(totals, 'docs/OPERATING.md is up to date', [sys.executable, 'tools/gen_operating.py', '--check'])
    for maker in ('make_corpus.py', 'common_corpus.py'):
        command_suite(totals, f'fuzz {maker}', [sys.executable, f'tools/fuzz/{maker}', 'build/corpus'])
    for preset in options.preset:
        preset_suites(totals, preset)
    if options.clients:
        # Memory that is used after it was freed under another thread's hands; ./dev tsan looks for races.
        command_suite(totals, 'threads under load', [sys.executable, 'compat_tests/threads/load.py', '--weir', 'build/asan/weir',
                                                     '--seconds', '7'])
        command_suite(totals, 'real clients', [sys.executable, 'compat_tests/run.py', '--weir', 'build/release/weir']
                      + (['--full'] if options.full else []), timeout=3000 if options.full else 1500)
    if options.verbs:
        verb_suites(totals)
    print(f'{totals.passed} passed, {totals.failed} failed')
    return 1 if totals.failed else 0


if __name__ == '__main__':
    sys.exit(main())
