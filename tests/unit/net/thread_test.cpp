#include "berth/net/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <new>

namespace berth::net {
namespace {

TEST(StartThread, SignalsAreLeftToOtherThreads) {
  sigset_t before;
  sigset_t inside;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  start_thread("one", [&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); }).join();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    EXPECT_EQ(sigismember(&inside, number), 1) << number;
    EXPECT_EQ(sigismember(&after, number), sigismember(&before, number)) << number;
  }
}

TEST(StartThreadDeathTest, WhatItThrowsEndsTheProgramWithItsName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        spdlog::set_default_logger(spdlog::stderr_logger_mt("death"));
        start_thread("one", [] { throw std::bad_alloc(); }).join();
      },
      "one: std::bad_alloc; ending");
}

}  // namespace
}  // namespace berth::net
