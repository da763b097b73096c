// Speed of the networks: one state at a time, and batches forward.

#include <benchmark/benchmark.h>

#include <vector>

#include "base/rng.h"
#include "nn/network.h"

namespace partita {
namespace {

nn::Network random_network(int inputs, int width, int outputs) {
  nn::Network network(nn::Shape{{inputs, width, width, outputs}, nn::Activation::kTanh});
  Rng rng(1);
  for (float& each : network.parameters()) each = static_cast<float>(rng.uniform(-0.2, 0.2));
  return network;
}

// What a decision costs besides its observation.
void forward_one(benchmark::State& state) {
  const nn::Network network = random_network(53, static_cast<int>(state.range(0)), 12);
  const std::vector<float> observation(53, 0.1F);
  nn::Evaluator evaluator;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluator(network, observation).front());
  }
}
BENCHMARK(forward_one)->Arg(64)->Arg(256);

void forward_batch(benchmark::State& state, const nn::Kernels& kernels) {
  constexpr int kBatch = 4096;
  const nn::Network network = random_network(53, static_cast<int>(state.range(0)), 12);
  const std::vector<float> observations(std::size_t{53} * kBatch, 0.1F);
  nn::Activations activations;
  for (auto _ : state) {
    activations.forward(network, observations, kBatch, kernels);
    benchmark::DoNotOptimize(activations.outputs().front());
  }
  state.SetLabel(std::string(kernels.name));
  state.counters["states/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * kBatch,
                                                  benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(forward_batch, portable, nn::portable_kernels())->Arg(64)->Arg(256);
BENCHMARK_CAPTURE(forward_batch, best, nn::best_kernels())->Arg(64)->Arg(256);

}  // namespace
}  // namespace partita
