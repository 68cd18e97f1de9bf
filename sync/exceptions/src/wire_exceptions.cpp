// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <any>
#include <filesystem>
#include <functional>
#include <ios>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <variant>

#include <cxxabi.h>
#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/exception_types.hpp>

#include "failures.hpp"
#include "wire_exceptions.hpp"

// Wire: the number of exceptions; then for each one the fields of `portable` in their order, the
// number of its place, and its spawn site.
namespace apgas::inline v0::sync {
namespace {

class type_table {
 public:
  void add(const std::type_info& type, exception_maker make) {
    std::lock_guard guard(lock_);
    makers_[type.name()] = make;
  }
  exception_maker find(const std::string& name) {
    std::lock_guard guard(lock_);
    const auto at = makers_.find(name);
    return at == makers_.end() ? nullptr : at->second;
  }

 private:
  base::spin_lock lock_;
  std::unordered_map<std::string, exception_maker> makers_;
};

type_table& table() {
  static type_table types;
  return types;
}

const exception_types<std::runtime_error, std::logic_error, std::invalid_argument,
                      std::out_of_range, std::domain_error, std::length_error, std::range_error,
                      std::overflow_error, std::underflow_error, std::bad_alloc, std::bad_cast,
                      std::bad_typeid, std::bad_function_call, std::bad_optional_access,
                      std::bad_variant_access, std::bad_exception, std::bad_weak_ptr,
                      std::bad_array_new_length, std::exception, std::bad_any_cast>
    standard_types;
const exception_types<error, illegal_operation, bad_place, serialization_error, launch_error,
                      broken_promise, dead_place_error, clock_use_error, phaser_use_error>
    own_types;

// What is sent of an exception.
struct portable {
  std::string type;      // the mangled name, the same in every process; empty: not to be restored
  std::string readable;  // the name as users write it
  std::string what;
  int remote_place = -1;  // place_id() of a remote_exception, -1 for other exceptions
  int code = 0;           // the code of a std::system_error or std::ios_base::failure
};

constexpr const char* generic_error = "std::system_error of the generic category";
constexpr const char* system_error = "std::system_error of the system category";
constexpr const char* stream_error = "std::ios_base::failure";

portable describe(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const remote_exception& e) {
    return {"", e.type_name(), e.remote_what(), e.place_id()};
  } catch (const std::system_error& e) {
    if (typeid(e) == typeid(std::ios_base::failure)) {
      return {stream_error, stream_error, e.what(), -1, e.code().value()};
    }
    if (typeid(e) != typeid(std::system_error)) {
      return {typeid(e).name(), readable_type(typeid(e)), e.what(), -1};
    }
    const bool generic = e.code().category() == std::generic_category();
    return {generic ? generic_error : system_error, "std::system_error", e.what(), -1,
            e.code().value()};
  } catch (const std::exception& e) {
    return {typeid(e).name(), readable_type(typeid(e)), e.what(), -1};
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    if (type == nullptr) return {"", "foreign exception", "", -1};
    return {type->name(), readable_type(*type), "", -1};
  }
}

// what() of an exception with a code is "text: message of the code". The constructor appends the
// message again, so it is removed first.
template <class E>
std::exception_ptr make_coded(const portable& p, const std::error_category& category) {
  const std::error_code code(p.code, category);
  const std::string suffix = ": " + code.message();
  std::string text = p.what.substr(0, p.what.find('\0'));  // as what() will return it
  if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
  if constexpr (std::is_same_v<E, std::system_error>) {
    return std::make_exception_ptr(E(code, text));
  } else {
    return std::make_exception_ptr(E(text, code));
  }
}

std::exception_ptr make_again(const portable& p, int place_id) {
  if (p.remote_place >= 0) {
    return std::make_exception_ptr(remote_exception(p.remote_place, p.readable, p.what));
  }
  if (p.type == stream_error) {
    return make_coded<std::ios_base::failure>(p, std::iostream_category());
  }
  if (p.type == generic_error) return make_coded<std::system_error>(p, std::generic_category());
  if (p.type == system_error) return make_coded<std::system_error>(p, std::system_category());
  if (const exception_maker make = table().find(p.type)) return make(p.what);
  return std::make_exception_ptr(remote_exception(place_id, p.readable, p.what));
}

}  // namespace

void register_exception(const std::type_info& type, exception_maker make) noexcept {
  table().add(type, make);
}

void save_exceptions(comm::out_archive& to, const std::vector<task_exception>& exceptions) {
  to(exceptions.size());
  for (const task_exception& e : exceptions) {
    const portable p = describe(e.exception());
    const spawn_site& site = e.site();
    to(p.type, p.readable, p.what, p.remote_place, p.code, e.place_id(), site.file, site.line,
       site.function, site.task_name);
  }
}

void load_exceptions(comm::in_archive& from, std::vector<task_exception>& into) {
  for (auto n = from.read<std::size_t>(); n > 0; --n) {
    portable p;
    spawn_site site;
    int place_id = 0;
    from(p.type, p.readable, p.what, p.remote_place, p.code, place_id, site.file, site.line,
         site.function, site.task_name);
    if (place_id < 0 || p.remote_place < -1) {
      throw serialization_error(fmt::format("an exception says that it comes from place {}",
                                            std::min(place_id, p.remote_place)));
    }
    into.emplace_back(make_again(p, place_id), place_id, std::move(site));
  }
}

}  // namespace apgas::inline v0::sync
