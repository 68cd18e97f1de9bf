// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "hang_explanation.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {

wait_record waits_for(const fiber& f) {
  const wait_record* const record = f.waits_for.load(base::acquire);  // P1 of suspended_tasks.hpp
  if (record != nullptr) return *record;
  if (f.task.registrations != nullptr) return f.task.registrations->waits_for();
  return {nullptr};
}

std::string text_of(const object_name& name) {
  if (name.kind == 0) return {};
  return fmt::format("{}{:x}.{:x}", name.kind, name.first, name.second);
}

std::size_t hang_explanation::hash::operator()(const object_name& n) const noexcept {
  constexpr std::size_t odd = 0x9e3779b97f4a7c15;
  const std::size_t h = (n.first + static_cast<std::size_t>(n.kind)) * odd ^ n.second;
  return (h ^ (h >> 29)) * odd;
}

namespace {

// A name that only this place knows: the address.
object_name local_name(const void* address) {
  return {.first = reinterpret_cast<std::uintptr_t>(address)};
}

}  // namespace

std::uint32_t hang_explanation::find_or_add(const object_name& name) {
  const auto next = static_cast<std::uint32_t>(objects_.size());
  const auto [at, is_new] = index_.try_emplace(name, next);
  if (is_new) objects_.push_back({.name = name, .what = {}});
  return at->second;
}

// Returns the object that a task waits for, or no_object.
std::uint32_t hang_explanation::object_of(const wait_record& waits) {
  if (waits.object == nullptr) return no_object;
  const object_name known = names_ != nullptr ? names_->of(waits) : object_name{};
  if (known.kind == 0) return find_or_add(local_name(waits.object));
  const bool is_call = known.kind == object_name::call;
  return find_or_add(is_call && !is_among_lowest(known) ? local_name(&lowest_calls_) : known);
}

// Whether this is one of the lowest names of calls up to now.
bool hang_explanation::is_among_lowest(const object_name& call) {
  if (index_.contains(call)) return true;
  if (lowest_calls_.size() == single_objects_max) {
    if (lowest_calls_.top() < call) return false;
    lowest_calls_.pop();
  }
  lowest_calls_.push(call);
  return true;
}

void hang_explanation::add(fiber& f, const wait_record& waits, const char* caller) {
  const std::uint32_t node = node_of(f, waits, caller, false);
  if (node != no_task) note_node(f, node);
}

void hang_explanation::add(const task_state& task, const task_counter* outermost,
                           const wait_record& waits) {
  node_of_substitute(task, outermost, waits, false);
}

void hang_explanation::add_running(fiber& f, const task_state& task, const task_counter* outermost,
                                   bool main) {
  if (is_added(f)) return;
  const std::uint32_t node = node_of_substitute(task, outermost, place_waits::runs, main);
  if (node != no_task) note_node(f, node);
}

void hang_explanation::explain(place_waits& to) {
  add_parked();
  resolve_other_needs();
  for (waiting_task& t : tasks_) {
    if (t.object != no_object && !waits_truly(t)) t.object = no_object;
  }
  std::vector<wait_graph::edge> found = find_cycle(false);
  to.cycle_is_certain = !found.empty();
  const auto is_uncertain = [](const need_reason& r) { return r.by != releaser::this_task; };
  if (found.empty() && std::ranges::any_of(reasons_, is_uncertain)) found = find_cycle(true);
  const std::vector<cycle_step> steps = steps_of(found);
  to.cycle = describe_cycle(steps);
  to.kind_of_cycle = kind_of_cycle(steps);
  if (scope_ == graph_scope::some_tasks && purpose_ == graph_purpose::cycle) leave_out_ends();
  to.not_in_graph = left_out_;
  condense(to);
}

// Whether the task has not become ready, as far as other tasks of the graph can know.
bool hang_explanation::waits_truly(const waiting_task& t) const noexcept {
  if (scope_ == graph_scope::all_tasks) return true;
  const std::int64_t phase = objects_[t.object].what.phase;
  return !t.waits.timed && (phase < 0 || t.awaited == phase);
}

