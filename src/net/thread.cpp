#include "berth/net/thread.h"

#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <exception>
#include <utility>

namespace berth::net {

std::thread start_thread(std::string name, std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([name = std::move(name), work = std::move(run)] {
    try {
      work();
    } catch (const std::exception& thrown) {
      spdlog::critical("{}: {}; ending, because a new start reads everything anew", name, thrown.what());
      std::abort();
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace berth::net
