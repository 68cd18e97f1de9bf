// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw_ring.hpp"

#if defined(BENCH_MPI)
#include <mpi.h>
#endif

namespace bench {

#if defined(BENCH_MPI)

namespace {

constexpr std::uint64_t capacity = std::uint64_t{1} << 18;
constexpr std::uint64_t unread_max = capacity - raw_ring::max_bytes - 8;
constexpr unsigned visible_together = 16;

// Positions count bytes since the start. A record is a word with its length and its bytes, padded
// to 8 bytes. It never wraps around: it may extend beyond the capacity, and then the next record
// begins at the start.
struct ring {
  alignas(64) std::atomic<std::uint64_t> written;  // by the sender
  alignas(64) std::atomic<std::uint64_t> read;     // by the receiver
  alignas(64) std::byte bytes[capacity + raw_ring::max_bytes + 8];
};

struct segment {
  std::uint64_t identity;  // of this job
  ring rings[2];           // one for each sender
};

std::uint64_t after(std::uint64_t position, std::uint64_t bytes) {
  const std::uint64_t end = position + 8 + ((bytes + 7) & ~std::uint64_t{7});
  return end / capacity == position / capacity ? end : end / capacity * capacity;
}

// Reads the position of the receiver only if the ring seems to be full.
class sender {
 public:
  explicit sender(ring& r) : ring_(r) {}

  void put(const void* data, std::uint64_t bytes) {
    while (position_ - seen_ > unread_max) {
      publish();
      seen_ = ring_.read.load(std::memory_order_acquire);
    }
    std::byte* const to = ring_.bytes + position_ % capacity;
    std::memcpy(to, &bytes, 8);
    std::memcpy(to + 8, data, bytes);
    position_ = after(position_, bytes);
  }
  void publish() { ring_.written.store(position_, std::memory_order_release); }

 private:
  ring& ring_;
  std::uint64_t position_ = 0;
  std::uint64_t seen_ = 0;
};

class receiver {
 public:
  explicit receiver(ring& r) : ring_(r) {}

  // Calls f for each record that is visible. Returns their number.
  template <class F>
  unsigned take(F f) {
    const std::uint64_t end = ring_.written.load(std::memory_order_acquire);
    unsigned records = 0;
    for (; position_ != end; ++records) {
      const std::byte* const from = ring_.bytes + position_ % capacity;
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, from, 8);
      f(from + 8, bytes);
      position_ = after(position_, bytes);
    }
    if (records != 0) ring_.read.store(position_, std::memory_order_release);
    return records;
  }
  // Gives up the core only where the sender seems to have none.
  template <class F>
  unsigned wait(F f) {
    for (unsigned polls = 1;; ++polls) {
      if (const unsigned records = take(f); records != 0) return records;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      if (polls % 4096 == 0) sched_yield();
    }
  }

 private:
  ring& ring_;
  std::uint64_t position_ = 0;
};

template <class T>
T exchange(const T& mine, int other) {
  T theirs{};
  MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, other, 0, &theirs, sizeof theirs, MPI_BYTE, other, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return theirs;
}

// Where the second process finds the memory of the first one.
struct address {
  pid_t process;
  int descriptor;
  std::uint64_t identity;
};

segment* map(int descriptor) {
  if (descriptor == -1) return nullptr;
  void* const at =
      mmap(nullptr, sizeof(segment), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return at == MAP_FAILED ? nullptr : static_cast<segment*>(at);
}

// Both processes get null if one of them does. The memory has no name, and ends with them.
segment* share(int rank) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const bool first = rank == 0;
  int descriptor = first ? memfd_create("bench_ring", MFD_CLOEXEC) : -1;
  segment* shared = nullptr;
  address where{getpid(), descriptor, static_cast<std::uint64_t>(now)};
  if (first) {
    if (descriptor != -1 && ftruncate(descriptor, sizeof(segment)) == 0) shared = map(descriptor);
    if (shared != nullptr) shared->identity = where.identity;
    exchange(where, 1);
  } else {
    where = exchange(where, 0);
    const auto file = fmt::format("/proc/{}/fd/{}", where.process, where.descriptor);
    descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC);
    // On another host this may be the file of any other process.
    const off_t size = descriptor == -1 ? 0 : lseek(descriptor, 0, SEEK_END);
    if (size == off_t{sizeof(segment)}) shared = map(descriptor);
  }
  const bool ours = shared != nullptr && shared->identity == where.identity;
  const bool both = exchange(ours, 1 - rank) && ours;
  if (descriptor != -1) close(descriptor);
  if (both || shared == nullptr) return both ? shared : nullptr;
  munmap(shared, sizeof(segment));
  return nullptr;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

struct raw_ring::connection {
  connection(segment* shared, int own_rank)
      : memory(shared), rank(own_rank), out(shared->rings[rank]), in(shared->rings[1 - rank]) {}

  std::chrono::steady_clock::time_point begin() const {
    exchange(0, 1 - rank);
    return std::chrono::steady_clock::now();
  }

  segment* memory;
  int rank;
  sender out;
  receiver in;
};

raw_ring::raw_ring(bool wanted) {
  if (!wanted) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  segment* const shared = share(rank);
  if (shared != nullptr) connection_ = std::make_unique<connection>(shared, rank);
}

raw_ring::~raw_ring() {
  if (connection_ != nullptr) munmap(connection_->memory, sizeof(segment));
}

sample raw_ring::ping_pong(std::size_t bytes, int rounds) const {
  connection& c = *connection_;
  std::array<std::byte, max_bytes> data{};
  const auto receive = [&] {
    c.in.wait([&](const std::byte* from, std::uint64_t n) { std::memcpy(data.data(), from, n); });
  };
  const auto send = [&] {
    c.out.put(data.data(), bytes);
    c.out.publish();
  };
  bool correct = true;
  const auto begin = c.begin();
  for (int i = 1; i <= rounds; ++i) {
    if (c.rank != 0) {
      receive();
      send();
      continue;
    }
    auto word = static_cast<std::uint64_t>(i);
    std::memcpy(data.data(), &word, sizeof word);
    send();
    data[0] = std::byte{};
    receive();
    std::memcpy(&word, data.data(), sizeof word);
    correct = correct && word == static_cast<std::uint64_t>(i);
  }
  return {seconds_since(begin), correct};
}

sample raw_ring::one_way(int records) const {
  connection& c = *connection_;
  const auto n = static_cast<std::uint64_t>(records);
  std::uint64_t sum = 0;
  const auto add = [&](const std::byte* from, std::uint64_t) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, sizeof value);
    sum += value;
  };
  const auto begin = c.begin();
  if (c.rank == 0) {
    for (std::uint64_t i = 0; i < n; ++i) {
      c.out.put(&i, sizeof i);
      if (i % visible_together == visible_together - 1) c.out.publish();
    }
    c.out.publish();
    c.in.wait(add);
  } else {
    for (std::uint64_t received = 0; received != n;) received += c.in.wait(add);
    c.out.put(&sum, sizeof sum);
    c.out.publish();
  }
  return {seconds_since(begin), sum == n * (n - 1) / 2};
}

#else

struct raw_ring::connection {};
raw_ring::raw_ring(bool) {}
raw_ring::~raw_ring() = default;
sample raw_ring::ping_pong(std::size_t, int) const { return {}; }
sample raw_ring::one_way(int) const { return {}; }

#endif

}  // namespace bench
