// The bodies of the kernels. Included once a kind of processor, with Eigen under another name for
// each: an inline function compiled for a new processor must not be the one the linker keeps for
// all.
#pragma once

#include <Eigen/Core>

#include "nn/kernels/kernels.h"

namespace partita::nn::PARTITA_KERNELS {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Weights = Eigen::Map<RowMajor>;
using ConstWeights = Eigen::Map<const RowMajor>;
using States = Eigen::Map<Eigen::MatrixXf>;
using ConstStates = Eigen::Map<const Eigen::MatrixXf>;
using Vector = Eigen::Map<Eigen::VectorXf>;
using ConstVector = Eigen::Map<const Eigen::VectorXf>;

inline void affine(const LayerSize& size, const float* w, const float* b, const float* x,
                   float* y) {
  const ConstWeights weights(w, size.outputs, size.inputs);
  const ConstVector bias(b, size.outputs);
  if (size.batch == 1) {
    Vector out(y, size.outputs);
    out = bias;
    out.noalias() += weights * ConstVector(x, size.inputs);
    return;
  }
  States out(y, size.outputs, size.batch);
  out.colwise() = bias;
  out.noalias() += weights * ConstStates(x, size.inputs, size.batch);
}

inline void activate(Activation activation, std::size_t count, float* values) {
  Eigen::Map<Eigen::ArrayXf> all(values, static_cast<Eigen::Index>(count));
  if (activation == Activation::kRelu) {
    all = all.max(0.0F);
  } else {
    all = all.tanh();
  }
}

inline void activate_back(Activation activation, std::size_t count, const float* values,
                          float* gradient) {
  const Eigen::Map<const Eigen::ArrayXf> out(values, static_cast<Eigen::Index>(count));
  Eigen::Map<Eigen::ArrayXf> all(gradient, static_cast<Eigen::Index>(count));
  if (activation == Activation::kRelu) {
    all = (out > 0.0F).select(all, 0.0F);
  } else {
    all *= 1.0F - out * out;
  }
}

inline void back_input(const LayerSize& size, const float* w, const float* dy, float* dx) {
  const ConstWeights weights(w, size.outputs, size.inputs);
  States(dx, size.inputs, size.batch).noalias() =
      weights.transpose() * ConstStates(dy, size.outputs, size.batch);
}

inline void back_weights(const LayerSize& size, const float* dy, const float* x, float* dw,
                         float* db) {
  const ConstStates gradient(dy, size.outputs, size.batch);
  Weights(dw, size.outputs, size.inputs).noalias() +=
      gradient * ConstStates(x, size.inputs, size.batch).transpose();
  Vector(db, size.outputs) += gradient.rowwise().sum();
}

inline void softmax(int choices, int batch, const float* penalties, float* logits, float* p) {
  States log(logits, choices, batch);
  States out(p, choices, batch);
  log += ConstStates(penalties, choices, batch);
  log.rowwise() -= log.colwise().maxCoeff().eval();
  out = log.array().exp();
  const Eigen::Array<float, 1, Eigen::Dynamic> sums = out.array().colwise().sum();
  log.array().rowwise() -= sums.log();
  out.array().rowwise() /= sums;
}

inline void add(std::size_t count, const float* from, float* to) {
  const auto size = static_cast<Eigen::Index>(count);
  Vector(to, size) += ConstVector(from, size);
}

inline void adam(std::size_t count, const AdamStep& step, const float* gradient, float* first,
                 float* second, float* parameters) {
  const auto size = static_cast<Eigen::Index>(count);
  const auto g = ConstVector(gradient, size).array() * step.scale;
  Vector m(first, size);
  Vector v(second, size);
  m.array() = step.beta1 * m.array() + (1 - step.beta1) * g;
  v.array() = step.beta2 * v.array() + (1 - step.beta2) * g * g;
  Vector(parameters, size).array() -=
      step.rate * m.array() / (v.array().sqrt() * step.root + step.epsilon);
}

constexpr Kernels kKernels{.name = PARTITA_KERNELS_NAME,
                           .affine = affine,
                           .activate = activate,
                           .activate_back = activate_back,
                           .back_input = back_input,
                           .back_weights = back_weights,
                           .softmax = softmax,
                           .add = add,
                           .adam = adam};

}  // namespace partita::nn::PARTITA_KERNELS
