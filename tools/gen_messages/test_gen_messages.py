#!/usr/bin/env python3
"""Tests of the generator. test_gen_messages.py --update writes the expected files anew after a wanted change."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import cpp  # noqa: E402
import gen_messages  # noqa: E402
import schema  # noqa: E402

SCHEMAS = HERE.parents[1] / 'protocol/schemas'
EXPECTED = [f'{stem}.{end}' for stem in ('produce', 'offset_commit_record') for end in ('hpp', 'cpp')]


def made():
    outputs = gen_messages.outputs(gen_messages.load(SCHEMAS))
    return {path.rpartition('/')[2]: text for path, (_, text) in outputs.items()}


def parse(text, name='api-001-Thing.msg'):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_text(text, encoding='utf-8')
        return schema.parse_file(path)


class Outputs(unittest.TestCase):
    def test_what_is_made_is_what_was_reviewed(self):
        outputs = made()
        for name in EXPECTED:
            self.assertEqual(outputs[name], (HERE / 'testdata' / name).read_text(encoding='utf-8'), name)

    def test_a_second_run_touches_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'a/b.hpp'
            gen_messages.write_if_changed(path, 'same')
            before = path.stat().st_mtime_ns
            gen_messages.write_if_changed(path, 'same')
            self.assertEqual(path.stat().st_mtime_ns, before)
            gen_messages.write_if_changed(path, 'other')
            self.assertEqual(path.read_text(encoding='utf-8'), 'other')

    def test_every_message_is_there_and_removed_apis_are_not(self):
        messages = [m for _, _, ms in gen_messages.load(SCHEMAS) for m in ms]
        self.assertEqual(len(messages), 278 + 20)  # Kafka's, and ours
        self.assertEqual(sum(len(m.valid) for m in messages), 744 + 20)
        self.assertNotIn('LeaderAndIsrRequest', [m.name for m in messages])


class Parsing(unittest.TestCase):
    def test_versions_are_cut_to_the_valid_ones(self):
        valid = frozenset(range(3, 8))
        self.assertEqual(schema.parse_versions('5+', valid), {5, 6, 7})
        self.assertEqual(schema.parse_versions('0-4', valid), {3, 4})
        self.assertEqual(schema.parse_versions('6', valid), {6})
        self.assertEqual(schema.parse_versions('none', valid), frozenset())

    def test_names_become_snake_case_and_never_a_keyword(self):
        self.assertEqual(schema.snake('ReplicaDirectoryId'), 'replica_directory_id')
        self.assertEqual(schema.snake('KRaftVersionFeature'), 'k_raft_version_feature')
        self.assertEqual(schema.snake('IsrNodes'), 'isr_nodes')
        self.assertEqual(schema.snake('Operator'), 'operator_')

    def test_persisted_records_and_requests_of_one_name_get_two_files(self):
        self.assertEqual(schema.file_stem(pathlib.Path('api-008-OffsetCommit.msg')), 'offset_commit')
        self.assertEqual(schema.file_stem(pathlib.Path('rec-group-01-OffsetCommit.msg')), 'offset_commit_record')
        self.assertEqual(schema.file_stem(pathlib.Path('rec-meta-02-TopicRecord.msg')), 'topic_record')

    def test_a_field_lives_only_where_all_structs_above_it_do(self):
        message, = parse('msg ThingRequest request key=1 valid=0-5 flex=4+\n'
                         '  Outer []Outer 2+\n    Inner int32 0-3\n    Gone int32 0-1\n')
        outer = message.structs[0]
        self.assertEqual(outer.present, {2, 3, 4, 5})
        self.assertEqual([(f.name, f.versions) for f in outer.fields], [('Inner', {2, 3})])

    def test_mistakes_in_a_schema_are_named(self):
        head = 'msg ThingRequest request key=1 valid=0-1 flex=1+\n'
        for body, words in ((' Field int32 0+\n', 'indentation'), ('  Field int33 0+\n', 'unknown type int33'),
                            ('  Field int32 0+ what\n', 'unknown attribute what'),
                            ('  A []A 0+\n    B []A 0+\n', 'contains itself')):
            with self.assertRaisesRegex(schema.SchemaError, words):
                parse(head + body)


class Cpp(unittest.TestCase):
    def test_a_version_test_is_made_only_where_it_is_needed(self):
        present = frozenset(range(2, 8))
        self.assertIsNone(cpp.condition(present, present))
        self.assertEqual(cpp.condition(frozenset({5, 6, 7}), present), 'version >= 5')
        self.assertEqual(cpp.condition(frozenset({2, 3}), present), 'version <= 3')
        self.assertEqual(cpp.condition(frozenset({4, 5}), present), 'version >= 4 && version <= 5')
        self.assertEqual(cpp.condition(frozenset({4}), present), 'version == 4')
        self.assertEqual(cpp.condition(frozenset({5, 6, 7}), present, negated=True), 'version < 5')

    def test_least_size_is_the_smallest_over_all_versions(self):
        message, = parse('msg ThingRequest request key=1 valid=0-2 flex=2+\n'
                         '  Items []Item 0+\n    Name string 0+\n    Id int64 1+\n')
        self.assertEqual(cpp.least_size(message, message.structs[0]), 2)


if __name__ == '__main__':
    if sys.argv[1:] == ['--update']:
        for name_, text_ in made().items():
            if name_ in EXPECTED:
                (HERE / 'testdata' / name_).write_text(text_, encoding='utf-8')
    else:
        unittest.main()
