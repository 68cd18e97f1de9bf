// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include <apgas/at.hpp>
#include <apgas/finish.hpp>
#include <apgas/sync/unobserved.hpp>

#include "unobserved_failures.hpp"

namespace apgas::inline v0::launch {

void keep_unobserved(runtime_state& state) noexcept {
  state.unobserved = [](sync::place_state& place, std::exception_ptr error,
                        const spawn_site& site) noexcept {
    auto& here = static_cast<runtime_state&>(place);
    std::lock_guard guard(here.lock);
    here.failures.emplace_back(std::move(error), place.here, site);
  };
}

void throw_unobserved() {
  finish([] {
    for (place p : places()) {
      async_at(p, [] {
        auto& state =
            static_cast<runtime_state&>(sync::place_of(sync::task_fiber("the end of run")));
        sync::report_all_unobserved(state);
        std::lock_guard guard(state.lock);
        if (!state.failures.empty()) throw multiple_exceptions(std::exchange(state.failures, {}));
      });
    }
  });
}

}  // namespace apgas::inline v0::launch
