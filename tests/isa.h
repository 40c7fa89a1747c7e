// The names of instruction sets for tests.
#ifndef HOPSCOTCH_ISA_H
#define HOPSCOTCH_ISA_H

// The instruction sets that tests name are x86-64's. On aarch64 its own take their places.
#if defined(__aarch64__)
#define ISA_V2 "scalar"
#define ISA_V3 "neon"
#define ISA_V4 "neon"
#else
#define ISA_V2 "v2"
#define ISA_V3 "v3"
#define ISA_V4 "v4"
#endif

#endif
