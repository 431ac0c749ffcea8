#include "berth/core/nearest.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace berth::core
