// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "imsuite/input.hpp"
#include "imsuite_cases.hpp"

namespace {

using imsuite::input;
using imsuite::kernel;
using imsuite::shape;

class imsuite_input : public testing::Test {
 protected:
  imsuite_input() : path_(testing::TempDir() + "imsuite_input_test." + name()) {}
  ~imsuite_input() override { std::filesystem::remove(path_); }

  void file(const std::string& text) const { std::ofstream(path_) << text; }

  [[nodiscard]] std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator(in), {}};
  }

  // What the reader says of a file of this text, from the line's number on.
  [[nodiscard]] std::string refusal(const kernel& k, const std::string& text) const {
    file(text);
    try {
      read_input(path_, k.sections, 100);
    } catch (const imsuite::input_error& e) {
      const std::string said = e.what();
      EXPECT_EQ(said.find(path_ + ":"), 0U) << said;
      EXPECT_EQ(said.find('\n'), std::string::npos);
      return said.substr(path_.size() + 1);
    }
    return "accepted";
  }

  std::string path_;

 private:
  static std::string name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
};

TEST_F(imsuite_input, written_is_read_again) {
  for (const kernel* k : imsuite::kernels()) {
    for (const int nodes : {1, 2, 17, 60}) {
      const input in = imsuite_test::make_input(*k, nodes, 11);
      write_input(path_, k->sections, in);
      EXPECT_EQ(read_input(path_, k->sections, 60), in) << k->name;
    }
  }
}

TEST_F(imsuite_input, the_seed_decides) {
  for (const kernel* k : imsuite::kernels()) {
    EXPECT_EQ(imsuite_test::make_input(*k, 60, 2), imsuite_test::make_input(*k, 60, 2));
    EXPECT_NE(imsuite_test::make_input(*k, 60, 2), imsuite_test::make_input(*k, 60, 3)) << k->name;
  }
}

TEST_F(imsuite_input, no_file) {
  const auto& sections = imsuite::mis.sections;
  try {
    read_input(path_, sections, 10);
    FAIL() << "accepted";
  } catch (const imsuite::input_error& e) {
    EXPECT_EQ(e.what(), path_ + ": wanted an input file, but it cannot be opened");
  }
  EXPECT_THROW(write_input("/nowhere/at/all", sections, {}), imsuite::input_error);
}

TEST_F(imsuite_input, the_same_traitor_twice) {
  const kernel& k = imsuite::byzantine;
  input in = imsuite_test::make_input(k, 24);
  ASSERT_EQ(in.traitors.size(), 2U);
  in.traitors = {3, 3};
  write_input(path_, k.sections, in);
  EXPECT_EQ(refusal(k, text()), "30: wanted another traitor, found 3 again");
}

struct file_case {
  const kernel* k;
  std::string text;
  std::string said;
};

