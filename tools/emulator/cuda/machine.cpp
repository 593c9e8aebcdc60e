#include "cuda/machine.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <stdexcept>

namespace emu::cuda {
namespace {

// Read from an NVIDIA H200 with driver 580.159.04 (test/hardware/device_attributes_h200.txt).
const std::map<int, int> kH200Attributes = {
    {1, 1024},        {2, 1024},        {3, 1024},       {4, 64},      {5, 2147483647},  {6, 65535},
    {7, 65535},       {8, 49152},       {9, 65536},      {10, 32},     {11, 2147483647}, {12, 65536},
    {13, 1980000},    {14, 512},        {15, 1},         {16, 132},    {17, 0},          {18, 0},
    {19, 1},          {20, 0},          {21, 131072},    {22, 131072}, {23, 65536},      {24, 16384},
    {25, 16384},      {26, 16384},      {27, 32768},     {28, 32768},  {29, 2048},       {30, 512},
    {31, 1},          {32, 1},          {33, 0},         {34, 6},      {35, 0},          {36, 3201000},
    {37, 6016},       {38, 62914560},   {39, 2048},      {40, 3},      {41, 1},          {42, 32768},
    {43, 2048},       {44, 1},          {45, 32768},     {46, 32768},  {47, 8192},       {48, 8192},
    {49, 32768},      {50, 0},          {51, 32},        {52, 32768},  {53, 32768},      {54, 2046},
    {55, 32768},      {56, 131072},     {57, 65536},     {58, 16384},  {59, 16384},      {60, 16384},
    {61, 32768},      {62, 2048},       {63, 32768},     {64, 32768},  {65, 2048},       {66, 32768},
    {67, 32768},      {68, 2046},       {69, 268435456}, {70, 131072}, {71, 65000},      {72, 2097120},
    {73, 32768},      {74, 32768},      {75, 9},         {76, 0},      {77, 32768},      {78, 1},
    {79, 1},          {80, 1},          {81, 233472},    {82, 65536},  {83, 1},          {84, 0},
    {85, 0},          {86, 0},          {87, 2},         {88, 0},      {89, 1},          {90, 1},
    {91, 1},          {92, 0},          {93, 0},         {94, 0},      {95, 1},          {96, 1},
    {97, 232448},     {98, 0},          {99, 1},         {100, 0},     {101, 0},         {102, 1},
    {103, 1},         {104, 0},         {105, 0},        {106, 32},    {107, 1},         {108, 39321600},
    {109, 134217728}, {110, 1},         {111, 1024},     {112, 1},     {113, 1},         {114, 1},
    {115, 1},         {116, 1},         {117, 1},        {118, 100},   {119, 9},         {120, 1},
    {121, 1},         {122, 1},         {123, 1},        {124, 1},     {125, 1},         {126, 4},
    {127, 1},         {128, 1},         {129, 1},        {130, 0},     {131, -1},        {132, 0},
    {133, 0},         {134, 0},         {135, 0},        {136, 0},     {137, 0},         {138, 0},
    {139, 590680286}, {140, 415174878}, {141, 1},        {142, 1},     {143, 0},         {144, 1},
    {145, 1},         {146, 0},         {147, 0},
};

Machine make_h200() {
  Machine machine;
  machine.name = "NVIDIA H200 (emulated)";
  machine.architecture = 90;
  machine.memory_bytes = 150109880320;  // measured
  machine.attributes = kH200Attributes;
  machine.sms_of_gpc = {18, 18, 16, 16, 16, 16, 16, 16};  // 132 SMs; the split over GPCs is nominal
  return machine;
}

Machine make_b200() {
  Machine machine = make_h200();
  machine.name = "NVIDIA B200 (emulated)";
  machine.architecture = 100;
  machine.memory_bytes = 183'000'000'000;
  machine.attributes[cudaDevAttrClockRate] = 1965000;  // kHz, published boost clock
  machine.attributes[cudaDevAttrMultiProcessorCount] = 148;
  machine.attributes[cudaDevAttrMemoryClockRate] = 3996000;  // kHz, 8 TB/s over 8192 bits
  machine.attributes[cudaDevAttrGlobalMemoryBusWidth] = 8192;
  machine.attributes[cudaDevAttrL2CacheSize] = 132644864;
  machine.attributes[cudaDevAttrMaxPersistingL2CacheSize] = 82903040;
  machine.attributes[cudaDevAttrComputeCapabilityMajor] = 10;
  machine.attributes[cudaDevAttrComputeCapabilityMinor] = 0;
  machine.attributes[cudaDevAttrAsyncEngineCount] = 4;
  machine.sms_of_gpc = {20, 20, 18, 18, 18, 18, 18, 18};  // 148 SMs; the split over GPCs is nominal
  return machine;
}

}  // namespace

int Machine::sm_count() const { return attribute(cudaDevAttrMultiProcessorCount); }
uint32_t Machine::shared_per_sm() const { return attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor); }
uint32_t Machine::shared_per_block_optin() const {
  return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}
uint32_t Machine::shared_reserved() const { return attribute(cudaDevAttrReservedSharedMemoryPerBlock); }

const Machine& machine_named(std::string_view name) {
  // Never destroyed, as the runtime that holds one: it is used from destructors of the program.
  static const Machine& b200 = *new Machine(make_b200());
  static const Machine& h200 = *new Machine(make_h200());
  if (name == "b200") return b200;
  if (name == "h200") return h200;
  throw std::invalid_argument(fmt::format("unknown machine \"{}\": choose b200 or h200", name));
}

}  // namespace emu::cuda
