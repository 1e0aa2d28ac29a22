#!/usr/bin/env python3
"""Rules of this repository that clang-tidy cannot see. Prints one line for each breach; exit 1 if there is any.

tidy.py            all files that git knows or would add
tidy.py FILE...    only these (paths from the root)
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP = (".hpp", ".cpp", ".h", ".cc")
TEXT = CPP + (".py", ".md", ".txt", ".cmake", ".sh", ".def", ".msg", ".java", ".go", ".js", ".json", ".toml", ".yml")
LINES_MAX = 700

# What each folder may include, besides itself. The longest prefix of a file's path decides.
LAYERS = {
    "base": [],
    "protocol": ["base"],
    "log": ["base", "protocol"],
    "coordinator": ["base", "protocol", "log"],
    "broker": ["base", "protocol", "log", "coordinator"],
    "tools/client": ["base", "protocol"],
    "tools/cli": ["base", "protocol", "log", "coordinator", "tools/client"],
    "tools/cli/serve": ["base", "protocol", "log", "coordinator", "broker", "tools/client", "tools/cli"],
    "tools/loadgen": ["base", "protocol", "tools/client"],
    "sim/seams": ["base"],
    "sim": ["base", "protocol", "log", "coordinator", "broker", "tools/client"],
}
SEAMS = "sim/seams"  # any test may use the simulated clock, disk, network and executors

LIBRARIES = [  # (header, files that may include it)
    (re.compile(r"<boost/asio"), re.compile(r"^base/\w+\.cpp$|^broker/admin_http\w*\.cpp$")),
    (re.compile(r"<boost/beast"), re.compile(r"^base/\w+\.cpp$|^broker/admin_http\w*\.cpp$")),
    (re.compile(r"<spdlog/"), re.compile(r"^base/logging\.cpp$")),
]

REAL_WORLD = re.compile(r"^base/|^tools/cli/serve|^tools/fuzz/|^tools/limit/|^compat_tests/")
TESTS = re.compile(r"_(test|bench)\.cpp$|(^|/)test_\w+\.hpp$|_testing\.[ch]pp$")
DIRECT = [  # (pattern, what to use, also refused in tests)
    (re.compile(r"\b(steady_clock|system_clock|high_resolution_clock)\b|\bclock_gettime\(|\bgettimeofday\(|\btime\((nullptr|NULL|0)\)"),
     "the Clock seam", True),
    (re.compile(r"\bsleep_for\b|\bsleep_until\b|\busleep\(|\bnanosleep\(|[^\w.>]sleep\("), "a TimerQueue", True),
    (re.compile(r"\brandom_device\b|\bmt19937|\brand\(\)|\bgetrandom\("), "Random", True),
    (re.compile(r"\bstd::(jthread|async)\b|\bstd::thread\b|\bpthread_create\("), "an Executor", False),
    (re.compile(r"(?<![\w>])::(open|openat|socket|accept4?|recv|send|sendmsg|fsync|fdatasync|pread|pwrite|pwritev|mmap)\("), "the Disk or Network seam", True),
    (re.compile(r"\bstd::[io]?fstream\b|\bfopen\(|\bstd::filesystem::(?!path\b)"), "the Disk seam", False),
    (re.compile(r"\bgetenv\("), "the configuration", False),
]
# A pointer that a function returns lives to the end of its statement: what is bound to its target, or walked behind the
# colon of a for, is freed as soon as another thread publishes the next version.
UNHELD = re.compile(r"(?:\bfor \([^;]* : |[\w>]&&? (?:\w+|\[[\w, ]+\]) ?[={](?!=))[^;]*?"
                    r"(?:\b(?:current|image|broker|lock)\(\)->|\*[\w.>-]*\b(?:current|image|broker|lock)\(\)\)?[.;}])")
DIRECT_ALLOWED = {"sim/seams/seeds.cpp": "the configuration"}

MACHINE_PATH = re.compile(r"(?<![\w.$}])/(work|home|root|tmp|var/tmp)/[\w.]")
FOREIGN = re.compile(r"\.\./shared\b|\bshared/(protocol|peers|starter)\b|\bissue #?\d+\b", re.IGNORECASE)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|(<[^>]+>))')
LINE_COMMENT = re.compile(r"//.*$")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def layer_of(path):
    fits = [name for name in LAYERS if path.startswith(name + "/") or path.startswith(name + ".") or path.startswith(name + "_")]
    return max(fits, key=len, default=None)


def included_layer(header):
    fits = [name for name in LAYERS if header.startswith(name + "/")]
    return max(fits, key=len, default=None)


def check_include(path, header, system):
    if system:
        for pattern, allowed in LIBRARIES:
            if pattern.match(system) and not allowed.match(path):
                yield f"includes {system}, which is for {allowed.pattern} alone"
        return
    mine, theirs = layer_of(path), included_layer(header)
    if mine is None or theirs is None or mine == theirs or theirs in LAYERS[mine]:
        return
    if theirs == SEAMS and (TESTS.search(path) or mine == "sim"):
        return
    yield f'includes "{header}": {mine} may not see {theirs}'


def check_cpp(path, lines):
    if path.endswith(".hpp"):
        if not lines or not lines[0].startswith("// "):
            yield 1, "a header begins with what it is, who owns it and which thread may touch it"
        if "#pragma once" not in lines:
            yield 1, "no #pragma once"
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if include:
            for problem in check_include(path, include[1], include[2]):
                yield number, problem
            continue
        code = LINE_COMMENT.sub("", STRING.sub('""', line))
        if path.endswith(".hpp") and code.strip().startswith("using namespace"):
            yield number, "using namespace in a header"
        joined = code.strip() + " " + lines[number].strip() if code.rstrip().endswith(("=", ":", "(")) and number < len(lines) else code
        if UNHELD.search(joined):
            yield number, "what it reads may be freed meanwhile: hold the pointer in a variable first"
        if not REAL_WORLD.match(path):
            for pattern, seam, in_tests in DIRECT:
                found = pattern.search(code)
                if found and (in_tests or not TESTS.search(path)) and DIRECT_ALLOWED.get(path) != seam:
                    yield number, f"{found[0].strip()} is not called here: use {seam}"


def check_text(path, text):
    """(line, problem) for each breach in one file; path from the root."""
    lines = text.splitlines()
    if path.endswith(CPP + (".py",)) and len(lines) > LINES_MAX:
        yield len(lines), f"more than {LINES_MAX} lines: split it"
    own_rules = path in ("tools/tidy.py", "tools/tidy_test.py")
    for number, line in enumerate(lines, 1):
        if own_rules:
            break
        if MACHINE_PATH.search(line):
            yield number, "an absolute path of some machine"
        if FOREIGN.search(line):
            yield number, "points outside the repository"
        if UNFINISHED.search(line):
            yield number, "unfinished: finish it or file it"
    if path.endswith(CPP):
        yield from check_cpp(path, lines)


def files():
    if sys.argv[1:]:
        return sys.argv[1:]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def main():
    breaches = 0
    for path in files():
        full = ROOT / path
        if not full.is_file() or not (path.endswith(TEXT) or full.name in ("dev", "CMakeLists.txt")):
            continue
        for number, problem in check_text(path, full.read_text(errors="replace")):
            print(f"{path}:{number}: {problem}")
            breaches += 1
    if breaches:
        sys.exit(f"{breaches} breaches")


if __name__ == "__main__":
    main()
