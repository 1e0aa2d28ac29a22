// librdkafka++ 2.0.2 looks this up as it loads; librdkafka 1.9.2 does not have it, and no test calls it.
int rd_kafka_sasl_set_credentials(void) {
  return -1;
}
