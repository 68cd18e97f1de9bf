// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <map>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "control_protocol.hpp"
#include "job_name.hpp"

namespace apgas::launch {
namespace {

using state = control_request::state;

std::string request_of(const std::string& text, std::uint32_t version = control_version,
                       std::size_t length_more = 0) {
  std::string bytes(control_magic);
  const std::size_t length = text.size() + length_more;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(version >> (8 * i) & 0xffU);
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xffU);
  return bytes + text;
}

state add(control_request& to, const std::string& bytes) {
  return to.add(std::as_bytes(std::span(bytes)));
}

TEST(ControlRequest, IsReadHoweverItsBytesAreDivided) {
  const std::string bytes = request_of("report");
  for (std::size_t first = 1; first < bytes.size(); ++first) {
    control_request request;
    ASSERT_EQ(add(request, bytes.substr(0, first)), state::incomplete) << first;
    ASSERT_EQ(add(request, bytes.substr(first)), state::complete) << first;
    EXPECT_EQ(request.text(), "report");
  }
}

TEST(ControlRequest, MayBeEmpty) {
  control_request request;
  EXPECT_EQ(add(request, request_of("")), state::complete);
  EXPECT_EQ(request.text(), "");
}

TEST(ControlRequest, OfAnotherProgramIsMalformedFromItsFirstWrongByte) {
  control_request request;
  EXPECT_EQ(add(request, "APG"), state::incomplete);
  EXPECT_EQ(add(request, "X"), state::malformed);
  control_request http;
  EXPECT_EQ(add(http, "GET / HTTP/1.1\r\n"), state::malformed);
}

TEST(ControlRequest, OfAnotherVersionIsRecognised) {
  control_request request;
  EXPECT_EQ(add(request, request_of("report", control_version + 1)), state::other_version);
}

TEST(ControlRequest, ThatIsTooLongIsMalformed) {
  control_request longest;
  EXPECT_EQ(add(longest, request_of(std::string(longest_control_request, 'x'))), state::complete);
  control_request longer;
  EXPECT_EQ(add(longer, request_of(std::string(longest_control_request + 1, 'x'))),
            state::malformed);
  control_request announced;
  EXPECT_EQ(add(announced, request_of("", control_version, longest_control_request + 1)),
            state::malformed);
}

TEST(ControlRequest, WithBytesAfterItsEndIsMalformed) {
  control_request request;
  EXPECT_EQ(add(request, request_of("report") + "x"), state::malformed);
}

TEST(ControlReply, HasVersionStatusAndLength) {
  const std::string reply = control_reply(control_status::not_now, "abc");
  EXPECT_EQ(reply, std::string("APGASCTL\1\0\0\0\3\0\0\0\3\0\0\0\0\0\0\0abc", 27));
}

std::string name_with(const std::map<std::string, std::string>& variables) {
  return job_name(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      77);
}

TEST(JobName, IsThatOfTheLauncherOrTheProcess) {
  EXPECT_EQ(name_with({}), "77");
  EXPECT_EQ(name_with({{"PMIX_NAMESPACE", "314159"}}), "314159");
  EXPECT_EQ(name_with({{"PMI_JOBID", "kvs_1"}}), "kvs_1");
  const std::map<std::string, std::string> step{
      {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}, {"SLURM_TASK_PID", "77"}};
  EXPECT_EQ(name_with(step), "12.3");
  EXPECT_EQ(name_with({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}, {"SLURM_TASK_PID", "70"}}),
            "77")
      << "the task of the step is the shell that started this process";
  EXPECT_EQ(name_with({{"SLURM_JOB_ID", "12"}}), "77") << "a batch script is no step";
}

TEST(JobName, HasOnlyCharactersOfNamesAndFitsIntoAnAddress) {
  EXPECT_EQ(name_with({{"PMIX_NAMESPACE", "prte/host@1 2"}}), "prte_host_1_2");
  const std::string longest = name_with({{"PMIX_NAMESPACE", std::string(500, 'n')}});
  EXPECT_LE(control_address(4'294'967'295, longest, 2'147'483'647, 2'147'483'647).size(), 107);
  EXPECT_EQ(control_address(1000, "77", 0, 77), "apgas/1000/77/0/77");
}

}  // namespace
}  // namespace apgas::launch
