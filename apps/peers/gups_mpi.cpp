// SPDX-License-Identifier: Apache-2.0

// apps/gups in plain MPI: updates are collected in a bucket for each rank, which is sent when it is
// full, as in MPIRandomAccess of HPC Challenge.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/random_word.hpp"

namespace {

using word = std::uint64_t;

struct plan {
  std::int64_t words_each;
  std::int64_t updates;  // of all ranks together
  std::int64_t ranks;

  [[nodiscard]] std::int64_t first_update(std::int64_t rank) const {
    return updates * rank / ranks;
  }
  [[nodiscard]] std::int64_t target_of(word x) const {
    return static_cast<std::int64_t>(x % static_cast<word>(words_each * ranks));
  }
};

word word_of(std::int64_t k) { return apps::random_word(static_cast<word>(k)); }

// This rank's portion of the table, and the buckets in transit from it and to it.
class table {
 public:
  table(const plan& p, int rank, int bucket)
      : plan_(p),
        first_(rank * p.words_each),
        rank_(static_cast<std::size_t>(rank)),
        bucket_(static_cast<std::size_t>(bucket)),
        words_(static_cast<std::size_t>(p.words_each)),
        filling_(static_cast<std::size_t>(p.ranks)),
        leaving_(filling_.size()),
        sends_(filling_.size(), MPI_REQUEST_NULL),
        arriving_(bucket_),
        still_sending_(filling_.size() - 1) {
    if (still_sending_ != 0) expect_bucket();
  }

  void update(word x) {
    const std::int64_t at = plan_.target_of(x);
    const auto to = static_cast<std::size_t>(at / plan_.words_each);
    if (to == rank_) return apply(x);
    filling_[to].push_back(x);
    if (filling_[to].size() == bucket_) send(to);
  }

  // Returns when all updates for this rank are done. The last bucket of a rank is an empty one.
  void end_updates() {
    for (std::size_t to = 0; to < filling_.size(); ++to) {
      if (to == rank_) continue;
      if (!filling_[to].empty()) send(to);
      send(to);
    }
    while (still_sending_ != 0) receive();
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  }

  [[nodiscard]] const std::vector<word>& words() const { return words_; }

 private:
  void apply(word x) { words_[static_cast<std::size_t>(plan_.target_of(x) - first_)] ^= x; }

  void send(std::size_t to) {
    for (int gone = 0; gone == 0;) {
      MPI_Test(&sends_[to], &gone, MPI_STATUS_IGNORE);
      receive();
    }
    leaving_[to].swap(filling_[to]);
    filling_[to].clear();
    MPI_Isend(leaving_[to].data(), static_cast<int>(leaving_[to].size()), MPI_UINT64_T,
              static_cast<int>(to), 0, MPI_COMM_WORLD, &sends_[to]);
  }

  void expect_bucket() {
    MPI_Irecv(arriving_.data(), static_cast<int>(bucket_), MPI_UINT64_T, MPI_ANY_SOURCE, 0,
              MPI_COMM_WORLD, &receive_);
  }
  void receive() {
    int here = 0;
    MPI_Status status;
    if (still_sending_ != 0) MPI_Test(&receive_, &here, &status);
    if (here == 0) return;
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    for (int i = 0; i < count; ++i) apply(arriving_[static_cast<std::size_t>(i)]);
    if (count == 0) --still_sending_;
    if (still_sending_ != 0) expect_bucket();
  }

  plan plan_;
  std::int64_t first_;
  std::size_t rank_;
  std::size_t bucket_;
  std::vector<word> words_;
  std::vector<std::vector<word>> filling_, leaving_;  // by rank
  std::vector<MPI_Request> sends_;
  std::vector<word> arriving_;
  MPI_Request receive_ = MPI_REQUEST_NULL;
  std::size_t still_sending_;
};

// Counts the words that differ from the result of performing all updates here, one after another.
std::int64_t wrong_words(const plan& p, int rank, const std::vector<word>& found) {
  std::vector<word> expected(found.size());
  for (std::int64_t k = 0; k < p.updates; ++k) {
    const word x = word_of(k);
    const std::int64_t at = p.target_of(x) - rank * p.words_each;
    if (0 <= at && at < p.words_each) expected[static_cast<std::size_t>(at)] ^= x;
  }
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != expected[i] ? 1 : 0;
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  int bits = 16;
  int updates = 4;
  int bucket = 1024;
  apps::command_line line("gups_mpi", "Updates random words of a table over all ranks, by MPI.");
  line.option("-n,--bits", bits, 1, 40, "each rank has 2^n words of the table");
  line.option("--updates", updates, 0, 1000, "updates per word");
  line.option("--bucket", bucket, 1, 1'000'000, "updates that are sent together");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  const std::int64_t each = std::int64_t{1} << bits;
  // The portions of the ranks of a host, which check them at the same time.
  const double bytes = 2.0 * sizeof(word) * static_cast<double>(each) * job.placement().on_host;
  if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
    return line.refuse("--bits: " + problem + "; choose fewer words or ranks");
  }
  const plan p{each, each * job.size() * updates, job.size()};
  table mine(p, job.rank(), bucket);
  const peers::common_time clock;
  for (auto k = p.first_update(job.rank()); k < p.first_update(job.rank() + 1); ++k) {
    mine.update(word_of(k));
  }
  mine.end_updates();
  const double seconds = clock.seconds();
  std::int64_t wrong = wrong_words(p, job.rank(), mine.words());
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return job.report("gups_mpi", seconds, wrong == 0,
                    {{"bucket", bucket},
                     {"words", each * job.size()},
                     {"updates", p.updates},
                     {"wrong", wrong},
                     {"gups", static_cast<double>(p.updates) / seconds / 1e9}});
}
