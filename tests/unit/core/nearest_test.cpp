#include "berth/core/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::core {
namespace {

TEST(Nearest, TwoLettersAwayOrTheSameButForCaseAndHyphens) {
  EXPECT_EQ(nearest("vision/imagnet", {"vision/imagenet", "vision/coco"}), "vision/imagenet");
  EXPECT_EQ(nearest("maxConnection", {"max-connections"}), "max-connections");
}

TEST(Nearest, NothingIsNearToWhatIsThreeLettersAwayOrToAShortName) {
  EXPECT_EQ(nearest("vision/net", {"vision/imagenet"}), "");
  EXPECT_EQ(nearest("ab", {"cd"}), "");
  EXPECT_EQ(nearest("imagenet", {}), "");
}

// It would take minutes to compare them letter by letter.
TEST(Nearest, NothingIsNearToATextMuchLonger) {
  const std::vector<std::string> known(10'000, "a-policy-with-a-name");
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), known), "");
}

}  // namespace
}  // namespace berth::core
