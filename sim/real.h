// real: the number type of model code. On the GPU it is one double; on the CPU it is a native vector of LANES doubles,
// one per lane. The same source gives the same bits, because every operation is IEEE and acts lane by lane. Only this
// file and team.h know which processor they are compiled for; models use the names that these define. With
// -DHOPSCOTCH_DUAL it is a dual number, which carries a derivative (dual.h).
//
// Model code may use: + - * /, comparisons (they give a mask), & | ~ on masks, and the functions below. Not allowed:
// libm, the vendor's min/max, and branches on a lane's value except through any_lane(). What may be compiled for dual
// numbers compares the value_of() its numbers.
#ifndef HOPSCOTCH_REAL_H
#define HOPSCOTCH_REAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Defined where several threads may advance a lane: on a GPU, and in tests that emulate one
// (tests/unit/emulated_team.h). With -DHOPSCOTCH_ALONE each lane of a GPU has one thread (alone_cuda.cu).
#if defined(__CUDACC__) && !defined(HOPSCOTCH_ALONE)
#define HOPSCOTCH_TEAMS
#endif

// Every function is inlined into its kernel. With -DHOPSCOTCH_CALLS the compiler may call it instead: kernels are a
// fifth slower and compile twenty times faster. This is used for kernels of observed lanes, under a sanitizer, and
// without optimisation.
#if defined(__CUDACC__)
#define HD static __device__ __forceinline__
#elif defined(HOPSCOTCH_CALLS)
#define HD static inline __attribute__((unused))
#else
#define HD static inline __attribute__((always_inline, unused))
#endif

// Integer arithmetic that the host and the kernel both use.
#if defined(__CUDACC__)
#define HD_BOTH static inline __host__ __device__
#else
#define HD_BOTH static inline __attribute__((unused))
#endif

#if defined(__cplusplus)
#define restrict __restrict__
#endif

// A function that is always inlined, so that the compiler can unroll its UNROLL loops to the length that the caller
// gives.
#if defined(__CUDACC__)
#define HD_INLINE HD
#else
#define HD_INLINE static inline __attribute__((always_inline, unused))
#endif

// A made kernel is inlined as a whole, because most of it is constant, unless it is too large for that.
#if defined(HOPSCOTCH_MADE) && !defined(HOPSCOTCH_MADE_LARGE)
#define HOPSCOTCH_MADE_WHOLE
#endif

// A function that is never inlined: large, and called from several functions.
#if defined(HOPSCOTCH_MADE_WHOLE)
#define HD_CALL HD
#elif defined(__CUDACC__)
#define HD_CALL static __device__ __noinline__
#else
#define HD_CALL static __attribute__((noinline, unused))
#endif

// A pointer whose target changes by nothing else, in a function that is called: its members are loaded once. Where the
// function is inlined, NVRTC would take half as long again for what it then knows.
#if defined(HOPSCOTCH_MADE_WHOLE)
#define UNALIASED
#else
#define UNALIASED restrict
#endif

// A member of a struct of C++ (equations/cells.h).
#if defined(__CUDACC__)
#define HD_MEMBER __device__ __forceinline__
#else
#define HD_MEMBER inline
#endif

// A function that hardly ever runs: never inlined, so that its callers stay small.
#if defined(__CUDACC__)
#define HD_RARE static __device__ __noinline__
#else
#define HD_RARE static __attribute__((noinline, cold, unused))
#endif

// Where the lanes of a kernel have a thread each.
#if defined(__CUDACC__)
enum { ON_GPU = 1 };
#else
enum { ON_GPU = 0 };
#endif

// A table of numbers inside a function, and one entry. The GPU reads it from constant memory, which an instruction can
// use as an operand at no cost. If its compiler knew the numbers, it would first move them to registers by two
// instructions each; the asm hides them.
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

// before a short loop of constant length, so that its arrays stay in registers
#if (defined(HOPSCOTCH_TEAMS) && !defined(__CUDACC__)) || defined(HOPSCOTCH_DUAL)
#define UNROLL
#elif defined(__CUDACC__) || defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

// before a loop whose length only a made kernel knows; a large one is to fit into a GPU's cache of instructions
#if defined(HOPSCOTCH_MADE_LARGE) && defined(__CUDACC__)
#define UNROLL_MADE _Pragma("unroll 1")
#define UNROLL_LOADS _Pragma("unroll 4")
#elif !defined(HOPSCOTCH_MADE_WHOLE)
#define UNROLL_MADE
#elif defined(__CUDACC__) || defined(__clang__)
#define UNROLL_MADE _Pragma("unroll")
#else
#define UNROLL_MADE _Pragma("GCC unroll 1024")
#endif
// the same, before loops that are run often and whose turns load numbers: these are to be on their way together
#if !defined(UNROLL_LOADS)
#define UNROLL_LOADS UNROLL_MADE
#endif

