// How SIGTERM and SIGINT end a program that goes on until then.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace berth::cli {

// They end the program at once until hold(): reading a pipe, which may take for ever, waits for nobody. From then on
// they are taken by wait(), on the main thread, and by nobody else: threads that start later inherit it.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    // Not the default action, which the first process of a container is spared.
    for (const int number : {SIGTERM, SIGINT}) signal(number, [](int sent) { _exit(128 + sent); });
    signal(SIGPIPE, SIG_IGN);
  }
  void hold() const { pthread_sigmask(SIG_BLOCK, &set_, nullptr); }
  const char* wait() const {
    int number = 0;
    sigwait(&set_, &number);
    return number == SIGINT ? "SIGINT" : "SIGTERM";
  }

 private:
  sigset_t set_{};
};

}  // namespace berth::cli
