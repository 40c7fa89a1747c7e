// real: the number that model code is written with. On the GPU it is one double, on the CPU a native vector of LANES
// doubles, one per lane; the same source text gives the same bits because every operation is IEEE and lane by lane.
// This is the only file that knows which processor it is compiled for.
//
// What model code may use: + - * /, comparisons (they give a mask), & | ~ on masks, and the functions below. No libm,
// no min/max of the vendor, no branch on a lane's value except through any_lane().
#ifndef HOPSCOTCH_REAL_H
#define HOPSCOTCH_REAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Where several threads may advance a lane: on a GPU, and where tests stand in for one (tests/unit/emulated_team.h).
#if defined(__CUDACC__)
#define HOPSCOTCH_TEAMS
#endif

// Every function is inlined into its kernel. With -DHOPSCOTCH_CALLS the compiler may call it instead: kernels a fifth
// slower, compiled twenty times faster. So are built those of observed lanes, under a sanitizer, without optimisation.
#if defined(__CUDACC__)
#define HD static __device__ __forceinline__
#elif defined(HOPSCOTCH_CALLS)
#define HD static inline __attribute__((unused))
#else
#define HD static inline __attribute__((always_inline, unused))
#endif

#if defined(__cplusplus)
#define restrict __restrict__
#endif

// A function that is called, not inlined: large and called from several places.
#if defined(__CUDACC__)
#define HD_CALL static __device__ __noinline__
#else
#define HD_CALL static __attribute__((noinline, unused))
#endif

// A table of numbers inside a function, and an entry of it. The GPU reads them from constant memory, which instructions
// take operands from for nothing; numbers that its compiler knows it would move to registers first, by two instructions
// each, so it is kept from knowing them.
#if defined(__CUDACC__)
#define TABLE static __constant__
HD double entry_of(const double *entry)
{
    double value;
    asm("ld.const.f64 %0, [%1];" : "=d"(value) : "l"(__cvta_generic_to_constant(entry)));
    return value;
}
#else
#define TABLE static const
HD double entry_of(const double *entry) { return *entry; }
#endif

// before a short loop of constant length: its arrays are to live in registers
#if defined(HOPSCOTCH_TEAMS) && !defined(__CUDACC__)
#define UNROLL
#elif defined(__CUDACC__) || defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__CUDACC__) || defined(HOPSCOTCH_SCALAR)
#define LANES 1
#elif defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define LANES 8
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define LANES 4
#else
#define LANES 1
#endif

#if LANES == 1
#include <math.h>
typedef double real;
typedef int32_t mask;   // 0 or -1
typedef int64_t bits64; // of a real
#else
typedef double real __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES))); // 0 or -1 per lane
typedef mask bits64;                                          // of a real
#endif

// ---- memory of a lane -----------------------------------------------------------------------------------------------

// A member of a lane's struct that the GPU keeps in shared memory, where each thread of the block has its own: arrays
// that are indexed by a number known only as it runs, which registers can't be.
//     typedef struct Lane { APART(Past) past; double x; } Lane;      WITH_APART(Lane, lane, Past);
// declares `lane`. One such member, the first; its size an odd number of doubles, so that neighbouring threads use
// different banks.
#if defined(__CUDACC__)
enum { BLOCK_THREADS = 64 };
template <typename Type> HD Type &apart_new(void)
{
    __shared__ Type of_block[BLOCK_THREADS];
    return of_block[threadIdx.x];
}
#define APART(Type) Type &
#define WITH_APART(Type, name, Apart) Type name = {apart_new<Apart>()}
#else
#define APART(Type) Type
#define WITH_APART(Type, name, Apart) Type name
#endif

// ---- bits -----------------------------------------------------------------------------------------------------------