bool hang_explanation::wants_parked(const void* node) {
  return scope_ == graph_scope::some_tasks && nodes_.insert(node).second;
}

void hang_explanation::parked(fiber& waiting) { parked_.push_back(&waiting); }

// Those that are added may report further ones.
void hang_explanation::add_parked() {
  while (!parked_.empty()) {
    for (fiber* const f : std::exchange(parked_, {})) {
      if (is_added(*f) || accepts_ == nullptr || !accepts_(*f)) continue;
      const wait_record waits = waits_for(*f);
      const std::uint32_t node =
          waits.construct == nullptr ? no_task : node_of(*f, waits, "", true);
      if (node != no_task) note_node(*f, node);
    }
  }
}

void hang_explanation::needs(const waited_object& object, const fiber& needed, const char* relation,
                             releaser by) {
  const object_name known = names_ != nullptr ? names_->of(object) : object_name{};
  add_need(known.kind != 0 ? known : local_name(object.address), object, needed, relation, by);
}

void hang_explanation::add_need(const object_name& name, const waited_object& object,
                                const fiber& needed, const char* relation, releaser by) {
  const std::uint32_t index = find_or_add(name);
  const std::uint32_t label = label_of(relation, needed, by);
  if (&needed != current_->on) {
    other_needs_.try_emplace({index, &needed, label}, object);
  } else if (!is_handed_over(*current_, object, by)) {
    objects_[index].what = object;
    own_needs_.emplace_back(index, label);
  }
}

// A task that has been handed a mutex, and has not run since, is its holder, too.
bool hang_explanation::is_handed_over(const waiting_task& needed, const waited_object& object,
                                      releaser by) const noexcept {
  return scope_ == graph_scope::some_tasks && by != releaser::this_task &&
         needed.waits.object == object.address;
}

// A task in a batch has counted the phase that it waits for (registration.hpp).
void hang_explanation::describe(const waited_object& object, const char* mode,
                                std::int64_t awaited) noexcept {
  if (below_ || current_->object == no_object || current_->waits.object != object.address) return;
  object_node& node = objects_[current_->object];
  waited_object& what = node.what;
  const bool shared = node.name == local_name(&lowest_calls_) && *what.kind != '\0';
  if (shared && what.place != object.place) {
    what.place = -1;  // the calls of this node go to several places
  } else {
    what = object;
  }
  current_->mode = mode;
  current_->awaited = current_->in_batch ? awaited - 1 : awaited;
}

// Equal reasons share a label, so there are only as many as the program has lines.
std::uint32_t hang_explanation::label_of(const char* relation, const fiber& needed, releaser by) {
  need_reason made{.relation = relation, .by = by, .is_below = below_};
  if (hidden_ != nullptr) {
    made.construct = hidden_->construct;
    made.where = hidden_->where;
    made.task = *hidden_->task;
    made.main = needed.runs_main;
  }
  const auto known = std::ranges::find(reasons_, made);
  const auto label = static_cast<std::uint32_t>(known - reasons_.begin());
  if (known == reasons_.end()) reasons_.push_back(made);
  return label;
}

bool hang_explanation::need_reason::operator==(const need_reason& other) const noexcept {
  const auto address = [](const call_site& s) { return std::bit_cast<const void*>(s); };
  return relation == other.relation && by == other.by && is_below == other.is_below &&
         construct == other.construct && main == other.main && task.name == other.task.name &&
         address(where) == address(other.where) && address(task.site) == address(other.task.site);
}

std::string hang_explanation::relation_text(std::uint32_t label) const {
  const need_reason& r = reasons_[label];
  if (!r.is_below) return r.relation;
  if (r.construct == nullptr) {
    return fmt::format("runs inside a finish of a task that {}", r.relation);
  }
  return fmt::format("runs inside the {} of {}, which {}",
                     construct_text(r.construct, line_text(r.where)), task_text(r.task, r.main),
                     r.relation);
}

