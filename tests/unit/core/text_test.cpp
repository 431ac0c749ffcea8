#include "berth/core/text.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

TEST(Text, TrimmedOfWhiteSpaceAtBothEnds) {
  EXPECT_EQ(trimmed(" \ta b\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, NamesAreDnsSubdomains) {
  for (const char* good : {"a", "imagenet-1k", "a.b", "0"}) EXPECT_TRUE(is_name(good)) << good;
  for (const char* bad : {"", "A", "a b", "a/b", "a_b", "\xC3\xBC"}) EXPECT_FALSE(is_name(bad)) << bad;
  EXPECT_TRUE(is_name(std::string(253, 'a')));
  EXPECT_FALSE(is_name(std::string(254, 'a')));
}

TEST(Text, WordsStandAlone) {
  EXPECT_TRUE(has_word("RESERVED", "RESERVED"));
  EXPECT_TRUE(has_word("3 RESERVED, 2 other", "RESERVED"));
  EXPECT_TRUE(has_word("UNRESERVED RESERVED.", "RESERVED"));
  EXPECT_FALSE(has_word("UNRESERVED", "RESERVED"));
  EXPECT_FALSE(has_word("RESERVED_X RESERVED1", "RESERVED"));
  EXPECT_FALSE(has_word("", "RESERVED"));
}

}  // namespace
}  // namespace berth::core
