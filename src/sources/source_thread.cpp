#include "source_thread.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <exception>
#include <utility>

namespace berth::sources {

std::thread start_thread(const char* name, std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([name, work = std::move(run)] {
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

}  // namespace berth::sources
