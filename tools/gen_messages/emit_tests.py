"""Test-only files: a fill function per struct (every field of a version set to something) and the registry by name."""
import cpp
from emit_header import BANNER
from emit_source import grouped, guarded

CHUNKS = 6    # files of the registry: enough for two cores, few enough to share the parsed headers


def fill_struct(message, struct):
    scope = message.name if struct is message.top else f'{message.name}::{struct.name}'
    body = []
    for test, fields in grouped(struct, lambda f: f.versions):
        body += guarded(test, [fill_field(message, struct, f) for f in fields])
    if struct.present & message.flexible:
        above = max((f.tag for f in struct.fields if f.tag is not None), default=0) + 1
        body.append(f'  fill.tags(m.unknown_tags, version >= {message.name}::kFlexibleFrom, {above});')
    unused = '' if any('version' in line for line in body) else '  static_cast<void>(version);\n'
    lines = '\n'.join(body) or '  static_cast<void>(fill);\n  static_cast<void>(m);'
    return (f'void fill_fields(Filler& fill, std::int16_t version, {scope}& m) {{\n{unused}{lines}\n}}\n')


def fill_field(message, struct, field):
    arguments = f'm.{field.member}'
    if field.nullable or field.type == 'records':
        nullable = field.nullable & field.versions
        test = cpp.condition(nullable, field.versions) or 'true' if nullable else 'false'
        arguments += f', {test}'
    if field.struct:
        return f'fill.nested({arguments}, [&](auto& each) {{ fill_fields(fill, version, each); }});'
    return f'fill.value({arguments});'


def chunk(number, files):
    includes = ''.join(f'#include "protocol/gen/{stem}.hpp"\n' for _, stem, _ in sorted(files, key=lambda f: f[1]))
    messages = [m for _, _, ms in files for m in ms]
    fills = '\n'.join(fill_struct(m, s) for m in messages for s in m.structs + [m.top])
    rows = ''.join(f'  all.push_back(test_message<{m.name}>(\n      [](Filler& fill, std::int16_t version, '
                   f'{m.name}& m) {{ fill_fields(fill, version, m); }}));\n' for m in messages)
    return (BANNER.format(source='*.msg') + includes + '#include "protocol/message_testing.hpp"\n\n'
            'namespace weir::protocol::testing {\nnamespace {\n\n' + fills + '\n}  // namespace\n\n'
            f'void add_test_messages_{number}(std::vector<TestMessage>& all) {{\n{rows}}}\n\n'
            '}  // namespace weir::protocol::testing\n')


def emit(files):
    made = {f'protocol/gen/test_registry_{n}.cpp': chunk(n, files[n::CHUNKS]) for n in range(CHUNKS)}
    declares = ''.join(f'void add_test_messages_{n}(std::vector<TestMessage>& all);\n' for n in range(CHUNKS))
    calls = ''.join(f'    add_test_messages_{n}(made);\n' for n in range(CHUNKS))
    made['protocol/gen/test_registry.cpp'] = (
        BANNER.format(source='*.msg') + '#include <algorithm>\n\n#include "protocol/message_testing.hpp"\n\n'
        'namespace weir::protocol::testing {\n\n' + declares +
        '\nstd::span<const TestMessage> test_messages() {\n  static const auto all = [] {\n'
        '    std::vector<TestMessage> made;\n' + calls +
        '    std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.name < b.name; });\n'
        '    return made;\n  }();\n  return all;\n}\n\n}  // namespace weir::protocol::testing\n')
    return made
