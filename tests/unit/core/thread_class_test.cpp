#include "berth/core/thread_class.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace berth::core {
namespace {

int policy_of_a_thread_that(void (*wish)()) {
  int policy = -1;
  std::thread([&] {
    wish();
    policy = sched_getscheduler(0);
  }).join();
  return policy;
}

TEST(ThreadClass, WorkThatCanWaitIsABatch) { EXPECT_EQ(policy_of_a_thread_that(favour_throughput), SCHED_BATCH); }

TEST(ThreadClass, WorkThatIsWaitedForStaysAnOrdinaryThread) {
  EXPECT_EQ(policy_of_a_thread_that(favour_latency), SCHED_OTHER);
}

}  // namespace
}  // namespace berth::core
