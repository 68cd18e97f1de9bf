// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/coroutine_start.hpp>

#include <fmt/format.h>

#include <apgas/errors.hpp>

namespace apgas::inline v0::sync {

void throw_empty_task(const char* operation) {
  throw illegal_operation(
      fmt::format("{} was given an empty task: default-constructed, moved from, or started or "
                  "awaited before; a coroutine runs once, so call its function again for each run",
                  operation));
}

void coroutine_failed(scheduler::fiber& self, const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    task_failed(self);
  }
}

struct coroutine_registrations::records {
  explicit records(std::span<const transit> of)
      : transits(of.begin(), of.end()), storage(of.size()) {}

  const std::vector<transit> transits;
  std::vector<registration> storage;
  std::optional<registered_body> body;
};

void coroutine_registrations::destroy::operator()(records* r) const noexcept { delete r; }

coroutine_registrations::coroutine_registrations(std::span<const transit> transits)
    : records_(new records(transits)) {}

void coroutine_registrations::begin(scheduler::fiber& self) noexcept {
  if (records_ != nullptr) records_->body.emplace(self, records_->transits, records_->storage);
}

void coroutine_registrations::end() noexcept { records_.reset(); }

}  // namespace apgas::inline v0::sync
