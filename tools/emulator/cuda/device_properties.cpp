#include "cuda/device_properties.h"

#include <fmt/format.h>

#include <cstring>

namespace emu::cuda {
namespace {

void fill_extents(const Machine& m, cudaDeviceProp& p) {
  p.regsPerBlock = m.attribute(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = m.attribute(cudaDevAttrWarpSize);
  p.memPitch = m.attribute(cudaDevAttrMaxPitch);
  p.maxThreadsPerBlock = m.attribute(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = m.attribute(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = m.attribute(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = m.attribute(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = m.attribute(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = m.attribute(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = m.attribute(cudaDevAttrMaxGridDimZ);
  p.sharedMemPerBlock = m.attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  p.totalConstMem = m.attribute(cudaDevAttrTotalConstantMemory);
  p.major = m.attribute(cudaDevAttrComputeCapabilityMajor);
  p.minor = m.attribute(cudaDevAttrComputeCapabilityMinor);
  p.textureAlignment = m.attribute(cudaDevAttrTextureAlignment);
  p.texturePitchAlignment = m.attribute(cudaDevAttrTexturePitchAlignment);
}

void fill_textures(const Machine& m, cudaDeviceProp& p) {
  p.maxTexture1D = m.attribute(cudaDevAttrMaxTexture1DWidth);
  p.maxTexture1DMipmap = m.attribute(cudaDevAttrMaxTexture1DMipmappedWidth);
  p.maxTexture2D[0] = m.attribute(cudaDevAttrMaxTexture2DWidth);
  p.maxTexture2D[1] = m.attribute(cudaDevAttrMaxTexture2DHeight);
  p.maxTexture2DMipmap[0] = m.attribute(cudaDevAttrMaxTexture2DMipmappedWidth);
  p.maxTexture2DMipmap[1] = m.attribute(cudaDevAttrMaxTexture2DMipmappedHeight);
  p.maxTexture2DLinear[0] = m.attribute(cudaDevAttrMaxTexture2DLinearWidth);
  p.maxTexture2DLinear[1] = m.attribute(cudaDevAttrMaxTexture2DLinearHeight);
  p.maxTexture2DLinear[2] = m.attribute(cudaDevAttrMaxTexture2DLinearPitch);
  p.maxTexture2DGather[0] = m.attribute(cudaDevAttrMaxTexture2DGatherWidth);
  p.maxTexture2DGather[1] = m.attribute(cudaDevAttrMaxTexture2DGatherHeight);
  p.maxTexture3D[0] = m.attribute(cudaDevAttrMaxTexture3DWidth);
  p.maxTexture3D[1] = m.attribute(cudaDevAttrMaxTexture3DHeight);
  p.maxTexture3D[2] = m.attribute(cudaDevAttrMaxTexture3DDepth);
  p.maxTexture3DAlt[0] = m.attribute(cudaDevAttrMaxTexture3DWidthAlt);
  p.maxTexture3DAlt[1] = m.attribute(cudaDevAttrMaxTexture3DHeightAlt);
  p.maxTexture3DAlt[2] = m.attribute(cudaDevAttrMaxTexture3DDepthAlt);
  p.maxTextureCubemap = m.attribute(cudaDevAttrMaxTextureCubemapWidth);
  p.maxTexture1DLayered[0] = m.attribute(cudaDevAttrMaxTexture1DLayeredWidth);
  p.maxTexture1DLayered[1] = m.attribute(cudaDevAttrMaxTexture1DLayeredLayers);
  p.maxTexture2DLayered[0] = m.attribute(cudaDevAttrMaxTexture2DLayeredWidth);
  p.maxTexture2DLayered[1] = m.attribute(cudaDevAttrMaxTexture2DLayeredHeight);
  p.maxTexture2DLayered[2] = m.attribute(cudaDevAttrMaxTexture2DLayeredLayers);
  p.maxTextureCubemapLayered[0] = m.attribute(cudaDevAttrMaxTextureCubemapLayeredWidth);
  p.maxTextureCubemapLayered[1] = m.attribute(cudaDevAttrMaxTextureCubemapLayeredLayers);
  p.maxSurface1D = m.attribute(cudaDevAttrMaxSurface1DWidth);
  p.maxSurface2D[0] = m.attribute(cudaDevAttrMaxSurface2DWidth);
  p.maxSurface2D[1] = m.attribute(cudaDevAttrMaxSurface2DHeight);
  p.maxSurface3D[0] = m.attribute(cudaDevAttrMaxSurface3DWidth);
  p.maxSurface3D[1] = m.attribute(cudaDevAttrMaxSurface3DHeight);
  p.maxSurface3D[2] = m.attribute(cudaDevAttrMaxSurface3DDepth);
  p.maxSurface1DLayered[0] = m.attribute(cudaDevAttrMaxSurface1DLayeredWidth);
  p.maxSurface1DLayered[1] = m.attribute(cudaDevAttrMaxSurface1DLayeredLayers);
  p.maxSurface2DLayered[0] = m.attribute(cudaDevAttrMaxSurface2DLayeredWidth);
  p.maxSurface2DLayered[1] = m.attribute(cudaDevAttrMaxSurface2DLayeredHeight);
  p.maxSurface2DLayered[2] = m.attribute(cudaDevAttrMaxSurface2DLayeredLayers);
  p.maxSurfaceCubemap = m.attribute(cudaDevAttrMaxSurfaceCubemapWidth);
  p.maxSurfaceCubemapLayered[0] = m.attribute(cudaDevAttrMaxSurfaceCubemapLayeredWidth);
  p.maxSurfaceCubemapLayered[1] = m.attribute(cudaDevAttrMaxSurfaceCubemapLayeredLayers);
}

void fill_features(const Machine& m, cudaDeviceProp& p) {
  p.multiProcessorCount = m.attribute(cudaDevAttrMultiProcessorCount);
  p.integrated = m.attribute(cudaDevAttrIntegrated);
  p.canMapHostMemory = m.attribute(cudaDevAttrCanMapHostMemory);
  p.surfaceAlignment = m.attribute(cudaDevAttrSurfaceAlignment);
  p.concurrentKernels = m.attribute(cudaDevAttrConcurrentKernels);
  p.ECCEnabled = m.attribute(cudaDevAttrEccEnabled);
  p.pciBusID = m.attribute(cudaDevAttrPciBusId);
  p.pciDeviceID = m.attribute(cudaDevAttrPciDeviceId);
  p.pciDomainID = m.attribute(cudaDevAttrPciDomainId);
  p.tccDriver = m.attribute(cudaDevAttrTccDriver);
  p.asyncEngineCount = m.attribute(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = m.attribute(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = m.attribute(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = m.attribute(cudaDevAttrL2CacheSize);
  p.persistingL2CacheMaxSize = m.attribute(cudaDevAttrMaxPersistingL2CacheSize);
  p.maxThreadsPerMultiProcessor = m.attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = m.attribute(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = m.attribute(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = m.attribute(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor = m.attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p.regsPerMultiprocessor = m.attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = m.attribute(cudaDevAttrManagedMemory);
  p.isMultiGpuBoard = m.attribute(cudaDevAttrIsMultiGpuBoard);
  p.multiGpuBoardGroupID = m.attribute(cudaDevAttrMultiGpuBoardGroupID);
  p.hostNativeAtomicSupported = m.attribute(cudaDevAttrHostNativeAtomicSupported);
  p.pageableMemoryAccess = m.attribute(cudaDevAttrPageableMemoryAccess);
  p.concurrentManagedAccess = m.attribute(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = m.attribute(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem = m.attribute(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = m.attribute(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = m.attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p.pageableMemoryAccessUsesHostPageTables = m.attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables);
  p.directManagedMemAccessFromHost = m.attribute(cudaDevAttrDirectManagedMemAccessFromHost);
  p.maxBlocksPerMultiProcessor = m.attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.accessPolicyMaxWindowSize = m.attribute(cudaDevAttrMaxAccessPolicyWindowSize);
  p.reservedSharedMemPerBlock = m.attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  p.hostRegisterSupported = m.attribute(cudaDevAttrHostRegisterSupported);
  p.sparseCudaArraySupported = m.attribute(cudaDevAttrSparseCudaArraySupported);
  p.hostRegisterReadOnlySupported = m.attribute(cudaDevAttrHostRegisterReadOnlySupported);
  p.timelineSemaphoreInteropSupported = m.attribute(cudaDevAttrTimelineSemaphoreInteropSupported);
  p.memoryPoolsSupported = m.attribute(cudaDevAttrMemoryPoolsSupported);
  p.gpuDirectRDMASupported = m.attribute(cudaDevAttrGPUDirectRDMASupported);
  p.gpuDirectRDMAFlushWritesOptions = m.attribute(cudaDevAttrGPUDirectRDMAFlushWritesOptions);
  p.gpuDirectRDMAWritesOrdering = m.attribute(cudaDevAttrGPUDirectRDMAWritesOrdering);
  p.memoryPoolSupportedHandleTypes = m.attribute(cudaDevAttrMemoryPoolSupportedHandleTypes);
  p.deferredMappingCudaArraySupported = m.attribute(cudaDevAttrDeferredMappingCudaArraySupported);
  p.ipcEventSupported = m.attribute(cudaDevAttrIpcEventSupport);
  p.clusterLaunch = m.attribute(cudaDevAttrClusterLaunch);
  p.deviceNumaConfig = m.attribute(cudaDevAttrNumaConfig);
  p.deviceNumaId = m.attribute(cudaDevAttrNumaId);
  p.mpsEnabled = m.attribute(cudaDevAttrMpsEnabled);
  p.hostNumaId = m.attribute(cudaDevAttrHostNumaId);
  p.gpuPciDeviceID = m.attribute(cudaDevAttrGpuPciDeviceId);
  p.gpuPciSubsystemID = m.attribute(cudaDevAttrGpuPciSubsystemId);
  p.hostNumaMultinodeIpcSupported = m.attribute(cudaDevAttrHostNumaMultinodeIpcSupported);
}

}  // namespace

cudaDeviceProp device_properties(const Machine& machine) {
  cudaDeviceProp properties{};
  std::strncpy(properties.name, machine.name.c_str(), sizeof properties.name - 1);
  std::memcpy(properties.uuid.bytes, "emulated device", 16);
  properties.totalGlobalMem = machine.memory_bytes;
  properties.unifiedFunctionPointers = 1;
  fill_extents(machine, properties);
  fill_textures(machine, properties);
  fill_features(machine, properties);
  return properties;
}

std::string pci_bus_id(const Machine& machine) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", machine.attribute(cudaDevAttrPciDomainId),
                     machine.attribute(cudaDevAttrPciBusId), machine.attribute(cudaDevAttrPciDeviceId));
}

}  // namespace emu::cuda
