// SPDX-License-Identifier: Apache-2.0

// apps/life in plain MPI, as far as MPI can express it: the members of the lock-step are the ranks,
// from the first phase to the last. Nobody can join or leave, and no client can bring in another
// one. So every rank knows the plan from the start and works in each phase on the visits of its
// clients. The generations, the reads of the windows and the insertions are those of life.
//
// The board is memory of rank 0 that the others read one-sidedly. One exchange ends each phase: it
// takes the insertions to rank 0, and no rank leaves it before all ranks have entered it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "life/board.hpp"
#include "life/memory.hpp"
#include "life/outcome.hpp"
#include "life/plan.hpp"
#include "life/replay.hpp"
#include "peers/exchange.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

using life::cell;

// Two copies of the board at rank 0, for even and for odd generations, each after its number.
class shared_board {
 public:
  shared_board(const life::plan& p, const peers::job& job)
      : size_(static_cast<std::size_t>(p.size)),
        stride_(number_bytes + (size_ * size_ + 63) / 64 * 64) {
    void* memory = nullptr;
    const auto bytes = static_cast<MPI_Aint>(job.rank() == 0 ? 2 * stride_ : 0);
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window_);
    memory_ = static_cast<cell*>(memory);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~shared_board() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  shared_board(const shared_board&) = delete;
  shared_board& operator=(const shared_board&) = delete;

  // At rank 0.
  [[nodiscard]] std::span<cell> of(int generation) const {
    return {memory_ + start(generation) + number_bytes, size_ * size_};
  }
  [[nodiscard]] std::int64_t& number_of(int generation) const {
    return *reinterpret_cast<std::int64_t*>(memory_ + start(generation));
  }
  // Before and after the end of a phase, so that all ranks see what rank 0 has written.
  void synchronise() const { MPI_Win_sync(window_); }

  // Reads the rows of a window, from any rank, and returns the number of the generation.
  [[nodiscard]] std::int64_t read(int generation, int row, std::vector<cell>& rows) const {
    std::int64_t number = -1;
    const auto count = static_cast<int>(rows.size());
    const auto first = static_cast<MPI_Aint>(start(generation));
    const auto skipped =
        static_cast<MPI_Aint>(number_bytes + static_cast<std::size_t>(row) * size_);
    MPI_Get(rows.data(), count, MPI_BYTE, 0, first + skipped, count, MPI_BYTE, window_);
    MPI_Get(&number, 1, MPI_INT64_T, 0, first, 1, MPI_INT64_T, window_);
    MPI_Win_flush(0, window_);
    return number;
  }

 private:
  static constexpr std::size_t number_bytes = 64;

  [[nodiscard]] std::size_t start(int generation) const {
    return generation % 2 == 0 ? 0 : stride_;
  }

  std::size_t size_;
  std::size_t stride_;  // from one copy to the next
  cell* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

// The clients of one rank.
class clients_here {
 public:
  clients_here(const life::plan& p, const peers::job& job)
      : p_(p), rows_(static_cast<std::size_t>(life::window_size * p.size)) {
    for (int c = 0; c < p.clients; ++c) {
      if (p.place_of(c, job.size()) == job.rank()) clients_.emplace_back(c, p.visit_of(c));
    }
  }

  // What the clients do in phase g. Returns what they put in.
  std::vector<life::insertion> take_part(const shared_board& board, int g) {
    std::vector<life::insertion> put_in;
    for (const auto& [c, visit] : clients_) {
      if (g < visit.joins || g >= visit.leaves) continue;
      const std::int64_t number = board.read(g, p_.row_of(c), rows_);
      const auto size = static_cast<std::size_t>(p_.size);
      seen_.push_back({c, g, number, life::hash_window(rows_, size, p_.column_of(c))});
      if (p_.puts(c, g)) put_in.push_back(p_.insertion_of(c, g));
    }
    return put_in;
  }
  [[nodiscard]] const std::vector<life::observation>& seen() const { return seen_; }

 private:
  const life::plan& p_;
  std::vector<std::pair<int, life::plan::visit>> clients_;
  std::vector<cell> rows_;
  std::vector<life::observation> seen_;
};

// Called by all ranks. The board and the log are those of rank 0; the others have none.
life::served serve(const life::plan& p, const peers::job& job) {
  const auto size = static_cast<std::size_t>(p.size);
  const auto ranks = static_cast<std::size_t>(job.size());
  const bool server = job.rank() == 0;
  const shared_board board(p, job);
  clients_here clients(p, job);
  life::served result;
  result.log.put_in.resize(static_cast<std::size_t>(p.generations));
  if (server) {
    life::fill(board.of(0), p.seed);
    board.number_of(0) = 0;
    board.synchronise();
  }
  const peers::common_time clock;
  for (int g = 0; g < p.generations; ++g) {
    board.synchronise();
    std::vector<std::vector<life::insertion>> outgoing(ranks);
    outgoing[0] = clients.take_part(board, g);
    if (server) {
      for (std::size_t row = 0; row < size; ++row) {
        life::advance_row(board.of(g), board.of(g + 1), size, row);
      }
      if (g > 0) {
        for (const auto& each : result.log.put_in[static_cast<std::size_t>(g) - 1]) {
          life::put(board.of(g + 1), size, each);
        }
      }
      board.number_of(g + 1) = g + 1;
      board.synchronise();
    }
    result.log.put_in[static_cast<std::size_t>(g)] = peers::exchange(outgoing).values;
  }
  result.seconds = clock.seconds();
  std::vector<std::vector<life::observation>> seen(ranks);
  seen[0] = clients.seen();
  result.log.seen = peers::exchange(seen).values;
  if (server) {
    const std::span<cell> last = board.of(p.generations);
    result.board.assign(last.begin(), last.end());
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  life::plan p;
  apps::command_line line("life_mpi", "A game of life with its clients in lock-step, by MPI.");
  life::declare(line, p);
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  // A rank reads one window after another. At the end it sends a copy of what its clients saw.
  const apps::placement all = job.placement();
  const double copies = 1 + peers::copies_in_exchange * all.part_on_host();
  const double bytes = life::bytes(p, life::visits_of(p), all.on_host, copies);
  if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
    return line.refuse("--size, --generations and --clients: " + problem + "; choose fewer");
  }
  const life::served found = serve(p, job);
  if (job.rank() != 0) return job.report("life_mpi", found.seconds, true, {});
  const life::checked result = life::check(p, found);
  return job.report("life_mpi", found.seconds, result.verified, result.figures);
}
