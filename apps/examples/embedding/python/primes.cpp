// SPDX-License-Identifier: Apache-2.0

// A Python module, by pybind11, with a parallel function: primes.Runtime().count(limit).
//
// Every function that waits gives up Python's lock (the GIL) meanwhile, so that the other threads
// of Python go on, and call the module, too. The tasks never touch a Python object.

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>

#include <pybind11/pybind11.h>

#include <apgas/apgas.hpp>

namespace {

namespace py = pybind11;
using unlocked = py::call_guard<py::gil_scoped_release>;

bool is_prime(long n) {
  if (n % 2 == 0) return n == 2;
  for (long d = 3; d * d <= n; d += 2) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

// Every place takes each n-th number, so that all have as much to do, and divides its numbers among
// its workers. Context: task.
long count_primes(long limit) {
  if (limit < 0) throw std::invalid_argument("count needs a limit of at least 0");
  return apgas::finish_reduce(0L, std::plus<>(), [limit] {
    apgas::async_at(
        apgas::places(),
        [](long below) {
          const long step = apgas::num_places();
          const long first = apgas::here().id();
          const long numbers = (below - first + step - 1) / step;
          apgas::offer(apgas::parallel_reduce(
              0L, numbers, 0L, [=](long i) { return is_prime(first + i * step) ? 1L : 0L; },
              std::plus<>()));
        },
        limit);
  });
}

// The runtime as Python sees it, a context manager: `with primes.Runtime() as runtime: ...`
class py_runtime {
 public:
  explicit py_runtime(int workers)
      : runtime_(std::make_unique<apgas::runtime>(apgas::config{.workers = workers})) {}
  py_runtime(const py_runtime&) = delete;
  py_runtime& operator=(const py_runtime&) = delete;
  // Called by Python, which holds its lock.
  // NOLINTNEXTLINE(bugprone-exception-escape): pybind11 throws nothing here
  ~py_runtime() {
    const py::gil_scoped_release release;
    runtime_.reset();
  }

  int place() const { return runtime_->place_id(); }
  int places() const { return runtime_->num_places(); }
  long count(long limit) {
    return runtime_->run([limit] { return count_primes(limit); });
  }
  int serve() { return runtime_->serve(); }
  int stop(int code) { return place() == 0 ? runtime_->stop(code) : runtime_->serve(); }

 private:
  std::unique_ptr<apgas::runtime> runtime_;
};

}  // namespace

PYBIND11_MODULE(primes, module) {
  module.doc() = "Counts primes in parallel, on one place or several.";
  py::class_<py_runtime>(module, "Runtime")
      .def(py::init<int>(), py::arg("workers") = 0, unlocked())
      .def_property_readonly("place", &py_runtime::place)
      .def_property_readonly("places", &py_runtime::places)
      .def("count", &py_runtime::count, py::arg("limit"), unlocked(), "The primes below limit.")
      .def("serve", &py_runtime::serve, unlocked(),
           "At places other than 0: works for place 0 until it ends; returns its code.")
      .def("stop", &py_runtime::stop, py::arg("code") = 0, unlocked(),
           "Ends in order at all places; returns the code of the program.")
      .def("__enter__", [](py_runtime& self) -> py_runtime& { return self; })
      .def("__exit__",
           [](py_runtime& self, const py::object& type, const py::object&, const py::object&) {
             const int code = type.is_none() ? 0 : 1;
             const py::gil_scoped_release release;
             self.stop(code);
           });
}
