// Any bytes as a native trace: no crash, and what is accepted prints and reads back equal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "workload/job_csv.h"

namespace {

using partita::JobId;
using partita::Result;
using namespace partita::workload;

Result<Trace> read(std::string_view text, bool skip_bad_rows) {
  RowOptions options;
  options.skip_bad_rows = skip_bad_rows;
  auto source = CsvJobSource::open(Input::memory(text, "fuzz"), options);
  if (!source) return source.error();
  return read_all(**source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<Trace> trace = read(text, data[0] % 2 == 1);
  if (!trace) return 0;
  std::string printed;
  const OptionalColumns all{.memory = true, .resumable = true, .user = true, .priority = true};
  write_header(printed, all);
  for (std::uint32_t i = 0; i < trace->jobs.size(); ++i) {
    const Job& job = trace->jobs[i];
    JobRow row{std::string(trace->id(JobId{i})), trace->class_names[job.job_class], job, {}};
    if (!trace->memory_curves.empty()) row.memory = trace->memory_curves[i];
    if (!trace->owners.empty()) {
      row.user = trace->user_names[trace->owners[i].user];
      row.priority = trace->owners[i].priority;
    }
    write_row(printed, row, all);
  }
  const Result<Trace> back = read(printed, false);
  CHECK(back.ok());
  CHECK(back->jobs.size() == trace->jobs.size());
  CHECK(back->id_text == trace->id_text);
  CHECK(back->id_ends == trace->id_ends);
  CHECK(back->memory_curves == trace->memory_curves);
  CHECK(back->owners.size() == trace->owners.size());
  for (std::size_t i = 0; i < trace->owners.size(); ++i) {
    CHECK(back->owners[i].priority == trace->owners[i].priority);
    CHECK(back->user_names[back->owners[i].user] == trace->user_names[trace->owners[i].user]);
  }
  for (std::size_t i = 0; i < trace->jobs.size(); ++i) {
    Job job = back->jobs[i];
    CHECK(back->class_names[job.job_class] == trace->class_names[trace->jobs[i].job_class]);
    job.job_class = trace->jobs[i].job_class;
    CHECK(job == trace->jobs[i]);
  }
  return 0;
}
