// What each verb does: values in, data on the console out. verb_table.cpp has their rows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/flags/command_line.h"
#include "cli/output/console.h"

namespace partita::cli {

Outcome run_gpus(const Values& values, Console& console);
Outcome run_layouts(const Values& values, Console& console);
Outcome run_layout(const Values& values, Console& console);
Outcome run_generate(const Values& values, Console& console);
Outcome run_convert(const Values& values, Console& console);
Outcome run_simulate(const Values& values, Console& console);
Outcome run_compare(const Values& values, Console& console);
Outcome run_size(const Values& values, Console& console);
Outcome run_bound(const Values& values, Console& console);
Outcome run_advise(const Values& values, Console& console);
Outcome run_tune(const Values& values, Console& console);
Outcome run_experiment(const Values& values, Console& console);
Outcome run_report(const Values& values, Console& console);
Outcome run_train(const Values& values, Console& console);
Outcome run_evaluate(const Values& values, Console& console);
Outcome run_distill(const Values& values, Console& console);
Outcome run_serve(const Values& values, Console& console);
Outcome run_token(const Values& values, Console& console);
Outcome run_submit(const Values& values, Console& console);
Outcome run_queue(const Values& values, Console& console);
Outcome run_job(const Values& values, Console& console);
Outcome run_cancel(const Values& values, Console& console);
Outcome run_hold(const Values& values, Console& console);
Outcome run_release(const Values& values, Console& console);
Outcome run_requeue(const Values& values, Console& console);
Outcome run_logs(const Values& values, Console& console);
Outcome run_wait(const Values& values, Console& console);
Outcome run_top(const Values& values, Console& console);
Outcome run_quota(const Values& values, Console& console);
Outcome run_share(const Values& values, Console& console);
Outcome run_drain(const Values& values, Console& console);
Outcome run_resume(const Values& values, Console& console);
Outcome run_replay(const Values& values, Console& console);
Outcome run_run(const Values& values, Console& console);
Outcome run_history(const Values& values, Console& console);
Outcome run_policies(const Values& values, Console& console);
Outcome run_scenarios(const Values& values, Console& console);
Outcome run_completion(const Values& values, Console& console);
Outcome run_man(const Values& values, Console& console);
Outcome run_help(const Values& values, Console& console);
Outcome run_version(const Values& values, Console& console);

// Lays the scenario file under the values, and runs the verb.
Outcome run_command(Command command, Console& console);

// The whole program: words without its name in, exit status out. Says on stderr what went wrong.
int run_program(std::span<const std::string> words, Console& console);

// "name": value ... with two blanks of indentation, and a line feed.
void print_json(Console& console, const nlohmann::ordered_json& json);
// That with --json, else the text. Gives 0, the status of a verb that is done.
int print_either(const Values& values, Console& console, const nlohmann::ordered_json& json,
                 const std::string& text);

}  // namespace partita::cli
