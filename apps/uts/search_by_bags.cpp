// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <apgas/apgas.hpp>

#include "support/stopwatch.hpp"
#include "uts/search.hpp"

namespace uts {
namespace {

using shared_tree = apgas::place_local<tree>;

// Tree nodes whose subtrees are to be searched, on a stack as in the serial search.
class bag {
 public:
  bag() = default;
  bag(shared_tree where, const node& root) : where_(where), pending_{root} {}

  std::size_t process(std::size_t n) {
    const tree& t = *where_;
    std::size_t done = 0;
    for (; done < n && !pending_.empty(); ++done) {
      const node next = pending_.back();
      pending_.pop_back();
      const int children = t.num_children(next);
      found_.add_children(next, children);
      for (int i = 0; i < children; ++i) pending_.push_back(t.child(next, i));
    }
    return done;
  }

  // Takes every other node of the stack, since those at the bottom have the larger subtrees.
  std::optional<bag> split() {
    if (pending_.size() < 2) return std::nullopt;
    bag part;
    part.where_ = where_;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (i % 2 == 0) {
        part.pending_.push_back(pending_[i]);
      } else {
        pending_[kept++] = pending_[i];
      }
    }
    pending_.resize(kept);
    return part;
  }
  void merge(bag&& other) {
    pending_.insert(pending_.begin(), other.pending_.begin(), other.pending_.end());
  }

  [[nodiscard]] std::size_t size() const { return pending_.size(); }
  [[nodiscard]] counts result() const { return found_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(where_, pending_);
  }

 private:
  shared_tree where_;
  std::vector<node> pending_;
  counts found_;
};

}  // namespace

search_result search_by_bags(const search_options& o) {
  const auto where = shared_tree::make(apgas::places(), [o] { return o.make_tree(); });
  const std::size_t chunk = o.granularity > 1 ? static_cast<std::size_t>(o.granularity) : 0;
  const apps::stopwatch clock;
  auto found = apgas::glb(bag(where, where->root()), {.chunk = chunk});
  search_result result;
  result.seconds = clock.seconds();
  result.total = root_alone + found.value;
  for (const apgas::glb_statistics& p : found.places) {
    result.nodes_of_place.push_back(p.done);
    result.bags += p.pieces_received;
  }
  result.balancing = std::move(found.places);
  where.destroy();
  return result;
}

}  // namespace uts
