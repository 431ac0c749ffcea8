// Owners of libcurl's handles.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace berth::net {

struct CurlFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using EasyHandle = std::unique_ptr<CURL, CurlFree>;

class HeaderList {
 public:
  void add(const std::string& line) {
    if (curl_slist* longer = curl_slist_append(list_.get(), line.c_str()); longer != nullptr) {
      static_cast<void>(list_.release());
      list_.reset(longer);
    }
  }
  [[nodiscard]] curl_slist* get() const { return list_.get(); }

 private:
  std::unique_ptr<curl_slist, CurlFree> list_;
};

// One transfer at a time, and the connection that it leaves behind for the next (the multi handle keeps it).
class Transfer {
 public:
  Transfer() : multi_(curl_multi_init()), easy_(curl_easy_init()) {}
  ~Transfer() {
    easy_.reset();
    if (multi_ != nullptr) curl_multi_cleanup(multi_);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  [[nodiscard]] bool valid() const { return multi_ != nullptr && easy_ != nullptr; }
  [[nodiscard]] CURLM* multi() const { return multi_; }
  [[nodiscard]] CURL* easy() const { return easy_.get(); }

 private:
  CURLM* multi_;
  EasyHandle easy_;
};

// Thread-safe.
class TransferPool {
 public:
  explicit TransferPool(std::size_t kept) : kept_(kept) {}
  std::unique_ptr<Transfer> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Transfer>();
    auto transfer = std::move(idle_.back());
    idle_.pop_back();
    return transfer;
  }
  void give_back(std::unique_ptr<Transfer> transfer) {
    curl_easy_reset(transfer->easy());
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kept_) idle_.push_back(std::move(transfer));
  }

 private:
  const std::size_t kept_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Transfer>> idle_;
};

}  // namespace berth::net
