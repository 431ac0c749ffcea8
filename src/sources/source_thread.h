// Starts the threads of sources.
#pragma once

#include <functional>
#include <thread>

namespace berth::sources {

// Signals are for the threads of the program, so this one takes none. What `run` throws ends the program, and the log
// says of which thread: a source that went silent would leave a view that looks alive and is not.
std::thread start_thread(const char* name, std::function<void()> run);

}  // namespace berth::sources
