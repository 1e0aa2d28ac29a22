"""Producer ids and sequences: the window of five batches, epochs, and where a sequence wraps."""

from raw.story import create, fetch, init_producer, produce

MAX = 2**31 - 1


def _send(seq: int, n: int = 1, pid="$p", epoch="$pe", v: int = 12, name: str = "@t") -> dict:
    return produce(name, {"n": n, "pid": pid, "epoch": epoch, "seq": seq}, v=v)


def cases() -> dict:
    return {
        "producer_ids": [
            *((f"v{v}", init_producer(v)) for v in range(6)),
            ("its own id and epoch", init_producer(ProducerId="$p", ProducerEpoch="$pe")),
            ("an id without an epoch", init_producer(ProducerId="$p", ProducerEpoch=-1)),
            ("an epoch without an id", init_producer(ProducerId=-1, ProducerEpoch=3)),
            ("an empty transactional id", init_producer(TransactionalId="")),
            ("a timeout of 0", init_producer(TransactionTimeoutMs=0)),
            ("a negative timeout", init_producer(TransactionTimeoutMs=-1)),
        ],
        "sequences": [
            ("make", create("@t")), ("id", init_producer()),
            *((f"first {seq}", _send(seq, 2)) for seq in range(0, 18, 2)),
            *((f"again {seq}", _send(seq, 2)) for seq in range(16, 4, -2)),
            ("another number of records", _send(16, 1)), ("across two batches", _send(14, 4)), ("within a batch", _send(17, 1)),
            ("a gap", _send(30)), ("the next", _send(18)), ("all", fetch("@t")),
        ],
        "sequences_of_a_stranger": [
            ("make", create("@t")), ("id", init_producer()), ("starts at 5", _send(5)), ("goes on at 6", _send(6)), ("0 after that", _send(0)),
            ("an id that nobody was given", _send(0, pid=999_999_999, epoch=0)),
        ],
        "epochs": [
            ("make", create("@t")), ("id", init_producer()), ("first", _send(0)), ("a higher epoch from 0", _send(0, epoch="$pe+1")),
            ("the old epoch", _send(1)), ("a higher epoch from 3", _send(3, epoch="$pe+2")), ("the same epoch again", _send(1, epoch="$pe+1")),
            ("a repeat of the old epoch", _send(0)), ("a jump of 10", _send(0, epoch="$pe+10")), ("all", fetch("@t")),
        ],
        "sequences_wrap": [
            ("make", create("@t")), ("id", init_producer()), ("the last but one", _send(MAX - 1)), ("the last", _send(MAX)), ("then 0", _send(0)),
            ("make another", create("@u")), ("near the end", _send(MAX - 1, name="@u")), ("across the end", _send(MAX, 3, name="@u")),
            ("then 2", _send(2, name="@u")), ("across again", _send(MAX, 3, name="@u")), ("a gap after it", _send(4, name="@u")),
            ("all", fetch("@u")),
        ],
        "refused_batches_move_no_sequence": [
            ("make", create("@t")), ("id", init_producer()), ("first", _send(0, 2)),
            ("a broken one", produce("@t", {"pid": "$p", "epoch": "$pe", "seq": 2, "crc": 1}, v=12)),
            ("a lying one", produce("@t", {"pid": "$p", "epoch": "$pe", "seq": 2, "count": 3}, v=12)), ("a gap", _send(9)), ("the right one", _send(2)),
        ],
        "two_partitions_have_two_states": [
            ("make", create("@t", 2)), ("id", init_producer()), ("0 from 0", _send(0)), ("1 from 0", produce("@t", {"pid": "$p", "epoch": "$pe", "seq": 0}, 1)),
            ("1 from 1", produce("@t", {"pid": "$p", "epoch": "$pe", "seq": 1}, 1)), ("0 from 2", _send(2)),
        ],
        "a_stranger_without_an_epoch": [("make", create("@t")), ("epoch -1", _send(0, pid=5, epoch=-1))],
        "pipelined": [
            ("make", create("@t")), ("id", init_producer()),
            *((f"sent {seq}", produce("@t", {"pid": "$p", "epoch": "$pe", "seq": seq}, v=12, later=str(seq))) for seq in range(5)),
            *((f"answer {seq}", {"collect": str(seq)}) for seq in range(5)),
        ],
    }
