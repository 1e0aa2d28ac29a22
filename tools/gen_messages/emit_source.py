"""One source per schema file: for each struct a read, a write and a describe function, for each message the public three.

Both wire forms share one function: Reader and Writer know whether they are in a flexible version. A test of the version
is emitted only around fields that some version lacks.
"""
import re

import cpp
from emit_header import BANNER, LINE_MAX

READ_PLAIN = {'bool': 'read_bool', 'float64': 'read_float64', 'uuid': 'read_uuid', 'string': 'read_string',
              'bytes': 'read_bytes', 'records': 'read_records'} | {t: f'read_{t}' for t in cpp.INTS}


class Emitter:
    def __init__(self, message):
        self.message = message
        self.versioned = {}          # (function, struct name) -> whether its body needs the version
        self.lines = []

    def qualified(self, struct):
        name = self.message.name
        return name if struct is self.message.top else f'{name}::{struct.name}'

    def call(self, function, stream, struct, value):
        needs = self.versioned[function, struct.name]
        return f'{function}({stream}, version, {value})' if needs else f'{function}({stream}, {value})'

    def define(self, function, stream, struct, constness, body):
        """Emits the function; parameters that the body does not use are left out or unnamed."""
        text = '\n'.join(body)
        uses = self.versioned[function, struct.name] = mentions('version', text)
        m = 'm' if re.search(r'\bm\.', text) else ''
        target = f'{constness}{self.qualified(struct)}& {m}'.rstrip()
        type_, name = stream
        name = name if mentions(name, text) else ''
        parameters = [f'{type_}& {name}'.rstrip()] + (['std::int16_t version'] if uses else []) + [target]
        self.lines += [f'void {function}({", ".join(parameters)}) {{'] + body + ['}', '']

    # -- read

    def read_struct(self, struct):
        body = []
        for test, fields in grouped(struct, struct.in_place):
            inner = [line for f in fields for line in self.read_field(struct, f, struct.in_place(f), False)]
            body += guarded(test, inner)
        if struct.present & self.message.flexible:
            body += self.read_tags(struct)
        self.define('read', ('Reader', 'in'), struct, '', body)

    def read_field(self, struct, field, versions, tagged):
        member, nullable = f'm.{field.member}', self.nullable_argument(field, versions)
        if field.is_list:
            return [self.read_list(field, member, nullable)]
        if field.struct:
            return self.read_inner(field, member, nullable, tagged)
        if field.never_compact:
            return [f'{member} = in.read_nullable_short_string();']
        read = READ_PLAIN[field.type]
        if field.nullable and field.type in ('string', 'bytes'):
            read = read.replace('read_', 'read_nullable_')
        if not cpp.is_optional(field):
            return [f'{member} = in.{read}();']
        return [f'{member} = in.{read}({"" if nullable == "true" else nullable});']

    def read_list(self, field, member, nullable):
        function = 'read_nullable_list' if field.nullable else 'read_list'
        if not field.struct:
            extra = f', {nullable}' if field.nullable and nullable != 'true' else ''
            return f'in.{function}({member}{extra});'
        least = cpp.least_size(self.message, field.struct)
        extra = f', {nullable}' if field.nullable else ''
        return (f'in.{function}({member}{extra}, {least}, [&]({self.qualified(field.struct)}& each) '
                f'{{ {self.call("read", "in", field.struct, "each")}; }});')

    def read_inner(self, field, member, nullable, tagged):
        if not field.nullable:
            return [self.call('read', 'in', field.struct, member) + ';']
        assert nullable == 'true', f'{field.name}: a struct that is nullable in some versions only'
        present = 'in.read_tagged_presence()' if tagged else 'in.read_presence()'
        # Not emplace(): clang takes a struct that is nested in its message for one that cannot be made of nothing.
        fresh = f'*({member} = {self.qualified(field.struct)}{{}})'
        return [f'if ({present}) {{', '  ' + self.call('read', 'in', field.struct, fresh) + ';',
                '} else {', f'  {member}.reset();', '}']

    def read_tags(self, struct):
        tagged = sorted((f for f in struct.fields if struct.in_tags(f)), key=lambda f: f.tag)
        if not tagged:
            return ['  in.read_tags(m.unknown_tags);']
        body = ['  in.read_tags(m.unknown_tags, [&](std::uint32_t tag) {', '    switch (tag) {']
        for field in tagged:
            lacks = cpp.condition(struct.in_tags(field), struct.present & self.message.flexible, negated=True)
            body.append(f'      case {field.tag}:')
            if lacks:
                body += [f'        if ({lacks}) {{', '          return false;', '        }']
            read = self.read_field(struct, field, struct.in_tags(field), True) + ['return true;']
            one_line = f'{body[-1]} {" ".join(read)}'
            if not lacks and '{' not in one_line and len(one_line) <= LINE_MAX:
                body[-1] = one_line
            else:
                body += ['        ' + line for line in read]
        return body + ['      default: return false;', '    }', '  });']

    def nullable_argument(self, field, versions):
        if field.type == 'records' and not field.nullable & versions or not field.nullable & versions:
            return 'false'
        return cpp.condition(field.nullable & versions, versions) or 'true'

    # -- write

    def write_struct(self, struct):
        body = []
        for test, fields in grouped(struct, struct.in_place):
            inner = [line for f in fields for line in self.write_field(f, struct.in_place(f), 'out', False)]
            refusals = [line for f in fields for line in self.refusal(struct, f)]
            body += guarded(test, inner, refusals)
        body += [line for f in struct.fields if not struct.in_place(f) and not struct.in_tags(f)
                 for line in self.refusal(struct, f)]
        if struct.present & self.message.flexible:
            body += self.write_tags(struct)
        self.define('write', ('Writer', 'out'), struct, 'const ', body)

    def refusal(self, struct, field):
        """In versions that lack the field, and do not have it as a tag either, only its default may be encoded."""
        if field.ignorable or struct.in_tags(field) or not struct.lacking(field):
            return []
        differs = cpp.differs_from_default(field, self.message.name, f'm.{field.member}')
        return [f'out.refuse_if({differs}, "{field.name}");']

    def write_field(self, field, versions, out, tagged):
        member, nullable = f'm.{field.member}', self.nullable_argument(field, versions)
        extra = '' if nullable == 'true' else f', {nullable}'
        if field.is_list:
            return [self.write_list(field, member, out, nullable, extra)]
        if field.struct:
            return self.write_inner(field, member, out, tagged)
        if field.never_compact:
            return [f'{out}.write_nullable_short_string({member});']
        write = READ_PLAIN[field.type].replace('read_', 'write_')
        if field.name == 'ErrorCode' and field.type == 'int16':
            write = 'write_error_code'
        if not cpp.is_optional(field):
            return [f'{out}.{write}({member});']
        if field.type != 'records':
            write = write.replace('write_', 'write_nullable_')
        return [f'{out}.{write}({member}, "{field.name}"{extra});']

    def write_list(self, field, member, out, nullable, extra):
        each = ''
        if field.struct:
            each = (f', [&](const {self.qualified(field.struct)}& each) '
                    f'{{ {self.call("write", out, field.struct, "each")}; }}')
        if not field.nullable:
            return f'{out}.write_list({member}{each});'
        if field.struct:
            extra = f', {nullable}'
        return f'{out}.write_nullable_list({member}, "{field.name}"{extra}{each});'

    def write_inner(self, field, member, out, tagged):
        if not field.nullable:
            return [self.call('write', out, field.struct, member) + ';']
        presence = 'write_tagged_presence' if tagged else 'write_presence'
        return [f'{out}.{presence}({member}.has_value());', f'if ({member}) {{',
                '  ' + self.call('write', out, field.struct, '*' + member) + ';', '}']

    def write_tags(self, struct):
        tagged = sorted((f for f in struct.fields if struct.in_tags(f)), key=lambda f: f.tag)
        if not tagged:
            return ['  out.write_tags(m.unknown_tags);']
        body = ['  TagWriter tags{out, m.unknown_tags};']
        for field in tagged:
            elsewhere = struct.in_place(field)
            differs = cpp.differs_from_default(field, self.message.name, f'm.{field.member}')
            inner = self.write_field(field, struct.in_tags(field), 'tag', True)
            write = [f'auto& tag = tags.open({field.tag});'] + inner + ['tags.close();']
            test = cpp.condition(struct.in_tags(field), struct.present)
            if test and (field.ignorable or elsewhere):
                body += guarded(' && '.join(parenthesised(t) for t in (test, differs)), write)
            elif test:
                body += guarded(differs, guarded_inner(test, write, [f'out.refuse("{field.name}");']))
            else:
                body += guarded(differs, write)
        return body + ['  tags.finish();']

    # -- describe

    def describe_struct(self, struct):
        body = []
        for field in struct.fields:
            member, label = f'm.{field.member}', field.member.rstrip('_')
            differs = cpp.differs_from_default(field, self.message.name, member)
            body += guarded(differs, [self.describe_field(struct, field, member, label)])
        self.define('describe', ('LogLine', 'log'), struct, 'const ', body)

    def describe_field(self, struct, field, member, label):
        if cpp.is_secret(struct, field):
            return f'log.hidden("{label}");'
        if not field.struct:
            return f'log.field("{label}", {member});'
        inner = self.call('describe', 'log', field.struct, 'each')
        function = 'list' if field.is_list else 'nested'
        return (f'log.{function}("{label}", {member}, [&](const {self.qualified(field.struct)}& each) '
                f'{{ {inner}; }});')

    # -- the message

    def emit(self):
        message, top = self.message, self.message.top
        self.lines = ['namespace {', '']
        for struct in message.structs + [top]:
            self.read_struct(struct)
            self.write_struct(struct)
            self.describe_struct(struct)
        self.lines += ['}  // namespace', '']
        name = message.name
        refuse = [f'  if (!has_version<{name}>(version)) {{', '    return {Errc::unsupported, version};', '  }']
        flexible = f'version >= {name}::kFlexibleFrom'
        self.lines += [f'Result<void> decode(Reader& in, std::int16_t version, {name}& m) {{', *refuse,
                       f'  in.set_flexible({flexible});', '  m = {};',
                       f'  {self.call("read", "in", top, "m")};', '  return in.result();', '}', '',
                       f'Result<void> encode(Writer& out, std::int16_t version, const {name}& m) {{', *refuse,
                       f'  out.set_flexible({flexible});', f'  {self.call("write", "out", top, "m")};',
                       '  return out.result();', '}', '',
                       f'std::string log_string(const {name}& m) {{', f'  LogLine log{{{name}::kName}};',
                       f'  {self.call("describe", "log", top, "m")};', '  return log.finish();', '}', '']
        return '\n'.join(wrapped(line.rstrip()) for line in self.lines)


