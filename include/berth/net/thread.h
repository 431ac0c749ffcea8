// Starts the threads that talk to others and work on what they hear.
//
// Thread-safe: a function without state.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace berth::net {

// Signals are for the threads of the program, so this one takes none. What `run` throws ends the program, and the log
// says of which thread: one that went silent would leave a program that looks alive and is not.
std::thread start_thread(std::string name, std::function<void()> run);

}  // namespace berth::net
