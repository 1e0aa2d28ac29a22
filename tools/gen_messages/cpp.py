"""What a schema field is in C++: its type, its default, the test for "not the default", its least size on the wire."""

INTS = {'int8': 'std::int8_t', 'int16': 'std::int16_t', 'int32': 'std::int32_t', 'int64': 'std::int64_t',
        'uint16': 'std::uint16_t', 'uint32': 'std::uint32_t'}
PLAIN = INTS | {'bool': 'bool', 'float64': 'double', 'string': 'Text', 'bytes': 'Blob', 'uuid': 'Uuid',
                'records': 'BufferChain'}
FIXED_SIZE = {'bool': 1, 'int8': 1, 'int16': 2, 'uint16': 2, 'int32': 4, 'uint32': 4, 'int64': 8, 'float64': 8,
              'uuid': 16}
INT_LIMITS = {-2 ** 31: 'std::numeric_limits<std::int32_t>::min()', 2 ** 31 - 1: 'std::numeric_limits<std::int32_t>::max()',
              2 ** 63 - 1: 'std::numeric_limits<std::int64_t>::max()'}


def is_optional(field):
    return bool(field.nullable) or field.type == 'records'


def element_type(field):
    return field.type if field.struct else PLAIN[field.type]


def value_type(field):
    return f'std::vector<{element_type(field)}>' if field.is_list else element_type(field)


def member_type(field):
    return f'std::optional<{value_type(field)}>' if is_optional(field) else value_type(field)


def number(field):
    value = int(field.default or '0', 0)
    return INT_LIMITS.get(value, str(value))


def default_is_null(field):
    return field.default == 'null' or field.type == 'records' and not field.is_list


def initialiser(field):
    """What follows the member's name: ' = 0', or nothing where the type starts out right."""
    if is_optional(field):
        if default_is_null(field):
            return ''
        if field.type == 'string' and not field.is_list:
            return f' = "{field.default or ""}"'
        return f' = {value_type(field)}{{}}'
    if field.is_list or field.struct:
        return ''
    if field.type == 'bool':
        return f' = {field.default or "false"}'
    if field.type == 'float64':
        return f' = {float(field.default or 0)}'
    if field.type in INTS:
        return f' = {number(field)}'
    return f' = "{field.default}"' if field.default else ''


def differs_from_default(field, scope, value):
    """C++ condition: `value` is not what an absent field has. `scope` is the message that struct names belong to."""
    if is_optional(field):
        if default_is_null(field):
            return f'{value}.has_value()'
        if field.is_list or field.type in ('string', 'bytes'):
            return f'!{value}.has_value() || !{value}->empty()'
        return f'{value} != {scope}::{field.type}{{}}'
    if field.is_list or field.type in ('string', 'bytes'):
        return f'!{value}.empty()' if not field.default else f'{value} != "{field.default}"'
    if field.struct:
        return f'{value} != {scope}::{field.type}{{}}'
    if field.type == 'bool':
        return f'!{value}' if field.default == 'true' else value
    if field.type == 'uuid':
        return f'!{value}.is_zero()'
    if field.type == 'float64':
        return f'{value} != {float(field.default or 0)}'
    return f'{value} != {number(field)}'


def least_size(message, struct):
    """The fewest bytes that a struct takes in any version: what a list's count is checked against."""
    return max(1, min((sum(least_field_size(message, f, v) for f in struct.fields if v in struct.in_place(f)) +
                       (v in message.flexible) for v in struct.present), default=1))


def least_field_size(message, field, version):
    compact = version in message.flexible and not field.never_compact
    if field.is_list or field.type in ('bytes', 'records'):
        return 1 if compact else 4
    if field.type == 'string':
        return 1 if compact else 2
    if field.struct:
        if version in field.nullable:
            return 1
        inner = sum(least_field_size(message, f, version) for f in field.struct.fields
                    if version in field.struct.in_place(f))
        return inner + (version in message.flexible)
    return FIXED_SIZE[field.type]


def condition(versions, present, negated=False):
    """C++ test that `version`, known to be in `present`, is in `versions` (or is not); None if it always is."""
    if versions == present:
        return None
    low, high = min(versions), max(versions)
    assert versions == frozenset(v for v in present if low <= v <= high), 'versions with a hole'
    from_start, to_end = low == min(present), high == max(present)
    if low == high and not from_start and not to_end:
        return f'version {"!=" if negated else "=="} {low}'
    if negated and (from_start or to_end):
        return f'version > {high}' if from_start else f'version < {low}'
    if negated:
        return f'version < {low} || version > {high}'
    parts = ([] if from_start else [f'version >= {low}']) + ([] if to_end else [f'version <= {high}'])
    return ' && '.join(parts)


# Secrets never reach a log line. Names of fields, or struct.field where the name alone says too little.
SECRET_FIELDS = {'AuthBytes', 'Hmac', 'HMAC', 'Salt', 'SaltedPassword', 'StoredKey', 'ServerKey', 'Password',
                 'AlterableConfig.Value', 'ConfigRecord.Value', 'DescribeConfigsResourceResult.Value',
                 'DescribeConfigsSynonym.Value'}


def is_secret(struct, field):
    return field.name in SECRET_FIELDS or f'{struct.name}.{field.name}' in SECRET_FIELDS
