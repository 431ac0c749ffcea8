#include "file_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace berth::sources {

FileWatch::FileWatch(const std::string& file)
    : file_(file), inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), known_(look()) {
  // The directory and not the file: editors and ConfigMap mounts put a new file in the old one's place.
  const std::string directory = std::filesystem::absolute(file).parent_path();
  if (inotify_ >= 0) {
    inotify_add_watch(inotify_, directory.c_str(),
                      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB);
  }
}

FileWatch::~FileWatch() {
  if (inotify_ >= 0) close(inotify_);
}

FileWatch::Identity FileWatch::look() const {
  struct stat info{};
  if (stat(file_.c_str(), &info) != 0) return {};
  return {true,
          info.st_dev,
          info.st_ino,
          info.st_size,
          info.st_mtim.tv_sec,
          info.st_mtim.tv_nsec,
          info.st_ctim.tv_sec,
          info.st_ctim.tv_nsec};
}

void FileWatch::wait_for_event(const net::Cancellation& cancellation, std::chrono::milliseconds time) const {
  std::array<pollfd, 2> waited{pollfd{cancellation.fd(), POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
  if (poll(waited.data(), waited.size(), static_cast<int>(time.count())) <= 0) return;
  if ((waited[1].revents & POLLIN) == 0) return;
  std::array<char, 4096> events{};
  while (read(inotify_, events.data(), events.size()) > 0) {
  }
}

bool FileWatch::wait_for_change(const net::Cancellation& cancellation, std::chrono::milliseconds quiet,
                                std::chrono::milliseconds look_every) {
  while (!cancellation.cancelled()) {
    wait_for_event(cancellation, look_every);
    Identity before = look();
    if (cancellation.wait_for(quiet)) return false;
    if (before == known_) continue;
    for (Identity now = look(); now != before; now = look()) {
      before = now;
      if (cancellation.wait_for(quiet)) return false;
    }
    known_ = before;
    return true;
  }
  return false;
}

}  // namespace berth::sources
