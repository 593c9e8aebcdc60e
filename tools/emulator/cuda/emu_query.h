#pragma once

#include <stdint.h>

/* What a program can ask the emulator beyond CUDA. Not linked against: look the function up with
 * dlsym(RTLD_DEFAULT, "emuGetLastLaunch"); on a GPU it does not exist. */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct EmuLaunchInfo {
  uint64_t launches;     /* finished so far, this one included; 0 before the first */
  double modelled_ns;    /* duration of the last grid */
  int32_t time_modelled; /* 0: flat cost, modelled_ns says nothing about hardware */
  int32_t sampled;       /* 1: only ctas_run of ctas_total ran, the others wrote no results */
  uint64_t ctas_run;
  uint64_t ctas_total;
  uint64_t warp_instructions;
} EmuLaunchInfo;

/* Fills *info for the last kernel launch of this process; returns 0, or 1 for a null pointer. */
int emuGetLastLaunch(EmuLaunchInfo* info);

/* allowed != 0: launches from here on may be sampled for time when the grid is large: only some CTAs run and write
 * results (EmuLaunchInfo::sampled says so). Without this, or emu --sample, every CTA runs. Returns 0. */
int emuAllowSampling(int allowed);

#ifdef __cplusplus
}
#endif
