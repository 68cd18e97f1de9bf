// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <tuple>

#include <fmt/format.h>

#include "hang_explanation.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t steps_max = 20;  // of a cycle that are described

std::string wait_text(const cycle_step& s) {
  std::string text = "waits";
  if (s.phase < 0) text += fmt::format(" in {}", s.construct);
  if (!s.line.empty()) text += fmt::format(" at {}", s.line);
  if (s.phase >= 0) text += fmt::format(" for phase {} of the {}", s.phase, s.kind);
  if (!s.made.empty()) text += fmt::format(" made at {}", s.made);
  return text;
}

std::string letter(std::size_t i) {
  return i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("{}", i + 1);
}

cycle_kind kind_of_step(const cycle_step& s) noexcept {
  if (s.kind == "clock" || s.kind == "phaser") return cycle_kind::phase;
  if (s.kind == "mutex" || s.kind == "shared_mutex") return cycle_kind::mutex;
  return s.construct == "a collective of a team" ? cycle_kind::collective : cycle_kind::other;
}

// Main comes first, then the others by their texts.
auto order_of(const cycle_step& s) {
  return std::tuple(!s.task.starts_with("main"), std::tie(s.task, s.construct, s.line));
}

}  // namespace

cycle_kind kind_of_cycle(const std::vector<cycle_step>& steps) noexcept {
  cycle_kind kind = cycle_kind::none;
  for (const cycle_step& s : steps) kind = std::max(kind, kind_of_step(s));
  return kind;
}

// The same cycle has the same text, wherever it was entered.
std::string describe_cycle(std::vector<cycle_step> steps) {
  std::ranges::rotate(steps, std::ranges::min_element(steps, {}, order_of));
  std::string text;
  for (std::size_t i = 0; i < std::min(steps.size(), steps_max); ++i) {
    const cycle_step& s = steps[i];
    text += i == 0 ? fmt::format("task {} ({})", letter(0), s.task)
                   : fmt::format("; task {}", letter(i));
    text += steps.size() == 1
                ? fmt::format(" {} for itself", wait_text(s))
                : fmt::format(" {} for task {}", wait_text(s), letter((i + 1) % steps.size()));
    if (i + 1 < steps.size()) text += fmt::format(" ({})", steps[i + 1].task);
    text += fmt::format(", which {}", s.relation);
  }
  if (steps.size() > steps_max) {
    text += fmt::format("; and so on for {} more tasks", steps.size() - steps_max);
  }
  return text;
}

}  // namespace apgas::inline v0::scheduler
