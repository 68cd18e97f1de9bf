// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/utf8.hpp>

#include <string>

#include <gtest/gtest.h>

namespace apgas::base {
namespace {

std::string utf8(std::string_view text) {
  std::string storage;
  return std::string(as_utf8(text, storage));
}

TEST(utf8, valid_text_is_not_copied) {
  for (const std::string text : {"", "plain", "\xc3\xa9", "\xe2\x82\xac 5", "\xf0\x9f\x98\x80",
                                 "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    std::string storage;
    EXPECT_EQ(as_utf8(text, storage).data(), text.data());
    EXPECT_TRUE(storage.empty());
  }
}

TEST(utf8, each_wrong_byte_is_replaced) {
  EXPECT_EQ(utf8("caf\xe9"), "caf\ufffd");
  EXPECT_EQ(utf8("\xff-\xfe"), "\ufffd-\ufffd");
  EXPECT_EQ(utf8("\xe9t\xe9 \xc3\xa9"), "\ufffdt\ufffd \u00e9");
}

TEST(utf8, characters_that_are_cut_off_are_replaced) {
  EXPECT_EQ(utf8("\xe2\x82"), "\ufffd\ufffd");
  EXPECT_EQ(utf8("\xf0\x9f\x98!"), "\ufffd\ufffd\ufffd!");
  EXPECT_EQ(utf8("\x80"), "\ufffd");
}

TEST(utf8, forms_that_the_standard_excludes_are_replaced) {
  EXPECT_EQ(utf8("\xc0\xaf"), "\ufffd\ufffd") << "longer than necessary";
  EXPECT_EQ(utf8("\xe0\x9f\xbf"), "\ufffd\ufffd\ufffd") << "longer than necessary";
  EXPECT_EQ(utf8("\xf0\x8f\xbf\xbf"), "\ufffd\ufffd\ufffd\ufffd") << "longer than necessary";
  EXPECT_EQ(utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd") << "a surrogate";
  EXPECT_EQ(utf8("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd") << "above U+10FFFF";
}

}  // namespace
}  // namespace apgas::base
