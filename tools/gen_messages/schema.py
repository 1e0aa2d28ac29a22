"""Reads the .msg notation (docs/PROTOCOL.md) into messages, structs and fields, with every version question answered.

A set of versions is a frozenset of ints inside the message's valid range, so "in all versions" is plain equality.
"""
import dataclasses
import re

PRIMITIVES = ('bool', 'int8', 'int16', 'int32', 'int64', 'uint16', 'uint32', 'float64', 'string', 'bytes', 'records',
              'uuid')
KINDS = ('request', 'response', 'header', 'data', 'metadata', 'coordinator-key', 'coordinator-value')
CPP_KEYWORDS = {'default', 'delete', 'operator', 'register', 'namespace', 'class', 'new', 'public', 'private',
                'protected', 'union', 'typename', 'template', 'this', 'throw', 'try', 'short', 'long', 'switch'}


class SchemaError(Exception):
    pass


def parse_versions(text, valid):
    """'3', '3-5', '3+' or 'none' as the set of versions of `valid` it covers."""
    if text == 'none':
        return frozenset()
    low, plus, high = re.fullmatch(r'(\d+)(\+?)(?:-(\d+))?', text).groups()
    top = max(valid, default=0) if plus else int(high or low)
    return frozenset(v for v in valid if int(low) <= v <= top)


def snake(name):
    words = re.sub(r'([A-Z]+)([A-Z][a-z])', r'\1_\2', name)
    words = re.sub(r'([a-z0-9])([A-Z])', r'\1_\2', words).lower()
    return words + '_' if words in CPP_KEYWORDS else words


@dataclasses.dataclass
class Field:
    name: str
    type: str                      # element type for lists
    is_list: bool
    versions: frozenset
    nullable: frozenset = frozenset()
    tag: int | None = None
    tagged: frozenset = frozenset()
    default: str | None = None
    ignorable: bool = False
    never_compact: bool = False
    struct: 'Struct | None' = None
    children: list = dataclasses.field(default_factory=list)

    @property
    def member(self):
        return snake(self.name)


@dataclasses.dataclass
class Struct:
    name: str
    versions: frozenset
    fields: list = dataclasses.field(default_factory=list)
    present: frozenset = frozenset()   # versions in which the struct can be on the wire at all

    def in_place(self, field):
        return field.versions & self.present - field.tagged

    def in_tags(self, field):
        return field.versions & self.present & field.tagged

    def lacking(self, field):
        return self.present - field.versions


@dataclasses.dataclass
class Message:
    name: str
    kind: str
    key: int | None
    valid: frozenset
    flexible: frozenset
    unstable: bool
    listeners: tuple
    structs: list = dataclasses.field(default_factory=list)   # children before the structs that use them
    top: Struct | None = None

    @property
    def flexible_from(self):
        return min(self.flexible) if self.flexible else None


def parse_message_line(where, words):
    attributes = dict(w.partition('=')[::2] for w in words[3:])
    unknown = set(attributes) - {'key', 'valid', 'flex', 'on', 'unstable'}
    if words[2] not in KINDS or unknown:
        raise SchemaError(f'{where}: bad message line, {unknown or words[2]}')
    valid_text = attributes['valid']
    ends = [int(v) for v in valid_text.split('-')] if valid_text != 'none' else []
    valid = frozenset(range(ends[0], ends[-1] + 1)) if ends else frozenset()
    return Message(name=words[1], kind=words[2], key=int(attributes['key']) if 'key' in attributes else None,
                   valid=valid, flexible=parse_versions(attributes.get('flex', 'none'), valid),
                   unstable='unstable' in attributes, listeners=tuple(attributes.get('on', '').split(',')))


def parse_field_line(where, words, valid):
    name, type_name, versions = words[:3]
    field = Field(name=name, type=type_name.removeprefix('[]'), is_list=type_name.startswith('[]'),
                  versions=parse_versions(versions, valid))
    for word in words[3:]:
        if word[0] == '?':
            field.nullable = parse_versions(word[1:], valid)
        elif word[0] == '#':
            tag, at = word[1:].split('@')
            field.tag, field.tagged = int(tag), parse_versions(at, valid)
        elif word[0] == '=':
            field.default = word[1:]
        elif word == 'ign':
            field.ignorable = True
        elif word == 'flex=none':
            field.never_compact = True
        elif word not in ('key', 'view') and not word.startswith('ent='):
            raise SchemaError(f'{where}: unknown attribute {word}')
    return field


def parse_file(path):
    """The messages of one file that have a valid version."""
    messages, stack = [], []
    for number, raw in enumerate(path.read_text(encoding='utf-8').split('\n'), 1):
        where = f'{path.name}:{number}'
        line = raw.split('#!')[0].rstrip()
        if not line.strip() or line.lstrip().startswith('# '):
            continue
        indent, words = len(line) - len(line.lstrip(' ')), line.split()
        if words[0] == 'msg':
            message = parse_message_line(where, words)
            message.top = Struct(message.name, message.valid)
            messages.append((message, {}))
            stack = [message.top.fields]
            continue
        if indent % 2 or not 1 <= indent // 2 <= len(stack):
            raise SchemaError(f'{where}: bad indentation')
        del stack[indent // 2:]
        message, shared = messages[-1]
        if words[0] == 'struct':
            struct = shared[words[1]] = Struct(words[1], parse_versions(words[2], message.valid))
            stack.append(struct.fields)
        else:
            field = parse_field_line(where, words, message.valid)
            stack[-1].append(field)
            stack.append(field.children)
    return [resolve(message, shared) for message, shared in messages if message.valid]


def resolve(message, structs):
    """Binds struct types to their fields, orders them children first, and works out where each can be present."""
    def collect(fields):
        for field in fields:
            if field.children:
                if field.type in structs:
                    raise SchemaError(f'{message.name}: struct {field.type} defined twice')
                structs[field.type] = Struct(field.type, message.valid, field.children)
                collect(field.children)
    collect(message.top.fields)
    for struct in list(structs.values()):
        collect(f for f in struct.fields if f.children and f.type not in structs)

    def visit(struct, present, path):
        if struct.name in path:
            raise SchemaError(f'{message.name}: {struct.name} contains itself')
        struct.present |= present & struct.versions
        for field in struct.fields:
            if field.type not in PRIMITIVES:
                field.struct = structs.get(field.type)
                if field.struct is None:
                    raise SchemaError(f'{message.name}: unknown type {field.type}')
                visit(field.struct, struct.present & field.versions, path + [struct.name])
        if struct is not message.top:
            if struct in message.structs:
                message.structs.remove(struct)
            message.structs.append(struct)

    visit(message.top, message.valid, [])
    # A struct used twice moves to the end when it is met again; put children before parents once more.
    ordered = []

    def order(struct):
        for field in struct.fields:
            if field.struct and field.struct not in ordered:
                order(field.struct)
        if struct not in ordered:
            ordered.append(struct)
    order(message.top)
    message.structs = [s for s in ordered if s is not message.top]
    for struct in ordered:
        struct.fields = [f for f in struct.fields if f.versions & struct.present]
        for field in struct.fields:
            field.versions &= struct.present
            field.nullable &= field.versions
            field.tagged &= field.versions
    return message


def file_stem(path):
    """The name of the generated pair: api-001-Fetch.msg -> fetch; persisted records end in _record."""
    parts = path.stem.split('-')
    if parts[0] == 'api':
        return snake(parts[2])
    if parts[0] == 'rec':
        name = snake(parts[3])
        return name if name.endswith('record') else name + '_record'
    if parts[0] == 'ext':
        return '_'.join(parts[2:])
    return snake(parts[-1])
