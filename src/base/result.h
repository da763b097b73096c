// Result<T>: the value of a call that can fail for a reason the user should read, or that reason.
//
//   Result<Layout> layout = parse_layout(text);
//   if (!layout) return layout.error();
//   use(*layout);
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace partita {

// One sentence: what is wrong, where (file, line, field), and what was expected.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& operator*() & { return checked(); }
  T&& operator*() && { return std::move(checked()); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

  // REQUIRES: !ok().
  const Error& error() const {
    CHECK(!value_.has_value());
    return error_;
  }

 private:
  T& checked() {
    CHECK(value_.has_value());
    return *value_;
  }

  std::optional<T> value_;
  Error error_;
};

// The result of a call that only succeeds or fails.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    CHECK(error_.has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace partita
