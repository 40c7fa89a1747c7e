// Any bytes as a line of a user's program: a hello or an answer that keeps the protocol, or what is wrong with it.
#include "fuzz.h"

#include "../../sim/command/command.h"

enum { MESSAGE_METRICS = 3, MESSAGE_COLUMNS = 3, MESSAGE_SAMPLES = 6, MESSAGE_ID = 7 };

static const Field message_metrics[] = {
    {.name = "settled", .unit = "s"}, {.name = "energy", .unit = "J"}, {.name = "e_2", .unit = "J"}};
static const Field message_columns[] = {
    {.name = "time", .unit = "s"}, {.name = "x", .unit = "m"}, {.name = "y", .unit = "m"}};
static const char *const message_failures[] = {"none", "crashed", "timeout", "protocol", "unstable"};

static void message_check_hello(const char *text, size_t size)
{
    char version[COMMAND_VERSION_LENGTH + 1], problem[200];
    memset(version, 'v', sizeof version);
    memset(problem, 'p', sizeof problem);
    const bool good = message_read_hello(text, size, version, problem, sizeof problem);
    if (memchr(version, '\0', sizeof version) == NULL || memchr(problem, '\0', sizeof problem) == NULL) abort();
    if (good != (problem[0] == '\0')) abort();
}

static void message_check_trial(const Answer *answer)
{
    if (answer->failure != COMMAND_NONE && answer->failure < COMMAND_FAILURES) abort(); // the runner's alone
    for (int m = 0; answer->failure == COMMAND_NONE && m < MESSAGE_METRICS; m++) {
        if (answer->metric[m] != answer->metric[m]) abort();
    }
    for (int64_t i = 0; i < answer->samples; i++) { // every sample has a time
        if (answer->sample[i * MESSAGE_COLUMNS] - answer->sample[i * MESSAGE_COLUMNS] != 0.0) abort();
    }
}

static void message_check_answer(const char *text, size_t size, bool traced)
{
    const Configured configured = {.metrics = message_metrics,
                                   .n_metrics = MESSAGE_METRICS,
                                   .columns = message_columns,
                                   .n_columns = MESSAGE_COLUMNS,
                                   .failures = message_failures,
                                   .n_failures = sizeof message_failures / sizeof *message_failures};
    double *metric = malloc(MESSAGE_METRICS * sizeof *metric); // blocks of their own: a number too far is found
    double *sample = malloc(MESSAGE_SAMPLES * MESSAGE_COLUMNS * sizeof *sample);
    if (metric == NULL || sample == NULL) abort();
    Answer answer = {.metric = metric, .sample = traced ? sample : NULL, .capacity = MESSAGE_SAMPLES};
    memset(answer.problem, 'p', sizeof answer.problem);
    const bool good = message_read_answer(&configured, MESSAGE_ID, text, size, &answer);
    if (memchr(answer.problem, '\0', sizeof answer.problem) == NULL || good != (answer.problem[0] == '\0')) abort();
    if (answer.samples < 0 || answer.samples > MESSAGE_SAMPLES) abort();
    if (good) message_check_trial(&answer);
    free(metric);
    free(sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    char *text = fuzz_text(data + 1, size - 1);
    if (data[0] % 3 == 0)
        message_check_hello(text, size - 1);
    else
        message_check_answer(text, size - 1, data[0] % 3 == 1);
    free(text);
    return 0;
}
