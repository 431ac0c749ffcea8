// How the kernel should treat the calling thread beside others that want the processor. Best effort: where the kernel
// knows no such wish, nothing changes.
//
// Thread-safe: each acts on the calling thread.
#pragma once

namespace berth::core {

// Work that somebody waits for: short turns, and therefore an early one (sched_attr.sched_runtime of an ordinary
// thread, Linux 6.12 and newer; no privilege needed).
void favour_latency();

// Work that can wait for a moment: never interrupts another thread just because it has become ready (SCHED_BATCH).
void favour_throughput();

}  // namespace berth::core
