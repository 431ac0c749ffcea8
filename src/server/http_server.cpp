#include "berth/server/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <thread>

#include "berth/core/sanitized.h"
#include "berth/core/thread_class.h"
#include "http_connection.h"
#include "http_listener.h"

namespace berth::server {
namespace {

using std::chrono::milliseconds;

// Only touched pages count, but 2,048 default stacks would reserve 16 GiB. Sanitizers make frames several times larger.
constexpr std::size_t kStackBytes = core::kSanitized ? std::size_t{4} << 20U : std::size_t{512} << 10U;

constexpr milliseconds kDestructorDrain{5'000};
constexpr milliseconds kLookAgain{20};  // after the system was out of something
// Refused connections whose client has not read the 503 yet.
constexpr std::size_t kMaxRefused = 256;
constexpr milliseconds kRefusedLife{1'000};

}  // namespace

struct HttpServer::State {
  explicit State(HttpServerOptions options) : shared(std::move(options)) {}

  void accept_loop();
  void take(int fd);
  void refuse(int fd);
  void close_refused(bool all);
  bool spawn(int fd);
  void run_connection(int fd);
  void cut();  // with `mutex` held
  void begin_drain();

  HttpShared shared;
  int listen_fd = -1;
  int drain_fd = -1;       // an eventfd; readable from the beginning of the drain on
  std::mutex drain_mutex;  // one drain at a time
  std::thread acceptor;
  std::atomic<std::uint64_t> accepted{0};

  // Used by the acceptor only.
  struct Refused {
    int fd;
    core::SteadyTime until;
  };
  std::deque<Refused> refused;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool drained = false;
  std::set<int> open;                // connections that have a thread
  std::optional<pthread_t> to_join;  // the thread that ended last; each one joins the one before
};

void HttpServer::State::accept_loop() {
  while (!shared.draining.load()) {
    std::array<pollfd, 2> entries{
        {{.fd = listen_fd, .events = POLLIN, .revents = 0}, {.fd = drain_fd, .events = POLLIN, .revents = 0}}};
    if (::poll(entries.data(), entries.size(), refused.empty() ? -1 : 100) < 0) {
      if (errno == EINTR) continue;
      if (errno == ENOMEM) {
        std::this_thread::sleep_for(kLookAgain);
        continue;
      }
      spdlog::error("{}: waiting for connections failed: {}", shared.options.name,
                    std::generic_category().message(errno));
      break;
    }
    close_refused(false);
    if (entries[1].revents != 0) break;
    if (entries[0].revents == 0) continue;
    const int fd = ::accept4(listen_fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      take(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // Out of descriptors or memory: the connection stays in the backlog; look again soon instead of spinning.
      pollfd drain{.fd = drain_fd, .events = POLLIN, .revents = 0};
      ::poll(&drain, 1, static_cast<int>(kLookAgain.count()));
    }
    // Everything else is the failure of one connection (ECONNABORTED and the like, see accept(2)), not of the server.
  }
  close_refused(true);
}

void HttpServer::State::take(int fd) {
  accepted.fetch_add(1, std::memory_order_relaxed);
  // Without it an answer in two segments waits for the client's delayed acknowledgement, 40 ms.
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  try {
    if (!spawn(fd)) refuse(fd);
  } catch (const std::exception&) {
    shared.count(HttpFailure::kMemory);
    ::close(fd);
  }
}

bool HttpServer::State::spawn(int fd) {
  struct Start {
    State* state;
    int fd;
  };
  auto start = std::make_unique<Start>(Start{this, fd});
  {
    const std::lock_guard lock(mutex);
    if (open.size() >= shared.options.max_connections) return false;
    open.insert(fd);  // what follows doesn't throw
  }
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const int error = ::pthread_create(
      &thread, &attributes,
      [](void* given) -> void* {
        const std::unique_ptr<Start> mine(static_cast<Start*>(given));
        core::favour_latency();  // a scheduler waits for the answer and does nothing meanwhile
        mine->state->run_connection(mine->fd);
        return nullptr;
      },
      start.get());
  ::pthread_attr_destroy(&attributes);
  if (error == 0) {
    static_cast<void>(start.release());
    return true;
  }
  const std::lock_guard lock(mutex);
  open.erase(fd);
  return false;
}

void HttpServer::State::run_connection(int fd) {
  try {
    serve_connection(shared, HttpSocket(fd, drain_fd));
  } catch (const std::bad_alloc&) {
    shared.count(HttpFailure::kMemory);
  } catch (const std::exception& thrown) {
    spdlog::error("{}: a connection failed: {}", shared.options.name, thrown.what());
  }
  std::optional<pthread_t> previous = ::pthread_self();
  {
    const std::lock_guard lock(mutex);
    open.erase(fd);
    ::close(fd);  // under the lock, so that cut() never meets the number's next owner
    previous.swap(to_join);
    changed.notify_all();
  }
  if (previous) ::pthread_join(*previous, nullptr);
}

void HttpServer::State::refuse(int fd) {
  shared.count(HttpFailure::kConnectionsFull);
  const std::string_view answer = busy_answer();
  // A new connection has room for this; if not, there is nobody to wait for.
  static_cast<void>(::send(fd, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  ::shutdown(fd, SHUT_WR);
  if (refused.size() >= kMaxRefused) {
    ::close(refused.front().fd);
    refused.pop_front();
  }
  refused.push_back({fd, std::chrono::steady_clock::now() + kRefusedLife});
}

// Closes refused connections once the client has closed too, or after a while: closing at once, with the request
// unread, would reset the connection and lose the 503.
void HttpServer::State::close_refused(bool all) {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(refused, [&](const Refused& entry) {
    std::array<char, 4096> waste;
    ssize_t got = 0;
    for (int reads = 0; reads < 16; ++reads) {
      got = ::recv(entry.fd, waste.data(), waste.size(), MSG_DONTWAIT);
      if (got <= 0) break;
    }
    const bool ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (!all && !ended && now < entry.until) return false;
    ::close(entry.fd);
    return true;
  });
}

void HttpServer::State::cut() {
  for (const int fd : open) ::shutdown(fd, SHUT_RDWR);
}

void HttpServer::State::begin_drain() {
  const std::lock_guard lock(drain_mutex);
  shared.draining.store(true);
  if (drain_fd >= 0) {
    const std::uint64_t one = 1;
    static_cast<void>(::write(drain_fd, &one, sizeof one));
  }
  if (acceptor.joinable()) acceptor.join();
  if (listen_fd >= 0) ::close(listen_fd);
  listen_fd = -1;
}

HttpServer::HttpServer(HttpServerOptions options) : state_(std::make_unique<State>(std::move(options))) {}

HttpServer::~HttpServer() {
  if (!state_->drained) drain(kDestructorDrain);
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->open.empty(); });
  }
  if (state_->to_join) ::pthread_join(*state_->to_join, nullptr);
  if (state_->drain_fd >= 0) ::close(state_->drain_fd);
}

void HttpServer::get(std::string path, HttpHandler handler) {
  state_->shared.routes.get(std::move(path), std::move(handler));
}

void HttpServer::post(std::string path, HttpHandler handler) {
  state_->shared.routes.post(std::move(path), std::move(handler));
}

void HttpServer::get_prefix(std::string prefix, HttpHandler handler) {
  state_->shared.routes.get_prefix(std::move(prefix), std::move(handler));
}

core::Result<std::uint16_t> HttpServer::start() {
  const auto listener = listen_on(state_->shared.options.address);
  if (!listener) return tl::unexpected(listener.error());
  state_->listen_fd = listener->fd;
  state_->drain_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (state_->drain_fd < 0) return core::fail(core::ErrorCode::kUnavailable, "can't make an eventfd");
  state_->acceptor = std::thread([this] { state_->accept_loop(); });
  return listener->port;
}

void HttpServer::drain(std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  state_->begin_drain();
  std::unique_lock lock(state_->mutex);
  state_->drained = true;
  if (!state_->changed.wait_until(lock, until, [this] { return state_->open.empty(); })) state_->cut();
}

std::vector<std::string> HttpServer::routes() const { return state_->shared.routes.names(); }

std::size_t HttpServer::open_connections() const {
  const std::lock_guard lock(state_->mutex);
  return state_->open.size();
}

HttpCounters HttpServer::counters() const {
  HttpCounters counters;
  counters.open_connections = open_connections();
  counters.bodies_bytes = state_->shared.budget.used();
  counters.accepted = state_->accepted.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < counters.failures.size(); ++i) {
    counters.failures[i] = state_->shared.failures[i].load(std::memory_order_relaxed);
  }
  return counters;
}

}  // namespace berth::server
