// Any bytes as a model file: no crash, and what is accepted prints and reads back equal.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "nn/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita::nn;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const partita::Result<TensorFile> file = parse_tensor_file(bytes);
  if (!file) return 0;
  const partita::Result<Model> model = from_tensors(*file);
  if (!model) return 0;
  const partita::Result<Model> back = parse_model(format_model(*model));
  CHECK(back.ok());
  CHECK(*back == *model);
  return 0;
}
