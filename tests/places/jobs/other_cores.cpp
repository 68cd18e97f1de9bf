// SPDX-License-Identifier: Apache-2.0

// A library to be preloaded. It simulates the affinity masks of the processes of a job, and counts
// how often their workers yield. APGAS_TEST_MASKS="0-7/8-15" has a mask for each rank of Open MPI.
// If APGAS_TEST_YIELDS is set, a line such as "rank 1: workers yielded 12 times" is printed at the
// end.

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<long> yields{0};

int rank() {
  const char* const text = std::getenv("OMPI_COMM_WORLD_RANK");
  return text == nullptr ? 0 : std::atoi(text);
}

// Returns the mask of a rank, or null.
const char* mask_of(int rank) {
  const char* text = std::getenv("APGAS_TEST_MASKS");
  for (int i = 0; text != nullptr && i < rank; ++i) {
    text = std::strchr(text, '/');
    if (text != nullptr) ++text;
  }
  return text;
}

const struct report {
  ~report() {
    if (std::getenv("APGAS_TEST_YIELDS") == nullptr) return;
    std::fprintf(stderr, "rank %d: workers yielded %ld times\n", rank(), yields.load());
  }
} at_the_end;

}  // namespace

extern "C" int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* set) noexcept {
  const char* text = mask_of(rank());
  if (text == nullptr) {
    const long written = syscall(SYS_sched_getaffinity, process, bytes, set);
    if (written < 0) return -1;
    std::memset(reinterpret_cast<char*>(set) + written, 0,
                bytes - static_cast<std::size_t>(written));
    return 0;
  }
  CPU_ZERO_S(bytes, set);
  for (bool more = true; more;) {
    char* end = nullptr;
    const long first = std::strtol(text, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    // The kernel, too, refuses a set that is too small.
    if (static_cast<std::size_t>(last) >= 8 * bytes) {
      errno = EINVAL;
      return -1;
    }
    for (long i = first; i <= last; ++i) CPU_SET_S(static_cast<std::size_t>(i), bytes, set);
    more = *end == ',';
    text = end + 1;
  }
  return 0;
}

extern "C" int sched_yield() noexcept {
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  if (std::strncmp(name, "apgas-", 6) == 0) yields.fetch_add(1);
  return static_cast<int>(syscall(SYS_sched_yield));
}
