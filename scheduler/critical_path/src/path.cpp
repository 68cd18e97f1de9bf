// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "path.hpp"

namespace apgas::inline v0::scheduler {
namespace {

void add_share(std::vector<path_share>& to, const path_share& more) {
  const auto found = std::ranges::find_if(
      to, [&](const path_share& s) { return s.kind == more.kind && s.site == more.site; });
  if (found == to.end()) {
    to.push_back(more);
  } else {
    found->ticks += more.ticks;
  }
}

}  // namespace

std::vector<path_share> path::shares() const {
  share_list all = closed_ == nullptr ? share_list() : *closed_;
  if (last_.ticks != 0) add_share(all, last_);
  return all;
}

void path::add(path_share::of kind, site_number site, span_ticks ticks) {
  auto all = std::make_shared<share_list>();
  all->reserve((closed_ == nullptr ? 0 : closed_->size()) + 1);
  if (closed_ != nullptr) *all = *closed_;
  add_share(*all, {kind, site, ticks});
  closed_ = std::move(all);
}

void path::close() {
  if (last_.ticks == 0) return;
  add(path_share::of::task, last_.site, last_.ticks);
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
  add(path_share::of::finish, site, ticks);
  in_finishes_ += ticks;
}

void path::join(const path& other) {
  const span_ticks burdened = std::max(burdened_, other.burdened_);
  if (other.length_ > length_) *this = other;
  burdened_ = burdened;
}

}  // namespace apgas::inline v0::scheduler
