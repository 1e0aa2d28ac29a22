"""One header per schema file: plain structs with default values, and the declarations of their free functions."""
import cpp

LINE_MAX = 120
BANNER = '// Made by tools/gen_messages from protocol/schemas/{source}. Do not edit.\n'


def struct_lines(message, struct, indent):
    pad = '  ' * indent
    lines = [f'{pad}struct {struct.name} {{']
    lines += member_lines(message, struct, pad + '  ')
    return lines + [equality(struct.name, pad + '  '), f'{pad}}};']


def equality(name, pad):
    head = f'{pad}friend bool operator==('
    line = f'{head}const {name}&, const {name}&) = default;'
    return line if len(line) <= LINE_MAX else f'{head}const {name}&,\n{" " * len(head)}const {name}&) = default;'


def member_lines(message, struct, pad):
    lines = aligned([(f'{pad}{cpp.member_type(f)} {f.member}{cpp.initialiser(f)};', version_note(struct, f))
                     for f in struct.fields])
    if struct.present & message.flexible:
        lines.append(f'{pad}std::vector<UnknownTag> unknown_tags;')
    return lines


def version_note(struct, field):
    notes = []
    if field.versions != struct.present:
        low, high = min(field.versions), max(field.versions)
        notes.append(f'v{low}+' if high == max(struct.present) else f'v{low}-{high}' if low != high else f'v{low}')
    if field.tag is not None:
        notes.append(f'tag {field.tag}')
    return '// ' + ', '.join(notes) if notes else ''


def aligned(rows):
    """Lines with their comments; comments of neighbouring lines in one column, as clang-format has them."""
    lines, width = [], 0
    for at, (code, comment) in enumerate(rows):
        if comment and (at == 0 or not rows[at - 1][1]):
            run = [c for c, _ in rows[at:next((i for i in range(at, len(rows)) if not rows[i][1]), len(rows))]]
            width = max(len(c) for c in run)
        lines.append(f'{code:<{width}}  {comment}' if comment else code)
    return lines


def constants(message):
    lines = [f'  static constexpr std::string_view kName = "{message.name}";']
    if message.kind in ('request', 'response', 'metadata'):
        lines.append(f'  static constexpr std::int16_t kApiKey = {message.key};')
    elif message.kind.startswith('coordinator'):
        lines.append(f'  static constexpr std::int16_t kRecordType = {message.key};')
    flexible = 'kNeverFlexible' if message.flexible_from is None else str(message.flexible_from)
    return lines + [f'  static constexpr std::int16_t kMinVersion = {min(message.valid)};',
                    f'  static constexpr std::int16_t kMaxVersion = {max(message.valid)};',
                    f'  static constexpr std::int16_t kFlexibleFrom = {flexible};']


def message_lines(message):
    lines = [f'struct {message.name} {{'] + constants(message) + ['']
    for struct in message.structs:
        lines += struct_lines(message, struct, 1) + ['']
    members = member_lines(message, message.top, '  ')
    lines += members + ([''] if members else [])
    lines += [equality(message.name, '  '), '};']
    lines += [f'Result<void> decode(Reader& in, std::int16_t version, {message.name}& m);',
              f'Result<void> encode(Writer& out, std::int16_t version, const {message.name}& m);',
              f'std::string log_string(const {message.name}& m);']
    return lines


def emit(source, messages):
    text = '\n'.join('\n'.join(message_lines(m)) + '\n' for m in messages)
    includes = ['cstdint'] + (['limits'] if 'numeric_limits' in text else []) + (
        ['optional'] if 'std::optional' in text else []) + ['string', 'string_view'] + (
        ['vector'] if 'std::vector' in text else [])
    return (BANNER.format(source=source) + '#pragma once\n\n' + ''.join(f'#include <{i}>\n' for i in includes) +
            '\n' + ('#include "base/ids.hpp"\n' if 'Uuid ' in text or '<Uuid>' in text else '') +
            '#include "base/result.hpp"\n#include "protocol/types.hpp"\n\nnamespace weir::protocol {\n\n'
            'class Reader;\nclass Writer;\n\n' + text + '\n}  // namespace weir::protocol\n')
