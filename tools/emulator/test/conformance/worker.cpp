#include "worker.h"

#include <cuda_runtime_api.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace conformance {

void release_buffers();

namespace {

void write_all(int fd, const void* data, size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t n = write(fd, at, size);
    if (n <= 0) _exit(3);
    at += n, size -= static_cast<size_t>(n);
  }
}
bool read_all(int fd, void* data, size_t size, int timeout_s) {
  for (char* at = static_cast<char*>(data); size > 0;) {
    pollfd poll_fd{fd, POLLIN, 0};
    if (poll(&poll_fd, 1, timeout_s * 1000) <= 0) return false;
    const ssize_t n = read(fd, at, size);
    if (n <= 0) return false;
    at += n, size -= static_cast<size_t>(n);
  }
  return true;
}
void send(int fd, const std::string& text) {
  const size_t size = text.size();
  write_all(fd, &size, sizeof size), write_all(fd, text.data(), size);
}
bool receive(int fd, std::string& text, int timeout_s) {
  size_t size = 0;
  if (!read_all(fd, &size, sizeof size, timeout_s)) return false;
  text.resize(size);
  return read_all(fd, text.data(), size, timeout_s);
}

// Device printf goes to the standard output: it is sent to a file while such a case runs.
class CapturedOutput {
 public:
  CapturedOutput() : file_(std::tmpfile()) {
    std::fflush(stdout);
    before_ = dup(1), dup2(fileno(file_), 1);
  }
  std::string end() {
    std::fflush(stdout);
    dup2(before_, 1), close(before_);
    std::string text(static_cast<size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
    lseek(fileno(file_), 0, SEEK_SET);
    if (read(fileno(file_), text.data(), text.size()) < 0) text = "unreadable";
    std::fclose(file_);
    return text;
  }

 private:
  std::FILE* file_;
  int before_;
};

Result run_case(const Case& test) {
  Result result;
  uint32_t* out = nullptr;
  const size_t bytes = test.words * 4;
  cudaError_t status = cudaMalloc(reinterpret_cast<void**>(&out), bytes ? bytes : 4);
  if (status == cudaSuccess) status = cudaMemset(out, 0xcd, bytes);
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status == cudaSuccess) {
    CapturedOutput* captured = test.prints ? new CapturedOutput : nullptr;
    try {
      test.run(out);
    } catch (cudaError_t thrown) {
      status = thrown;
    }
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (captured) result.text = captured->end();
    delete captured;
  }
  result.words.resize(test.words);
  if (status == cudaSuccess && bytes)
    status = cudaMemcpy(result.words.data(), out, bytes, cudaMemcpyDeviceToHost);
  if (status != cudaSuccess) result.error = cudaGetErrorName(status);
  cudaFree(out);
  release_buffers();
  return result;
}

// The child: one message a case. Exits after an error, because CUDA's errors of a kernel stay.
[[noreturn]] void run_in_child(const std::vector<const Case*>& cases, size_t first, int fd) {
  for (size_t i = first; i < cases.size(); ++i) {
    const Result result = run_case(*cases[i]);
    send(fd, result.error), send(fd, result.text);
    send(fd, std::string(reinterpret_cast<const char*>(result.words.data()), result.words.size() * 4));
    if (!result.error.empty()) break;
  }
  _exit(0);
}

struct Child {
  pid_t pid;
  int fd;
};
template <typename Body>
Child start_child(Body body) {
  int ends[2];
  if (pipe(ends) != 0) std::perror("pipe"), std::exit(2);
  std::fflush(stdout);  // the child must not write it again
  const pid_t pid = fork();
  if (pid < 0) std::perror("fork"), std::exit(2);
  if (pid == 0) {
    close(ends[0]);
    body(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0]};
}
void end_child(Child child) {
  kill(child.pid, SIGKILL);
  waitpid(child.pid, nullptr, 0);
  close(child.fd);
}

}  // namespace

void run_cases(const std::vector<const Case*>& cases, int timeout_s,
               const std::function<void(const Case&, const Result&)>& done) {
  for (size_t next = 0; next < cases.size();) {
    const Child child = start_child([&](int fd) { run_in_child(cases, next, fd); });
    bool alive = true;
    while (alive && next < cases.size()) {
      Result result;
      std::string words;
      alive = receive(child.fd, result.error, timeout_s) && receive(child.fd, result.text, timeout_s) &&
              receive(child.fd, words, timeout_s);
      if (!alive) {
        result.error = "hang or crash";
      } else {
        result.words.resize(words.size() / 4);
        std::copy(words.begin(), words.end(), reinterpret_cast<char*>(result.words.data()));
        alive = result.error.empty();
      }
      done(*cases[next++], result);
    }
    end_child(child);
  }
}

std::string describe_device() {
  const Child child = start_child([](int fd) {
    cudaDeviceProp properties{};
    int driver = 0, runtime = 0, clock = 0;
    cudaGetDeviceProperties(&properties, 0);
    cudaDriverGetVersion(&driver), cudaRuntimeGetVersion(&runtime);
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    std::string module_version;
    std::ifstream version("/proc/driver/nvidia/version");
    std::getline(version, module_version);
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    send(fd, nlohmann::ordered_json{{"device", properties.name},
                                    {"compute_capability", std::to_string(properties.major) + "." +
                                                               std::to_string(properties.minor)},
                                    {"kernel_module", module_version},
                                    {"driver_api", driver},
                                    {"runtime", runtime},
                                    {"sm_clock_khz", clock},
                                    {"date", date}}
                 .dump());
  });
  std::string line;
  if (!receive(child.fd, line, 60)) line = "{}";
  end_child(child);
  return line;
}

}  // namespace conformance
