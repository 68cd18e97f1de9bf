// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <fmt/format.h>

#include "frame_names.hpp"
#include "implementation.hpp"
#include "running_text.hpp"
#include "thread_stack.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t frames_at_most = 8;

}  // namespace

std::string running_text(const worker& w, const worker_state& seen, bool sleeps) {
  // The texts are read only if the task runs still: otherwise its code may be gone.
  if (sleeps || seen.searches || seen.on == nullptr) return {};
  const worker_state now = state_of(w);
  if (now.searches || now.on != seen.on || now.site != seen.site || now.name != seen.name ||
      now.main != seen.main)
    return {};
  const std::string site = line_text(std::bit_cast<call_site>(seen.site));
  const std::string name = seen.name == nullptr ? "" : fmt::format(" \"{}\"", seen.name);
  if (!site.empty()) return fmt::format("the task{} spawned at {}", name, site);
  if (!name.empty()) return "the task" + name;
  return seen.main ? "main" : "a task without a spawn site";
}

std::string position_text(scheduler::implementation& s, std::size_t worker,
                          const worker_state& seen) {
  if (state_of(*s.workers[worker]) != seen) return {};
  const thread_stack stack = stack_of_thread(s.thread_ids[worker].load(base::relaxed));
  if (state_of(*s.workers[worker]) != seen) return {};  // the stack may be that of another task
  if (stack.in_system_call) return ", now in a system call";
  if (stack.frames.empty()) return {};
  const frame_names names = names_of(stack.frames, frames_at_most);
  if (names.innermost.empty()) return ", now in the body of the task";
  std::string text = fmt::format(", now in `{}`:", names.innermost);
  for (std::size_t i = 0; i < names.frames.size(); ++i) {
    text += fmt::format("\n  #{} {}", i, names.frames[i]);
  }
  return text;
}

}  // namespace apgas::inline v0::scheduler
