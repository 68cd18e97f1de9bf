// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/sync/future_state.hpp>
#include <apgas/sync/registered_task.hpp>
#include <apgas/sync/task_body.hpp>
#include <apgas/sync/task_promise.hpp>

// Starting the coroutine of a task<T> as a task of the runtime: the runners that own the coroutine
// and deliver its result.
namespace apgas::inline v0::sync {

// Records what the coroutine threw in the finish of the running task. Context: its task.
APGAS_API void coroutine_failed(scheduler::fiber& self, const std::exception_ptr& error) noexcept;

// The registrations of a started coroutine. They begin in transit, and belong to the task from its
// start until its coroutine has been destroyed.
class coroutine_registrations {
 public:
  coroutine_registrations() = default;
  APGAS_API explicit coroutine_registrations(std::span<const transit> transits);

  APGAS_API void begin(scheduler::fiber& self) noexcept;
  APGAS_API void end() noexcept;

 private:
  struct records;
  struct APGAS_API destroy {
    void operator()(records* r) const noexcept;
  };
  std::unique_ptr<records, destroy> records_;
};

// The runner of async(task<T>).
template <class T>
class spawned_coroutine final : public started_coroutine {
 public:
  spawned_coroutine(coroutine_frame<T> frame, coroutine_registrations registrations) noexcept
      : frame_(std::move(frame)), registrations_(std::move(registrations)) {}

  static void run(void* object) {
    auto& self = *static_cast<spawned_coroutine*>(object);
    scheduler::fiber& task = *scheduler::current_fiber();
    self.registrations_.begin(task);
    self.frame_.promise().begin(self, nullptr);
    self.continue_with(self.frame_.get());
    self.start(task);
  }
  static void discard(void* object) noexcept { delete static_cast<spawned_coroutine*>(object); }

 protected:
  void ended(scheduler::fiber& self) noexcept override {
    const std::unique_ptr<spawned_coroutine> runner(this);
    std::exception_ptr error;
    try {
      static_cast<void>(frame_.promise().take());
    } catch (...) {
      error = std::current_exception();
    }
    frame_.reset();
    registrations_.end();
    if (error != nullptr) coroutine_failed(self, error);
  }

 private:
  coroutine_frame<T> frame_;
  coroutine_registrations registrations_;
};

// The runner of async_future(task<T>), which is the state of the future as well.
// NOLINTNEXTLINE(misc-multiple-inheritance): one allocation for both
template <class T>
class coroutine_with_future final : public future_state<T>, public started_coroutine {
 public:
  coroutine_with_future(coroutine_frame<T> frame, coroutine_registrations registrations) noexcept
      : frame_(std::move(frame)), registrations_(std::move(registrations)) {}

  static void run(void* object) {
    auto& self = *static_cast<coroutine_with_future*>(object);
    scheduler::fiber& task = *scheduler::current_fiber();
    self.registrations_.begin(task);
    self.frame_.promise().begin(self, nullptr);
    self.continue_with(self.frame_.get());
    self.start(task);
  }
  static void discard(void* object) noexcept {
    static_cast<coroutine_with_future*>(object)->drop();
  }

 protected:
  void ended(scheduler::fiber& self) noexcept override {
    const auto runner = ref<coroutine_with_future>::adopt(this);
    try {
      if constexpr (std::is_void_v<T>) {
        frame_.promise().take();
        this->emplace();
      } else if constexpr (std::is_reference_v<T>) {
        this->emplace(std::addressof(frame_.promise().take()));
      } else {
        this->emplace(frame_.promise().take());
      }
    } catch (...) {
      end();
      publish_caught(*this, self);
      return;
    }
    end();
    this->publish_value();
  }

 private:
  void end() noexcept {
    frame_.reset();
    registrations_.end();
  }

  coroutine_frame<T> frame_;
  coroutine_registrations registrations_;
};

template <class T>
void start_coroutine(scheduler::fiber& self, coroutine_frame<T> frame, const char* name,
                     std::source_location site) {
  using runner = spawned_coroutine<T>;
  auto* const made = new runner(std::move(frame), coroutine_registrations());
  task_body(&runner::run, &runner::discard, made).spawn(self, name, site);
}

template <registration_clause C, class T>
void start_registered_coroutine(scheduler::fiber& self, const C& clause, coroutine_frame<T> frame,
                                std::source_location site) {
  using runner = spawned_coroutine<T>;
  with_transits(self, "async", clause, [&](const auto& transits) {
    auto* const made = new runner(std::move(frame), coroutine_registrations(transits));
    task_body(&runner::run, &runner::discard, made).spawn(self, nullptr, site);
  });
}

template <class T>
ref<future_state<T>> start_coroutine_with_future(scheduler::fiber& self, coroutine_frame<T> frame,
                                                 const char* name, std::source_location site) {
  using runner = coroutine_with_future<T>;
  auto* const made = new runner(std::move(frame), coroutine_registrations());
  auto state = ref<future_state<T>>::share(made);
  task_body(&runner::run, &runner::discard, made).spawn(self, name, site);
  return state;
}

template <registration_clause C, class T>
ref<future_state<T>> start_registered_coroutine_with_future(scheduler::fiber& self, const C& clause,
                                                            coroutine_frame<T> frame,
                                                            std::source_location site) {
  using runner = coroutine_with_future<T>;
  return with_transits(self, "async_future", clause, [&](const auto& transits) {
    auto* const made = new runner(std::move(frame), coroutine_registrations(transits));
    auto state = ref<future_state<T>>::share(made);
    task_body(&runner::run, &runner::discard, made).spawn(self, nullptr, site);
    return state;
  });
}

}  // namespace apgas::inline v0::sync
