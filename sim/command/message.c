// The messages between the runner and a worker: JSON objects, one per line. A worker is not trusted: everything that it
// writes is checked, and what it can't say is an error.
#include "command.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- writing --------------------------------------------------------------------------------------------------------

enum { MESSAGE_NUMBER = 26, MESSAGE_HEAD = 160 }; // bytes of a number, of what stands before the parameters

// The shortest of 15, 16 and 17 digits that reads back to the same number.
static int message_number(char *out, double number)
{
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(out, MESSAGE_NUMBER, "%.*g", digits, number);
        if (strtod(out, NULL) == number) break;
    }
    return length;
}

size_t message_request_most(const Configured *configured)
{
    size_t most = MESSAGE_HEAD;
    for (int p = 0; p < configured->n_parameters; p++)
        most += strlen(configured->parameters[p].name) + MESSAGE_NUMBER + DECLARED_WORD_LENGTH + 8;
    return most;
}

// A word of "a|b|c" in quotes; words have no characters that JSON escapes.
static int message_choice(char *out, const char *choices, double index)
{
    for (int i = (int)index; i > 0 && strchr(choices, '|') != NULL; i--) choices = strchr(choices, '|') + 1;
    return sprintf(out, "\"%.*s\"", (int)strcspn(choices, "|"), choices);
}

size_t message_write_request(const Configured *configured, const Request *request, char *out)
{
    const int named = configured_named(configured);
    const double seed = request->value[(int64_t)named * request->stride];
    char *p = out;
    p += sprintf(
        p, "{\"id\": %llu, \"trial\": %lld, \"replicate\": %d, \"seed\": %.0f, \"trajectory\": %s, \"parameters\": {",
        (unsigned long long)request->id, (long long)request->trial, request->replicate, seed,
        request->traced ? "true" : "false");
    for (int i = 0; i < named; i++) {
        p += sprintf(p, "%s\"%s\": ", i > 0 ? ", " : "", configured->parameters[i].name);
        const double value = request->value[i * request->stride];
        const char *choices = configured_choices(configured, i);
        p += choices != NULL ? message_choice(p, choices, value) : message_number(p, value);
    }
    p = stpcpy(p, "}}\n");
    return (size_t)(p - out);
}

static void message_names(FILE *out, const char *key, const char *name, bool first, bool last)
{
    if (first) fprintf(out, ", \"%s\": [", key);
    if (name != NULL) fprintf(out, "%s\"%s\"", first ? "" : ", ", name);
    if (last) fputc(']', out);
}

static void message_fields(FILE *out, const char *key, const Field *fields, int count)
{
    if (count == 0) message_names(out, key, NULL, true, true);
    for (int i = 0; i < count; i++) message_names(out, key, fields[i].name, i == 0, i == count - 1);
}

