// SPDX-License-Identifier: Apache-2.0
#pragma once

// The types that the archive target reads. New ones go to the end, since the corpus refers to them
// by number.

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace apgas_fuzz {

struct point {
  int x;
  int y;
};
struct person {
  std::string name;
  std::vector<point> path;
  std::map<int, std::optional<std::string>> notes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, path, notes);
  }
};
struct tree {
  std::vector<tree> children;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(children);
  }
};
struct directory {
  std::unordered_map<std::string, directory> entries;
  bool operator==(const directory&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(entries);
  }
};
struct split {
  int value = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(value);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(value);
  }
};
struct nothing_written {
  template <class Archive>
  void serialize(Archive&) {}
};
struct no_default {
  explicit constexpr no_default(int v) : value(v) {}
  int value;
};
// Pointers to several types, in any order.
using pointer = std::variant<std::shared_ptr<std::string>, std::shared_ptr<person>,
                             std::unique_ptr<std::vector<int>>>;

template <class... Ts>
struct types {};

using all_types = types<std::string,                                                      // 0
                        std::vector<std::uint64_t>,                                       // 1
                        std::vector<std::vector<std::string>>,                            // 2
                        std::map<std::string, std::vector<int>>,                          // 3
                        std::pair<std::set<int>, std::multimap<int, std::u16string>>,     // 4
                        std::unordered_map<std::uint32_t, std::string>,                   // 5
                        std::unordered_set<std::string>,                                  // 6
                        std::optional<std::string>,                                       // 7
                        std::optional<std::int64_t>,                                      // 8
                        std::variant<int, std::string, std::vector<std::string>>,         // 9
                        std::variant<std::int64_t, double>,                               // 10
                        person,                                                           // 11
                        std::vector<person>,                                              // 12
                        tree,                                                             // 13
                        directory,                                                        // 14
                        std::vector<pointer>,                                             // 15
                        std::tuple<std::deque<std::string>, std::list<person>, split>,    // 16
                        std::vector<bool>,                                                // 17
                        std::pair<bool, std::array<std::string, 2>>,                      // 18
                        std::vector<std::optional<bool>>,                                 // 19
                        std::pair<std::vector<nothing_written>, std::vector<no_default>>  // 20
                        >;

// Types that are compared as values, because the order of their bytes may change.
template <class T>
concept unordered =
    requires(const T& value) { value.bucket_count(); } || std::same_as<T, directory>;

// Types whose encoding is read to its end.
template <class T>
concept sized = !std::same_as<T, std::vector<bool>>;

// Inspects the contents of a value as a program would.
template <class T>
void visit_choices(const T& value) {
  if constexpr (requires { std::visit([](const auto&) {}, value); }) {
    std::visit([](const auto& held) { static_cast<void>(sizeof held); }, value);
  }
  if constexpr (requires { value.has_value(); }) static_cast<void>(value.has_value());
}

}  // namespace apgas_fuzz
