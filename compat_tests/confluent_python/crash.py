"""The producer of the crash run, and the reading back. The protocol with the harness is told in harness/program.py."""

import os
import select
import sys

from confluent_kafka import Producer

from confluent_python.support import check_content, create_topic, read_all
from harness.records import headers_of, key_of, value_of
from python_clients.support import BROKER, OUT, SEED, WAIT_SECONDS, require

TOTAL = int(os.environ["WEIR_CRASH_TOTAL"])
GATE = int(os.environ["WEIR_CRASH_GATE"])
WINDOW = 10_000
STEP = 500


def crash():
    create_topic("crash")
    producer = Producer({"bootstrap.servers": BROKER, "enable.idempotence": True, "compression.type": "lz4"})
    acknowledged = 0
    with open(OUT / "acks-crash.txt", "w", encoding="ascii") as acks:

        def delivered(error, message, record_id):
            nonlocal acknowledged
            require(error is None, f"record {record_id} was not delivered: {error}")
            acks.write(f"{message.partition()} {message.offset()} {record_id}\n")
            acknowledged += 1
            if acknowledged % STEP == 0:
                print(f"ACKED {acknowledged}", flush=True)

        for record_id in range(TOTAL):
            if record_id == GATE:
                # Deliveries go on while we wait: the harness may need more of them before it kills.
                while not select.select([sys.stdin], [], [], 0)[0]:
                    producer.poll(0.05)
                require(sys.stdin.readline().strip() == "KILLED", "the harness went away")
            while record_id - acknowledged >= WINDOW:
                producer.poll(0.1)
            producer.produce("crash", value_of(record_id, SEED), key_of(record_id), headers=headers_of(record_id, "lz4"),
                             on_delivery=lambda error, message, i=record_id: delivered(error, message, i))
            producer.poll(0)
        require(producer.flush(WAIT_SECONDS) == 0, "not all was delivered")
    with open(OUT / "reads-crash.txt", "w", encoding="ascii") as reads:
        for message in read_all("crash"):
            reads.write(f"{message.partition()} {message.offset()} {check_content(message, 'lz4')}\n")
