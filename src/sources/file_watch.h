// Tells when a file may have become another one.
//
// Not thread-safe, but for the cancellation.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <string>

#include "berth/net/cancellation.h"

namespace berth::sources {

class FileWatch {
 public:
  explicit FileWatch(const std::string& file);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // Returns true when the file's identity, size or time has changed since the last call (or the constructor) and
  // nothing has happened in its directory for `quiet`; false when cancelled. It looks every `look_every` without being
  // told too.
  bool wait_for_change(const net::Cancellation& cancellation, std::chrono::milliseconds quiet,
                       std::chrono::milliseconds look_every);

 private:
  struct Identity {
    bool exists = false;
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    long seconds = 0;
    long nanoseconds = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  [[nodiscard]] Identity look() const;
  // True if the directory tells of something within `time`.
  bool wait_for_event(const net::Cancellation& cancellation, std::chrono::milliseconds time) const;

  std::string file_;
  int inotify_;
  Identity known_;
};

}  // namespace berth::sources
