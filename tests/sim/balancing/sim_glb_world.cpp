// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "sim_glb_world.hpp"

namespace glb_sim {

using access = apgas::remote::lifelines_test_access;
using how = lifelines::how;

std::string name(fault f) {
  static constexpr std::array names{"none",
                                    "lifeline_loot_is_lost",
                                    "split_makes_work",
                                    "thief_is_forgotten",
                                    "loot_leaves_lifeline_activated",
                                    "answer_leaves_lifeline_activated",
                                    "requests_are_left",
                                    "stops_after_random",
                                    "initial_thieves_are_not_remembered"};
  static_assert(names.size() == static_cast<std::size_t>(fault::last));
  return names[static_cast<std::size_t>(f)];
}

std::string run(const settings& s, sim::choice& chooser, counters* out) {
  world w(s, chooser);
  std::string wrong;
  try {
    w.run();
  } catch (const violation& v) {
    wrong = v.what();
  }
  if (out != nullptr) *out = w.counted();
  return wrong;
}

// ---- work ---------------------------------------------------------------------------------------

work work::tree(int height, std::int64_t spine_length) {
  work w;
  w.of_height[static_cast<std::size_t>(height)] = 1;
  w.spine = spine_length;
  w.count = 1;
  return w;
}

void work::step() {
  if (spine > 0) {
    --spine;
    return;
  }
  std::size_t h = 0;
  while (of_height[h] == 0) ++h;
  --of_height[h];
  --count;
  if (h == 0) return;
  of_height[h - 1] += 2;
  count += 2;
}

work work::split() {
  work part;
  if (count < 2) return part;
  bool give_odd = true;
  for (std::size_t h = most_height; h-- > 0;) {
    std::int32_t given = of_height[h] / 2;
    if (of_height[h] % 2 != 0 && std::exchange(give_odd, !give_odd)) ++given;
    of_height[h] -= given;
    part.of_height[h] = given;
    part.count += given;
  }
  count -= part.count;
  return part;
}

void work::merge(const work& other) {
  for (std::size_t h = 0; h < of_height.size(); ++h) of_height[h] += other.of_height[h];
  spine += other.spine;
  count += other.count;
}

std::int64_t work::total() const {
  std::int64_t sum = spine;
  for (std::size_t h = 0; h < of_height.size(); ++h) {
    sum += of_height[h] * tasks_in_tree(static_cast<int>(h));
  }
  return sum;
}

// ---- the driver ---------------------------------------------------------------------------------

world::world(const settings& s, sim::choice& chooser) : settings_(s), choice_(chooser) {
  places_.reserve(static_cast<std::size_t>(s.places));
  for (int p = 0; p < s.places; ++p) {
    places_.emplace_back(lifelines(p, s.places, 0, s.shape));
    if (s.broken == fault::initial_thieves_are_not_remembered) access::forget_all(at(p).protocol);
  }
  at(0).bag = work::tree(s.height, s.spine);
  all_ = at(0).bag.total();
  begin_work(0);
}

void world::begin_work(int p) {
  at(p).working_index = working_.size();
  working_.push_back(p);
}

void world::run() {
  if (settings_.rounds) return run_rounds();
  for (;;) {
    if (choice_.wants_state() && choice_.known(state())) return;
    if (messages_.empty() && working_.empty()) break;
    step();
    if (++counted_.steps % settings_.check_every == 0) check();
    if (counted_.steps > settings_.most_steps) throw violation("it does not end");
  }
  check_end();
}

void world::run_rounds() {
  while (!messages_.empty() || !working_.empty()) {
    ++counted_.rounds;
    for (const message& m : std::exchange(messages_, {})) deliver(m);
    if (!working_.empty()) counted_.last_work = counted_.rounds;
    const std::vector<int> now = working_;
    for (const int p : now) do_task(p);
    if (counted_.rounds > settings_.most_steps) throw violation("it does not end");
  }
  check();
  check_end();
}

void world::step() {
  const auto all = static_cast<std::uint32_t>(messages_.size() + working_.size());
  const std::size_t n = choice_.below(all);
  if (n >= messages_.size()) return do_task(working_[n - messages_.size()]);
  const message m = messages_[n];
  messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(n));
  deliver(m);
}

void world::send(message m) {
  // The sizes of glb's frames, without the bags.
  if (settings_.seen != nullptr) settings_.seen->add(m.from, m.to, m.what == kind::answer ? 8 : 48);
  messages_.push_back(m);
}

void world::deliver(const message& m) {
  place_state& here = at(m.to);
  switch (m.what) {
    case kind::ask:
      here.requests.push_back(m);
      if (here.bag.count == 0) refuse(m.to);
      return;
    case kind::answer:
      here.waits = false;
      if (m.loot.count == 0 || settings_.broken != fault::answer_leaves_lifeline_activated) {
        here.protocol.on_answer(m.asked, m.loot.count != 0);
      }
      break;
    case kind::loot:
      here.protocol.on_lifeline_loot(m.from);
      if (settings_.broken == fault::loot_leaves_lifeline_activated)
        access::activate(here.protocol, m.from);
      if (here.waits) ++counted_.early_loot;
      if (settings_.broken == fault::lifeline_loot_is_lost) return;
      break;
  }
  if (m.loot.count != 0) {
    if (here.bag.count == 0) begin_work(m.to);
    here.bag.merge(m.loot);
    if (m.what == kind::answer) here.stealing = false;
  } else {
    steal(m.to);
  }
}

void world::do_task(int p) {
  at(p).bag.step();
  ++done_;
  if (at(p).bag.count == 0) return retire(p);
  share(p);
}

