"""A checker that finds nothing is worth nothing: each kind of harm is planted here and must be found."""

import unittest

from harness.checker import Seen, check
from harness.records import key_of, value_of


def log(*ids, partition=0):
    return [Seen(partition, offset, record_id) for offset, record_id in enumerate(ids)]


class CheckerTest(unittest.TestCase):
    def test_a_clean_run_has_no_faults(self):
        both = log(0, 2, 4) + log(1, 3, 5, partition=1)
        self.assertEqual(check(both, both).faults(duplicates_allowed=False), [])

    def test_an_unacknowledged_record_may_be_there_or_not(self):
        self.assertEqual(check(log(0, 1), log(0, 1, 2)).faults(duplicates_allowed=False), [])
        self.assertEqual(check(log(0, 1), log(0, 1)).faults(duplicates_allowed=False), [])

    def test_an_acknowledged_record_that_nobody_reads_is_lost(self):
        report = check(log(0, 1, 2), log(0, 1))
        self.assertEqual([seen.record_id for seen in report.lost], [2])
        self.assertIn("1 lost", report.faults(duplicates_allowed=True)[0])

    def test_a_record_at_another_offset_than_the_acknowledged_one_is_misplaced(self):
        report = check([Seen(0, 1, 0)], log(0, 1))
        self.assertEqual(len(report.misplaced), 1)

    def test_a_record_in_another_partition_is_misplaced(self):
        self.assertEqual(len(check(log(0, partition=1), log(0)).misplaced), 1)

    def test_a_duplicate_is_a_fault_only_with_idempotence(self):
        report = check(log(0, 1, 2), log(0, 1, 2, 1, 2, 3), window=2)
        self.assertEqual(report.duplicated, [1, 2])
        self.assertEqual(report.faults(duplicates_allowed=True), [])
        self.assertIn("2 duplicated", report.faults(duplicates_allowed=False)[0])

    def test_a_duplicate_far_from_the_first_is_always_a_fault(self):
        report = check(log(0, 1, 2, 3), log(0, 1, 2, 3, 0), window=3)
        self.assertIn("far from the first", report.faults(duplicates_allowed=True)[0])

    def test_the_same_id_in_two_partitions_is_a_duplicate(self):
        self.assertEqual(check([], log(7) + log(7, partition=1)).duplicated, [7])

    def test_a_record_that_comes_late_is_reordered(self):
        report = check(log(0, 2, 1), log(0, 2, 1))
        self.assertEqual([seen.record_id for seen in report.reordered], [1])

    def test_order_between_partitions_does_not_matter(self):
        both = log(5, 6) + log(0, 1, partition=1)
        self.assertEqual(check(both, both).faults(duplicates_allowed=False), [])

    def test_a_missing_offset_is_a_gap(self):
        self.assertEqual(len(check([], [Seen(0, 0, 0), Seen(0, 2, 1)]).gaps), 1)


class RecordsTest(unittest.TestCase):
    def test_the_formulas_are_those_of_the_other_languages(self):
        """The same figures stand in the Java and C++ clients: a change here must be made there too."""
        self.assertEqual(key_of(7), b"key-217")
        self.assertIsNone(key_of(49))
        self.assertEqual(value_of(27, 1), b"value-27-" + (b"abcdefghijklmnopqrstuvwxyz" * 13)[1:1 + (27 * 7919 + 1) % 300])
        self.assertEqual(value_of(0, 300), b"value-0-")


if __name__ == "__main__":
    unittest.main()
