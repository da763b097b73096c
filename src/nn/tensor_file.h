// TensorFile: named arrays of floats with a header of texts, in the safetensors format.
//
// Eight bytes (the length of the header, little-endian), the header as JSON, then the arrays one
// after the other. docs/reference/models.md shows one byte by byte. Only F32 is written and read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace partita::nn {

inline constexpr std::size_t kHeaderBytesMax = 1 << 20;
inline constexpr std::size_t kTensorFileBytesMax = 1 << 28;

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<float> values;

  bool operator==(const Tensor&) const = default;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // names differ; in the order of the file

  // Null when there is none.
  const Tensor* find(std::string_view name) const;

  bool operator==(const TensorFile&) const = default;
};

std::string format_tensor_file(const TensorFile& file);

// Refuses what is cut short, too large, or not laid out as the format demands (arrays that leave
// gaps or overlap), with a sentence.
Result<TensorFile> parse_tensor_file(std::string_view bytes);

}  // namespace partita::nn
