// The main of every GoogleTest program.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

int main(int argc, char** argv) {
  // As `berth serve` does, the logger is made before any thread: spdlog's library is not built with the thread
  // sanitizer, which would take two threads that come first together for a race.
  spdlog::default_logger();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
