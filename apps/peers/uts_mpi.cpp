// SPDX-License-Identifier: Apache-2.0

// apps/uts in plain MPI, by work stealing as in the MPI version of the reference implementation. A
// rank that has no tree nodes left asks a random other rank, which sends every other node of its
// stack. Between the expansions of --interval nodes, a rank looks for such requests. The end is
// found by a token that goes around the ranks without work (Dijkstra, Feijen and van Gasteren,
// 1983): a rank that has given work away since it last had the token makes it black, and a round
// without a black rank ends the search.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "uts/serial.hpp"
#include "uts/tree.hpp"
#include "uts/tree_flags.hpp"

namespace {

enum tag : int { request, loot, token, end };

class searcher {
 public:
  searcher(const uts::tree& t, const peers::job& job, int interval)
      : tree_(t),
        rank_(job.rank()),
        size_(job.size()),
        interval_(interval),
        random_(static_cast<unsigned>(rank_)),
        has_token_(rank_ == 0) {
    if (rank_ == 0) pending_.push_back(t.root());
  }

  void search() {
    for (;;) {
      while (!pending_.empty()) {
        expand();
        serve();
      }
      if (size_ == 1 || ended_) break;
      pass_token();
      if (!ended_) steal();
    }
    // Others may still have requests here.
    MPI_Request all_ended = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_ended);
    for (int done = 0; done == 0; MPI_Test(&all_ended, &done, MPI_STATUS_IGNORE)) serve();
  }

  [[nodiscard]] const uts::counts& found() const { return found_; }
  [[nodiscard]] std::uint64_t loots() const { return loots_; }

 private:
  void expand() {
    for (int done = 0; done < interval_ && !pending_.empty(); ++done) {
      const uts::node next = pending_.back();
      pending_.pop_back();
      const int children = tree_.num_children(next);
      found_.add_children(next, children);
      for (int i = 0; i < children; ++i) pending_.push_back(tree_.child(next, i));
    }
  }

  // Handles all messages that are here.
  void serve() {
    for (;;) {
      int here = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &here, &status);
      if (here == 0) return;
      receive(status);
    }
  }

  void receive(const MPI_Status& status) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto into = [&](void* data) {
      MPI_Recv(data, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    };
    switch (status.MPI_TAG) {
      case request:
        into(nullptr);
        give(status.MPI_SOURCE);
        break;
      case loot:
        pending_.resize(static_cast<std::size_t>(bytes) / sizeof(uts::node));
        into(pending_.data());
        waits_ = false;
        loots_ += bytes == 0 ? 0 : 1;
        break;
      case token:
        into(&token_is_black_);
        has_token_ = true;
        break;
      default:
        into(nullptr);
        ended_ = true;
    }
  }

  // Takes every other node of the stack, since those at the bottom have the larger subtrees.
  void give(int to) {
    given_.clear();
    if (pending_.size() > 1) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < pending_.size(); ++i) {
        if (i % 2 == 0) {
          given_.push_back(pending_[i]);
        } else {
          pending_[kept++] = pending_[i];
        }
      }
      pending_.resize(kept);
      black_ = true;
    }
    send(to, loot, given_.data(), given_.size() * sizeof(uts::node));
  }

  // Called without work, and while no work can be on its way to this rank.
  void pass_token() {
    if (!has_token_) return;
    const bool round_is_over = rank_ == 0 && round_began_;
    if (round_is_over && !token_is_black_ && !black_) {
      for (int to = 1; to < size_; ++to) send(to, end, nullptr, 0);
      ended_ = true;
      return;
    }
    token_is_black_ = rank_ != 0 && (token_is_black_ || black_);
    black_ = false;
    has_token_ = false;
    round_began_ = true;
    send((rank_ + 1) % size_, token, &token_is_black_, sizeof token_is_black_);
  }

  void steal() {
    const int other = std::uniform_int_distribution(1, size_ - 1)(random_);
    send((rank_ + other) % size_, request, nullptr, 0);
    for (waits_ = true; waits_;) serve();
  }

  static void send(int to, tag what, const void* data, std::size_t bytes) {
    MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, what, MPI_COMM_WORLD);
  }

  const uts::tree& tree_;
  int rank_;
  int size_;
  int interval_;
  std::minstd_rand random_;
  std::vector<uts::node> pending_;  // a stack
  std::vector<uts::node> given_;
  uts::counts found_;
  std::uint64_t loots_ = 0;
  bool waits_ = false;  // for the answer to a request
  bool has_token_;
  bool token_is_black_ = false;
  bool black_ = false;        // has given work away since it last had the token
  bool round_began_ = false;  // at rank 0
  bool ended_ = false;
};

uts::counts sum_of(uts::counts own) {
  MPI_Allreduce(MPI_IN_PLACE, &own.nodes, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &own.inner, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &own.depth, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
  return uts::root_alone + own;
}

}  // namespace

int main(int argc, char** argv) {
  int interval = 256;
  apps::command_line line("uts_mpi", "Unbalanced Tree Search with work stealing, by MPI.");
  const uts::tree_flags flags(line);
  line.option("--interval", interval, 1, std::numeric_limits<int>::max(),
              "nodes between two looks for requests");
  if (const auto code = line.parse(argc, argv)) return *code;
  const uts::parameters chosen = flags.chosen();
  const std::string_view problem = uts::why_unsearchable(chosen);
  if (!problem.empty()) return line.refuse(std::string(problem));
  const peers::job job(argc, argv);
  const uts::tree tree(chosen);
  searcher mine(tree, job, interval);
  const peers::common_time clock;
  mine.search();
  const double seconds = clock.seconds();
  const uts::counts all = sum_of(mine.found());
  std::uint64_t loots = mine.loots();
  MPI_Allreduce(MPI_IN_PLACE, &loots, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  bool right = true;
  const uts::known_tree* const known = uts::find_known_tree(chosen);
  if (job.rank() == 0)
    right = all == (known != nullptr ? known->result : uts::search_by_path(chosen));
  return job.report("uts_mpi", seconds, right,
                    {{"tree", known != nullptr ? known->name : std::string("unnamed")},
                     {"interval", interval},
                     {"nodes", all.nodes},
                     {"leaves", all.leaves()},
                     {"depth", all.depth},
                     {"nodes_per_second", static_cast<double>(all.nodes) / seconds},
                     {"loots", loots}});
}