// What the reader says of files, by what they are about.
std::vector<file_case> file_cases() {
  const kernel* const leader = &imsuite::leader_elect_lcr;
  const std::string chain = "010\n101\n010\n \n";
  const std::string row = "3: wanted the neighbours of node 1, 3 of '0' and '1', found ";
  const std::string nodes = "1: wanted the number of nodes from 1 to 100, found ";
  const std::string one_way = " for node 1, whose row says otherwise";
  const std::string towards = " towards the root, or the root itself, found ";
  const std::string accepted = "accepted";
  std::vector<file_case> all = {
      // The last line need not end, but nothing may follow.
      {leader, "2\n10\n20", accepted},
      {leader, "2\n10\n20\n\n \n", accepted},
      {leader, "2\n10\n20\n30\n", "4: wanted the end of the file, found '30'"},
      // The number of nodes.
      {leader, "", "1: wanted the number of nodes, found the end of the file"},
      {leader, "\x01" + std::string(40, 'x') + "\n", nodes + "'?" + std::string(23, 'x') + "...'"},
      // Ids.
      {leader, "3\n7\n8\n7\n", "4: wanted an id that no other node has, found 7 again"},
      {leader, "3\n7\n8\n", "4: wanted the id of node 2, found the end of the file"},
      {leader, "3\n7\n8\n2147483647\n",
       "4: wanted the id of node 2 from 0 to 2147483646, found '2147483647'"},
      // Links.
      {&imsuite::mis, "3\n011\n101\n110\n", accepted},
      {&imsuite::mis, "2\n00\n00\n", accepted},
      {&imsuite::mis, "3\n011\n10\n110\n", row + "2 characters"},
      {&imsuite::mis, "3\n011\n1012\n110\n", row + "4 characters"},
      {&imsuite::mis, "3\n011\n1x1\n110\n", row + "'x' in column 2"},
      {&imsuite::mis, "3\n011\n111\n110\n",
       "3: wanted '0' on the diagonal, found an edge of node 1 to itself"},
      {&imsuite::mis, "3\n011\n101\n100\n", "4: wanted a symmetric matrix, found '0'" + one_way},
      {&imsuite::mis, "3\n011\n100\n110\n", "4: wanted a symmetric matrix, found '1'" + one_way},
      // Connected links, and the root.
      {&imsuite::bfs_dijkstra, "3\n2\n010\n100\n000\n",
       "5: wanted a connected graph, found node 2 that cannot be reached from node 0"},
      {&imsuite::bfs_dijkstra, "3\n3\n010\n101\n010\n",
       "2: wanted the root from 0 to 2, found '3'"},
      // The size of committees, and a separator.
      {&imsuite::kcommittee, "2\n1\n01\n10\n \n5\n6\n", accepted},
      {&imsuite::kcommittee, "2\n0\n01\n10\n \n5\n6\n",
       "2: wanted the size of a committee from 1 to 2, found '0'"},
      {&imsuite::kcommittee, "2\n1\n01\n10\n\n5\n6\n",
       "5: wanted a line that is one space, found ''"},
      // Weights.
      {&imsuite::mst, "3\n" + chain + "9\n4\n9\n4\n9\n5\n8\n5\n9\n", accepted},
      {&imsuite::mst, "3\n" + chain + "9\n4\n9\n4\n9\n5\n8\n6\n9\n",
       "13: wanted 5, the weight of the edge between node 1 and node 2, found 6"},
      {&imsuite::mst, "3\n" + chain + "9\n4\n-1\n",
       "8: wanted a weight from 0 to 2147483647, found '-1'"},
      // Votes and traitors.
      {&imsuite::byzantine, "2\n01\n10\n \n1\n \n",
       "5: wanted the votes, 2 of '0' and '1', found 1 characters"},
      {&imsuite::byzantine, "2\n01\n10\n \n10\n \n1\n", "7: wanted the end of the file, found '1'"},
      // Parents.
      {&imsuite::vertex_coloring, "3\n0\n" + chain + "0\n0\n1\n", accepted},
      {&imsuite::vertex_coloring, "3\n0\n" + chain + "1\n0\n1\n",
       "7: wanted the neighbour of node 0" + towards + "1"},
      {&imsuite::vertex_coloring, "3\n0\n" + chain + "0\n2\n1\n",
       "8: wanted the neighbour of node 1" + towards + "2"},
      {&imsuite::vertex_coloring, "3\n0\n" + chain + "0\n0\n0\n",
       "9: wanted the neighbour of node 2" + towards + "0"},
      {&imsuite::vertex_coloring, "3\n0\n011\n101\n110\n \n0\n0\n0\n",
       "6: wanted a tree of 2 edges, found 3 edges"},
  };
  for (const std::string wrong :
       {"0", "-1", "101", "99999999999999999999", "2 ", "two", "0x2", "2.0", ""}) {
    all.push_back({leader, wrong + "\n1\n2\n", nodes + "'" + wrong + "'"});
  }
  return all;
}

TEST_F(imsuite_input, is_refused_with_line_and_reason) {
  for (const auto& [k, text, said] : file_cases()) {
    EXPECT_EQ(refusal(*k, text), said) << k->name << " of:\n" << text;
  }
}

}  // namespace
