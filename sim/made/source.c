// The text of a made kernel: constants and fixed lane inputs as arrays of bits, then the headers of the model, each in
// the line where it is included first. The program contains the headers; `make` puts them into one file. A GPU's kernel
// is CUDA C++ without headers of the system, a CPU's is C17.
#include "../models.h"
#include "codes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Lines "@sim/lanes.h", each with that file behind it. The Makefile says where; this file alone compiles without them.
#ifndef MADE_HEADERS
#define MADE_HEADERS "sim/models.h"
#endif
__asm__(".pushsection .rodata\n"
        ".global made_headers\nmade_headers: .incbin \"" MADE_HEADERS "\"\n"
        ".global made_headers_end\nmade_headers_end: .byte 0\n"
        ".popsection\n");
extern const char made_headers[], made_headers_end[];

// ---- text that grows ------------------------------------------------------------------------------------------------

typedef struct Text {
    Arena *arena;
    char *start;
    size_t length, room;
} Text;

static void text_put(Text *text, const char *piece, size_t length)
{
    if (text->length + length + 1 > text->room) {
        const size_t room = 2 * (text->length + length) + 4096;
        char *start = ARENA_NEW(text->arena, char, room);
        if (text->length > 0) memcpy(start, text->start, text->length);
        text->start = start;
        text->room = room;
    }
    memcpy(text->start + text->length, piece, length);
    text->length += length;
    text->start[text->length] = '\0';
}

static void text_say(Text *text, const char *line) { text_put(text, line, strlen(line)); }

static void put_piece(void *text, const char *piece, size_t length) { text_put(text, piece, length); }

// ---- headers --------------------------------------------------------------------------------------------------------

enum { HEADER_PATH = 128 };

typedef struct Header {
    const char *path; // behind its '@', up to the end of the line
    const char *start, *end;
    bool there; // in the text already
} Header;

typedef struct Headers {
    Header *all; // [count]
    int count;
    bool of_system; // the compiler has those of the system
} Headers;

static const char *line_end(const char *from, const char *end)
{
    const char *at = memchr(from, '\n', (size_t)(end - from));
    return at != NULL ? at : end;
}

static int headers_count(void)
{
    int count = 0;
    for (const char *line = made_headers; line < made_headers_end; line = line_end(line, made_headers_end) + 1)
        count += *line == '@';
    return count;
}

static Headers headers_find(Arena *arena)
{
    Headers headers = {.all = ARENA_NEW(arena, Header, headers_count() + 1)};
    for (const char *line = made_headers; line < made_headers_end;) {
        const char *end = line_end(line, made_headers_end);
        if (*line == '@') {
            if (headers.count > 0) headers.all[headers.count - 1].end = line;
            headers.all[headers.count++] = (Header){.path = line + 1, .start = end + 1, .end = made_headers_end};
        }
        line = end + 1;
    }
    return headers;
}

static int headers_index(const Headers *headers, const char *path)
{
    const size_t length = strlen(path);
    for (int i = 0; i < headers->count; i++)
        if (strncmp(headers->all[i].path, path, length) == 0 && headers->all[i].path[length] == '\n') return i;
    return -1;
}

// "sim/hopper/" and "../lanes.h" give "sim/lanes.h".
static void headers_join(const char *folder, int folder_length, const char *name, int length, char *path)
{
    while (length > 3 && strncmp(name, "../", 3) == 0) {
        name += 3;
        length -= 3;
        for (folder_length--; folder_length > 0 && folder[folder_length - 1] != '/';) folder_length--;
    }
    snprintf(path, HEADER_PATH, "%.*s%.*s", folder_length, folder, length, name);
}

static int folder_length(const char *path)
{
    int length = 0;
    for (int i = 0; path[i] != '\n' && path[i] != '\0'; i++)
        if (path[i] == '/') length = i + 1;
    return length;
}

static void headers_put(Headers *headers, int index, Text *text);

// `#include "..."` puts that header here, if it is not there yet. Those of the system have stand-ins on a GPU.
static void headers_put_line(Headers *headers, const Header *of, const char *line, const char *end, Text *text)
{
    static const char include[] = "#include ";
    char path[HEADER_PATH];
    const size_t skip = sizeof include - 1;
    if ((size_t)(end - line) < skip + 2 || strncmp(line, include, skip) != 0) {
        text_put(text, line, (size_t)(end - line) + 1);
        return;
    }
    const char *name = line + skip + 1, *close = memchr(name, '"', (size_t)(end - name));
    if (line[skip] == '"' && close != NULL) {
        headers_join(of->path, folder_length(of->path), name, (int)(close - name), path);
        headers_put(headers, headers_index(headers, path), text);
    }
    if (line[skip] == '<' && headers->of_system) text_put(text, line, (size_t)(end - line));
    text_put(text, "\n", 1);
}