char *message_write_hello(const Configured *configured, size_t *size)
{
    char *text = NULL;
    const int named = configured_named(configured), own = configured->n_failures - COMMAND_FAILURES;
    FILE *out = open_memstream(&text, size);
    if (out == NULL) return NULL;
    fprintf(out, "{\"hello\": %d", COMMAND_PROTOCOL);
    if (named == 0) message_names(out, "parameters", NULL, true, true);
    for (int i = 0; i < named; i++)
        message_names(out, "parameters", configured->parameters[i].name, i == 0, i == named - 1);
    message_fields(out, "metrics", configured->metrics, configured->n_metrics);
    message_fields(out, "columns", configured->columns, configured->n_columns);
    if (own == 0) message_names(out, "failures", NULL, true, true);
    for (int i = 0; i < own; i++)
        message_names(out, "failures", configured->failures[COMMAND_FAILURES + i], i == 0, i == own - 1);
    fputs("}\n", out);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

// ---- reading JSON ---------------------------------------------------------------------------------------------------

typedef struct MessageReader {
    const char *at; // ended by a NUL
    char *problem;
    size_t size;
} MessageReader;

enum { MESSAGE_KEY = 65 }; // names and failures have up to 64 characters

static bool message_fail(MessageReader *reader, const char *format, ...) PRINTF_LIKE(2, 3);

// Keeps the first problem. False, so that callers can return it.
static bool message_fail(MessageReader *reader, const char *format, ...)
{
    va_list arguments;
    if (reader->problem[0] != '\0') return false;
    va_start(arguments, format);
    vsnprintf(reader->problem, reader->size, format, arguments);
    va_end(arguments);
    return false;
}

static void message_skip(MessageReader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r') reader->at++;
}

// The next character that is no blank, if it is this one.
static bool message_take(MessageReader *reader, char c)
{
    message_skip(reader);
    if (*reader->at != c) return false;
    reader->at++;
    return true;
}

static bool message_expect(MessageReader *reader, char c)
{
    if (message_take(reader, c)) return true;
    if (*reader->at == '\0') return message_fail(reader, "the line ends where '%c' is expected", c);
    return message_fail(reader, "expected '%c' before \"%.20s\"", c, reader->at);
}

static bool message_word(MessageReader *reader, const char *word)
{
    message_skip(reader);
    if (strncmp(reader->at, word, strlen(word)) != 0) return false;
    reader->at += strlen(word);
    return true;
}

// A text of printable ASCII without escapes, as names and versions are. After an error `out` is empty.
static bool message_text(MessageReader *reader, char *out, size_t size)
{
    out[0] = '\0';
    if (!message_expect(reader, '"')) return false;
    const char *text = reader->at;
    for (; *reader->at != '"'; reader->at++) {
        if (*reader->at < ' ' || *reader->at > '~' || *reader->at == '\\')
            return message_fail(reader, "a text holds a character that is not printable ASCII, or \\");
        if ((size_t)(reader->at - text) + 1 >= size)
            return message_fail(reader, "a text is longer than %zu characters", size - 1);
    }
    const size_t length = (size_t)(reader->at - text);
    memcpy(out, text, length);
    out[length] = '\0';
    reader->at++;
    return true;
}

static size_t message_digits(const char *at)
{
    size_t length = 0;
    while (at[length] >= '0' && at[length] <= '9') length++;
    return length;
}

// The length of a JSON number at `at`; 0: none stands there.
static size_t message_number_length(const char *at)
{
    const char *p = at + (*at == '-');
    const size_t whole = message_digits(p);
    if (whole == 0 || (whole > 1 && *p == '0')) return 0;
    p += whole;
    if (*p == '.') {
        const size_t more = message_digits(p + 1);
        if (more == 0) return 0;
        p += 1 + more;
    }
    if (*p == 'e' || *p == 'E') {
        const char *power = p + 1 + (p[1] == '+' || p[1] == '-');
        const size_t more = message_digits(power);
        if (more == 0) return 0;
        p = power + more;
    }
    return (size_t)(p - at);
}

static bool message_value(MessageReader *reader, const char *what, double *number)
{
    message_skip(reader);
    const size_t length = message_number_length(reader->at);
    if (length == 0) return message_fail(reader, "%s is not a finite number: \"%.20s\"", what, reader->at);
    *number = strtod(reader->at, NULL);
    reader->at += length;
    if (isfinite(*number)) return true;
    return message_fail(reader, "%s is too large for a number", what);
}

// After an entry of a mapping or a list: whether another one follows.
static bool message_more(MessageReader *reader, char end, bool *more)
{
    *more = message_take(reader, ',');
    return *more || message_expect(reader, end);
}

// ---- answers --------------------------------------------------------------------------------------------------------

// 40 bytes for a number and what surrounds it.
size_t message_answer_most(const Configured *configured, bool traced)
{
    const size_t least = (size_t)1 << 16, most = (size_t)1 << 28;
    const size_t numbers = traced ? (size_t)configured->ticks * (size_t)configured->n_columns : 0;
    const size_t bytes = least + 128 * (size_t)configured->n_metrics + 40 * numbers;
    return bytes < most ? bytes : most;
}

// The index of a name among the fields; they are looked at from `next` on, as programs mostly keep the order.
static int message_index(const Field *fields, int count, int next, const char *name)
{
    for (int i = 0; i < count; i++) {
        const int index = (next + i) % count;
        if (strcmp(fields[index].name, name) == 0) return index;
    }
    return -1;
}

static bool message_read_metric(MessageReader *reader, const Configured *configured, int index, bool *seen,
                                Answer *answer)
{
    char what[MESSAGE_KEY + 16];
    const char *name = configured->metrics[index].name;
    snprintf(what, sizeof what, "metric '%s'", name);
    if (seen[index]) return message_fail(reader, "%s is given twice", what);
    seen[index] = true;
    if (message_word(reader, "null")) return true; // allowed for a trial that failed
    return message_value(reader, what, &answer->metric[index]);
}

static bool message_read_metrics(MessageReader *reader, const Configured *configured, Answer *answer)
{
    bool seen[DECLARED_MOST] = {false}, more = true;
    if (!message_expect(reader, '{')) return false;
    if (message_take(reader, '}')) return true;
    for (int next = 0; more; next++) {
        char name[MESSAGE_KEY];
        if (!message_text(reader, name, sizeof name) || !message_expect(reader, ':')) return false;
        next = message_index(configured->metrics, configured->n_metrics, next, name);
        if (next < 0) return message_fail(reader, "the spec declares no metric '%s'", name);
        if (!message_read_metric(reader, configured, next, seen, answer)) return false;
        if (!message_more(reader, '}', &more)) return false;
    }
    return true;
}

static bool message_read_failure(MessageReader *reader, const Configured *configured, Answer *answer)
{
    char name[MESSAGE_KEY];
    if (message_word(reader, "null")) return true;
    if (!message_text(reader, name, sizeof name)) return false;
    for (int i = COMMAND_FAILURES; i < configured->n_failures; i++) {
        if (strcmp(configured->failures[i], name) == 0) answer->failure = i;
    }
    return answer->failure != COMMAND_NONE || message_fail(reader, "the spec declares no failure '%s'", name);
}

// sample NULL: the numbers are checked and left out.
static bool message_read_column(MessageReader *reader, const Configured *configured, int column, const Answer *answer,
                                int64_t *count)
{
    bool more = true;
    double number = 0.0;
    const char *name = column >= 0 ? configured->columns[column].name : "";
    *count = 0;
    if (!message_expect(reader, '[')) return false;
    if (message_take(reader, ']')) return true;
    while (more) {
        const bool none = column != 0 && message_word(reader, "null");
        if (!none && !message_value(reader, name, &number)) return false;
        if (*count >= answer->capacity)
            return message_fail(reader, "column '%s' has more than %lld samples (simulation.samples)", name,
                                (long long)answer->capacity);
        answer->sample[(*count)++ * configured->n_columns + column] = none ? (double)NAN : number;
        if (!message_more(reader, ']', &more)) return false;
    }
    return true;
}

static bool message_read_columns(MessageReader *reader, const Configured *configured, Answer *answer)
{
    bool seen[DECLARED_MOST + 1] = {false}, more = true;
    int given = 0;
    if (!message_expect(reader, '{')) return false;
    for (int next = 0; more; next++, given++) {
        char name[MESSAGE_KEY];
        int64_t count = 0;
        if (!message_text(reader, name, sizeof name) || !message_expect(reader, ':')) return false;
        next = message_index(configured->columns, configured->n_columns, next, name);
        if (next < 0) return message_fail(reader, "the spec declares no column '%s'", name);
        if (seen[next]) return message_fail(reader, "column '%s' is given twice", name);
        seen[next] = true;
        if (!message_read_column(reader, configured, next, answer, &count)) return false;
        if (given > 0 && count != answer->samples)
            return message_fail(reader, "column '%s' has %lld samples, others have %lld", name, (long long)count,
                                (long long)answer->samples);
        answer->samples = count;
        if (!message_more(reader, '}', &more)) return false;
    }
    if (given == configured->n_columns) return true;
    for (int c = 0; c < configured->n_columns; c++) {
        if (!seen[c]) message_fail(reader, "column '%s' is missing", configured->columns[c].name);
    }
    return false;
}

// A value that is not wanted: mappings and lists are skipped by their brackets.
static bool message_skip_value(MessageReader *reader)
{
    int depth = 0;
    bool text = false;
    message_skip(reader);
    for (; *reader->at != '\0'; reader->at++) {
        const char c = *reader->at;
        if (c == '"') text = !text;
        if (text) continue;
        if (depth == 0 && (c == ',' || c == '}')) return true;
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    }
    return message_fail(reader, "the line ends within a trajectory");
}

typedef struct MessageGiven {
    bool id, metrics, failure, trajectory;
} MessageGiven;

static bool message_read_id(MessageReader *reader, uint64_t id)
{
    double number;
    if (!message_value(reader, "id", &number)) return false;
    if (number == (double)id) return true;
    return message_fail(reader, "the answer has id %.17g, and the request has %llu", number, (unsigned long long)id);
}

static bool message_read_entry(MessageReader *reader, const Configured *configured, uint64_t id, const char *key,
                               MessageGiven *given, Answer *answer)
{
    bool *seen = strcmp(key, "id") == 0           ? &given->id
                 : strcmp(key, "metrics") == 0    ? &given->metrics
                 : strcmp(key, "failure") == 0    ? &given->failure
                 : strcmp(key, "trajectory") == 0 ? &given->trajectory
                                                  : NULL;
    if (seen == NULL)
        return message_fail(reader, "unknown key '%s' in an answer; it may have id, metrics, failure and trajectory",
                            key);
    if (*seen) return message_fail(reader, "'%s' is given twice", key);
    *seen = true;
    if (seen == &given->id) return message_read_id(reader, id);
    if (seen == &given->metrics) return message_read_metrics(reader, configured, answer);
    if (seen == &given->failure) return message_read_failure(reader, configured, answer);
    if (message_word(reader, "null")) {
        given->trajectory = false;
        return true;
    }
    return answer->sample != NULL ? message_read_columns(reader, configured, answer) : message_skip_value(reader);
}

// What the answer of a trial that did not fail must have.
static bool message_check(MessageReader *reader, const Configured *configured, const MessageGiven *given,
                          const Answer *answer)
{
    if (!given->id) return message_fail(reader, "the answer has no id: it must repeat that of the request");
    if (answer->failure != COMMAND_NONE) return true;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (isnan(answer->metric[m]))
            return message_fail(reader, "metric '%s' is missing", configured->metrics[m].name);
    }
    if (answer->sample != NULL && !given->trajectory)
        return message_fail(reader, "the trajectory that was asked for is missing");
    return true;
}

