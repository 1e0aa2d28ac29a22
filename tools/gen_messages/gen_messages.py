#!/usr/bin/env python3
"""Makes the C++ of all protocol messages.   gen_messages.py SCHEMAS OUT   writes OUT/protocol/gen/*.{hpp,cpp}
gen_messages.py SCHEMAS OUT --list   prints one line per output: "library PATH" or "test PATH"

Files whose content is the same are left untouched, so that one changed schema recompiles one message.
"""
import pathlib
import sys

import emit_header
import emit_source
import emit_table
import emit_tests
import schema


def load(folder):
    """[(path relative to the schemas, stem of the output, messages)], files without a valid version left out."""
    files, stems, names = [], {}, {}
    for path in sorted(folder.rglob('*.msg')):
        messages = schema.parse_file(path)
        if not messages:
            continue
        stem = schema.file_stem(path)
        for key, seen in [(stem, stems)] + [(m.name, names) for m in messages]:
            if key in seen:
                raise schema.SchemaError(f'{path.name} and {seen[key]} both make {key}')
            seen[key] = path.name
        files.append((path.relative_to(folder).as_posix(), stem, messages))
    return files


def outputs(files):
    """{path below OUT: (kind, text)}"""
    made = {}
    for source, stem, messages in files:
        made[f'protocol/gen/{stem}.hpp'] = ('library', emit_header.emit(source, messages))
        made[f'protocol/gen/{stem}.cpp'] = ('library', emit_source.emit(source, stem, messages))
    made['protocol/gen/api_table.hpp'] = ('library', emit_table.HEADER)
    made['protocol/gen/api_table.cpp'] = ('library', emit_table.emit([m for _, _, ms in files for m in ms]))
    for path, text in emit_tests.emit(files).items():
        made[path] = ('test', text)
    return made


def write_if_changed(path, text):
    if path.exists() and path.read_text(encoding='utf-8') == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')


def main():
    schemas, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    made = outputs(load(schemas))
    if '--list' in sys.argv:
        print('\n'.join(f'{kind} {out / path}' for path, (kind, _) in made.items()))
        return
    for path, (_, text) in made.items():
        write_if_changed(out / path, text)


if __name__ == '__main__':
    main()