static void headers_put(Headers *headers, int index, Text *text)
{
    if (index < 0 || headers->all[index].there) return;
    headers->all[index].there = true;
    const Header *header = &headers->all[index];
    for (const char *line = header->start; line < header->end;) {
        const char *end = line_end(line, header->end);
        headers_put_line(headers, header, line, end, text);
        line = end + 1;
    }
}

static void headers_leave_out(Headers *headers, const char *path)
{
    const int index = headers_index(headers, path);
    if (index >= 0) headers->all[index].there = true;
}

// ---- what the campaign fixes ----------------------------------------------------------------------------------------

static void put_bits(Text *text, const char *name, const double *values, int64_t count)
{
    char line[96];
    snprintf(line, sizeof line, "MADE_CONSTANT unsigned long long %s[] = {", name);
    text_say(text, line);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        snprintf(line, sizeof line, "%s0x%" PRIx64 "ull,", i % 8 == 0 ? "\n" : "", bits);
        text_say(text, line);
    }
    text_say(text, count == 0 ? "0};\n" : "};\n");
}

static void put_fixed(Text *text, const MadeWish *wish)
{
    put_bits(text, "made_inputs", wish->fixed, wish->configured->n_parameters);
    text_say(text, "MADE_CONSTANT bool made_input_is_fixed[] = {");
    for (int i = 0; i < wish->configured->n_parameters; i++) text_say(text, isnan(wish->fixed[i]) ? "0," : "1,");
    text_say(text, "};\n");
}

static const char made_prelude_of_cpu[] = "#define HOPSCOTCH_MADE\n"
                                          "#define MADE_ON_CPU 1\n"
                                          "#define MADE_CONSTANT static const\n"
                                          "#include <stdbool.h>\n";
// In place of the system's headers.
static const char made_prelude[] = "#define HOPSCOTCH_MADE\n"
                                   "#define MADE_ON_CPU 0\n"
                                   "#define MADE_CONSTANT static __device__ const\n"
                                   "typedef signed char int8_t;\n"
                                   "typedef unsigned char uint8_t;\n"
                                   "typedef short int16_t;\n"
                                   "typedef unsigned short uint16_t;\n"
                                   "typedef int int32_t;\n"
                                   "typedef unsigned int uint32_t;\n"
                                   "typedef long int64_t;\n"
                                   "typedef unsigned long uint64_t;\n"
                                   "typedef unsigned long uintptr_t, pthread_t;\n"
                                   "#define INT64_C(x) x##L\n"
                                   "#define UINT32_C(x) x##U\n"
                                   "#define UINT64_C(x) x##UL\n"
                                   "#define INT32_MAX 2147483647\n"
                                   "#define INT64_MIN (-INT64_MAX - 1)\n"
                                   "#define INT64_MAX 9223372036854775807L\n"
                                   "#define UINT32_MAX 4294967295U\n"
                                   "#define UINT64_MAX 18446744073709551615UL\n"
                                   "#define NULL 0\n"
                                   "#define NAN __longlong_as_double(0x7ff8000000000000LL)\n"
                                   "#define INFINITY __longlong_as_double(0x7ff0000000000000LL)\n";

enum { MADE_ASSETS_MOST = 1 << 14 }; // numbers; more stay in the device's memory

typedef struct MadeKernel {
    const char *model, *name;
    int threads, fill; // threads that advance a lane
} MadeKernel;
#define MADE_KERNEL(model, kernel, threads, alone, work, fill) {#model, #kernel, threads, fill},
static const MadeKernel made_kernels[] = {KERNELS(MADE_KERNEL)};

// Three warps per scheduler hide more latency than two, where the registers suffice (tests/bench/NOTES.md). 1,000,000
// lanes on an H200: implicit_midpoint 1.39 s, general 1.59 s. dormand_prince spills with three: 0.36 s, general 0.30 s.
int made_thread_blocks(const Configured *configured, int64_t lanes, int processors)
{
    const int fill = configured->kernel == KERNEL_NONE ? 1 : made_kernels[configured->kernel].fill;
    return lanes >= (int64_t)processors * fill * MADE_THREADS ? fill : 1;
}

// ---- codes over samples ---------------------------------------------------------------------------------------------

enum { MADE_LANE_STEPS = 6000 }; // more would take too long to compile

// A code of metrics or of a law as two macros: what does not change while a lane runs, with all numbers, and the rest;
// results[n_results] are registers that are read behind it. `of` NULL: they are empty. Returns its steps.
static int64_t put_lane_code(Text *text, const char *name, const LaneCode *of, const CodeView *code,
                             const int64_t *results, int n_results)
{
    const TextSink out = {put_piece, text};
    MadeCodes codes = {.out = out, .get = "LANE_CODE_GET", .set = "LANE_CODE_SET"};
    made_line(out, "#define %s_MADE %d\n#define %s_MADE_BEGIN \\\n", name, of != NULL, name);
    if (of != NULL) {
        codes.assets = of->assets;
        codes.tables = code->tables;
        codes.numbers = code->numbers;
        codes.first_number = code->first_number;
        codes.n_numbers = code->n_numbers;
        codes.first_scratch = code->first_number + code->n_numbers + code->n_derived;
        made_numbers(&codes);
        made_steps(&codes, code->derived, code->n_derived);
    }
    made_line(out, "\n#define %s_MADE_STEPS \\\n", name);
    if (of != NULL) made_steps(&codes, code->steps, code->n_steps);
    for (int k = 0; k < n_results; k++) made_keep(&codes, results[k]);
    made_line(out, "\n");
    return codes.steps;
}

