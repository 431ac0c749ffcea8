#include "berth/kube/watch_server.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "berth/net/loopback.h"
#include "berth/net/thread.h"

namespace berth::kube {
namespace {

using net::Socket;
using std::chrono::steady_clock;

constexpr std::size_t kMostHeadBytes = std::size_t{64} << 10U;
constexpr std::size_t kMostBodyBytes = std::size_t{16} << 20U;
constexpr std::uint64_t kLongestWatchSeconds = 3600;
constexpr std::string_view kTooOld = R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
                                     "\n";

std::string chunk(std::string_view bytes) {
  std::array<char, 20> size{};
  const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  std::string text(size.data(), static_cast<std::size_t>(digits));
  return text.append(bytes).append("\r\n");
}

const char* phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 404:
      return "Not Found";
    case 409:
      return "Conflict";
    default:
      return "Answer";
  }
}

// One message as it came; nullopt at the end of the connection, or of what is taken.
struct Message {
  std::string head;
  std::string body;
};
std::optional<Message> receive(const Socket& socket, std::string& buffer) {
  std::array<char, 16384> piece{};
  const auto more = [&] {
    const auto got = socket.read(piece.data(), piece.size());
    if (!got || *got == 0) return false;
    buffer.append(piece.data(), *got);
    return true;
  };
  std::size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (buffer.size() > kMostHeadBytes || !more()) return std::nullopt;
  }
  Message message{buffer.substr(0, end + 4), {}};
  std::size_t length = net::content_length(message.head);
  if (length == std::string_view::npos) length = 0;
  if (length > kMostBodyBytes) return std::nullopt;
  while (buffer.size() < message.head.size() + length) {
    if (!more()) return std::nullopt;
  }
  message.body = buffer.substr(message.head.size(), length);
  buffer.erase(0, message.head.size() + length);
  return message;
}

struct Event {
  std::uint64_t version;
  std::string chunk;
};

}  // namespace

