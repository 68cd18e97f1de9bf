// SPDX-License-Identifier: Apache-2.0

// The native part of the Python package apgas.
//
// Python code never runs on the stack of a task: a task hands it to apgas::blocking, whose threads
// are ordinary ones. So it may wait, call this package again, and stay in its thread, as Python
// requires. Python's lock (the GIL) is held only while Python code runs. Compiled loop bodies run
// in tasks, without the lock.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include <apgas/apgas.hpp>

namespace {

namespace py = pybind11;

// A compiled loop body: called once for each index, by several threads at once.
using native_body = void (*)(std::int64_t index, void* data);

std::unique_ptr<apgas::runtime> the_runtime;  // guarded by Python's lock

// The runtime, if this thread may wait for it. A compiled body that calls Python, which calls this
// package, is refused: its task would suspend and go on in another thread.
apgas::runtime& started() {
  if (!the_runtime) throw std::runtime_error("the runtime of apgas is not running");
  bool in_task = true;
  try {
    static_cast<void>(apgas::here());
  } catch (const apgas::illegal_operation&) {
    in_task = false;
  }
  if (in_task) {
    throw std::runtime_error(
        "a compiled loop body called apgas through Python; pass forall a Python function instead");
  }
  return *the_runtime;
}

void start(int workers) {
  if (the_runtime) throw std::runtime_error("the runtime of apgas is running already");
  std::unique_ptr<apgas::runtime> made;
  {
    const py::gil_scoped_release unlocked;
    made =
        std::make_unique<apgas::runtime>(apgas::config{.workers = workers, .serve_and_exit = true});
  }
  the_runtime = std::move(made);
}

// Waits for all tasks, which may need Python's lock.
void stop() {
  if (!the_runtime) return;
  started();
  const std::unique_ptr<apgas::runtime> ends = std::move(the_runtime);
  const py::gil_scoped_release unlocked;
  ends->stop();
}

int workers() {
  apgas::runtime& runtime = started();
  const py::gil_scoped_release unlocked;
  return runtime.run([] { return apgas::num_workers(); });
}

// The exceptions that left the body of a loop, and their indices. Guarded by Python's lock.
class loop_errors {
 public:
  void keep(std::int64_t index, py::error_already_set& error) {
    py::object value = error.value();
    if (error.trace()) PyException_SetTraceback(value.ptr(), error.trace().ptr());
    all_.emplace_back(index, std::move(value));
  }

  py::list in_order() {
    std::ranges::sort(all_, {}, &std::pair<std::int64_t, py::object>::first);
    py::list list;
    for (const auto& [index, error] : all_) list.append(error);
    return list;
  }

 private:
  std::vector<std::pair<std::int64_t, py::object>> all_;
};

// Calls body(i) for each i in [0, size), `grain` of them at a time, in as many threads as there are
// workers. Returns the exceptions in the order of their indices.
py::list forall_python(std::int64_t size, const py::object& body, std::int64_t grain) {
  loop_errors errors;
  std::atomic<std::int64_t> next{0};
  const auto take_parts = [&] {
    const py::gil_scoped_acquire locked;
    for (std::int64_t i = 0; (i = next.fetch_add(grain)) < size;) {
      for (const std::int64_t end = i + std::min(grain, size - i); i < end; ++i) {
        try {
          body(i);
        } catch (py::error_already_set& error) {
          errors.keep(i, error);
        }
      }
    }
  };
  apgas::runtime& runtime = started();
  {
    const py::gil_scoped_release unlocked;
    runtime.run([&] {
      for (int i = 0; i < apgas::num_workers(); ++i) {
        apgas::async([&] { apgas::blocking(take_parts); });
      }
    });
  }
  return errors.in_order();
}

void forall_native(std::int64_t size, std::uintptr_t body, std::uintptr_t data) {
  const auto run = reinterpret_cast<native_body>(body);  // NOLINT(performance-no-int-to-ptr)
  void* const with = reinterpret_cast<void*>(data);      // NOLINT(performance-no-int-to-ptr)
  apgas::runtime& runtime = started();
  const py::gil_scoped_release unlocked;
  runtime.run([&] { apgas::forall(std::int64_t{0}, size, [&](std::int64_t i) { run(i, with); }); });
}

// Calls work() in a thread. It takes no argument and throws nothing.
void spawn(py::object work) {
  apgas::runtime& runtime = started();
  const std::shared_ptr<py::object> held(new py::object(std::move(work)), [](py::object* gone) {
    const py::gil_scoped_acquire locked;
    delete gone;
  });
  const py::gil_scoped_release unlocked;
  static_cast<void>(runtime.submit([held] {
    apgas::blocking([&] {
      const py::gil_scoped_acquire locked;
      (*held)();
    });
  }));
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The native part of the package apgas, which checks the arguments.";
  module.def("start", &start);
  module.def("stop", &stop);
  module.def("running", [] { return the_runtime != nullptr; });
  module.def("workers", &workers);
  module.def("forall_python", &forall_python);
  module.def("forall_native", &forall_native);
  module.def("spawn", &spawn);
}
