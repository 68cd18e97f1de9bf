// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "share_map.hpp"

// A path through a run: a sequence of pieces of tasks of which each must end before the next can
// begin. The longest path that leads to a point of a task is its critical path there, and the
// length of the longest path of a run is its span: no number of workers makes the run shorter than
// that.
//
// A path knows how much of its length lies in which tasks and in which finishes, but not in which
// order. Copies of a path share that knowledge (share_map.hpp), so a spawn, which gives a child the
// path of its parent, costs a reference count.
//
// If scheduling takes time, too, another path may be the longest: the burdened one.
namespace apgas::inline v0::scheduler {

using span_ticks = std::uint64_t;  // of a clock that the caller chooses

// A line of the program: where tasks are spawned, or where a finish or a join is.
using site_number = std::uint32_t;

// What part of a path lies in the tasks spawned at a site, in the scheduling of these tasks, or
// directly in the finishes at a site, which is in them, but not in the finishes inside them.
struct path_share {
  enum class of : std::uint8_t { task, finish, scheduling };
  of kind = of::task;
  site_number site = 0;
  span_ticks ticks = 0;
};

class path {
 public:
  path() = default;
  // The path of that length with these parts. Throws: std::bad_alloc.
  path(span_ticks length, const std::vector<path_share>& shares);

  span_ticks length() const noexcept { return length_; }
  // What part of the length is in finishes, according to add_to_finish().
  span_ticks in_finishes() const noexcept { return in_finishes_; }
  // The parts, for each site once. Throws: std::bad_alloc.
  std::vector<path_share> shares() const;

  // Makes the path longer: by a piece of a task that was spawned at `site`.
  void extend(site_number site, span_ticks ticks);
  // Makes the path longer: by a cost of scheduling a task that was spawned at `site`.
  void burden(site_number site, span_ticks ticks);
  // Attributes `ticks` of the length, which no finish has yet, to the finishes at `site`.
  void add_to_finish(site_number site, span_ticks ticks);

  // Becomes the longer of the two paths.
  void join(const path& other) {
    if (other.length_ > length_) *this = other;
  }

 private:
  // The last pieces, all of one site. They are added to the map when another site follows, since an
  // addition copies nodes.
  struct pieces {
    site_number site = 0;
    span_ticks task = 0;
    span_ticks scheduling = 0;
  };
  void continue_at(site_number site);
  void add_last_to(share_map& shares) const;

  span_ticks length_ = 0;
  span_ticks in_finishes_ = 0;
  share_map closed_;  // all but the last pieces
  pieces last_;
};

// The longest paths that lead to a point of a task: without scheduling, and with it.
struct critical_paths {
  path longest;
  path burdened;

  void extend(site_number site, span_ticks ticks) {
    longest.extend(site, ticks);
    burdened.extend(site, ticks);
  }
  void join(const critical_paths& other) {
    longest.join(other.longest);
    burdened.join(other.burdened);
  }
};

}  // namespace apgas::inline v0::scheduler
