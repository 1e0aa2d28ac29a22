"""The small wrong edits of one C++ source: where they can be made, and their names.

An edit changes one line (or swaps two): a condition negated, a comparison off by one, `&&` for `||`, the other of min and
max, the other truth value, a number one higher, a statement left out, two statements in the other order (not where the order
plainly cannot matter). Text in comments and strings is left alone, and so is what says something to people or checks ourselves
(logging, CHECKs, includes).
"""
import dataclasses
import pathlib
import re

SKIPPED_FILES = re.compile(r'(_test|_fuzz|_bench)\.cpp$|(^|/)test_|_testing\.hpp$|/dump_line|log_dump|explain_')
SKIPPED_LINES = re.compile(r'^\s*(#|//|\*|static_assert|template|using |namespace|class |struct |enum |friend |case |default:|public:|private:)'
                           r'|WEIR_LOG|WEIR_CHECK|WEIR_DCHECK|constexpr|\boperator\b|\breserve\(|metrics')
COMPARISONS = {' < ': ' <= ', ' <= ': ' < ', ' > ': ' >= ', ' >= ': ' > ', ' == ': ' != ', ' != ': ' == '}
LOGIC = {' && ': ' || ', ' || ': ' && '}
OTHERS = {'std::min(': 'std::max(', 'std::max(': 'std::min(', 'true': 'false', 'false': 'true'}
CALL = re.compile(r'^(\s+)[a-z_][\w.>:\-\[\]*()]*\(.*\);$')
ASSIGNMENT = re.compile(r'^(\s+)[a-z_*][\w.>\-\[\]()]* (=|\+=|-=|\|=) [^;]*;$')
NO_STATEMENT = re.compile(r'^\s*(return|co_return|co_await|delete|throw|break|continue|if|for|while|switch|else|const|auto|WEIR_TRY)\b|WEIR_TRY|static_cast<void>')
SET = re.compile(r'^\s*(?:std::memcpy\()?(\*?[a-z_][\w.>\-\[\]]*)(?: [+\-|]?= |\.data\(\), |\.push_back\()([^;]*);$')
PUT_AT = re.compile(r'^\s*(?:store_[lb]e|std::memcpy)\((\w+)(?:\.data\(\))?(?:, | \+ )?([\w]*)[,)]')
EMPTIED = re.compile(r'^\s*([a-z_][\w.>\-]*)(?:\.|->)(?:clear|reset)\(\);$')
PURE_CALL = re.compile(r'\b(?:load_[lb]e|static_cast|std::chrono::\w+|std::min|std::max)(?:<[\w:]+>)?\('
                       r'|\b(?:size|empty|count|value|value_or|end|begin|data|back|front)\(')


@dataclasses.dataclass(frozen=True)
class Edit:
    path: str
    line: int  # from 0
    what: str
    before: str  # the line, or two, as they are
    after: str
    number: int  # of the same edit to the same text in this file

    @property
    def name(self):
        """Stays as long as the line stays: equivalent.txt is a list of these."""
        text = ' '.join(self.before.split())
        return f'{self.path} | {self.what} | {text}' + (f' | #{self.number}' if self.number else '')

    def place(self):
        return f'{self.path}:{self.line + 1}'

    def shown(self):
        return f'  - {self.before.strip()}\n  + {self.after.strip()}'

    def apply(self, text):
        lines = text.split('\n')
        count = self.before.count('\n') + 1
        if '\n'.join(lines[self.line:self.line + count]) != self.before:
            raise ValueError(f'{self.place()} is not what it was')
        lines[self.line:self.line + count] = self.after.split('\n')
        return '\n'.join(lines)