// A task that waits for a finish owns it and is not one of its tasks.
void hang_explanation::needs_of_counter(const task_counter* counter, const waiting_task& t) {
  if (counter == nullptr || t.waits.object == counter) return;
  const object_name known = names_ != nullptr ? names_->of_finish(*counter) : object_name{};
  add_need(known.kind != 0 ? known : local_name(counter), {.address = counter}, *t.on,
           "belongs to it");
}

// A task that came from another place counts in its finish, also while an inner finish is the one
// of the task on top.
void hang_explanation::served_calls(const waiting_task& t) {
  if (names_ == nullptr) return;
  const fiber& f = *t.on;
  const object_names::served served = names_->served_by(f);
  if (served.finish == nullptr) return;
  below_ = served.finish != f.task.finish;
  if (below_ && served.finish != f.outermost) needs_of_counter(served.finish, t);
  if (served.call.kind != 0 && is_among_lowest(served.call))
    add_need(served.call, {}, f, "runs the body of this call");
  below_ = false;
}

// Another task may run the section of a task that waits for a monitor, and use its registrations.
bool hang_explanation::may_run_elsewhere(const waiting_task& t) const noexcept {
  const std::string_view construct = t.waits.construct;
  return scope_ == graph_scope::some_tasks && (construct == "when" || construct == "atomic");
}

void hang_explanation::add_edges(waiting_task& t) {
  current_ = &t;
  own_needs_.clear();
  const fiber& f = *t.on;
  if (t.waits.explain != nullptr) t.waits.explain(t.waits, *this);
  needs_of_counter(f.task.finish, t);
  if (f.outermost != f.task.finish) needs_of_counter(f.outermost, t);
  served_calls(t);
  if (f.task.registrations != nullptr && !may_run_elsewhere(t))
    f.task.registrations->explain(f, *this);
  below_ = true;
  for (const hidden_task* h = f.hidden; h != nullptr; h = h->below) {
    hidden_ = h;
    if (h->task->registrations != nullptr) h->task->registrations->explain(f, *this);
  }
  below_ = false;
  hidden_ = nullptr;
}

// The objects are the nodes after the tasks. `with_others`: also follows edges of objects that
// perhaps another task lets go on.
std::vector<wait_graph::edge> hang_explanation::find_cycle(bool with_others) const {
  const auto first_object = static_cast<wait_graph::node>(tasks_.size());
  wait_graph graph;
  graph.set_nodes(static_cast<std::uint32_t>(tasks_.size() + objects_.size()));
  for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].object != no_object) graph.add({t, first_object + tasks_[t].object, 0});
  }
  for (const need& n : needs_) {
    if (with_others || reasons_[n.label].by == releaser::this_task)
      graph.add({first_object + n.object, n.task, n.label});
  }
  return graph.find_cycle();
}

// The cycle alternates between tasks and objects. Empty: there is none.
std::vector<cycle_step> hang_explanation::steps_of(
    const std::vector<wait_graph::edge>& cycle) const {
  std::vector<cycle_step> steps;
  if (cycle.empty()) return steps;
  const std::size_t begin = cycle.front().from < tasks_.size() ? 0 : 1;
  for (std::size_t i = 0; i < cycle.size() / 2; ++i) {
    const wait_graph::edge& waits = cycle[begin + 2 * i];
    const wait_graph::edge& needed = cycle[(begin + 2 * i + 1) % cycle.size()];
    const waiting_task& t = tasks_[waits.from];
    const waited_object& object = objects_[t.object].what;
    steps.push_back({.task = task_text(t.on->task, t.on->runs_main),
                     .construct = t.waits.construct,
                     .line = line_text(t.waits, t.caller),
                     .kind = object.kind,
                     .made = line_text(object.made),
                     .phase = object.phase,
                     .relation = relation_text(needed.label)});
  }
  return steps;
}

}  // namespace apgas::inline v0::scheduler