std::string_view query_parameter(std::string_view target, std::string_view name) {
  const std::size_t query = target.find('?');
  if (query == std::string_view::npos) return {};
  for (std::size_t at = query + 1; at < target.size();) {
    const std::size_t end = std::min(target.find('&', at), target.size());
    const std::string_view pair = target.substr(at, end - at);
    if (pair.starts_with(name) && pair.size() > name.size() && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
    at = end + 1;
  }
  return {};
}

std::uint64_t query_number(std::string_view target, std::string_view name, std::uint64_t otherwise) {
  const std::string_view text = query_parameter(target, name);
  std::uint64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct WatchServer::State {
  struct Collection {
    std::string path;
    std::deque<Event> events;
    std::uint64_t dropped = 0;  // version of the newest event that is no longer kept
    std::vector<const Socket*> watchers;
  };

  State(std::vector<std::string> paths, Handler its_handler, std::size_t kept)
      : handler(std::move(its_handler)), kept_events(kept) {
    for (std::string& path : paths) collections.push_back({std::move(path), {}, 0, {}});
  }

  const Handler handler;
  const std::size_t kept_events;
  net::Listener listener;
  std::thread acceptor;
  std::atomic<bool> stopping = false;

  mutable std::mutex mutex;
  std::list<std::pair<Socket, std::thread>> connections;
  std::vector<Collection> collections;

  void accept();
  void serve(const Socket& socket);
  void watch(const Socket& socket, std::string_view target, Collection& collection);
  // A watcher that has gone is taken out by its own thread.
  static void write_to_all(const Collection& collection, std::string_view bytes) {
    for (const Socket* socket : collection.watchers) static_cast<void>(socket->write(bytes));
  }
};

void WatchServer::State::accept() {
  while (!stopping) {
    auto taken = listener.accept();
    if (!taken) {
      std::this_thread::yield();  // no file descriptor is left, or this is the end
      continue;
    }
    const std::lock_guard lock(mutex);
    auto& [socket, thread] = connections.emplace_back(*std::move(taken), std::thread());
    thread = net::start_thread("watch server", [this, &kept = socket] { serve(kept); });
  }
}

void WatchServer::State::serve(const Socket& socket) {
  std::string buffer;
  while (!stopping) {
    const auto message = receive(socket, buffer);
    if (!message) return socket.shut_down();
    const std::string_view line = std::string_view(message->head).substr(0, message->head.find("\r\n"));
    const std::size_t space = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (space == std::string_view::npos || last <= space) return socket.shut_down();
    ServedRequest request{line.substr(0, space), {}, line.substr(space + 1, last - space - 1), message->body};
    request.path = request.target.substr(0, request.target.find('?'));
    if (request.method == "GET" && !query_parameter(request.target, "watch").empty()) {
      const auto found = std::ranges::find(collections, request.path, &Collection::path);
      if (found != collections.end()) return watch(socket, request.target, *found);
    }
    const ServedAnswer answer = handler(request);
    const std::string head =
        "HTTP/1.1 " + std::to_string(answer.status) + " " + phrase(answer.status) +
        "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n";
    if (!socket.write(head, answer.body)) return socket.shut_down();
  }
}

void WatchServer::State::watch(const Socket& socket, std::string_view target, Collection& collection) {
  const auto until =
      steady_clock::now() + std::chrono::seconds(std::min(query_number(target, "timeoutSeconds", kLongestWatchSeconds),
                                                          kLongestWatchSeconds));
  const std::uint64_t from = query_number(target, "resourceVersion", 0);
  {
    const std::lock_guard lock(mutex);
    std::string start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    const bool forgotten = from < collection.dropped;
    if (forgotten) start += chunk(kTooOld);
    for (const Event& event : collection.events) {
      if (!forgotten && event.version > from) start += event.chunk;
    }
    if (!socket.write(start)) return socket.shut_down();
    collection.watchers.push_back(&socket);
  }
  // Nothing more comes from the client but the end.
  while (!stopping) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) break;
    pollfd wait{socket.fd(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1000))) != 0) break;
  }
  const std::lock_guard lock(mutex);
  std::erase(collection.watchers, &socket);
  static_cast<void>(socket.write("0\r\n\r\n"));
  socket.shut_down();
}

WatchServer::WatchServer(std::vector<std::string> collections, Handler handler, std::size_t kept_events)
    : state_(
          std::make_unique<State>(std::move(collections), std::move(handler), std::max<std::size_t>(kept_events, 1))) {}

WatchServer::~WatchServer() {
  state_->stopping = true;
  if (state_->acceptor.joinable()) {
    state_->listener.socket.shut_down();
    state_->acceptor.join();
  }
  // No lock: nobody adds to them any more, and who holds it may be writing to one of them.
  for (auto& [socket, thread] : state_->connections) socket.shut_down();
  for (auto& [socket, thread] : state_->connections) thread.join();
}

core::Result<std::uint16_t> WatchServer::start() {
  auto listener = net::listen_loopback();
  if (!listener) return tl::unexpected(listener.error());
  state_->listener = *std::move(listener);
  state_->acceptor = net::start_thread("watch server", [state = state_.get()] { state->accept(); });
  return state_->listener.port;
}

void WatchServer::publish(std::size_t collection, std::uint64_t version, std::string_view event) {
  const std::lock_guard lock(state_->mutex);
  State::Collection& to = state_->collections[collection];
  to.events.push_back({version, chunk(event)});
  if (to.events.size() > state_->kept_events) {
    to.dropped = to.events.front().version;
    to.events.pop_front();
  }
  State::write_to_all(to, to.events.back().chunk);
}

void WatchServer::tell(std::size_t collection, std::string_view event) {
  const std::lock_guard lock(state_->mutex);
  State::write_to_all(state_->collections[collection], chunk(event));
}

std::size_t WatchServer::watchers(std::size_t collection) const {
  const std::lock_guard lock(state_->mutex);
  return state_->collections[collection].watchers.size();
}

}  // namespace berth::kube
