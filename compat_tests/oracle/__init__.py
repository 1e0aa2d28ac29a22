"""The oracle: a real Apache Kafka node that the same tests must pass against."""
