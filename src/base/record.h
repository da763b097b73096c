// Record: a struct that names each of its fields once, for all who write, read, sum or show them.
//
// It has a static `fields(self, visit)` that calls visit(Field{...}, self.member) for each member,
// in the order in which they are written. A table of the store, a file, the journal, a digest, JSON
// and its schema are a visitor each, so a field that is added there is added everywhere
// (docs/internals/adding/job-field.md).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/job_number.h"
#include "base/row_sum.h"
#include "base/units.h"

namespace partita {

// How a field is written, which depends on when it was added to its record: what was written
// without it is still read, and a record that does not use it is written as before.
enum class Encoding : std::uint8_t {
  kKey,         // identifies the record; files are named after it and do not repeat it
  kPositional,  // always written
  kTail,        // after the positional ones; older files end before it
  kNamed,       // by name, if it is not its default value; for everything that is added now
};

// Who is shown a field of what was submitted.
enum class Shown : std::uint8_t { kNever, kAlone, kInLists };

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// What is said of a field besides its value.
struct Field {
  std::string_view name = {};  // of the column, of the JSON key
  std::string_view doc = {};   // a sentence for the document of the interface
  double most = kNoLimit;      // of a number in the unit of its name; bytes of a text
  Encoding encoding = Encoding::kPositional;
  Shown shown = Shown::kAlone;
  bool required = false;          // of a submission
  std::string_view absent = {};   // shown where there is no value; empty: null
  bool negative = false;          // a whole number from -most on
  bool line = false;              // a text without control characters
  bool digest = true;             // part of what a turn decides
  bool bytes = false;             // a column without an encoding
  double items = kNoLimit;        // the most entries of a list
  std::string_view pattern = {};  // a regular expression of texts, for the same document
};

// ---- kinds of values

template <typename T>
inline constexpr bool kIsId = false;
template <typename Tag>
inline constexpr bool kIsId<Id<Tag>> = true;

template <typename T>
concept WholeNumber = std::integral<T> || std::is_enum_v<T> || std::same_as<T, Micros> ||
    std::same_as<T, JobNumber> || kIsId<T>;

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, std::size_t kSize>
inline constexpr bool kIsArray<std::array<T, kSize>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <WholeNumber T>
std::int64_t to_whole(const T& value) {
  if constexpr (std::same_as<T, Micros>)
    return value.count;
  else if constexpr (kIsId<T> || std::same_as<T, JobNumber>)
    return value.value;
  else
    return static_cast<std::int64_t>(value);
}

template <WholeNumber T>
void set_whole(T& value, std::int64_t number) {
  if constexpr (std::same_as<T, Micros>)
    value.count = number;
  else if constexpr (kIsId<T>)
    value.value = static_cast<std::uint32_t>(number);
  else if constexpr (std::same_as<T, JobNumber>)
    value.value = number;
  else
    value = static_cast<T>(number);
}

// ---- descriptions

struct AnyVisitor {
  void operator()(const Field&, const auto&) const {}
};

// For fields of which nothing is said but their names, or not even those, because only bytes and
// sums are made of them.
void visit_named(auto&) {}
void visit_named(auto& visit, std::string_view name, auto& value, auto&... rest) {
  visit(Field{.name = name}, value);
  visit_named(visit, rest...);
}
void visit_each(auto& visit, auto&... values) {
  (visit(Field{}, values), ...);
}

template <typename T>
concept HasFields = requires(const T& value) {
  T::fields(value, AnyVisitor{});
};
template <typename T>
concept HasParts = requires(const T& value) {
  T::parts(value);
};

// Where the fields of a T are visited: in T::fields, or each of T::parts, a tuple of references.
// For a T of a module that knows nothing of records it is specialised.
template <typename T>
struct Description {
  static void fields(auto& self, auto&& visit) requires(HasFields<T> || HasParts<T>) {
    if constexpr (HasFields<T>) {
      T::fields(self, visit);
    } else {
      std::apply([&](auto&... parts) { visit_each(visit, parts...); }, T::parts(self));
    }
  }
};

template <typename T>
concept Described = requires(const T& value) {
  Description<T>::fields(value, AnyVisitor{});
};

// Whether a field of this encoding is set.
template <Described R>
bool uses(const R& record, Encoding encoding) {
  bool found = false;
  Description<R>::fields(record, [&](const Field& field, const auto& value) {
    found =
        found || (field.encoding == encoding && !(value == std::remove_cvref_t<decltype(value)>{}));
  });
  return found;
}

// ---- sums

// Adds the values of a record, one after the other.
class SumFields {
 public:
  explicit SumFields(RowSum& sum) : sum_(sum) {}

  template <typename T>
  void operator()(const Field& field, const T& value) {
    if (!field.digest) return;
    if (field.encoding == Encoding::kNamed) {
      if (value == T{}) return;
      sum_.add(field.name);
    }
    add(value);
  }

  template <typename T>
  void add(const T& value) {
    if constexpr (WholeNumber<T>) {
      sum_.add(to_whole(value));
    } else if constexpr (Described<T>) {
      Description<T>::fields(value, *this);
    } else if constexpr (kIsList<T>) {
      sum_.add(static_cast<std::int64_t>(value.size()));
      for (const auto& each : value) add(each);
    } else {
      sum_.add(value);
    }
  }

 private:
  RowSum& sum_;
};

}  // namespace partita
