// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/seeded_schedule.hpp>

#include <utility>

#include "turns.hpp"

namespace apgas::inline v0::scheduler {

seeded_schedule::seeded_schedule(std::uint64_t seed, int places)
    : turns_(std::make_unique<turns>(seed, places)) {}

seeded_schedule::~seeded_schedule() = default;

std::uint64_t seeded_schedule::seed() const noexcept { return turns_->seed(); }

void seeded_schedule::explain_with(int place, explain_function f) noexcept {
  turns_->explain_with(place, std::move(f));
}

void seeded_schedule::place_is_ready() noexcept { turns_->place_is_ready(); }

void seeded_schedule::end() noexcept { turns_->end(); }

base::choice_source& seeded_schedule::choices() noexcept { return *turns_; }

std::string seeded_schedule::description() const { return turns_->description(); }

}  // namespace apgas::inline v0::scheduler