def masked(text):
    """The text with comments, strings and characters blanked, places unchanged."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
    return token.sub(lambda match: re.sub(r'[^\n]', '\x01', match.group()), text)


def _conditions(code):
    """(from, to) of what stands in the brackets of `if (...) {` on one line; with an initializer, behind it."""
    for match in re.finditer(r'\bif (?:constexpr )?\(', code):
        depth, at = 1, match.end()
        while at < len(code) and depth:
            depth += {'(': 1, ')': -1}.get(code[at], 0)
            at += 1
        if depth or 'constexpr' in match.group():
            continue
        begin = code.rfind('; ', match.end(), at - 1)
        begin = match.end() if begin < 0 else begin + 2
        inside = code[begin:at - 1]
        if not re.match(r'\s*(const )?(auto|[A-Z]\w*)[ *&]+\w+ = ', inside):  # a declaration is its own condition
            yield begin, at - 1


def _line_edits(line, code):
    """(what, new line) of one line; `code` is the line masked."""
    for begin, end in _conditions(code):
        yield 'negated', line[:begin] + '!(' + line[begin:end] + ')' + line[end:]
    for table, what in ((COMPARISONS, 'compared otherwise'), (LOGIC, 'and for or'), (OTHERS, 'the other one')):
        for old, new in table.items():
            pattern = rf'\b{old}\b' if old.isalpha() else re.escape(old)
            for match in re.finditer(pattern, code):
                yield what, line[:match.start()] + new + line[match.end():]
    for match in re.finditer(r' [+-] 1\b(?![.\w\'])', code):
        yield 'off by one', line[:match.start()] + line[match.end():]


def _is_statement(code):
    return bool((CALL.match(code) or ASSIGNMENT.match(code)) and not NO_STATEMENT.search(code) and code.count('(') == code.count(')'))


def _commute(one, two):
    """Whether two statements plainly can stand in either order: each sets, puts, adds to or empties something that the other does not name."""
    put = PUT_AT.match(one), PUT_AT.match(two)
    if all(put):
        return put[0].group(1) == put[1].group(1) and put[0].group(2) != put[1].group(2)
    if EMPTIED.match(one) and EMPTIED.match(two):
        return True
    first, second = SET.match(one), SET.match(two)
    if not first or not second:
        return False

    def names(target, text):
        owner = re.match(r'\w+', target).group()
        return re.search(rf'(?<![\w.>]){re.escape(target)}(?!\w)', text) or re.search(rf'(?<![\w.>]){owner}(?![\w.\-])', text)

    targets = first.group(1).strip('*'), second.group(1).strip('*')
    if targets[0].startswith(targets[1]) or targets[1].startswith(targets[0]):
        return False
    if names(targets[0], second.group(2)) or names(targets[1], first.group(2)):
        return False
    called = [re.search(r'[\w>]\(|\+\+|--|std::move|exchange', PURE_CALL.sub('', each.group(2))) for each in (first, second)]
    return not all(called)


def of_text(path, text):
    lines, codes = text.split('\n'), masked(text).split('\n')
    counted = {}
    found = []

    def add(line, what, before, after):
        key = (what, before)
        found.append(Edit(path, line, what, before, after, counted.get(key, 0)))
        counted[key] = counted.get(key, 0) + 1

    for at, (line, code) in enumerate(zip(lines, codes)):
        if SKIPPED_LINES.search(code) or not code.startswith('  '):
            continue
        seen = {line}
        for what, after in _line_edits(line, code):
            if after not in seen:
                seen.add(after)
                add(at, what, line, after)
        starts = at > 0 and codes[at - 1].rstrip('\x01 ').endswith((';', '{', '}', ':'))  # not the rest of a longer statement
        if starts and _is_statement(code.rstrip('\x01 ')):
            add(at, 'left out', line, re.match(r'\s*', line).group() + ';')
            following = codes[at + 1].rstrip('\x01 ') if at + 1 < len(codes) else ''
            same_depth = re.match(r'\s*', following).group() == re.match(r'\s*', code).group()
            if (same_depth and _is_statement(following) and not SKIPPED_LINES.search(following)
                    and not _commute(code.rstrip('\x01 '), following)):
                add(at, 'swapped', line + '\n' + lines[at + 1], lines[at + 1] + '\n' + line)
    return found


def find_all(root, unders):
    """Of a folder its .cpp files: an edit in a header costs the build of all that include it."""
    found = []
    for under in unders:
        start = pathlib.Path(root) / under
        for path in sorted(start.rglob('*.cpp')) if start.is_dir() else [start]:
            name = path.relative_to(root).as_posix()
            if not SKIPPED_FILES.search(name):
                found += of_text(name, path.read_text())
    return found
