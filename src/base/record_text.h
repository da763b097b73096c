// TextWriter and TextReader: a record as a list of texts; the caller decides what separates them.
//
// A number is written in digits, an absent value as an empty text, a list as the number of its
// texts followed by them. Fields that were added later follow the others by name (base/record.h).
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/record.h"
#include "base/text.h"

namespace partita {

// Texts that one value of type T takes.
template <typename T>
std::size_t text_count() {
  std::size_t count = 0;
  if constexpr (Described<T>) {
    const T one{};
    Description<T>::fields(one, [&](const Field&, const auto& value) {
      count += text_count<std::remove_cvref_t<decltype(value)>>();
    });
  }
  return count == 0 ? 1 : count;
}

// `Sink` has put(std::string_view).
template <typename Sink>
class TextWriter {
 public:
  TextWriter(Sink& sink, Encoding encoding) : sink_(sink), encoding_(encoding) {}

  template <typename T>
  void operator()(const Field& field, const T& value) {
    if (field.encoding != encoding_) return;
    if (encoding_ == Encoding::kNamed) {
      if (value == T{}) return;
      sink_.put(field.name);
    }
    write(value);
  }

 private:
  template <typename T>
  void write(const T& value) {
    if constexpr (WholeNumber<T>) {
      sink_.put(std::to_string(to_whole(value)));
    } else if constexpr (std::same_as<T, double>) {
      sink_.put(fmt::format("{}", value));
    } else if constexpr (kIsOptional<T>) {
      value ? write(*value) : sink_.put("");
    } else if constexpr (kIsList<T>) {
      sink_.put(std::to_string(value.size() * text_count<typename T::value_type>()));
      for (const auto& each : value) write(each);
    } else if constexpr (kIsArray<T>) {
      for (const auto& each : value) write(each);
    } else if constexpr (Described<T>) {
      Description<T>::fields(value, TextWriter(sink_, Encoding::kPositional));
    } else {
      sink_.put(value);
    }
  }

  Sink& sink_;
  Encoding encoding_;
};

// `Source` has next(), a text or nothing, and at_end(). Once one is wrong all that follow are.
template <typename Source>
class TextReader {
 public:
  explicit TextReader(Source& source) : source_(source) {}

  template <Described R>
  void read(R& record, Encoding encoding) {
    encoding_ = encoding;
    if (encoding != Encoding::kNamed) return Description<R>::fields(record, *this);
    while (good_ && !source_.at_end()) {
      name_ = text();
      known_ = false;
      Description<R>::fields(record, *this);
      good_ = good_ && known_;
    }
  }

  template <typename T>
  void operator()(const Field& field, T& value) {
    if (field.encoding != encoding_ || (encoding_ == Encoding::kNamed && field.name != name_))
      return;
    known_ = true;
    read_value(field, value);
  }

  bool good_to_the_end() const { return good_ && source_.at_end(); }
  bool good() const { return good_; }
  std::string_view text() {
    const std::optional<std::string_view> text = good_ ? source_.next() : std::nullopt;
    good_ = text.has_value();
    return text.value_or(std::string_view());
  }

 private:
  template <typename T>
  void read_value(const Field& field, T& value) {
    if constexpr (kIsList<T>) {
      std::int64_t count = 0;
      parse(Field{}, text(), count);
      const auto each = static_cast<std::int64_t>(text_count<typename T::value_type>());
      good_ = good_ && count >= 0 && count % each == 0;
      for (; good_ && count > 0; count -= each) read_value(Field{}, value.emplace_back());
    } else if constexpr (kIsArray<T>) {
      for (auto& each : value) read_value(field, each);
    } else if constexpr (Described<T>) {
      Description<T>::fields(value, [this](const Field& inner, auto& part) {
        if (inner.encoding == Encoding::kPositional) this->read_value(inner, part);
      });
    } else {
      parse(field, text(), value);
    }
  }

  template <typename T>
  void parse(const Field& field, std::string_view found, T& value) {
    if constexpr (WholeNumber<T>) {
      const auto number = parse_int(found);
      // Of times the limit is one of seconds, and whoever takes a submission asks for it.
      const bool any = std::same_as<T, Micros> || field.most == kNoLimit;
      const double least = field.negative ? -field.most : 0;
      const bool within = number && double(*number) >= least && double(*number) <= field.most;
      good_ = good_ && number && (any || within);
      set_whole(value, number.value_or(0));
    } else if constexpr (std::same_as<T, double>) {
      const auto number = parse_double(found);
      good_ = good_ && number;
      value = number.value_or(0);
    } else if constexpr (kIsOptional<T>) {
      // Of what is written by name only what is there is written, so an empty text is a text.
      if (good_ && (!found.empty() || encoding_ == Encoding::kNamed))
        parse(field, found, value.emplace());
    } else {
      value = found;
    }
  }

  Source& source_;
  Encoding encoding_ = Encoding::kPositional;
  std::string_view name_;
  bool known_ = false;
  bool good_ = true;
};

}  // namespace partita
