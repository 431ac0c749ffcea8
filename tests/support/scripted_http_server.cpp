#include "support/scripted_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace berth::testing {
namespace {

void must(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("test server: ") + what);
}

struct SslContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslContextFree>;
using MemoryBio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

MemoryBio memory(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free_all};
}

SslContext make_context(const ServerTls& tls) {
  SslContext context(SSL_CTX_new(TLS_server_method()));
  X509* certificate = PEM_read_bio_X509(memory(tls.identity.certificate_pem).get(), nullptr, nullptr, nullptr);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(memory(tls.identity.key_pem).get(), nullptr, nullptr, nullptr);
  must(SSL_CTX_use_certificate(context.get(), certificate) == 1, "certificate");
  must(SSL_CTX_use_PrivateKey(context.get(), key) == 1, "key");
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!tls.client_ca_pem.empty()) {
    X509* ca = PEM_read_bio_X509(memory(tls.client_ca_pem).get(), nullptr, nullptr, nullptr);
    must(X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), ca) == 1, "client CA");
    X509_free(ca);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

std::string decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() {
    if (ssl_ != nullptr) SSL_free(ssl_);
    close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool accept_tls(SSL_CTX* context) {
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, fd_);
    return SSL_accept(ssl_) == 1;
  }

  bool write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                           : send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Appends to buffer_; false at the end.
  bool fill() {
    char block[16384];
    const ssize_t got = ssl_ != nullptr ? SSL_read(ssl_, block, sizeof block) : recv(fd_, block, sizeof block, 0);
    if (got <= 0) return false;
    buffer_.append(block, static_cast<std::size_t>(got));
    return true;
  }

  bool read_request(HttpExchange& exchange) {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!fill()) return false;
    }
    parse_head(buffer_.substr(0, end + 2), exchange);
    buffer_.erase(0, end + 4);
    const auto length = exchange.headers.find("content-length");
    const std::size_t size = length == exchange.headers.end() ? 0 : std::stoul(length->second);
    while (buffer_.size() < size) {
      if (!fill()) return false;
    }
    exchange.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return true;
  }

  void wait_until_closed() const {
    pollfd waited{fd_, POLLIN, 0};
    while (poll(&waited, 1, -1) < 0) {
    }
  }

  void break_off() {
    broken_ = true;
    shutdown(fd_, SHUT_RDWR);
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  static void parse_head(const std::string& head, HttpExchange& exchange) {
    std::size_t line_start = 0;
    bool first = true;
    for (std::size_t line_end; (line_end = head.find("\r\n", line_start)) != std::string::npos;
         line_start = line_end + 2) {
      const std::string line = head.substr(line_start, line_end - line_start);
      if (first) {
        const std::size_t a = line.find(' ');
        const std::size_t b = line.rfind(' ');
        exchange.method = line.substr(0, a);
        exchange.target = line.substr(a + 1, b - a - 1);
        first = false;
      } else if (const std::size_t colon = line.find(':'); colon != std::string::npos) {
        const std::size_t value = line.find_first_not_of(' ', colon + 1);
        exchange.headers[lower(line.substr(0, colon))] = value == std::string::npos ? "" : line.substr(value);
      }
    }
    const std::size_t question = exchange.target.find('?');
    exchange.path = exchange.target.substr(0, question);
    std::string rest = question == std::string::npos ? "" : exchange.target.substr(question + 1);
    while (!rest.empty()) {
      const std::size_t amp = rest.find('&');
      const std::string pair = rest.substr(0, amp);
      const std::size_t equals = pair.find('=');
      exchange.query[decode(pair.substr(0, equals))] =
          equals == std::string::npos ? "" : decode(std::string_view(pair).substr(equals + 1));
      rest = amp == std::string::npos ? "" : rest.substr(amp + 1);
    }
  }

  int fd_;
  SSL* ssl_ = nullptr;
  std::string buffer_;
  std::atomic<bool> broken_{false};
};

void HttpExchange::respond(int status, std::string_view text, const std::vector<std::string>& headers_to_send) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Type: application/json\r\n";
  for (const std::string& header : headers_to_send) out += header + "\r\n";
  out += "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n";
  connection_.write_all(out + std::string(text));
}

void HttpExchange::begin_stream() {
  connection_.write_all("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool HttpExchange::chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return connection_.write_all(size + std::string(bytes) + "\r\n");
}

void HttpExchange::end_stream() { connection_.write_all("0\r\n\r\n"); }
bool HttpExchange::raw(std::string_view bytes) { return connection_.write_all(bytes); }
void HttpExchange::cut() { connection_.break_off(); }
void HttpExchange::wait_until_closed() { connection_.wait_until_closed(); }

struct ScriptedHttpServer::State {
  Handler handler;
  SslContext context;
  bool tls = false;
  int listener = -1;
  std::uint16_t port = 0;
  std::thread acceptor;
  std::mutex mutex;
  bool stopping = false;
  std::list<Connection*> open;
  std::list<std::thread> threads;

  void accept_all() {
    while (true) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const std::lock_guard lock(mutex);
      if (stopping || fd < 0) {
        if (fd >= 0) close(fd);
        if (stopping) return;
        continue;
      }
      threads.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    Connection connection(fd);
    std::list<Connection*>::iterator place;
    {
      const std::lock_guard lock(mutex);
      if (stopping) return;
      place = open.insert(open.end(), &connection);
    }
    if (!tls || connection.accept_tls(context.get())) {
      while (!connection.broken()) {
        HttpExchange exchange(connection);
        if (!connection.read_request(exchange)) break;
        handler(exchange);
      }
    }
    const std::lock_guard lock(mutex);
    open.erase(place);
  }
};

ScriptedHttpServer::ScriptedHttpServer(Handler handler, std::optional<ServerTls> tls, std::uint16_t port)
    : state_(std::make_unique<State>()) {
  std::signal(SIGPIPE, SIG_IGN);
  state_->handler = std::move(handler);
  state_->tls = tls.has_value();
  if (tls) state_->context = make_context(*tls);
  state_->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(state_->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  must(bind(state_->listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  must(listen(state_->listener, 128) == 0, "listen");
  socklen_t size = sizeof address;
  getsockname(state_->listener, reinterpret_cast<sockaddr*>(&address), &size);
  state_->port = ntohs(address.sin_port);
  state_->acceptor = std::thread([state = state_.get()] { state->accept_all(); });
}

ScriptedHttpServer::~ScriptedHttpServer() { stop(); }

std::uint16_t ScriptedHttpServer::port() const { return state_->port; }

std::string ScriptedHttpServer::url() const {
  return (state_->tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(state_->port);
}

void ScriptedHttpServer::stop() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopping) return;
    state_->stopping = true;
    for (Connection* connection : state_->open) connection->break_off();
  }
  shutdown(state_->listener, SHUT_RDWR);
  state_->acceptor.join();
  close(state_->listener);
  for (std::thread& thread : state_->threads) thread.join();
}

}  // namespace berth::testing
