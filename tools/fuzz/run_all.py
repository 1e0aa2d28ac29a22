#!/usr/bin/env python3
"""Runs every fuzz target of a build for some seconds, one after the other, from its corpus or the common one.

The last line is `N passed, N failed`; what a target found lies in build/fuzz-found/TARGET.
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('--seconds', type=int, default=60)
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    corpus = build / 'corpus'
    for maker in ('make_corpus.py', 'common_corpus.py'):
        subprocess.run([sys.executable, ROOT / 'tools' / 'fuzz' / maker, corpus], check=True)
    passed = failed = 0
    for target in sorted(path for path in build.iterdir() if path.name.endswith('_fuzz') and path.is_file()):
        own = corpus / target.name
        own.mkdir(exist_ok=True)
        found = ROOT / 'build' / 'fuzz-found' / target.name
        found.mkdir(parents=True, exist_ok=True)
        print(f'---- {target.name}', flush=True)
        done = subprocess.run([target, f'-max_total_time={options.seconds}', '-print_final_stats=1', '-rss_limit_mb=4096',
                               f'-artifact_prefix={found}/', own, corpus / 'common'], stderr=subprocess.STDOUT,
                              stdout=subprocess.PIPE, text=True, errors='replace')
        lines = done.stdout.splitlines()
        print('\n'.join(lines[-8:] if done.returncode == 0 else lines[-60:]), flush=True)
        passed += done.returncode == 0
        failed += done.returncode != 0
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
