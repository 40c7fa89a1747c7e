// A trace as MCAP, for programs that show robots and curves: a topic of JSON for each group of columns, the states of
// joints as ROS 2 has them, where the bodies are (trace_mcap_scene.c), and metadata about the trial.
//
// Numbers have all digits. JSON has no NaN and no infinity: such a value is left out of its message.
#include "trace_mcap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t trace_nanoseconds(const ReplayTrace *trace, int64_t i)
{
    const double time = trace->row[i * trace->n_columns];
    return time > 0 ? (uint64_t)floor(1e9 * time + 0.5) : 0;
}

void trace_put_value(Json *json, const char *name, double value)
{
    if (isfinite(value)) json_number(json, name, value);
}

// ---- topics ---------------------------------------------------------------------------------------------------------

static void message_put_fields(const MessageField *fields, Json *json)
{
    json_text(json, "type", "object");
    json_object(json, "properties");
    for (const MessageField *field = fields; field->name != NULL; field++) {
        const bool array = strcmp(field->type, "array") == 0;
        json_object(json, field->name);
        if (field->doc != NULL) json_text(json, "description", field->doc);
        if (array) {
            json_text(json, "type", "array");
            json_object(json, "items");
        }
        if (field->fields != NULL)
            message_put_fields(field->fields, json);
        else
            json_text(json, "type", field->type);
        if (array) json_close(json, '}');
        json_close(json, '}');
    }
    json_close(json, '}');
}

Error trace_add_topic(TraceLog *log, const char *topic, const char *schema, const MessageField *fields, int *number)
{
    TextStream text;
    Json json;
    TRY(text_stream_open("a schema", &text));
    json_start(&json, text.out, false);
    json_object(&json, NULL);
    json_text(&json, "title", schema);
    message_put_fields(fields, &json);
    json_close(&json, '}');
    const Error error = text_stream_close(&text);
    if (error.kind == OK)
        *number = mcap_add_topic(log->writer, topic, "json", schema, "jsonschema", text.text, text.size);
    free(text.text);
    return error;
}

// ---- columns --------------------------------------------------------------------------------------------------------

// The columns of a group.
typedef struct TraceGroup {
    const char *name;
    const int *columns; // [count]
    int count, topic;
} TraceGroup;

static const char *group_of(const ReplayTrace *trace, int column)
{
    if (trace->request.debug) return trace->request.rows;
    return trace->columns[column].group != NULL ? trace->columns[column].group : "columns";
}

static bool group_has_words(const ReplayTrace *trace, int column)
{
    for (int w = 0; w < trace->n_words; w++)
        if (trace->words[w].column == column) return true;
    return false;
}

static Error group_add(TraceLog *log, TraceGroup *group)
{
    const ReplayTrace *trace = log->trace;
    MessageField *fields = ARENA_NEW(log->arena, MessageField, group->count + 2);
    fields[0] = (MessageField){.name = "time", .type = "number", .doc = "simulated time (s)"};
    for (int k = 0; k < group->count; k++) {
        const Field *column = &trace->columns[group->columns[k]];
        const char *unit = column->unit != NULL ? column->unit : "1", *doc = column->doc != NULL ? column->doc : "";
        fields[1 + k] = (MessageField){.name = column->name,
                                       .type = group_has_words(trace, group->columns[k]) ? "string" : "number",
                                       .doc = arena_format(log->arena, "%s (%s)", doc, unit)};
    }
    return trace_add_topic(log, arena_format(log->arena, "/%s", group->name),
                           arena_format(log->arena, "hopscotch.%s", group->name), fields, &group->topic);
}

