import pathlib
import tempfile
import unittest
from unittest import mock

from compatibility import page
from harness.context import expected_passes

FACTS = {"weir", page.platform.machine()}


class PageTest(unittest.TestCase):
    def setUp(self):
        for suite in page.MACHINES_OWN:  # not every machine has them
            self.enterContext(mock.patch.dict(page.CLIENTS, {suite: (page.CLIENTS[suite][0], lambda: "1")}))
        self.enterContext(mock.patch.object(page, "_not_comparable", lambda suite: False))
        self.passed = {suite: set(expected_passes(suite, FACTS)) for suite in page.SUITES}

    def stale_on(self, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(page, "PAGE", pathlib.Path(folder) / "page.md"):
            page.PAGE.write_text(text)
            return page.stale_clients(self.passed)

    def made(self) -> str:
        rows = [page._row(suite, names) for suite, names in self.passed.items()]
        return "\n".join([*rows, "## APIs", "| 0 | Produce | 3 to 13 | 3 to 13 |"])

    def test_a_page_made_of_the_same_tests_is_not_stale(self):
        self.assertEqual(self.stale_on(self.made()), [])

    def test_one_test_less_is_noticed(self):
        text = self.made()
        self.passed["java"].remove("codec_lz4")
        self.assertEqual(len(self.stale_on(text)), 1)

    def test_another_version_is_noticed(self):
        self.assertEqual(len(self.stale_on(self.made().replace("| kafkajs (Node) | ", "| kafkajs (Node) | 1"))), 1)

    def test_a_client_that_is_no_more_and_one_that_is_not_there_yet_are_noticed(self):
        self.assertEqual(self.stale_on("| ruby-kafka | 1.5 | 1 | 12 |\n" + self.made()), ["ruby-kafka"])
        self.passed["new_client"] = {"metadata"}
        self.assertEqual(len(self.stale_on(self.made_without("new_client"))), 1)

    def made_without(self, suite: str) -> str:
        kept = {name: names for name, names in self.passed.items() if name != suite}
        return "\n".join(page._row(name, names) for name, names in kept.items()) + "\n## APIs"

    def test_rows_of_what_did_not_run_stay(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(page, "PAGE", pathlib.Path(folder) / "page.md"):
            page.PAGE.write_text(page.make("2001-01-01", self.passed, {18: (0, 4)}, {18: (0, 5)}))
            again = page.make("2001-01-01", {"java": self.passed["java"]}, {18: (0, 4)}, {18: (0, 5)})
            self.assertEqual(again, page.PAGE.read_text())
            self.assertEqual(page.stale_apis({18: (0, 4)}, {18: (0, 5)}), [])
            self.assertEqual(page.stale_apis({18: (0, 3)}, {18: (0, 5)}),
                             ["| 18 | ApiVersions | 0 to 3 | 0 to 5 |", "| 18 | ApiVersions | 0 to 4 | 0 to 5 |"])

    def test_each_test_of_a_client_has_an_area_and_every_codec_counts(self):
        for suite in page.CLIENTS.keys() & self.passed.keys():
            counts = page._count(suite, self.passed[suite])
            self.assertEqual(counts["none"] > 0, counts["zstd"] > 0, suite)
            self.assertEqual(sum(counts.values()), len(self.passed[suite]), suite)

    def test_versions_of_kafka_come_out_of_the_recording(self):
        self.assertEqual(page.recorded_of_kafka()[18], (0, 5))
        self.assertEqual(page.recorded_of_kafka().keys() & page.reasons().keys(), page.reasons().keys())


if __name__ == "__main__":
    unittest.main()
