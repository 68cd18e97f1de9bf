// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/phase_core.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

#include <apgas/sync/critical_section.hpp>

namespace apgas::inline v0::sync {
namespace {

// Numbers are never reused, not even by a later run in the same process, so that a stale handle is
// always detected.
base::atomic<std::uint64_t> next_number{1};

}  // namespace

phase_core::phase_core(phase_kind kind, int home, int workers, int tiers, int degree)
    : kind_(kind),
      number_(static_cast<std::uint64_t>(home) << home_shift |
              next_number.fetch_add(1, base::relaxed)),
      grows_(kind == phase_kind::clock && tiers == 1 && workers > flat_up_to_workers),
      workers_(workers),
      degree_(static_cast<std::size_t>(degree)),
      ends_in_one_step_(tiers == 1),
      has_only_tasks_(true) {
  // Tasks wait at leaves only, mostly those of the workers that leaf_of() sends there. Thieves wait
  // there as well, and workers that share a list fill their blocks less.
  constexpr int with_thieves = 4;
  std::size_t all_leaves = 1;
  for (int tier = 1; tier < tiers; ++tier) all_leaves *= degree_;
  const int share = static_cast<int>((static_cast<std::size_t>(workers) - 1) / all_leaves) + 1;
  const int for_each_leaf = std::max(share, std::min(workers, with_thieves));
  nodes_.push_back(std::make_unique<phaser_tree_node>(*this, nullptr, tiers == 1 ? workers : 1,
                                                      tiers == 1 ? 0 : degree));
  for (int tier = 1; tier < tiers; ++tier) {
    const bool last = tier + 1 == tiers;
    const std::size_t first = nodes_.size() - leaves_;
    for (std::size_t parent = first; parent < first + leaves_; ++parent) {
      for (std::size_t i = 0; i < degree_; ++i) {
        nodes_.push_back(std::make_unique<phaser_tree_node>(
            *this, nodes_[parent].get(), last ? for_each_leaf : 1, last ? 0 : degree));
      }
    }
    leaves_ *= degree_;
  }
}

phase_core::phase_core(phase_kind kind, int workers, const replica_of& of)
    : kind_(kind),
      number_(of.number),
      is_replica_(true),
      workers_(workers),
      degree_(1),
      ends_in_one_step_(false),
      has_only_tasks_(false) {
  nodes_.push_back(std::make_unique<phaser_tree_node>(*this, nullptr, workers, 0, of.phase));
}

phase_core::~phase_core() {
  delete grown_.load(base::relaxed);
  delete link_.load(base::relaxed);
  phase_action* a = actions_.load(base::relaxed);
  while (a != nullptr) delete std::exchange(a, a->next_);
}

template <class F>
void phase_core::for_each_node(F f) const {
  for (const auto& n : nodes_) f(*n);
  if (const grown_tree* const t = grown()) {
    f(*t->root);
    for (const auto& n : t->leaves) f(*n);
  }
}

void phase_core::release() noexcept {
  if (users_.fetch_sub(1, base::acq_rel) == 1) delete this;  // P2
}

std::size_t phase_core::index_of(const phaser_tree_node& leaf) const noexcept {
  std::size_t i = 0;
  while (&this->leaf(i) != &leaf) ++i;
  return i;
}

// The tree is what it would be if it had been made at once, and no task had registered at the other
// leaves: they have completed this phase, and the first one has not, because of the calling task.
// Before others can find the tree, phases no longer end in one step: a leaf must not end one alone.
void phase_core::grow() {
  phaser_tree_node& first = *nodes_.front();
  const std::int64_t p = first.phase();
  const int others = (workers_ - 1) / workers_per_leaf;
  auto made = std::make_unique<grown_tree>();
  made->root = std::make_unique<phaser_tree_node>(*this, nullptr, 1, others, p);
  for (int i = 0; i < others; ++i) {
    made->leaves.push_back(
        std::make_unique<phaser_tree_node>(*this, made->root.get(), workers_per_leaf, 0, p));
  }
  made->root->add_unarrived_child();
  ends_in_one_step_.store(false, base::relaxed);
  grown_tree* none = nullptr;
  if (!grown_.compare_exchange_strong(none, made.get(), base::release, base::relaxed))  // P4
    return;  // another task was faster
  first.become_child_of(*made.release()->root);
}

void phase_core::tie(std::unique_ptr<phase_link> link) noexcept {
  link_.store(link.release(), base::release);  // P3
}

// A phase that ends in one step ends under the lock of the root, which look() takes here. Either it
// ends before that, and the caller reads the new phase; or the worker that ends it takes the lock
// later and sees that ends_in_one_step_ is false.
void phase_core::end_phases_in_steps() noexcept {
  end_phases_under_locks();
  static_cast<void>(root().look());
}

void phase_core::end_phases_under_locks() noexcept {
  has_only_tasks_.store(false, base::relaxed);
  ends_in_one_step_.store(false, base::relaxed);
}

void phase_core::follow(scheduler::worker& w, std::int64_t p, bool open) noexcept {
  if (phase() < p) {
    // Once the phase advances, a task of the next phase may be elected.
    auto* const task = static_cast<elected_task*>(elected_.exchange(nullptr, base::relaxed));
    while (phase() < p) static_cast<void>(advance_from(w, 0, false));
    if (task != nullptr) task->not_chosen();
  }
  if (open && !root().is_open()) root().open_and_resume(w);
}

void phase_core::never_signalled() noexcept {
  for_each_node([](phaser_tree_node& n) { n.open(); });
}

void phase_core::completed(scheduler::worker& w, phaser_tree_node& node) noexcept {
  if (is_replica_) return link()->changed(w);
  for (phaser_tree_node* n = node.parent(); n != nullptr; n = n->parent()) {
    if (!n->child_completed()) return;
  }
  begin_phases(w);
}

// All signallers have signalled. Begins the next phase, and the one after it if no signaller is
// unarrived in that phase.
void phase_core::begin_phases(scheduler::worker& w) noexcept {
  for (bool again = true; again;) {
    if (next_single_runner* const r = elected_.load(base::relaxed)) return r->all_signalled();
    run_actions(false);
    if (phase_link* const others = link()) others->reduced(phase());
    const bool open = active_.load(base::relaxed) == 0;
    if (open) run_actions(true);
    again = advance_from(w, 0, open) && !open;
    if (!open) ++phase_counts_of(w, kind_).ended;
    if (phase_link* const others = link()) others->changed(w);  // read anew: it may be set by now
  }
}

void phase_core::run_actions(bool last) noexcept {
  if (actions_.load(base::relaxed) == nullptr) return;
  const std::int64_t p = phase();
  const std::int64_t oldest = oldest_phase();
  auto& depth = scheduler::current_fiber()->task.rare.atomic_depth;
  ++depth;
  for_each_action([&](phase_action& a) {
    if (last) {
      a.last_phases_ended(p + 1, oldest);
    } else {
      a.phase_ended(p, oldest);
    }
  });
  --depth;
}

std::int64_t phase_core::oldest_phase() noexcept {
  const std::int64_t p = phase();
  std::lock_guard hold(waiters_lock_);
  return waiters_.empty() ? p : std::min(p, waiters_.begin()->first);
}

// Returns true if the tree node is complete in its next phase, too.
bool phase_core::advance_from(scheduler::worker& w, std::size_t node, bool open) noexcept {
  if (const grown_tree* const t = grown()) {
    bool complete = t->root->advance_phase(w, open);
    for (std::size_t i = 0; i <= t->leaves.size(); ++i) {
      if (leaf(i).advance_phase(w, open)) complete = t->root->child_completed();
    }
    return complete;
  }
  phaser_tree_node& n = *nodes_[node];
  bool complete = n.advance_phase(w, open);
  if (node >= nodes_.size() - leaves_) return complete;
  for (std::size_t i = 1; i <= degree_; ++i) {
    if (advance_from(w, node * degree_ + i, open)) complete = n.child_completed();
  }
  return complete;
}

std::uint32_t phase_core::add_action(std::unique_ptr<phase_action> action) {
  phase_action* first = actions_.load(base::relaxed);
  do {
    action->next_ = first;
    action->index_ = first == nullptr ? 0 : first->index_ + 1;
  } while (
      !actions_.compare_exchange_weak(first, action.get(), base::release, base::relaxed));  // P1
  end_phases_under_locks();
  return action.release()->index_;
}

phase_action* phase_core::find_action(std::uint32_t index) const noexcept {
  phase_action* a = actions_.load(base::acquire);  // P1
  while (a != nullptr && a->index_ != index) a = a->next_;
  return a;
}

// An action contains all results that have come for it before a task can find it. Accepting a
// result runs user code, so no lock is held meanwhile, and further results may arrive.
phase_action& phase_core::add_action(std::uint32_t index, std::unique_ptr<phase_action> action) {
  std::int64_t taken = -1;  // the last phase whose result was accepted
  for (;;) {
    std::map<std::int64_t, phase_value> more;
    {
      std::lock_guard hold(results_lock_);
      if (phase_action* const found = find_action(index)) return *found;  // another task was faster
      if (const auto kept = unread_.find(index); kept != unread_.end()) {
        more.insert(kept->second.upper_bound(taken), kept->second.end());
      }
      if (more.empty()) {
        unread_.erase(index);
        action->next_ = actions_.load(base::relaxed);
        action->index_ = index;
        actions_.store(action.get(), base::release);  // P1
        return *action.release();
      }
    }
    const section_guard no_suspension(*scheduler::current_fiber());
    for (const auto& [p, v] : more) action->set_result(p, oldest_phase(), v);
    taken = more.rbegin()->first;
  }
}

void phase_core::set_result(std::uint32_t index, std::int64_t p, const phase_value& v) {
  const std::int64_t oldest = oldest_phase();
  phase_action* action = nullptr;
  {
    std::lock_guard hold(results_lock_);
    action = find_action(index);
    if (action == nullptr) {
      auto& kept = unread_[index];
      kept.erase(kept.begin(), kept.lower_bound(oldest - 1));
      kept.insert_or_assign(p, v);
    }
  }
  if (action != nullptr) action->set_result(p, oldest, v);
}

void phase_core::waiter_moved(std::int64_t from, std::int64_t to) {
  std::lock_guard hold(waiters_lock_);
  if (to >= 0) ++waiters_[to];
  if (from >= 0 && --waiters_[from] == 0) waiters_.erase(from);
}

bool phase_core::elect(next_single_runner& r) noexcept {
  next_single_runner* none = nullptr;
  if (!elected_.compare_exchange_strong(none, &r, base::relaxed, base::relaxed)) return false;
  end_phases_under_locks();
  if (is_replica_) link()->task_elected();
  return true;
}

void phase_core::single_done(scheduler::worker& w) noexcept {
  elected_.store(nullptr, base::relaxed);
  if (is_replica_) return link()->single_done();
  begin_phases(w);
}

phaser_tree_node::counts phase_core::count() noexcept {
  phaser_tree_node::counts sum;
  for_each_node([&sum](phaser_tree_node& n) {
    const phaser_tree_node::counts c = n.count();
    sum.phases = std::max(sum.phases, c.phases);
    sum.parked += c.parked;
    sum.updates += c.updates;
  });
  return sum;
}

}  // namespace apgas::inline v0::sync