bool message_read_answer(const Configured *configured, uint64_t id, const char *text, size_t length, Answer *answer)
{
    MessageReader reader = {.at = text, .problem = answer->problem, .size = sizeof answer->problem};
    MessageGiven given = {false};
    bool more = true;
    answer->failure = COMMAND_NONE;
    answer->samples = 0;
    answer->problem[0] = '\0';
    for (int m = 0; m < configured->n_metrics; m++) answer->metric[m] = (double)NAN;
    if (strlen(text) != length) return message_fail(&reader, "the line holds a NUL");
    if (!message_expect(&reader, '{')) return false;
    while (more) {
        char key[MESSAGE_KEY];
        if (!message_text(&reader, key, sizeof key) || !message_expect(&reader, ':')) return false;
        if (!message_read_entry(&reader, configured, id, key, &given, answer)) return false;
        if (!message_more(&reader, '}', &more)) return false;
    }
    message_skip(&reader);
    if (*reader.at != '\0') return message_fail(&reader, "\"%.20s\" follows the answer", reader.at);
    return message_check(&reader, configured, &given, answer);
}

// ---- hello ----------------------------------------------------------------------------------------------------------

static bool message_read_hello_entry(MessageReader *reader, const char *key, double *hello, char *version)
{
    if (strcmp(key, "hello") == 0) return message_value(reader, "hello", hello);
    if (strcmp(key, "version") != 0)
        return message_fail(reader, "unknown key '%s' in a hello; it may have hello and version", key);
    if (message_word(reader, "null")) return true;
    return message_text(reader, version, COMMAND_VERSION_LENGTH + 1);
}

bool message_read_hello(const char *text, size_t length, char version[COMMAND_VERSION_LENGTH + 1], char *problem,
                        size_t size)
{
    MessageReader reader = {.at = text, .problem = problem, .size = size};
    double hello = 0.0;
    bool more = true;
    problem[0] = version[0] = '\0';
    if (strlen(text) != length) return message_fail(&reader, "the line holds a NUL");
    if (!message_expect(&reader, '{')) return false;
    while (more) {
        char key[MESSAGE_KEY];
        if (!message_text(&reader, key, sizeof key) || !message_expect(&reader, ':')) return false;
        if (!message_read_hello_entry(&reader, key, &hello, version)) return false;
        if (!message_more(&reader, '}', &more)) return false;
    }
    message_skip(&reader);
    if (*reader.at != '\0') return message_fail(&reader, "\"%.20s\" follows the hello", reader.at);
    if (hello == COMMAND_PROTOCOL) return true;
    return message_fail(&reader, "it speaks version %g of the protocol, and %d is expected", hello, COMMAND_PROTOCOL);
}
