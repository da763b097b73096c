// Kernels: the matrix products of dense layers, compiled once for every kind of processor.
//
// Weights are stored row by row (outputs x inputs), as PyTorch has them; states are columns, one
// after the other. Results of different kinds differ in the last bits; each kind gives the same
// bits every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace partita::nn {

enum class Activation : std::uint8_t { kRelu, kTanh };

struct LayerSize {
  int inputs = 0;
  int outputs = 0;
  int batch = 1;  // number of states
};

// rate and root have the corrections of the bias of the moments in them.
struct AdamStep {
  float scale = 1;
  float rate = 0;
  float root = 1;
  float beta1 = 0;
  float beta2 = 0;
  float epsilon = 0;
};

struct Kernels {
  std::string_view name;
  // y = w x + b for every state.
  void (*affine)(const LayerSize& size, const float* w, const float* b, const float* x, float* y);
  void (*activate)(Activation activation, std::size_t count, float* values);
  // Multiplies by the derivative of the activation, given what the activation gave.
  void (*activate_back)(Activation activation, std::size_t count, const float* values,
                        float* gradient);
  // dx = w^T dy.
  void (*back_input)(const LayerSize& size, const float* w, const float* dy, float* dx);
  // dw += dy x^T, db += sum over states of dy.
  void (*back_weights)(const LayerSize& size, const float* dy, const float* x, float* dw,
                       float* db);
  // Of `batch` columns of `choices` logits, after `penalties` were added (a large negative number
  // strikes a choice out): log-probabilities in place, and probabilities.
  void (*softmax)(int choices, int batch, const float* penalties, float* logits, float* p);
  // to += from.
  void (*add)(std::size_t count, const float* from, float* to);
  // One step of Adam: moments and parameters, for a gradient times `scale`.
  void (*adam)(std::size_t count, const AdamStep& step, const float* gradient, float* first,
               float* second, float* parameters);
};

// The same bits on every machine that runs this binary: what decisions are made with.
const Kernels& portable_kernels();
// The fastest this machine can run: what training uses.
const Kernels& best_kernels();

}  // namespace partita::nn
