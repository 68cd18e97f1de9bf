// SPDX-License-Identifier: Apache-2.0
#include "path.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr unsigned share_kind_bits = 2;

std::uint64_t key_of(path_share::of kind, site_number site) noexcept {
  return std::uint64_t{site} << share_kind_bits | static_cast<std::uint64_t>(kind);
}
path_share::of kind_of(std::uint64_t key) noexcept {
  return static_cast<path_share::of>(key & ((1U << share_kind_bits) - 1));
}

}  // namespace

path::path(span_ticks length, const std::vector<path_share>& shares) : length_(length) {
  for (const path_share& each : shares) {
    closed_.add(key_of(each.kind, each.site), each.ticks);
    if (each.kind == path_share::of::finish) in_finishes_ += each.ticks;
  }
}

std::vector<path_share> path::shares() const {
  share_map whole = closed_;
  add_last_to(whole);
  std::vector<path_share> all;
  for (const share_map::entry& e : whole.entries()) {
    all.push_back({kind_of(e.key), static_cast<site_number>(e.key >> share_kind_bits), e.ticks});
  }
  return all;
}

void path::add_last_to(share_map& shares) const {
  if (last_.task != 0) shares.add(key_of(path_share::of::task, last_.site), last_.task);
  if (last_.scheduling != 0)
    shares.add(key_of(path_share::of::scheduling, last_.site), last_.scheduling);
}

void path::continue_at(site_number site) {
  if (site == last_.site) return;
  add_last_to(closed_);
  last_ = {.site = site};
}

void path::extend(site_number site, span_ticks ticks) {
  continue_at(site);
  last_.task += ticks;
  length_ += ticks;
}

void path::burden(site_number site, span_ticks ticks) {
  continue_at(site);
  last_.scheduling += ticks;
  length_ += ticks;
}

void path::add_to_finish(site_number site, span_ticks ticks) {
  if (ticks == 0) return;
  closed_.add(key_of(path_share::of::finish, site), ticks);
  in_finishes_ += ticks;
}

}  // namespace apgas::inline v0::scheduler
