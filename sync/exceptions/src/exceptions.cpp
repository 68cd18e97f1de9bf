// SPDX-License-Identifier: Apache-2.0
#include <apgas/exceptions.hpp>

#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>
#include <fmt/format.h>

#include "failures.hpp"

namespace apgas::inline v0 {

std::string sync::readable_type(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? text.get() : type.name();
  // Users write the name without the inline namespace.
  constexpr std::string_view hidden = "apgas::v0::";
  for (auto at = name.find(hidden); at != std::string::npos; at = name.find(hidden, at)) {
    name.replace(at, hidden.size(), "apgas::");
  }
  return name;
}

namespace {

std::string with_type(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const remote_exception& e) {
    return e.what();
  } catch (const std::exception& e) {
    return fmt::format("{}: {}", sync::readable_type(typeid(e)), e.what());
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return type == nullptr ? "an exception of unknown type" : sync::readable_type(*type);
  }
}

std::string summary(const std::vector<task_exception>& exceptions) {
  constexpr std::size_t shown_max = 8;
  std::string text =
      exceptions.size() == 1 ? "1 task failed" : fmt::format("{} tasks failed", exceptions.size());
  for (std::size_t i = 0; i < exceptions.size() && i < shown_max; ++i) {
    text += fmt::format("\n  {}", exceptions[i].describe());
  }
  if (exceptions.size() > shown_max) {
    text += fmt::format("\n  and {} more", exceptions.size() - shown_max);
  }
  return text;
}

}  // namespace

std::string task_exception::describe() const {
  std::string where = fmt::format("place {}", place_id_);
  if (!site_.task_name.empty()) where += fmt::format(", task \"{}\"", site_.task_name);
  where += site_.line == 0 ? std::string(", main")
                           : fmt::format(", spawned at {}:{}", site_.file, site_.line);
  return fmt::format("{} ({})", with_type(exception_), where);
}

multiple_exceptions::multiple_exceptions(std::vector<task_exception> exceptions)
    : error(summary(exceptions)), exceptions_(std::move(exceptions)) {}

namespace sync {

void collect_current(std::vector<task_exception>& into, int place_id, const spawn_site& site) {
  try {
    throw;
  } catch (const multiple_exceptions& inner) {
    if (inner.size() == 0) into.emplace_back(std::current_exception(), place_id, site);
    into.insert(into.end(), inner.begin(), inner.end());
  } catch (...) {
    into.emplace_back(std::current_exception(), place_id, site);
  }
}

spawn_site site_of(const scheduler::task_state& task) {
  const std::source_location& at = task.site;
  return {.file = at.file_name(),
          .line = at.line(),
          .function = at.function_name(),
          .task_name = task.name == nullptr ? "" : task.name};
}

}  // namespace sync
}  // namespace apgas::inline v0