// Groups in the order of their first columns. *count: of groups; the time is in each.
static Error groups_start(TraceLog *log, TraceGroup **given, int *count)
{
    const ReplayTrace *trace = log->trace;
    TraceGroup *groups = ARENA_NEW(log->arena, TraceGroup, trace->n_shown);
    int n = 0;
    for (int first = 1; first < trace->n_shown; first++) {
        const char *name = group_of(trace, trace->shown[first]);
        bool known = false;
        for (int g = 0; g < n; g++) known |= strcmp(groups[g].name, name) == 0;
        if (known) continue;
        int *columns = ARENA_NEW(log->arena, int, trace->n_shown);
        TraceGroup *group = &groups[n++];
        *group = (TraceGroup){.name = name, .columns = columns};
        for (int c = first; c < trace->n_shown; c++)
            if (strcmp(group_of(trace, trace->shown[c]), name) == 0) columns[group->count++] = trace->shown[c];
        TRY(group_add(log, group));
    }
    *given = groups;
    *count = n;
    return error_none();
}

static Error group_put(TraceLog *log, const TraceGroup *group, int64_t i)
{
    const ReplayTrace *trace = log->trace;
    const double *row = trace->row + i * trace->n_columns;
    Json json;
    json_start(&json, mcap_message(log->writer, group->topic, trace_nanoseconds(trace, i)), false);
    json_object(&json, NULL);
    trace_put_value(&json, "time", row[0]);
    for (int k = 0; k < group->count; k++) {
        const int column = group->columns[k];
        const char *word = recording_word(trace->words, trace->n_words, column, row[column]);
        if (word != NULL)
            json_text(&json, trace->columns[column].name, word);
        else
            trace_put_value(&json, trace->columns[column].name, row[column]);
    }
    json_close(&json, '}');
    return mcap_put(log->writer);
}

// ---- joints ---------------------------------------------------------------------------------------------------------

#define JOINTS_RULE "================================================================================\n"
static const char joints_schema[] = "std_msgs/Header header\n"
                                    "string[] name\n"
                                    "float64[] position\n"
                                    "float64[] velocity\n"
                                    "float64[] effort\n" JOINTS_RULE "MSG: std_msgs/Header\n"
                                    "builtin_interfaces/Time stamp\n"
                                    "string frame_id\n" JOINTS_RULE "MSG: builtin_interfaces/Time\n"
                                    "int32 sec\n"
                                    "uint32 nanosec\n";

// A message in OMG's CDR, least byte first (io/recorded_mcap.c reads it).
typedef struct CdrText {
    FILE *out;
    size_t size; // without the four bytes of its head
} CdrText;

static void cdr_put(CdrText *cdr, uint64_t value, size_t size)
{
    for (; cdr->size % size != 0; cdr->size++) fputc(0, cdr->out);
    for (size_t k = 0; k < size; k++) fputc((int)(value >> 8 * k & 255), cdr->out);
    cdr->size += size;
}

static void cdr_put_text(CdrText *cdr, const char *text)
{
    const size_t size = strlen(text) + 1;
    cdr_put(cdr, size, 4);
    fwrite(text, 1, size, cdr->out);
    cdr->size += size;
}

static void cdr_put_real(CdrText *cdr, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    cdr_put(cdr, bits, 8);
}

// sensor_msgs/msg/JointState: a header, names, and three lists of numbers.
static Error joints_put(TraceLog *log, int topic, int64_t i)
{
    const ReplayTrace *trace = log->trace;
    const Configured *configured = trace->configured;
    const double *row = trace->row + i * trace->n_columns;
    const uint64_t time = trace_nanoseconds(trace, i), n = (uint64_t)configured->n_joints;
    CdrText cdr = {.out = mcap_message(log->writer, topic, time)};
    fwrite("\0\1\0", 1, 4, cdr.out);
    cdr_put(&cdr, time / 1000000000, 4);
    cdr_put(&cdr, time % 1000000000, 4);
    cdr_put_text(&cdr, "");
    cdr_put(&cdr, n, 4);
    for (int j = 0; j < configured->n_joints; j++) cdr_put_text(&cdr, configured->joints[j].name);
    cdr_put(&cdr, n, 4);
    for (int j = 0; j < configured->n_joints; j++) cdr_put_real(&cdr, row[configured->joints[j].position]);
    cdr_put(&cdr, n, 4);
    for (int j = 0; j < configured->n_joints; j++) cdr_put_real(&cdr, row[configured->joints[j].velocity]);
    cdr_put(&cdr, n, 4);
    for (int j = 0; j < configured->n_joints; j++) cdr_put_real(&cdr, row[configured->joints[j].effort]);
    return mcap_put(log->writer);
}

