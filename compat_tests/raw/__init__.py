"""Kafka's protocol by hand, for tests that speak to a socket without a client: messages as dicts, batches, connections.

Standard library only, and nothing of Weir's C++: the messages come from protocol/schemas by the generator's parser.
"""
