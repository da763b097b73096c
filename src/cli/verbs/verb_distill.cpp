#include "cli/flags/day_sources.h"
#include "cli/flags/run_settings.h"
#include "cli/output/output_file.h"
#include "cli/verbs/verbs.h"
#include "learn/distill.h"

namespace partita::cli {

Outcome run_distill(const Values& values, Console& console) {
  if (values.given("model") == nullptr) return Error{"distill needs --model, the file to read"};
  const auto model = nn::read_model(values.text("model"));
  if (!model) return values.wrong("model", model.error());
  const auto settings = run_settings(values);
  if (!settings) return settings.error();
  const auto source = day_source(values, console);
  if (!source) return source.error();
  learn::DistillOptions options;
  options.run = settings->options;
  options.run.horizon = horizon_of(values, source->window);
  options.scheduler = settings->policy.scheduler;
  auto days = make_days(*source, experiment::Role::kTune, values.count("days"));
  if (!days) return days.error();
  options.days = *std::move(days);
  const auto text = learn::distill(*model, options);
  if (!text) return text.error();
  if (values.text("out") == "-") {
    console.out.write(*text);
    return 0;
  }
  const Status kept = write_output(values.text("out"), *text);
  return kept ? Outcome(0) : kept.error();
}

}  // namespace partita::cli
