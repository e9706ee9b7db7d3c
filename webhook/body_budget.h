// The bodies that are held at one time, over all connections, as a body type
// of Boost.Beast: what is counted is what has come, not what was announced.

#ifndef WEBHOOK_BODY_BUDGET_H_
#define WEBHOOK_BODY_BUDGET_H_

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gpubinder {

// One thread.
class BodyBudget {
 public:
  explicit BodyBudget(size_t most) : left_(most) {}

  bool Take(size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void GiveBack(size_t bytes) { left_ += bytes; }

 private:
  size_t left_;
};

// A text whose bytes are taken from a budget.
class BudgetedText {
 public:
  BudgetedText() = default;
  ~BudgetedText() {
    if (budget_ != nullptr) budget_->GiveBack(text_.size());
  }
  BudgetedText(const BudgetedText&) = delete;
  BudgetedText& operator=(const BudgetedText&) = delete;

  // Once, before Append. `budget` outlives this.
  void Use(BodyBudget* budget) { budget_ = budget; }
  // Room to begin with.
  void Reserve(size_t bytes) { text_.reserve(bytes); }
  bool Append(const char* data, size_t bytes) {
    if (!budget_->Take(bytes)) return false;
    text_.append(data, bytes);
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  BodyBudget* budget_ = nullptr;
  std::string text_;
};

// A Beast Body for reading. no_memory: the budget is spent.
struct BudgetedBody {
  using value_type = BudgetedText;

  class reader {
   public:
    template <bool is_request, typename Fields>
    reader(boost::beast::http::header<is_request, Fields>&, BudgetedText& body)
        : body_(body) {}

    void init(const boost::optional<uint64_t>& size,
              boost::system::error_code& error) {
      constexpr uint64_t kMostAtOnce = 256 << 10;
      body_.Reserve(std::min(size.value_or(0), kMostAtOnce));
      error = {};
    }

    template <typename Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& error) {
      size_t taken = 0;
      error = {};
      for (auto it = boost::asio::buffer_sequence_begin(buffers);
           it != boost::asio::buffer_sequence_end(buffers); ++it) {
        const boost::asio::const_buffer part = *it;
        if (!body_.Append(static_cast<const char*>(part.data()), part.size())) {
          error = boost::asio::error::no_memory;
          return taken;
        }
        taken += part.size();
      }
      return taken;
    }

    void finish(boost::system::error_code& error) { error = {}; }

   private:
    BudgetedText& body_;
  };
};

}  // namespace gpubinder

#endif  // WEBHOOK_BODY_BUDGET_H_
