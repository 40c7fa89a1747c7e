// A program of the user's as a model: what a spec declares, and the messages to and from a worker.
#include "../../runner/campaign/campaign.h"
#include "../../sim/command/worker.h"
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct CommandCase {
    Arena arena;
    Spec spec;
    Error error;
    const char *messages;
} CommandCase;

#define COMMAND_HEAD "version: 1\nexperiment: test\nmodel: command\nsimulation: {program: [sh, -c, 'a b']}\n"
#define COMMAND_SPEC                                                                                                   \
    COMMAND_HEAD "parameters: {mass: {value: 2, unit: kg, range: [0.5, 10], doc: 'its, mass'}, gain: 3, free: }\n"     \
                 "metrics: {error: m, energy: {unit: J}}\nfailures: [fell, apart]\ncolumns: [x, y]\n"                  \
                 "objective: {minimize: error}\n"

static CommandCase command_case(const char *text)
{
    CommandCase it = {.messages = ""};
    char *shown = NULL;
    size_t size = 0;
    CHECK_OK(arena_create(&it.arena, 1 << 24, "a test of command"));
    Diagnostics *diagnostics = diagnostics_new(&it.arena);
    it.error = spec_parse("test.yaml", text, NULL, 0, &it.arena, diagnostics, &it.spec);
    FILE *out = open_memstream(&shown, &size);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    it.messages = arena_copy(&it.arena, shown);
    free(shown);
    return it;
}

TEST(command_a_spec_declares_its_tables)
{
    CommandCase it = command_case(COMMAND_SPEC);
    const Configured *configured = &it.spec.configured;
    CHECK_OK(it.error);
    CHECK_INTEGER(4, configured->n_parameters);
    CHECK_INTEGER(3, configured_named(configured));
    CHECK_TEXT("mass", configured->parameters[0].name);
    CHECK_TEXT("kg", configured->parameters[0].unit);
    CHECK_TEXT("its, mass", configured->parameters[0].doc);
    CHECK_BITS(2.0, it.spec.fixed[0]);
    CHECK_BITS(0.5, configured->parameters[0].low);
    CHECK_BITS(3.0, it.spec.fixed[1]);
    CHECK(isinf(configured->parameters[2].high));
    CHECK_TEXT("J", configured->metrics[1].unit);
    CHECK_TEXT("apart", configured->failures[COMMAND_FAILURES]); // by their bytes
    CHECK_TEXT("fell", configured->failures[COMMAND_FAILURES + 1]);
    CHECK_INTEGER(3, configured->n_columns);
    const CommandModel *model = configured->host;
    CHECK_INTEGER(3, model->n_program);
    CHECK_TEXT("a b", model->program[2]);
    arena_destroy(&it.arena);
}

TEST(command_a_resolved_spec_is_the_same_spec)
{
    static const char *const texts[] = {COMMAND_SPEC,
                                        COMMAND_SPEC "search: {method: grid, over: {mass: [1, 2], gain: [4]}}\n"};
    for (int i = 0; i < 2; i++) {
        CommandCase it = command_case(texts[i]);
        CHECK_OK(it.error);
        CommandCase again = command_case(it.spec.resolved);
        CHECK_OK(again.error);
        CHECK_TEXT(it.spec.hash.hex, again.spec.hash.hex);
        CHECK_TEXT(it.spec.resolved, again.spec.resolved);
        arena_destroy(&again.arena);
        arena_destroy(&it.arena);
    }
}

// What can change a number is part of the identity; the number of workers, units and texts are not.
TEST(command_identity)
{
    static const struct {
        const char *from, *to;
        bool same;
    } cases[] = {
        {"unit: kg", "unit: lb", true},
        {"its, mass", "another", true},
        {"range: [0.5, 10]", "range: [0.5, 11]", false},
        {"'a b'", "'a c'", false},
        {"error: m", "error: mm", true},
        {"energy:", "power:", false},
        {"[fell, apart]", "[fell]", false},
        {"[x, y]", "[x, z]", false},
        {"'a b']", "'a b'], workers: 3", true},
        {"'a b']", "'a b'], timeout: 5", false},
        {"gain: 3", "gain: 4", false},
    };
    CommandCase it = command_case(COMMAND_SPEC);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strstr(COMMAND_SPEC, cases[i].from);
        const char *other = arena_format(&it.arena, "%.*s%s%s", (int)(at - COMMAND_SPEC), COMMAND_SPEC, cases[i].to,
                                         at + strlen(cases[i].from));
        CommandCase changed = command_case(other);
        CHECK_OK(changed.error);
        CHECK_INTEGER(cases[i].same, strcmp(it.spec.hash.hex, changed.spec.hash.hex) == 0);
        arena_destroy(&changed.arena);
    }
    arena_destroy(&it.arena);
}

