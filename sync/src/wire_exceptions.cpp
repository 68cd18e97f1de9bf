// SPDX-License-Identifier: Apache-2.0
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

#include <apgas/exception_types.hpp>

#include "failures.hpp"
#include "finish_details.hpp"
#include "wire_exceptions.hpp"

// Wire: count, then for each: type name, message, three fields of a remote_exception or nothing,
// place, and the spawn site.
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

const exception_types<
    std::runtime_error, std::logic_error, std::invalid_argument, std::out_of_range,
    std::domain_error, std::length_error, std::range_error, std::overflow_error,
    std::underflow_error, std::bad_alloc, std::bad_cast, std::bad_typeid, std::bad_function_call,
    std::bad_optional_access, std::bad_variant_access, std::bad_exception, std::bad_weak_ptr,
    std::bad_array_new_length, std::ios_base::failure, std::exception, std::bad_any_cast>
    standard_types;
const exception_types<error, illegal_operation, bad_place, serialization_error, launch_error,
                      broken_promise, dead_place_error, clock_use_error, phaser_use_error>
    own_types;

struct portable {
  std::string type;      // as the compiler names it, the same in every process
  std::string readable;  // as the user wrote it
  std::string what;
  int remote_place = -1;  // of a remote_exception, whose two texts are type and what
  int code = 0;           // of a std::system_error, whose category is generic or system
};

constexpr const char* generic_error = "std::system_error of the generic category";
constexpr const char* system_error = "std::system_error of the system category";

portable describe(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const remote_exception& e) {
    return {"", e.type_name(), e.remote_what(), e.place_id()};
  } catch (const std::system_error& e) {
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

std::exception_ptr make_again(const portable& p, int place_id) {
  if (p.remote_place >= 0) {
    return std::make_exception_ptr(remote_exception(p.remote_place, p.readable, p.what));
  }
  if (p.type == generic_error || p.type == system_error) {
    const std::error_code code(
        p.code, p.type == generic_error ? std::generic_category() : std::system_category());
    // what() is "text: message of the code", and the message is added again.
    const std::string suffix = ": " + code.message();
    std::string text = p.what;
    if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
    return std::make_exception_ptr(std::system_error(code, text));
  }
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
    into.emplace_back(make_again(p, place_id), place_id, std::move(site));
  }
}

void save_results(comm::out_archive& to, finish_details& details) {
  save_exceptions(to, details.exceptions);
  to(details.offers != nullptr);
  if (details.offers != nullptr) details.offers->save(to);
}

void load_results(std::span<const std::byte> bytes, finish_details& details) {
  comm::in_archive from(bytes);
  load_exceptions(from, details.exceptions);
  if (from.read<bool>()) details.offers->load(from);
  from.expect_end();
}

}  // namespace apgas::inline v0::sync