void world::share(int p) {
  place_state& here = at(p);
  while (!here.requests.empty() || here.protocol.remembered() != 0) {
    work half = here.bag.split();
    if (half.count == 0) return refuse(p);
    if (settings_.broken == fault::split_makes_work) here.bag.merge(half);
    if (!here.requests.empty()) {
      const message asked = here.requests.front();
      here.requests.erase(here.requests.begin());
      ++counted_.answers_with_work;
      answer(p, asked, half);
    } else {
      ++counted_.lifeline_loot;
      send({kind::loot, p, here.protocol.take_remembered(), {}, half});
    }
  }
}

void world::answer(int p, const message& ask, const work& loot) {
  send({kind::answer, p, ask.from, ask.asked, loot});
}

void world::refuse(int p) {
  place_state& here = at(p);
  for (const message& ask : std::exchange(here.requests, {})) {
    if (ask.asked.kind == how::by_lifeline && settings_.broken != fault::thief_is_forgotten) {
      here.protocol.remember(ask.from);
    }
    answer(p, ask, {});
  }
}

void world::retire(int p) {
  const std::size_t i = at(p).working_index;
  at(working_.back()).working_index = i;
  working_[i] = working_.back();
  working_.pop_back();
  if (settings_.broken != fault::requests_are_left) refuse(p);
  place_state& here = at(p);
  if (here.stealing) return;
  here.stealing = true;
  here.protocol.on_out_of_work();
  steal(p);
}

void world::steal(int p) {
  place_state& here = at(p);
  lifelines::attempt q;
  if (here.bag.count == 0) q = here.protocol.next();
  if (settings_.broken == fault::stops_after_random && q.kind == how::by_lifeline) q = {};
  here.stealing = q.kind != how::nowhere;
  if (here.stealing) {
    here.waits = true;
    ++counted_.asks;
    return send({kind::ask, p, q.victim, q, {}});
  }
  if (here.bag.count == 0 && p != 0) ++counted_.dormant;
}

// ---- the checker --------------------------------------------------------------------------------

void world::check() const {
  std::int64_t there = done_;
  // For each place: the places to which, by L1, it must have an activated lifeline.
  std::vector<std::vector<int>> owed(places_.size());
  const auto owe = [&](int p, int v) { owed[static_cast<std::size_t>(p)].push_back(v); };
  for (const message& m : messages_) {
    there += m.loot.total();
    const bool by_lifeline = m.asked.kind == how::by_lifeline;
    if (m.what == kind::loot || (m.what == kind::answer && by_lifeline && m.loot.count != 0)) {
      owe(m.to, m.from);
    } else if (m.what == kind::ask && by_lifeline) {
      owe(m.from, m.to);
    }
  }
  for (int p = 0; p < settings_.places; ++p) {
    const place_state& here = at(p);
    there += here.bag.total();
    for (const message& ask : here.requests) {
      if (ask.asked.kind == how::by_lifeline) owe(ask.from, p);
    }
    for (const int thief : access::remembered(here.protocol)) owe(thief, p);
    if (!here.requests.empty() && here.bag.count == 0) {
      throw violation("a place without work lets a thief wait");
    }
    if (here.stealing != here.waits) throw violation("a place is stealing but has not asked");
    if (here.bag.count != 0 || here.stealing) continue;
    access::for_each_lifeline(here.protocol, [](int, bool activated) {
      if (!activated)
        throw violation("a dormant place has a lifeline that it has not asked");  // L3
    });
  }
  if (there != all_) throw violation("tasks were lost or duplicated");
  check_lifelines(owed);
}

void world::check_lifelines(const std::vector<std::vector<int>>& owed) const {
  for (int p = 0; p < settings_.places; ++p) {
    const std::vector<int>& mine = owed[static_cast<std::size_t>(p)];
    std::size_t activated_lifelines = 0;
    access::for_each_lifeline(at(p).protocol, [&](int to, bool activated) {
      const auto times = std::ranges::count(mine, to);
      activated_lifelines += activated ? 1U : 0U;
      if (times != (activated ? 1 : 0))
        throw violation("a lifeline is activated without reason, or twice");
    });
    if (activated_lifelines != mine.size())
      throw violation("a place is remembered without an activated lifeline");
  }
}

void world::check_end() const {
  check();
  if (done_ != all_) throw violation("tasks are left");
  for (const place_state& p : places_) {
    if (p.stealing || !p.requests.empty()) throw violation("a thief still waits for a reply");
  }
}

std::string world::state() const {
  std::vector<std::string> parts;
  const auto put = [](std::string& to, std::int64_t value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto put_work = [&](std::string& to, const work& w) {
    put(to, w.spine);
    for (const std::int32_t n : w.of_height) put(to, n);
  };
  for (const place_state& p : places_) {
    std::string& part = parts.emplace_back();
    put_work(part, p.bag);
    put(part, p.stealing);
    put(part, access::asked(p.protocol));
    put(part, static_cast<std::int64_t>(access::chance(p.protocol)));
    for (const int thief : access::remembered(p.protocol)) put(part, thief);
    put(part, -1);
    access::for_each_lifeline(p.protocol,
                              [&](int, bool activated) { put(part, activated ? 1 : 0); });
    for (const message& r : p.requests) put(part, r.from * 4 + static_cast<int>(r.asked.kind));
  }
  const auto first_message = static_cast<std::ptrdiff_t>(parts.size());
  for (const message& m : messages_) {
    std::string& part = parts.emplace_back();
    for (const int x : {static_cast<int>(m.what), m.from, m.to, static_cast<int>(m.asked.kind)}) {
      put(part, x);
    }
    put_work(part, m.loot);
  }
  std::sort(parts.begin() + first_message, parts.end());
  std::string all;
  for (const std::string& part : parts) all.append(part).push_back('|');
  return all;
}

}  // namespace glb_sim