#if LANES == 1
HD bits64 bits_of(real x)
{
    bits64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
HD real real_of_bits(bits64 bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#else
HD bits64 bits_of(real x) { return (mask)x; }
HD real real_of_bits(bits64 bits) { return (real)bits; }
#endif

// A comparison as a mask. Vector comparisons give 0 or -1 already; a scalar comparison gives 0 or 1 and is negated.
#if LANES == 1
#define MASK(comparison) (-(mask)(comparison))
HD real splat(double x) { return x; }
HD bits64 splat_bits(int64_t x) { return x; }
#else
#define MASK(comparison) (comparison)
HD real splat(double x) { return x - (real){0}; }
HD bits64 splat_bits(int64_t x) { return x - (mask){0}; }
#endif

HD mask no_lanes(void) { return MASK(splat(0.0) != 0.0); }
HD mask all_lanes(void) { return MASK(splat(0.0) == 0.0); }

// mask ? a : b, lane by lane, bit for bit
HD real select_real(mask m, real a, real b)
{
#if LANES == 1
    return m ? a : b;
#else
    return (real)((m & (mask)a) | (~m & (mask)b));
#endif
}

HD bool any_lane(mask m)
{
#if LANES == 1
    return m != 0;
#elif LANES == 8
    return _mm512_movepi64_mask((__m512i)m) != 0;
#else
    return _mm256_movemask_pd((__m256d)m) != 0;
#endif
}

// The mask that any_lane() found lanes in: in a group of one it is the whole group, which the compiler may know.
HD mask not_empty(mask m)
{
#if LANES == 1
    (void)m;
    return -1;
#else
    return m;
#endif
}

// ---- correctly rounded operations -----------------------------------------------------------------------------------

// a*b + c, rounded once
HD real fused(real a, real b, real c)
{
#if LANES == 1
    return fma(a, b, c);
#elif LANES == 8
    return (real)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#else
    return (real)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#endif
}

HD real square_root(real x)
{
#if LANES == 1
    return sqrt(x);
#elif LANES == 8
    return (real)_mm512_sqrt_pd((__m512d)x);
#else
    return (real)_mm256_sqrt_pd((__m256d)x);
#endif
}

HD real absolute(real x)
{
#if LANES == 1
    return fabs(x);
#else
    return real_of_bits(bits_of(x) & splat_bits(INT64_MAX));
#endif
}
HD real greater_of(real a, real b) { return select_real(MASK(a > b), a, b); } // b if either is NaN
HD real lesser_of(real a, real b) { return select_real(MASK(a < b), a, b); }  // b if either is NaN
HD real clamped(real x, real low, real high) { return lesser_of(greater_of(x, low), high); }
HD mask is_finite(real x) { return MASK(absolute(x) <= splat(1.7976931348623157e308)); }
// NaN has many bit patterns; the stored one is this
HD real canonical(real x) { return select_real(MASK(x == x), x, real_of_bits(splat_bits(0x7ff8000000000000))); }

// ---- lanes in memory ------------------------------------------------------------------------------------------------

// the first `valid` of LANES lanes
HD mask first_lanes(int valid)
{
#if LANES == 1
    return -(mask)(valid > 0);
#elif LANES == 8
    return (mask){0, 1, 2, 3, 4, 5, 6, 7} < valid;
#else
    return (mask){0, 1, 2, 3} < valid;
#endif
}

// `valid` (1..LANES) lanes from p[0..valid); missing ones repeat the last, and are never stored.
HD real load_lanes(const double *p, int valid)
{
#if LANES == 1
    (void)valid;
    return *p;
#elif LANES == 8
    return (real)_mm512_mask_loadu_pd(_mm512_set1_pd(p[valid - 1]), (__mmask8)((1 << valid) - 1), p);
#else
    const mask present = first_lanes(valid);
    return select_real(present, (real)_mm256_maskload_pd(p, (__m256i)present), splat(p[valid - 1]));
#endif
}

// stores the lanes of `m` among the first `valid`
HD void store_lanes(double *p, real x, mask m, int valid)
{
#if LANES == 1
    (void)valid;
    if (m) *p = x;
#elif LANES == 8
    _mm512_mask_storeu_pd(p, (__mmask8)(_mm512_movepi64_mask((__m512i)m) & ((1 << valid) - 1)), (__m512d)x);
#else
    _mm256_maskstore_pd(p, (__m256i)(m & first_lanes(valid)), (__m256d)x);
#endif
}

// All lanes from p[0..LANES).
HD real load_all(const double *p)
{
#if LANES == 1
    return *p;
#else
    real x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
#endif
}

HD void store_all(double *p, real x)
{
#if LANES == 1
    *p = x;
#else
    __builtin_memcpy(p, &x, sizeof x);
#endif
}

HD bool lane_of_mask(mask m, int i)
{
#if LANES == 1
    (void)i;
    return m != 0;
#else
    return m[i] != 0;
#endif
}

HD void set_lane(real *x, int i, double value)
{
#if LANES == 1
    (void)i;
    *x = value;
#else
    (*x)[i] = value;
#endif
}

HD double lane_of(real x, int i)
{
#if LANES == 1
    (void)i;
    return x;
#else
    return x[i];
#endif
}

#endif