// ---- memory of a lane -----------------------------------------------------------------------------------------------

// A member of a lane's struct that the GPU keeps in shared memory, separately for each thread of the thread block: for
// arrays with an index known only at run time, which registers can't hold.
//     typedef struct Lane { APART(Past) past; double x; } Lane;      WITH_APART(Lane, lane, Past); declares `lane`.
// A struct has one such member, the first. Its size is an odd number of doubles, so that neighbouring threads use
// different memory banks. WITHOUT_APART: for code without such an index, which needs no shared memory.
enum { THREAD_BLOCK = 64 }; // threads of a GPU, where each has a lane
#if defined(__CUDACC__)
template <typename Type> HD Type &apart_new(void)
{
    __shared__ Type of_thread[THREAD_BLOCK];
    return of_thread[threadIdx.x];
}
#define APART(Type) Type &
#define WITH_APART(Type, name, Apart) Type name = {apart_new<Apart>()}
#define WITHOUT_APART(Type, name, Apart)                                                                               \
    Apart name##_apart;                                                                                                \
    Type name = {name##_apart}
#else
#define APART(Type) Type
#define WITH_APART(Type, name, Apart) Type name
#define WITHOUT_APART(Type, name, Apart) Type name
#endif

#if defined(HOPSCOTCH_DUAL)
#include "dual.h"
#else
#if defined(__CUDACC__) || defined(HOPSCOTCH_SCALAR)
#define LANES 1
#elif defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define LANES 8
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define LANES 4
#elif defined(__aarch64__)
#include <arm_neon.h>
#define LANES 2
#else
#define LANES 1
#endif

#if LANES == 1
#include <math.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif
typedef double real;
typedef int32_t mask;   // 0 or -1
typedef int64_t bits64; // of a real
#else
typedef double real __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES))); // 0 or -1 per lane
typedef mask bits64;                                          // of a real
#endif
#define REAL_DOUBLES LANES // doubles of a real in memory

// A number as comparisons take it. What only matters to dual numbers: x as a constant, and with the derivative of y.
HD real value_of(real x) { return x; }
HD real constant_of(real x) { return x; }
HD real with_slope(real x, real y) { return (void)y, x; }

// The numbers of this thread of a GPU in shared memory, THREAD_BLOCK apart: Configured.shared of them, at most
// SHARED_NUMBERS, which every GPU has. NULL on a CPU.
enum { SHARED_NUMBERS = 96 };
HD double *shared_numbers(void)
{
#if defined(__CUDACC__)
    extern __shared__ double numbers[];
    return numbers + threadIdx.x;
#else
    return NULL;
#endif
}

// Where code can name the shared memory of a GPU by its own addresses, which cost less than generic ones.
#if defined(__CUDA_ARCH__) && !defined(HOPSCOTCH_MADE)
#define HAS_SHARED_ADDRESSES
HD unsigned shared_address(const double *number) { return (unsigned)__cvta_generic_to_shared(number); }
HD double load_shared(unsigned address)
{
    double value;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address));
    return value;
}
HD void store_shared(unsigned address, double value)
{
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(address), "d"(value) : "memory");
}
#endif

// Numbers from `at` on are in memory of this lane alone. In functions that are called a GPU's compiler cannot see that,
// and there are shorter instructions for such memory.
#if defined(HOPSCOTCH_MADE_LARGE) && defined(__CUDACC__)
HD void is_own_memory(const double *at) { __builtin_assume(__isLocal(at)); }
#else
HD void is_own_memory(const void *at) { (void)at; }
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

// The whole number whose bits are kept as the number at p, which nothing changes while a kernel runs. A GPU's compiler
// would copy it byte by byte. A made kernel's may know it: then it is no load.
#if defined(HOPSCOTCH_MADE) && defined(__CUDACC__)
HD int64_t integer_at(const double *p) { return (int64_t)__double_as_longlong(*p); }
#elif defined(__CUDACC__)
HD int64_t integer_at(const double *p) { return (int64_t)__ldg((const long long *)p); }
#else
HD int64_t integer_at(const double *p)
{
    int64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}
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
#elif LANES == 2
    return vmaxvq_u32((uint32x4_t)m) != 0;
#else
    return _mm256_movemask_pd((__m256d)m) != 0;
#endif
}

// Whether a CPU's vector has all lanes in the mask. What follows then needs no selects, and does not wait for the mask.
// Never true on a GPU and without vectors, where that is no gain.
HD bool whole_vector(mask m)
{
#if LANES == 1
    (void)m;
    return false;
#else
    return !any_lane(~m);
#endif
}

