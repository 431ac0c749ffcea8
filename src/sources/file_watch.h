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

  // Returns true when the file has changed since the last call (or the constructor) and then stayed as it is for
  // `quiet`; false when cancelled. What happens to other files of its directory, however often, puts nothing off and
  // costs one look in `quiet`. It looks every `look_every` without being told too.
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
    long changed_seconds = 0;  // as opposed to modified: no program can set it back
    long changed_nanoseconds = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  [[nodiscard]] Identity look() const;
  // Returns when the directory tells of something, or after `time`.
  void wait_for_event(const net::Cancellation& cancellation, std::chrono::milliseconds time) const;

  std::string file_;
  int inotify_;
  Identity known_;
};

}  // namespace berth::sources