TEST(command_wrong_specs_are_refused)
{
    static const struct {
        const char *rest, *says;
    } cases[] = {
        {"metrics: [y]\nobjective: {minimize: y}\nsimulation: {workers: 2}\n",
         "simulation.program is missing: the program that simulates"},
        {"metrics: [y]\nobjective: {minimize: y}\nsimulation: {program: [sh, \"a\\tb\"]}\n",
         "which is not a text of up to 1024 bytes"},
        {"", "metrics is missing: the numbers that the program answers with"},
        {"metrics: [y]\nparameters: {y: 1}\n", "'y' is the name of a parameter already"},
        {"metrics: [y, Y]\n", "'y' and 'Y' in metrics: names must differ in more than case"},
        {"metrics: [fitness]\n", "'fitness' is reserved"},
        {"metrics: [Rank]\n", "'Rank' is reserved"},
        {"metrics: [y]\nfailures: [slow, crashed]\n", "6:18: error: failures: 'crashed' is built in"},
        {"metrics: [y_std]\n", "'y_std' is reserved"},
        {"metrics: [y]\nparameters: {seed: 1}\n", "'seed' is reserved"},
        {"metrics: [y]\ncolumns: [time]\n", "'time' is reserved"},
        {"metrics: [y]\nfailures: [crashed]\n", "failures: 'crashed' is built in"},
        {"metrics: [y]\nparameters: {a: {value: 3, range: [0, 2]}}\n", "value of a is outside of its range"},
        {"metrics: [y]\nparameters: {a: {range: [2, 1]}}\n", "range of a must be [low, high]"},
        {"metrics: [y]\nparameters: {a: {vaule: 3}}\n", "did you mean 'value'"},
        {"metrics: [\"y; drop\"]\n", "expected a name of up to 32 letters"},
        {"metrics: [y]\nobjective: {minimize: z}\n", "unknown name 'z'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        const bool own = strstr(cases[i].rest, "simulation:") != NULL;
        snprintf(text, sizeof text, "%s%s", own ? "version: 1\nexperiment: test\nmodel: command\n" : COMMAND_HEAD,
                 cases[i].rest);
        CommandCase it = command_case(text);
        CHECK_ERROR(ERROR_USER, it.error);
        if (strstr(it.messages, cases[i].says) == NULL) CHECK_TEXT(cases[i].says, it.messages);
        arena_destroy(&it.arena);
    }
}

TEST(command_a_misspelt_model_is_one_error)
{
    CommandCase it = command_case("version: 1\nexperiment: test\nmodel: comand\nsimulation: {program: [sh]}\n"
                                  "metrics: [y]\nobjective: {minimize: y}\nfailures: [fell]\n");
    CHECK_ERROR(ERROR_USER, it.error);
    CHECK(strstr(it.error.text, "1 error") != NULL);
    arena_destroy(&it.arena);
}

TEST(command_requests_hold_numbers_that_read_back)
{
    CommandCase it = command_case(COMMAND_SPEC);
    const double value[4] = {0.1, 1.0 / 3.0, -2.5e-300, 9007199254740991.0};
    char text[1024];
    const Request request = {.id = 7, .trial = 12, .replicate = 3, .traced = true, .value = value, .stride = 1};
    const size_t size = message_write_request(&it.spec.configured, &request, text);
    CHECK(size < message_request_most(&it.spec.configured));
    text[size] = '\0';
    CHECK_TEXT("{\"id\": 7, \"trial\": 12, \"replicate\": 3, \"seed\": 9007199254740991, \"trajectory\": true, "
               "\"parameters\": {\"mass\": 0.1, \"gain\": 0.3333333333333333, \"free\": -2.5e-300}}\n",
               text);
    char *hello = message_write_hello(&it.spec.configured, &(size_t){0});
    CHECK_TEXT("{\"hello\": 1, \"parameters\": [\"mass\", \"gain\", \"free\"], \"metrics\": [\"error\", \"energy\"], "
               "\"columns\": [\"time\", \"x\", \"y\"], \"failures\": [\"apart\", \"fell\"]}\n",
               hello);
    free(hello);
    arena_destroy(&it.arena);
}

TEST(command_requests_hold_words)
{
    CommandCase it = command_case("version: 1\nexperiment: test\nmodel: command\nsimulation: {program: [sh]}\n"
                                  "metrics: [y]\nobjective: {minimize: y}\n"
                                  "parameters: {a: {words: [x, y.z, \"u:+-v\"], value: y.z}, b: {words: w}, c: 2}\n");
    CHECK_OK(it.error);
    CHECK_NEAR(1.0, it.spec.fixed[0], 0.0);
    CHECK_NEAR(2.0, it.spec.configured.parameters[0].high, 0.0);
    char text[1024];
    const double value[4] = {2, 0, 2, 5};
    const Request request = {.id = 1, .value = value, .stride = 1};
    const size_t size = message_write_request(&it.spec.configured, &request, text);
    CHECK(size < message_request_most(&it.spec.configured));
    text[size] = '\0';
    CHECK_TEXT("{\"id\": 1, \"trial\": 0, \"replicate\": 0, \"seed\": 5, \"trajectory\": false, "
               "\"parameters\": {\"a\": \"u:+-v\", \"b\": \"w\", \"c\": 2}}\n",
               text);
    arena_destroy(&it.arena);
}

// problem NULL: a good answer
static void command_answers(bool traced, const char *text, const char *problem)
{
    CommandCase it = command_case(COMMAND_SPEC);
    double metric[2], sample[3 * 4];
    Answer answer = {.metric = metric, .sample = traced ? sample : NULL, .capacity = 4};
    const bool good = message_read_answer(&it.spec.configured, 7, text, strlen(text), &answer);
    CHECK_INTEGER(problem == NULL, good);
    if (good)
        CHECK(answer.failure != 0 || (metric[0] == 1.5 && metric[1] == -2e3));
    else if (strstr(answer.problem, problem != NULL ? problem : "") == NULL)
        CHECK_TEXT(problem, answer.problem);
    if (good && traced) CHECK(answer.samples == 2 && sample[0] == 0.0 && sample[4] == 3.0 && isnan(sample[5]));
    arena_destroy(&it.arena);
}

#define COMMAND_GOOD "\"metrics\": {\"error\": 1.5, \"energy\": -2e3}"
#define COMMAND_MOTION "\"trajectory\": {\"time\": [0, 1], \"x\": [2, 3], \"y\": [4, null]}"

TEST(command_answers_that_are_good)
{
    command_answers(false, "{\"id\": 7, " COMMAND_GOOD "}", NULL);
    command_answers(false, " {\"metrics\":{\"energy\":-2E+3,\"error\":15e-1},\"id\":7,\"failure\":null}\r", NULL);
    command_answers(false, "{\"id\": 7, \"failure\": \"fell\"}", NULL);
    command_answers(false, "{\"id\": 7, \"failure\": \"fell\", \"metrics\": {\"error\": null}}", NULL);
    command_answers(false, "{\"id\": 7, " COMMAND_GOOD ", " COMMAND_MOTION "}", NULL); // not wanted
    command_answers(false, "{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": null}", NULL);
    command_answers(true, "{\"id\": 7, " COMMAND_GOOD ", " COMMAND_MOTION "}", NULL);
}

TEST(command_answers_that_break_the_protocol)
{
    static const char *const cases[][2] = {
        {"", "the line ends where '{' is expected"},
        {"{\"id\": 7, " COMMAND_GOOD, "the line ends where '}' is expected"},
        {"{\"id\": 8, " COMMAND_GOOD "}", "the answer has id 8, and the request has 7"},
        {"{" COMMAND_GOOD "}", "the answer has no id"},
        {"{\"id\": 7, \"id\": 7, " COMMAND_GOOD "}", "'id' is given twice"},
        {"{\"id\": 7, " COMMAND_GOOD "} {}", "follows the answer"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"more\": 1}", "unknown key 'more' in an answer; it may have id, metrics"},
        {"{\"id\": 7, \"metrics\": {\"error\": 1}}", "metric 'energy' is missing"},
        {"{\"id\": 7, \"metrics\": {\"error\": 1, \"energy\": null}}", "metric 'energy' is missing"},
        {"{\"id\": 7, \"metrics\": {\"error\": NaN}}", "metric 'error' is not a finite number: \"NaN"},
        {"{\"id\": 7, \"metrics\": {\"error\": 1e999}}", "metric 'error' is too large"},
        {"{\"id\": 7, \"metrics\": {\"error\": 01}}", "not a finite number"},
        {"{\"id\": 7, \"metrics\": {\"error\": 1.}}", "not a finite number"},
        {"{\"id\": 7, \"metrics\": {\"error\": 0x1}}", "expected '}'"},
        {"{\"id\": 7, \"metrics\": {\"eror\": 1}}", "the spec declares no metric 'eror'"},
        {"{\"id\": 7, \"metrics\": {\"error\": 1, \"error\": 1}}", "metric 'error' is given twice"},
        {"{\"id\": 7, \"failure\": \"flew\"}", "the spec declares no failure 'flew'"},
        {"{\"id\": 7, \"failure\": \"timeout\"}", "the spec declares no failure 'timeout'"},
        {"{\"id\": 7, \"failure\": \"f\\u0065ll\"}", "not printable ASCII"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": [[[[}", "the line ends within a trajectory"},
    };
    static const char *const traced[][2] = {
        {"{\"id\": 7, " COMMAND_GOOD "}", "the trajectory that was asked for is missing"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": {\"time\": [0], \"x\": [1]}}", "column 'y' is missing"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": {\"time\": [0], \"x\": [1, 2]}}",
         "has 2 samples, others have 1"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": {\"z\": [0]}}", "the spec declares no column 'z'"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": {\"x\": [0], \"x\": [0]}}", "column 'x' is given twice"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": {\"time\": [null]}}", "time is not a finite number"},
        {"{\"id\": 7, " COMMAND_GOOD ", \"trajectory\": {\"x\": [0, 1, 2, 3, 4]}}", "has more than 4 samples"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) command_answers(false, cases[i][0], cases[i][1]);
    for (size_t i = 0; i < sizeof traced / sizeof *traced; i++) command_answers(true, traced[i][0], traced[i][1]);
}

TEST(command_hellos)
{
    static const char *const cases[][2] = {
        {"{\"hello\": 1}", NULL},
        {"{\"hello\": 1, \"version\": null}", NULL},
        {"{\"version\": \"3.1 (a)\", \"hello\": 1}", NULL},
        {"{\"hello\": 2}", "it speaks version 2 of the protocol, and 1 is expected"},
        {"{\"version\": \"1\"}", "it speaks version 0"},
        {"{\"hello\": 1, \"greeting\": 1}", "unknown key 'greeting' in a hello; it may have hello and version"},
        {"{\"hello\": 1} x", "follows the hello"},
        {"hello", "expected '{' before \"hello\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char version[COMMAND_VERSION_LENGTH + 1], problem[160];
        const bool good = message_read_hello(cases[i][0], strlen(cases[i][0]), version, problem, sizeof problem);
        CHECK_INTEGER(cases[i][1] == NULL, good);
        if (!good && strstr(problem, cases[i][1]) == NULL) CHECK_TEXT(cases[i][1], problem);
        if (i == 2) CHECK_TEXT("3.1 (a)", version);
    }
}

// What a worker that greets, or is idle, has said so far; `most`: bytes of the longest line. Returns the problem, or
// the version of a hello, or "" as long as the line goes on.
static const char *said(WorkerState state, const char *text, size_t most, char *out)
{
    char in[64];
    int64_t length;
    Worker worker = {.state = state, .in = in, .in_size = strlen(text)};
    memcpy(in, text, worker.in_size);
    out[0] = '\0';
    if (!protocol_find_line(&worker, 0, most, &length, out) || length < 0) return out;
    char version[COMMAND_VERSION_LENGTH + 1];
    if (!protocol_take_hello(&worker, length, version, out)) return out;
    CHECK_INTEGER(WORKER_IDLE, worker.state);
    CHECK_INTEGER(0, (int64_t)worker.in_size);
    return strcpy(out, version);
}

TEST(command_protocol_takes_one_line_at_a_time)
{
    char out[WORKER_PROBLEM];
    CHECK_TEXT("", said(WORKER_GREETS, "{\"hello\": 1", 20, out));
    CHECK_TEXT("a", said(WORKER_GREETS, "{\"hello\": 1, \"version\": \"a\"}\n", 20, out));
    CHECK_TEXT("its line is too long", said(WORKER_GREETS, "{\"hello\": 1, \"version\"", 20, out));
    CHECK_TEXT("more follows its hello", said(WORKER_GREETS, "{\"hello\": 1}\n{", 20, out));
    CHECK_TEXT("it sent a line without a request", said(WORKER_IDLE, "{", 20, out));
}

TEST(command_no_program_is_found_outside)
{
    char *file = NULL;
    CHECK_SAYS(ERROR_USER, "leads out of the spec's folder", process_find("/bin/sh", ".", &file));
    CHECK_SAYS(ERROR_USER, "leads out of the spec's folder", process_find("a/../../sh", ".", &file));
    CHECK_SAYS(ERROR_USER, "is not a file that can be run", process_find("./no", ".", &file));
    CHECK_SAYS(ERROR_USER, "there is no program", process_find("no-such-program", ".", &file));
    CHECK_OK(process_find("sh", ".", &file));
    CHECK(file[0] == '/');
    free(file);
}

TEST(command_no_program_runs_unless_it_is_allowed)
{
    Backend *backend = NULL;
    const BackendOptions options = {.name = "program", .program = {.folder = "."}};
    CHECK_SAYS(ERROR_USER, "programs are not allowed", backend_open(&options, &backend));
    CommandCase it = command_case(COMMAND_SPEC);
    BackendOptions own = {.name = "auto"};
    CHECK_SAYS(ERROR_USER, "If you trust it, add --allow-programs", program_options(&it.spec, &it.arena, &own));
    own.program.allowed = true;
    CHECK_SAYS(ERROR_USER, "where the program `sh -c a b` lies is not known",
               program_options(&it.spec, &it.arena, &own));
    own.name = "cuda";
    CHECK_SAYS(ERROR_USER, "which has no backend `cuda`", program_options(&it.spec, &it.arena, &own));
    arena_destroy(&it.arena);
}

TEST(command_the_backend_is_for_programs_only)
{
    Backend *backend = NULL;
    Arena arena;
    Configured configured;
    const BackendOptions options = {.name = "program", .program = {.folder = ".", .allowed = true}};
    const double settings[] = {0, 2, 1};
    CHECK_OK(arena_create(&arena, 1 << 20, "a test of command"));
    CHECK_OK(model_find("bbob")->configure(settings, NULL, &arena, &configured));
    CHECK_OK(backend_open(&options, &backend));
    CHECK_SAYS(ERROR_USER, "model bbob runs no program: take another backend",
               backend_prepare(backend, &configured, 1, 0, 0));
    CHECK_SAYS(ERROR_USER, "model command has no debug rows", backend_prepare_debug(backend, 1, 1));
    CHECK(backend_close(backend));
    arena_destroy(&arena);
}

// Without file descriptors.
TEST(command_the_system_may_refuse)
{
    struct rlimit before, none;
    Backend *backend = NULL;
    Guard guard;
    Process process;
    char *arguments[] = {NULL};
    const BackendOptions options = {.name = "program", .program = {.folder = ".", .allowed = true}};
    const ProcessPlan plan = {.file = "/bin/true", .folder = ".", .arguments = arguments};
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 3;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const Error event = backend_open(&options, &backend), pair = guard_start(&guard);
    const Error pipes = process_start(&plan, &guard, &process);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_SAYS(ERROR_MACHINE, "cannot make an event", event);
    CHECK_SAYS(ERROR_MACHINE, "cannot make a pipe between processes", pair);
    CHECK_SAYS(ERROR_MACHINE, "cannot make the pipes of a process", pipes);
}
