// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/wait_counts.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using apgas::scheduler::construct_names;
using apgas::scheduler::construct_waits;
using apgas::scheduler::wait_counts;

std::map<std::string, std::uint64_t> read(const wait_counts& counts, const construct_names& names) {
  std::vector<construct_waits> all;
  for (const std::string& name : names.all()) all.push_back({name});
  counts.add_to(all);
  std::map<std::string, std::uint64_t> result;
  for (const construct_waits& each : all) {
    if (each.suspensions != 0) result[each.construct] = each.suspensions;
  }
  return result;
}

TEST(WaitCounts, CountByText) {
  construct_names names;
  wait_counts counts;
  const std::string twice[] = {"finish", "finish"};  // one text at two addresses
  counts.add(twice[0].c_str(), names);
  counts.add(twice[1].c_str(), names);
  counts.add("mutex::lock", names);
  counts.add(twice[0].c_str(), names);
  EXPECT_EQ(read(counts, names),
            (std::map<std::string, std::uint64_t>{{"finish", 3}, {"mutex::lock", 1}}));
}

TEST(WaitCounts, NoConstructIsNotCounted) {
  construct_names names;
  wait_counts counts;
  for (int i = 0; i < 3; ++i) counts.add(nullptr, names);
  EXPECT_TRUE(read(counts, names).empty());
}

TEST(WaitCounts, TheTextIsNotReadLater) {
  construct_names names;
  wait_counts counts;
  auto text = std::make_unique<std::string>("a construct of a library that is unloaded later");
  const std::string copy = *text;
  counts.add(text->c_str(), names);
  text.reset();
  EXPECT_EQ(read(counts, names), (std::map<std::string, std::uint64_t>{{copy, 1}}));
}

TEST(WaitCounts, WhatHasNoRoomIsCountedAsOther) {
  construct_names names;
  wait_counts counts;
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i)
    texts.push_back("a construct with the number " + std::to_string(i));
  for (int round = 0; round < 2; ++round) {
    for (const std::string& each : texts) counts.add(each.c_str(), names);
  }
  const auto all = read(counts, names);
  std::uint64_t sum = 0;
  for (const auto& [name, n] : all) sum += n;
  EXPECT_EQ(sum, 2000u);
  EXPECT_GT(all.at("other"), 0u);
  EXPECT_EQ(all.at(texts[0]), 2u);
}

TEST(WaitCounts, NamesAreLimited) {
  construct_names names;
  for (int i = 1; i <= 255; ++i) EXPECT_EQ(names.number_of(std::to_string(i).c_str()), i);
  EXPECT_EQ(names.number_of("one more"), 0);
  EXPECT_EQ(names.number_of("255"), 255);
}

}  // namespace
