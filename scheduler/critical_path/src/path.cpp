// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "path.hpp"

namespace apgas::inline v0::scheduler {
namespace {

std::uint64_t key_of(path_share::of kind, site_number site) noexcept {
  return std::uint64_t{site} << 1U | (kind == path_share::of::finish ? 1U : 0U);
}

}  // namespace

path::path(span_ticks length, span_ticks burdened, const std::vector<path_share>& shares)
    : length_(length), burdened_(burdened) {
  for (const path_share& each : shares) {
    closed_.add(key_of(each.kind, each.site), each.ticks);
    if (each.kind == path_share::of::finish) in_finishes_ += each.ticks;
  }
}

std::vector<path_share> path::shares() const {
  share_map whole = closed_;
  if (last_.ticks != 0) whole.add(key_of(path_share::of::task, last_.site), last_.ticks);
  std::vector<path_share> all;
  for (const share_map::entry& e : whole.entries()) {
    all.push_back({(e.key & 1U) != 0 ? path_share::of::finish : path_share::of::task,
                   static_cast<site_number>(e.key >> 1U), e.ticks});
  }
  return all;
}

void path::close() {
  if (last_.ticks == 0) return;
  closed_.add(key_of(path_share::of::task, last_.site), last_.ticks);
  last_.ticks = 0;
}

void path::extend(site_number site, span_ticks ticks) {
  if (site != last_.site) close();
  last_.site = site;
  last_.ticks += ticks;
  length_ += ticks;
  burdened_ += ticks;
}

void path::add_to_finish(site_number site, span_ticks ticks) {
  if (ticks == 0) return;
  closed_.add(key_of(path_share::of::finish, site), ticks);
  in_finishes_ += ticks;
}

void path::join(const path& other) {
  const span_ticks burdened = std::max(burdened_, other.burdened_);
  if (other.length_ > length_) *this = other;
  burdened_ = burdened;
}

}  // namespace apgas::inline v0::scheduler