// The mask in which any_lane() found lanes. In a group of one lane it is the whole group, which helps the compiler.
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
#elif LANES == 2
    return (real)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
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
#elif LANES == 2
    return (real)vsqrtq_f64((float64x2_t)x);
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
// NaN has many bit patterns; this is the one that is stored
HD real canonical(real x) { return select_real(MASK(x == x), x, real_of_bits(splat_bits(0x7ff8000000000000))); }

// ---- lanes in memory ------------------------------------------------------------------------------------------------

// the first `valid` of LANES lanes
HD mask first_lanes(int valid)
{
#if LANES == 1
    return -(mask)(valid > 0);
#elif LANES == 8
    return (mask){0, 1, 2, 3, 4, 5, 6, 7} < valid;
#elif LANES == 2
    return (mask){0, 1} < valid;
#else
    return (mask){0, 1, 2, 3} < valid;
#endif
}

// `valid` (1..LANES) lanes from p[0..valid). Missing lanes repeat the last one and are never stored.
HD real load_lanes(const double *p, int valid)
{
#if LANES == 1
    (void)valid;
    return *p;
#elif LANES == 8
    return (real)_mm512_mask_loadu_pd(_mm512_set1_pd(p[valid - 1]), (__mmask8)((1 << valid) - 1), p);
#elif LANES == 2
    return (real){p[0], p[valid - 1]};
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
#elif LANES == 2
    if (m[0] != 0) p[0] = x[0];
    if (valid > 1 && m[1] != 0) p[1] = x[1];
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

// Entry k of a table of two integers each, 16-byte aligned, which no kernel writes: one load on the GPU.
typedef struct TwoIntegers {
    int64_t first, second;
} TwoIntegers;

HD TwoIntegers load_two_integers(const int64_t *table, uint64_t k)
{
#if defined(__CUDACC__)
    const longlong2 two = __ldg((const longlong2 *)table + k);
    const TwoIntegers loaded = {two.x, two.y};
#else
    const TwoIntegers loaded = {table[2 * k], table[2 * k + 1]};
#endif
    return loaded;
}

// ---- from rows of memory to lanes, and back to one number -----------------------------------------------------------

#if !defined(__CUDACC__)
// Four neighbouring numbers of one lane. Never passed by value, because not every processor has such registers.
typedef double Four __attribute__((vector_size(32)));

// Loads four neighbouring numbers of single precision.
HD void load_four_singles(const float *p, Four *out)
{
#if defined(__AVX__)
    *out = (Four)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    for (int i = 0; i < 4; i++) (*out)[i] = (double)p[i];
#endif
}

// The first `valid` of LANES neighbouring numbers; 0 for the others.
HD real load_singles(const float *p, int valid)
{
#if LANES == 1
    (void)valid;
    return (double)*p;
#else
    float some[LANES] __attribute__((aligned(4 * LANES))) = {0.0F};
    typedef float singles __attribute__((vector_size(4 * LANES)));
    singles x;
    if (valid == LANES) {
        __builtin_memcpy(&x, p, sizeof x);
    } else {
        for (int i = 0; i < valid; i++) some[i] = p[i];
        __builtin_memcpy(&x, some, sizeof x);
    }
    return __builtin_convertvector(x, real);
#endif
}

// Loads rows of four numbers, one row per lane: row[i] for lane i = 0..LANES-1. The first three numbers are returned.
HD void load_rows_of_four(const double *const *row, real *out)
{
#if LANES == 1
    for (int k = 0; k < 3; k++) out[k] = row[0][k];
#elif LANES == 2
    for (int k = 0; k < 3; k++) out[k] = (real){row[0][k], row[1][k]};
#elif LANES == 8
    __m512d z[4]; // rows i and i + 4
    for (int i = 0; i < 4; i++)
        z[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(row[i])), _mm256_loadu_pd(row[i + 4]), 1);
    const __m512d even0 = _mm512_unpacklo_pd(z[0], z[1]), even1 = _mm512_unpacklo_pd(z[2], z[3]);
    const __m512d odd0 = _mm512_unpackhi_pd(z[0], z[1]), odd1 = _mm512_unpackhi_pd(z[2], z[3]);
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                  high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    out[0] = (real)_mm512_permutex2var_pd(even0, low, even1);
    out[1] = (real)_mm512_permutex2var_pd(odd0, low, odd1);
    out[2] = (real)_mm512_permutex2var_pd(even0, high, even1);
#else
    const __m256d a = _mm256_loadu_pd(row[0]), b = _mm256_loadu_pd(row[1]);
    const __m256d c = _mm256_loadu_pd(row[2]), d = _mm256_loadu_pd(row[3]);
    const __m256d even0 = _mm256_unpacklo_pd(a, b), even1 = _mm256_unpacklo_pd(c, d);
    out[0] = (real)_mm256_permute2f128_pd(even0, even1, 0x20);
    out[1] = (real)_mm256_permute2f128_pd(_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d), 0x20);
    out[2] = (real)_mm256_permute2f128_pd(even0, even1, 0x31);