def wrapped(line):
    """A call that is too long for a line: its lambda goes below its first argument, or else becomes a block."""
    head, found, lambda_ = line.partition(', [&](')
    if len(line) <= LINE_MAX or not found:
        return line
    below = f'{" " * (head.index("(") + 1)}[&]({lambda_}'
    if len(below) <= LINE_MAX:
        return f'{head},\n{below}'
    opening, body = line.split('{ ', 1)
    pad = ' ' * (len(line) - len(line.lstrip()))
    return f'{opening}{{\n{pad}  {body.removesuffix(" });")}\n{pad}}});'


def mentions(name, text):
    """Whether the C++ text uses the variable (not a member or a label of that name)."""
    return bool(re.search(rf'(?<![.\w"]){name}\b(?!")', text))


def parenthesised(test):
    return f'({test})' if '||' in test else test


def grouped(struct, versions_of):
    """Neighbouring fields with the same versions, as (test or None, fields)."""
    groups = []
    for field in struct.fields:
        versions = versions_of(field)
        if not versions:
            continue
        test = cpp.condition(versions, struct.present)
        if groups and groups[-1][0] == test:
            groups[-1][1].append(field)
        else:
            groups.append((test, [field]))
    return groups


def guarded_inner(test, lines, otherwise=()):
    out = [f'if ({test}) {{'] + ['  ' + line for line in lines]
    if otherwise:
        out += ['} else {'] + ['  ' + line for line in otherwise]
    return out + ['}']


def guarded(test, lines, otherwise=()):
    """Statements of a function body, under an `if` when there is a test."""
    if test is None:
        return ['  ' + line for line in lines]
    return ['  ' + line for line in guarded_inner(test, lines, otherwise)]


def emit(source, stem, messages):
    body = '\n'.join(Emitter(m).emit() for m in messages)
    return (BANNER.format(source=source) + f'#include "protocol/gen/{stem}.hpp"\n\n'
            '#include "protocol/log_line.hpp"\n#include "protocol/reader.hpp"\n#include "protocol/writer.hpp"\n\n'
            'namespace weir::protocol {\n' + body + '\n}  // namespace weir::protocol\n')
