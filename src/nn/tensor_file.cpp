#include "nn/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"

namespace partita::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

using Json = nlohmann::ordered_json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;  // of the first array, by blanks behind the header
constexpr std::size_t kDimensionsMax = 4;
constexpr std::string_view kMetadataKey = "__metadata__";

// Where one array stands among the bytes behind the header.
struct Extent {
  Tensor tensor;
  std::size_t begin = 0;
  std::size_t end = 0;
};

Error damaged(std::string_view why) {
  return {fmt::format("this is no safetensors file, or a damaged one: {}", why)};
}

// Numbers of the shape multiplied; nothing when that is more than a file may hold.
std::optional<std::size_t> element_count(const std::vector<std::uint64_t>& shape) {
  std::size_t count = 1;
  for (const std::uint64_t size : shape) {
    if (size > kTensorFileBytesMax || count * size > kTensorFileBytesMax) return {};
    count *= size;
  }
  return count;
}

Result<std::vector<std::uint64_t>> whole_numbers(const Json& list, std::string_view name) {
  if (!list.is_array() || list.size() > kDimensionsMax) {
    return damaged(fmt::format("'{}' has no list of at most {} numbers where one belongs", name,
                               kDimensionsMax));
  }
  std::vector<std::uint64_t> numbers;
  for (const Json& item : list) {
    if (!item.is_number_unsigned()) {
      return damaged(fmt::format("'{}' has something other than a whole number in a list", name));
    }
    numbers.push_back(item.get<std::uint64_t>());
  }
  return numbers;
}

Result<Extent> read_extent(const std::string& name, const Json& entry) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets")) {
    return damaged(fmt::format("'{}' lacks dtype, shape or data_offsets", name));
  }
  if (entry["dtype"] != "F32") {
    return Error{fmt::format("tensor '{}' is of type {}; only F32 is read", name,
                             entry["dtype"].dump(-1, ' ', true, Json::error_handler_t::replace))};
  }
  const auto shape = whole_numbers(entry["shape"], name);
  if (!shape) return shape.error();
  const auto offsets = whole_numbers(entry["data_offsets"], name);
  if (!offsets) return offsets.error();
  const auto count = element_count(*shape);
  if (!count || offsets->size() != 2 || offsets->front() > kTensorFileBytesMax ||
      offsets->back() != offsets->front() + *count * sizeof(float)) {
    return damaged(fmt::format("the shape of '{}' does not agree with its data_offsets", name));
  }
  Extent extent;
  extent.tensor.name = name;
  extent.tensor.shape = *shape;
  extent.begin = offsets->front();
  extent.end = offsets->back();
  return extent;
}

Status read_metadata(const Json& entry, std::map<std::string, std::string>& metadata) {
  if (!entry.is_object()) return damaged("__metadata__ is no object");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) return damaged(fmt::format("__metadata__ '{}' is no text", key));
    metadata[key] = value.get<std::string>();
  }
  return {};
}

// Arrays fill the bytes behind the header without gaps, in order.
Status read_arrays(std::vector<Extent>& extents, std::string_view bytes, TensorFile& file) {
  std::stable_sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::size_t at = 0;
  for (Extent& extent : extents) {
    if (extent.begin != at) {
      return damaged(fmt::format("'{}' does not follow the array before it", extent.tensor.name));
    }
    if (extent.end > bytes.size()) {
      return damaged(
          fmt::format("'{}' ends at byte {} of {}", extent.tensor.name, extent.end, bytes.size()));
    }
    extent.tensor.values.resize((extent.end - extent.begin) / sizeof(float));
    if (!extent.tensor.values.empty()) {
      std::memcpy(extent.tensor.values.data(), bytes.data() + at, extent.end - extent.begin);
    }
    at = extent.end;
    file.tensors.push_back(std::move(extent.tensor));
  }
  if (at != bytes.size()) {
    return damaged(fmt::format("{} bytes follow the last array", bytes.size() - at));
  }
  return {};
}

}  // namespace

const Tensor* TensorFile::find(std::string_view name) const {
  for (const Tensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

std::string format_tensor_file(const TensorFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header[std::string(kMetadataKey)] = file.metadata;
  std::size_t at = 0;
  for (const Tensor& tensor : file.tensors) {
    CHECK(!header.contains(tensor.name));
    CHECK(element_count(tensor.shape) == tensor.values.size());
    const std::size_t end = at + tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  CHECK(text.size() <= kHeaderBytesMax);
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += text;
  for (const Tensor& tensor : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  }
  return bytes;
}

Result<TensorFile> parse_tensor_file(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) return damaged("it is shorter than eight bytes");
  if (bytes.size() > kTensorFileBytesMax) return damaged("it is larger than 256 MiB");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kHeaderBytesMax) return damaged("its header would be longer than 1 MiB");
  if (length > bytes.size() - kLengthBytes) return damaged("it ends within its header");
  const std::string_view text = bytes.substr(kLengthBytes, length);
  const Json header = Json::parse(text, nullptr, false);
  if (!header.is_object()) return damaged("its header is no JSON object");
  TensorFile file;
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadataKey) {
      if (const Status read = read_metadata(entry, file.metadata); !read) return read.error();
      continue;
    }
    Result<Extent> extent = read_extent(name, entry);
    if (!extent) return extent.error();
    for (const Extent& other : extents) {
      if (other.tensor.name == name) return damaged(fmt::format("'{}' is there twice", name));
    }
    extents.push_back(*std::move(extent));
  }
  if (const Status read = read_arrays(extents, bytes.substr(kLengthBytes + length), file); !read) {
    return read.error();
  }
  return file;
}

}  // namespace partita::nn
