#include "berth/core/thread_class.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace berth::core {
namespace {

// struct sched_attr of linux/sched/types.h, first version; glibc 2.36 has none.
struct SchedAttr {
  std::uint32_t size = sizeof(SchedAttr);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

constexpr std::uint64_t kShortTurnNs = 100'000;  // the least that the kernel takes

}  // namespace

void favour_latency() {
  SchedAttr current;
  if (::syscall(SYS_sched_getattr, 0, &current, sizeof current, 0) != 0) return;
  current.policy = SCHED_OTHER;
  current.flags = 0;
  current.runtime_ns = kShortTurnNs;
  ::syscall(SYS_sched_setattr, 0, &current, 0);
}

void favour_throughput() {
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
}

}  // namespace berth::core