// Of metrics, of a law, and of what follows its policies.
static int64_t put_lane_codes(Text *text, const Configured *configured)
{
    const Meter *meter = configured->meter;
    const Law *law = configured->law;
    const LaneCode *metered = meter != NULL ? &meter->of : NULL, *controlled = law != NULL ? &law->of : NULL,
                   *follows = law != NULL && law->n_policies > 0 ? controlled : NULL;
    const int64_t *of_law = law != NULL ? law->results : NULL;
    const int n_seen = law != NULL ? law->n_seen : 0, n_law = law != NULL ? law->n_results : 0;
    int64_t steps = put_lane_code(text, "METER", metered, meter != NULL ? &meter->of.code : NULL,
                                  meter != NULL ? meter->results : NULL, meter != NULL ? meter->n_results : 0);
    steps += put_lane_code(text, "LAW", controlled, law != NULL ? &law->of.code : NULL,
                           follows != NULL ? law->seen : of_law, follows != NULL ? n_seen : n_law);
    steps +=
        put_lane_code(text, "LAW_THEN", follows, law != NULL ? &law->then : NULL, of_law, follows != NULL ? n_law : 0);
    return steps;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// The function of a kernel that the backend calls.
static void put_kernel(Text *text, const MadeWish *wish, const MadeKernel *kernel, bool inside)
{
    const char *sampled = wish->configured->meter != NULL ? "true" : "false";
    const char *assets = inside ? "(const double *)made_assets" : "assets";
    if (wish->on_cpu)
        text_say(text, arena_format(text->arena,
                                    "void made(const double *assets, const LaneGroup *group)\n"
                                    "{\n"
                                    "    (void)assets;\n"
                                    "    %s_%s((const Constants *)made_constants, %s, group, false);\n"
                                    "#if defined(__AVX__)\n" // as leave_vectors (../cpu_kernels.h)
                                    "    __builtin_ia32_vzeroupper();\n"
                                    "#endif\n"
                                    "}\n",
                                    kernel->model, kernel->name, assets));
    else
        text_say(text, arena_format(text->arena,
                                    "extern \"C\" __global__ void __launch_bounds__(%d, %d)\n"
                                    "made(const Constants, const double *assets, LaneGroup group, int64_t end)\n"
                                    "{\n"
                                    "    if (lanes_take(&group, (int64_t)blockIdx.x * %d + threadIdx.x, end))\n"
                                    "        %s_%s((const Constants *)made_constants, %s, &group, %s);\n"
                                    "}\n",
                                    MADE_THREADS, wish->thread_blocks, MADE_THREADS, kernel->model, kernel->name,
                                    assets, sampled));
}

const char *made_source(const MadeWish *wish, Arena *arena, const char **why)
{
    const Configured *configured = wish->configured;
    *why = "it runs a program";
    if (configured->kernel == KERNEL_NONE) return NULL;
    const MadeKernel *kernel = &made_kernels[configured->kernel];
    const bool inside = configured->n_assets <= MADE_ASSETS_MOST;
    *why = "several threads share a lane";
    if (kernel->threads > 1) return NULL;
    *why = "on a CPU only equations of a spec get one";
    if (wish->on_cpu && !configured->model->made_on_cpu) return NULL;
    *why = "another would take too long to compile";
    Text text = {.arena = arena};
    Headers headers = headers_find(arena);
    char path[HEADER_PATH];
    headers.of_system = wish->on_cpu;
    headers_leave_out(&headers, "sim/dual.h"); // real.h includes it only where a real carries a derivative
    text_say(&text, wish->on_cpu ? made_prelude_of_cpu : made_prelude);
    put_bits(&text, "made_constants", configured->constants.values, CONSTANTS_SIZE / (int64_t)sizeof(double));
    if (inside) put_bits(&text, "made_assets", configured->assets, configured->n_assets);
    put_fixed(&text, wish);
    if (configured->model->made_macros != NULL &&
        !configured->model->made_macros(configured, (TextSink){put_piece, &text}))
        return NULL;
    if (put_lane_codes(&text, configured) > MADE_LANE_STEPS) return NULL;
    snprintf(path, sizeof path, "sim/%s/advance.h", kernel->model);
    headers_put(&headers, headers_index(&headers, path), &text);
    put_kernel(&text, wish, kernel, inside);
    return text.start;
}