#endif
}

// Loads rows of eight numbers, one row per lane: row[i] for lane i = 0..LANES-1. The first six numbers are returned.
HD void load_rows_of_eight_singles(const float *const *row, real *out)
{
#if LANES == 1
    for (int k = 0; k < 6; k++) out[k] = (double)row[0][k];
#elif LANES == 2
    for (int k = 0; k < 6; k++) out[k] = (real){(double)row[0][k], (double)row[1][k]};
#elif LANES == 8
    __m512 z[4], two[4]; // rows i and i + 4
    for (int i = 0; i < 4; i++) {
        const __m256 below = _mm256_loadu_ps(row[i]), above = _mm256_loadu_ps(row[i + 4]);
        z[i] = _mm512_insertf32x8(_mm512_castps256_ps512(below), above, 1);
    }
    two[0] = _mm512_unpacklo_ps(z[0], z[1]);
    two[1] = _mm512_unpackhi_ps(z[0], z[1]);
    two[2] = _mm512_unpacklo_ps(z[2], z[3]);
    two[3] = _mm512_unpackhi_ps(z[2], z[3]);
    for (int k = 0; k < 4; k++) { // numbers k and k + 4
        const __m512d a = _mm512_castps_pd(two[k / 2]), b = _mm512_castps_pd(two[2 + k / 2]);
        const __m512 mixed = _mm512_castpd_ps(k % 2 == 0 ? _mm512_unpacklo_pd(a, b) : _mm512_unpackhi_pd(a, b));
        const __m512 sorted = _mm512_shuffle_f32x4(mixed, mixed, 0xd8); // quarters 0, 2, 1, 3
        out[k] = (real)_mm512_cvtps_pd(_mm512_castps512_ps256(sorted));
        if (k < 2) out[k + 4] = (real)_mm512_cvtps_pd(_mm512_extractf32x8_ps(sorted, 1));
    }
#else
    __m256 r[4], two[4];
    for (int i = 0; i < 4; i++) r[i] = _mm256_loadu_ps(row[i]);
    two[0] = _mm256_unpacklo_ps(r[0], r[1]);
    two[1] = _mm256_unpackhi_ps(r[0], r[1]);
    two[2] = _mm256_unpacklo_ps(r[2], r[3]);
    two[3] = _mm256_unpackhi_ps(r[2], r[3]);
    for (int k = 0; k < 4; k++) { // numbers k and k + 4
        const __m256d a = _mm256_castps_pd(two[k / 2]), b = _mm256_castps_pd(two[2 + k / 2]);
        const __m256 mixed = _mm256_castpd_ps(k % 2 == 0 ? _mm256_unpacklo_pd(a, b) : _mm256_unpackhi_pd(a, b));
        out[k] = (real)_mm256_cvtps_pd(_mm256_castps256_ps128(mixed));
        if (k < 2) out[k + 4] = (real)_mm256_cvtps_pd(_mm256_extractf128_ps(mixed, 1));
    }
#endif
}

// Lane j of the result is the sum over all lanes of x[j], added in halves: lanes i and i + LANES / 2, then a quarter,
// ...
HD real halved_lanes(const real *x)
{
#if LANES == 1
    return x[0];
#elif LANES == 2
    return (real)vpaddq_f64((float64x2_t)x[0], (float64x2_t)x[1]);
#elif LANES == 8
    __m512d four[4], two[2];
    for (int k = 0; k < 4; k++) { // x[j] and x[j + 2], so that the last step leaves them in order
        const __m512d a = (__m512d)x[k % 2 + 4 * (k / 2)], b = (__m512d)x[k % 2 + 4 * (k / 2) + 2];
        four[k] = _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee));
    }
    for (int k = 0; k < 2; k++)
        two[k] = _mm512_add_pd(_mm512_shuffle_f64x2(four[k], four[k + 2], 0x88),
                               _mm512_shuffle_f64x2(four[k], four[k + 2], 0xdd));
    return (real)_mm512_add_pd(_mm512_unpacklo_pd(two[0], two[1]), _mm512_unpackhi_pd(two[0], two[1]));
#else
    __m256d two[2];
    for (int k = 0; k < 2; k++) {
        const __m256d a = (__m256d)x[k], b = (__m256d)x[k + 2];
        two[k] = _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
    }
    return (real)_mm256_add_pd(_mm256_unpacklo_pd(two[0], two[1]), _mm256_unpackhi_pd(two[0], two[1]));
#endif
}
#endif

#endif // HOPSCOTCH_DUAL

#endif
