"""The codec is trusted by probes and differ: it must read and write again what Kafka's own classes wrote, bit for bit."""

import gzip
import unittest

from raw import codec


def goldens():
    with gzip.open(codec.ROOT / "protocol" / "testdata" / "golden.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            name, version, kind, raw = line.split("\t")[:4]
            yield name, int(version), kind, bytes.fromhex(raw)


class CodecTest(unittest.TestCase):
    def test_all_golden_encodings_come_back_bit_for_bit(self):
        seen = set()
        for name, version, kind, raw in goldens():
            body = codec.decode(name, version, raw)
            self.assertEqual(codec.encode(name, version, body), raw, f"{name} v{version} {kind}")
            seen.add((name, version))
        self.assertGreater(len(seen), 700)

    def test_an_empty_dict_is_a_message_of_defaults(self):
        body = codec.decode("MetadataRequest", 12, codec.encode("MetadataRequest", 12, {}))
        self.assertEqual(body, {"Topics": [], "AllowAutoTopicCreation": True, "IncludeTopicAuthorizedOperations": False})

    def test_a_field_that_the_version_lacks_is_dropped_and_an_unknown_one_is_refused(self):
        self.assertEqual(codec.encode("HeartbeatRequest", 0, {"GroupInstanceId": "i"}), codec.encode("HeartbeatRequest", 0, {}))
        with self.assertRaisesRegex(codec.CodecError, "no field Grup"):
            codec.encode("HeartbeatRequest", 0, {"Grup": ""})

    def test_null_is_refused_where_the_version_does_not_allow_it(self):
        with self.assertRaisesRegex(codec.CodecError, "may not be null"):
            codec.encode("MetadataRequest", 0, {"Topics": None})
        self.assertEqual(codec.encode("MetadataRequest", 1, {"Topics": None}), b"\xff\xff\xff\xff")

    def test_bytes_too_few_and_too_many_are_refused(self):
        raw = codec.encode("HeartbeatResponse", 4, {"ErrorCode": 25})
        for cut in range(len(raw)):
            with self.assertRaises(codec.CodecError):
                codec.decode("HeartbeatResponse", 4, raw[:cut])
        with self.assertRaisesRegex(codec.CodecError, "left over"):
            codec.decode("HeartbeatResponse", 4, raw + b"\0")

    def test_the_header_of_an_api_versions_answer_has_no_tags(self):
        self.assertEqual(codec.split_answer("ApiVersions", 3, b"\0\0\0\7\1x"), (7, b"\1x"))
        self.assertEqual(codec.split_answer("Metadata", 12, b"\0\0\0\7\0x"), (7, b"x"))


if __name__ == "__main__":
    unittest.main()
