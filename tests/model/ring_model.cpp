// SPDX-License-Identifier: Apache-2.0
// The ring of bytes between two processes, and the flag of a place that sleeps. The scenarios are a
// producer and a consumer in a ring with room for two records, some of which extend beyond the
// capacity, and some or all of which have a copy; and senders that publish a record while the
// receiver goes to sleep. Checked properties:
// the consumer reads each record complete and in order, the producer overwrites none that has not
// been read, and of the senders that publish a record after the receiver's last look, exactly one
// wakes it. See docs/protocols/wire.md.

// clang-format off: model.hpp comes before every header of the product
#include "model.hpp"
#include "ring.hpp"
#include "sleep_flag.hpp"
#include "ring_mutants.hpp"
#include "ring_senders_mutants.hpp"
#include "sleep_mutants.hpp"
// clang-format on

namespace apgas::model {

// The last thread reads, the others write in turns: one, or two that take a lock.
template <class Positions, class Producer, class Consumer, unsigned Senders = 1>
struct ring_suite
    : rl::test_suite<ring_suite<Positions, Producer, Consumer, Senders>, Senders + 1> {
  static inline int scenario = 0;
  static constexpr std::uint64_t capacity = 64;
  static constexpr std::uint64_t record = 24;  // the third of the first lap ends at 72
  static constexpr int words = 11;             // up to the end of a record at the last offset
  static constexpr unsigned tag = 2;

  rl::mutex turns;
  Positions positions;
  Producer producer{positions, capacity};
  Consumer consumer{positions, capacity};
  rl::var<int> memory[words];
  int written = 0;
  int read = 0;

  // In scenario 1 all records but the third one have copies.
  static int records() { return Senders > 1 ? 2 : scenario == 1 ? 4 : 5; }
  static bool is_copied(int number) { return scenario == 1 && number != 3; }

  void thread(unsigned index) {
    for (int i = 0; i < records(); ++i) {
      if (index == Senders) {
        consume();
      } else if (Senders == 1) {
        write();
      } else {
        turns.lock($);
        write();
        turns.unlock($);
      }
    }
  }
  void after() {
    consume();
    consume();
    RL_ASSERT(read == written);
    RL_ASSERT(producer.look() && producer.drained());
  }
  void write() {
    const std::uint64_t offset = producer.reserve(record);
    RL_ASSERT(offset != Producer::impossible);
    if (offset == Producer::no_room) return;
    RL_ASSERT(offset / 8 + record / 8 <= words);
    ++written;
    for (std::uint64_t i = 0; i < record / 8; ++i) memory[offset / 8 + i]($) = written;
    if (!is_copied(written)) return producer.publish(record);
    std::uint64_t words[record / 8 - 1];
    for (auto& each : words) each = static_cast<std::uint64_t>(written);
    producer.publish_with_copy(record, words, tag);
  }
  // As the receiver: if only one record was found, from the copy if there is one.
  bool consume_copy() {
    std::uint64_t words[record / 8 - 1];
    if (consumer.left() != record || !consumer.has_copy(tag) ||
        !consumer.read_copy(record, words)) {
      return false;
    }
    ++read;
    RL_ASSERT(is_copied(read));
    for (const auto& each : words) RL_ASSERT(each == static_cast<std::uint64_t>(read));
    consumer.pass(record);
    return true;
  }
  void consume() {
    RL_ASSERT(consumer.look());
    if (!consumer.empty() && consume_copy()) return;
    int found = 0;
    for (; !consumer.empty(); ++found) {
      RL_ASSERT(consumer.holds(record));
      ++read;
      for (std::uint64_t i = 0; i < record / 8; ++i) {
        RL_ASSERT(memory[consumer.offset() / 8 + i]($) == read);
      }
      consumer.pass(record);
    }
    if (found > 1) consumer.release();  // as the receiver; the next look releases a single record
  }
};

// Threads 0 and 1 send, thread 2 receives.
template <class Flag>
struct sleep_suite : rl::test_suite<sleep_suite<Flag>, 3> {
  static inline int scenario = 0;

  Flag flag;
  rl::atomic<int> published[2];
  bool sleeps = false;
  int wakes[2] = {};

  void before() {
    for (auto& each : published) each($).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    if (index < 2) {
      published[index]($).store(1, rl::mo_release);
      if (flag.take()) wakes[index] = 1;
      return;
    }
    flag.announce();
    sleeps = published[0]($).load(rl::mo_acquire) == 0 && published[1]($).load(rl::mo_acquire) == 0;
  }
  void after() {
    RL_ASSERT(wakes[0] + wakes[1] <= 1);
    if (sleeps) RL_ASSERT(wakes[0] + wakes[1] == 1);
  }
};

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  namespace product = apgas::comm;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using ring_as_written =
      ring_suite<product::ring_positions, product::ring_producer, product::ring_consumer>;
  bool right = holds<ring_as_written>("a producer and a consumer", 0, 4);
  right &= holds<ring_as_written>("records with copies", 1, 4);
  using ring_with_two_senders =
      ring_suite<product::ring_positions, product::ring_producer, product::ring_consumer, 2>;
  right &= holds<ring_with_two_senders>("two senders and copies", 1, 3);
  right &= holds<sleep_suite<product::sleep_flag>>("a receiver that goes to sleep", 0, 3);
#define REFUTE_RING(name)                                                                  \
  right &= refuted<ring_suite<product::name::ring_positions, product::name::ring_producer, \
                              product::name::ring_consumer>>(#name, 2, 4);
  RING_MUTANTS(REFUTE_RING)
#define REFUTE_SENDERS(name)                                                               \
  right &= refuted<ring_suite<product::name::ring_positions, product::name::ring_producer, \
                              product::name::ring_consumer, 2>>(#name, 2, 4);
  RING_SENDERS_MUTANTS(REFUTE_SENDERS)
#define REFUTE_SLEEP(name) right &= refuted<sleep_suite<product::name::sleep_flag>>(#name, 1, 3);
  SLEEP_MUTANTS(REFUTE_SLEEP)
  return right ? 0 : 1;
}