// ---- metadata -------------------------------------------------------------------------------------------------------

static const char *log_number(double value, Arena *arena) { return arena_copy(arena, text_number(value).text); }

static Error log_put_trial(TraceLog *log)
{
    const ReplayTrace *trace = log->trace;
    const StoredCampaign *campaign = trace->campaign;
    const McapPair pairs[] = {
        {"campaign", campaign->name},
        {"trial", arena_format(log->arena, "%" PRId64, trace->request.trial)},
        {"replicate", arena_format(log->arena, "%d", trace->request.replicate)},
        {"model", campaign->spec.model->name},
        {"seed", arena_format(log->arena, "%" PRIu64, campaign->spec.seed)},
        {"spec_hash", campaign->spec.hash.hex},
        {"program_version", HOPSCOTCH_VERSION},
        {"numerics_version", arena_format(log->arena, "%d", campaign->numerics_version)},
        {"fitness", log_number(trace->fitness, log->arena)},
        {"failure", trace->failure},
    };
    return mcap_put_metadata(log->writer, "hopscotch", pairs, (int)(sizeof pairs / sizeof *pairs));
}

static Error log_put_metadata(TraceLog *log)
{
    const Configured *configured = log->trace->configured;
    const int n = configured->n_parameters, m = configured->n_metrics;
    McapPair *parameters = ARENA_NEW(log->arena, McapPair, n + 1), *metrics = ARENA_NEW(log->arena, McapPair, m + 1);
    for (int k = 0; k < n; k++)
        parameters[k] = (McapPair){configured->parameters[k].name, log_number(log->trace->parameter[k], log->arena)};
    for (int k = 0; k < m; k++)
        metrics[k] = (McapPair){configured->metrics[k].name, log_number(log->trace->metric[k], log->arena)};
    TRY(log_put_trial(log));
    TRY(mcap_put_metadata(log->writer, "parameters", parameters, n));
    return mcap_put_metadata(log->writer, "metrics", metrics, m);
}

// ---- the file -------------------------------------------------------------------------------------------------------

static Error log_put_rows(TraceLog *log)
{
    const ReplayTrace *trace = log->trace;
    const bool joints = trace->configured->n_joints > 0 && !trace->request.debug;
    TraceGroup *groups;
    TraceScene scene;
    int n_groups, states = 0;
    TRY(trace_scene_start(log, &scene));
    if (joints)
        states = mcap_add_topic(log->writer, "/joint_states", "cdr", "sensor_msgs/msg/JointState", "ros2msg",
                                joints_schema, sizeof joints_schema - 1);
    TRY(groups_start(log, &groups, &n_groups));
    for (int64_t i = 0; i < trace->count; i++) {
        if (interrupt_requested() != 0) return error_make(ERROR_INTERRUPTED, "%s", interrupt_words());
        TRY(trace_scene_put(log, &scene, i));
        if (joints) TRY(joints_put(log, states, i));
        for (int g = 0; g < n_groups; g++) TRY(group_put(log, &groups[g], i));
    }
    return log_put_metadata(log);
}

Error trace_write_mcap(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    TraceLog log = {.trace = trace, .arena = arena};
    TRY(mcap_start(out, "hopscotch " HOPSCOTCH_VERSION, arena, &log.writer));
    return mcap_finish(log.writer, log_put_rows(&log));
}
