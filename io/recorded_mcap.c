// Reads MCAP: topics of sensor_msgs/msg/JointState, in CDR, as ROS 2 records them. A column is a joint's position,
// velocity or effort: "/joint_states.left_knee.position". Its times are those of its messages, in s since the first in
// the file: `stamp` of their headers, or `log_time`.
//
// Sources: the MCAP specification (mcap.dev/spec); OMG's CDR (DDS-RTPS 2.5, 10; XCDR version 1); sensor_msgs 4.2.
#include "mcap.h"
#include "recorded.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

enum {
    MCAP_CHANNELS_MAX = 256,
    MCAP_JOINTS_MAX = 1024 // of a topic
};

static const char *const mcap_fields[] = {"position", "velocity", "effort"};
enum { MCAP_FIELDS = 3 };

typedef struct McapText {
    const char *at;
    uint64_t length;
} McapText;

typedef struct McapTopic {
    uint16_t id;
    const unsigned char *from; // its record: messages before it are of no topic
    McapText topic;
    McapText joints[MCAP_JOINTS_MAX];
    int n_joints;
    int64_t counts[MCAP_JOINTS_MAX][MCAP_FIELDS];
    int64_t seen[MCAP_JOINTS_MAX]; // the number of the last message that names it, from 1
} McapTopic;

typedef struct McapOwn {
    McapTopic **topics; // [n_topics] of joint states
    int n_topics;
    int64_t first[2]; // ns: the first stamp, and the first log time
} McapOwn;

// ---- records --------------------------------------------------------------------------------------------------------

typedef struct McapScan {
    const RecordedFile *file;
    RecordedBytes records, chunk; // chunk.at NULL: none
    uint8_t opcode;               // of the record, and its bytes
    RecordedBytes body;
    Error error;
} McapScan;

static McapScan mcap_scan(const RecordedFile *file)
{
    const unsigned char *data = file->data.data;
    return (McapScan){.file = file, .records = {.at = data + MCAP_MARK, .end = data + file->data.size - MCAP_MARK}};
}

static McapText mcap_text(RecordedBytes *bytes)
{
    const uint64_t length = recorded_number(bytes, 4);
    const unsigned char *at = recorded_take(bytes, length);
    return (McapText){.at = (const char *)at, .length = at != NULL ? length : 0};
}

static bool mcap_is(McapText text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static void mcap_damaged(McapScan *scan)
{
    scan->error = error_make(ERROR_USER, "%.160s: a record of the MCAP file is damaged", scan->file->of);
}

static void mcap_open_chunk(McapScan *scan)
{
    RecordedBytes *body = &scan->body;
    recorded_take(body, 16);
    const uint64_t size = recorded_number(body, 8);
    const uint32_t crc = (uint32_t)recorded_number(body, 4);
    const McapText compression = mcap_text(body);
    const uint64_t length = recorded_number(body, 8);
    const unsigned char *records = recorded_take(body, length);
    if (body->bad) {
        mcap_damaged(scan);
    } else if (compression.length > 0) {
        scan->error =
            error_make(ERROR_USER,
                       "%.160s: its chunks are compressed by %.*s, which is not read: `mcap decompress IN -o "
                       "OUT` writes it without",
                       scan->file->of, (int)(compression.length < 20 ? compression.length : 20), compression.at);
    } else if (length != size) {
        mcap_damaged(scan);
    } else if (crc != 0 && crc32_z(0, records, length) != crc) {
        scan->error = error_make(ERROR_USER, "%.160s: a chunk is damaged: its CRC-32 is wrong", scan->file->of);
    } else {
        scan->chunk = (RecordedBytes){.at = records, .end = records + length};
    }
}

// The next record, those of chunks too; false: the end, or an error.
static bool mcap_next(McapScan *scan)
{
    while (scan->error.kind == OK) {
        const bool inside = scan->chunk.at != NULL && scan->chunk.at < scan->chunk.end;
        RecordedBytes *from = inside ? &scan->chunk : &scan->records;
        if (from->at == from->end) return false;
        scan->opcode = (uint8_t)recorded_number(from, 1);
        const uint64_t length = recorded_number(from, 8);
        const unsigned char *body = recorded_take(from, length);
        if (body == NULL || (inside && scan->opcode == MCAP_CHUNK)) {
            mcap_damaged(scan);
            return false;
        }
        scan->body = (RecordedBytes){.at = body, .end = body + length};
        if (scan->opcode == MCAP_DATA_END) return false; // the summary follows, which repeats
        if (scan->opcode != MCAP_CHUNK) return true;
        mcap_open_chunk(scan);
    }
    return false;
}

// ---- joint states ---------------------------------------------------------------------------------------------------

// A message of CDR, read in its byte order; alignment counts from `start`.
typedef struct McapCdr {
    RecordedBytes bytes;
    const unsigned char *start;
    bool big_endian;
} McapCdr;

static const unsigned char *cdr_take(McapCdr *cdr, uint64_t size, uint64_t align)
{
    if (cdr->bytes.bad) return NULL;
    const uint64_t over = (uint64_t)(cdr->bytes.at - cdr->start) % align;
    if (over != 0) recorded_take(&cdr->bytes, align - over);
    return recorded_take(&cdr->bytes, size);
}

static uint32_t cdr_number(McapCdr *cdr)
{
    const unsigned char *at = cdr_take(cdr, 4, 4);
    return at != NULL ? (uint32_t)recorded_value(at, 'u', 4, cdr->big_endian) : 0;
}

static McapText cdr_text(McapCdr *cdr)
{
    const uint32_t length = cdr_number(cdr);
    const char *at = (const char *)recorded_take(&cdr->bytes, length);
    return (McapText){.at = at, .length = at != NULL ? strnlen(at, length) : 0};
}

typedef struct McapJoints {
    int64_t time[2]; // ns: stamp, log_time
    McapText names[MCAP_JOINTS_MAX];
    const unsigned char *values[MCAP_FIELDS]; // [n] doubles; NULL: none are given
    int n;
    bool big_endian;
} McapJoints;

static void cdr_numbers(McapCdr *cdr, McapJoints *joints, int field)
{
    const uint32_t count = cdr_number(cdr);
    joints->values[field] = count > 0 ? cdr_take(cdr, 8 * (uint64_t)count, 8) : NULL;
    if (count > 0 && count != (uint32_t)joints->n) cdr->bytes.bad = true;
}

// False: the message is damaged.
static bool mcap_joints(RecordedBytes body, McapJoints *joints)
{
    recorded_take(&body, 6); // its channel, its number
    joints->time[1] = (int64_t)recorded_number(&body, 8);
    recorded_take(&body, 8);
    const unsigned char *head = recorded_take(&body, 4);
    if (head == NULL || head[0] != 0 || head[1] > 1) return false;
    McapCdr cdr = {.bytes = body, .start = body.at, .big_endian = head[1] == 0};
    joints->big_endian = cdr.big_endian;
    const int64_t seconds = (int32_t)cdr_number(&cdr);
    joints->time[0] = 1000000000 * seconds + (int64_t)cdr_number(&cdr);
    cdr_text(&cdr);
    const uint32_t n = cdr_number(&cdr);
    if (n > MCAP_JOINTS_MAX) return false;
    joints->n = (int)n;
    for (int i = 0; i < joints->n && !cdr.bytes.bad; i++) joints->names[i] = cdr_text(&cdr);
    for (int f = 0; f < MCAP_FIELDS; f++) cdr_numbers(&cdr, joints, f);
    return !cdr.bytes.bad;
}

// ---- topics ---------------------------------------------------------------------------------------------------------

static int mcap_joint(const McapTopic *topic, McapText name, int near)
{
    for (int i = 0; i < topic->n_joints; i++) {
        const int at = (near + i) % topic->n_joints;
        if (topic->joints[at].length == name.length && memcmp(topic->joints[at].at, name.at, name.length) == 0)
            return at;
    }
    return -1;
}

static McapTopic *mcap_topic(const McapOwn *own, uint16_t id)
{
    for (int i = 0; i < own->n_topics; i++)
        if (own->topics[i]->id == id) return own->topics[i];
    return NULL;
}

// A channel whose messages are joint states becomes a topic. A file repeats its channels in each chunk.
static Error mcap_add_channel(RecordedFile *file, McapOwn *own, const uint16_t *schemas, int n_schemas,
                              RecordedBytes body)
{
    const uint16_t id = (uint16_t)recorded_number(&body, 2), schema = (uint16_t)recorded_number(&body, 2);
    const McapText name = mcap_text(&body), encoding = mcap_text(&body);
    bool states = false;
    for (int i = 0; i < n_schemas; i++) states |= schemas[i] == schema;
    if (body.bad || !states || mcap_topic(own, id) != NULL) return error_none();
    if (!mcap_is(encoding, "cdr"))
        return error_make(ERROR_USER, "%.160s: messages of %.*s are in '%.*s'; cdr is read, of ROS 2", file->of,
                          (int)(name.length < 80 ? name.length : 80), name.at,
                          (int)(encoding.length < 20 ? encoding.length : 20), encoding.at);
    if (own->n_topics == MCAP_CHANNELS_MAX)
        return error_make(ERROR_USER, "%.160s has more than %d topics of joints", file->of, MCAP_CHANNELS_MAX);
    McapTopic *topic = ARENA_NEW(&file->arena, McapTopic, 1);
    topic->id = id;
    topic->from = body.at;
    topic->topic = name;
    own->topics[own->n_topics++] = topic;
    return error_none();
}

static Error mcap_count(RecordedFile *file, McapOwn *own, McapTopic *topic, const McapJoints *joints, int64_t message)
{
    for (int c = 0; c < 2; c++)
        if (own->first[c] == INT64_MAX || joints->time[c] < own->first[c]) own->first[c] = joints->time[c];
    for (int i = 0; i < joints->n; i++) {
        int at = mcap_joint(topic, joints->names[i], i);
        if (at < 0 && topic->n_joints == MCAP_JOINTS_MAX)
            return error_make(ERROR_USER, "%.160s: a topic has more than %d joints", file->of, MCAP_JOINTS_MAX);
        if (at < 0) {
            at = topic->n_joints++;
            topic->joints[at] = joints->names[i];
        }
        if (topic->seen[at] == message)
            return error_make(ERROR_USER, "%.160s: message %lld of the topics of joints names '%.*s' twice", file->of,
                              (long long)message, (int)(joints->names[i].length < 80 ? joints->names[i].length : 80),
                              joints->names[i].at);
        topic->seen[at] = message;
        for (int f = 0; f < MCAP_FIELDS; f++) topic->counts[at][f] += joints->values[f] != NULL;
    }
    return error_none();
}

// ---- columns --------------------------------------------------------------------------------------------------------

static Error mcap_load(const RecordedFile *file, int column, int clock, Arena *arena, const double **value,
                       const double **time)
{
    const RecordedColumn *of = &file->columns[column];
    const McapOwn *own = file->own;
    const McapTopic *topic = own->topics[of->array];
    const int joint = of->item / MCAP_FIELDS, field = of->item % MCAP_FIELDS;
    double *values = ARENA_NEW(arena, double, of->count + 1), *times = ARENA_NEW(arena, double, of->count + 1);
    McapJoints *joints = ARENA_NEW(arena, McapJoints, 1);
    McapScan scan = mcap_scan(file);
    int64_t n = 0, last = INT64_MIN;
    while (mcap_next(&scan)) {
        if (scan.opcode != MCAP_MESSAGE) continue;
        RecordedBytes body = scan.body;
        if ((uint16_t)recorded_number(&body, 2) != topic->id || body.at < topic->from) continue;
        if (!mcap_joints(scan.body, joints)) continue;
        if (joints->values[field] == NULL) continue;
        int at = 0;
        while (at < joints->n && mcap_joint(topic, joints->names[at], joint) != joint) at++;
        if (at == joints->n || n == of->count) continue;
        if (joints->time[clock] <= last)
            return error_make(
                ERROR_USER,
                "%.160s: times of '%.100s' must increase, and message %lld is %.9g s before the one before it",
                file->of, of->name, (long long)n + 1, 1e-9 * (double)((uint64_t)last - (uint64_t)joints->time[clock]));
        last = joints->time[clock];
        values[n] = recorded_value(joints->values[field] + 8 * at, 'f', 8, joints->big_endian);
        times[n++] = 1e-9 * (double)((uint64_t)joints->time[clock] - (uint64_t)own->first[clock]);
    }
    *value = values;
    *time = times;
    return scan.error;
}

static void mcap_columns(RecordedFile *file, const McapOwn *own)
{
    int columns = 0;
    for (int t = 0; t < own->n_topics; t++) columns += MCAP_FIELDS * own->topics[t]->n_joints;
    RecordedColumn *all = ARENA_NEW(&file->arena, RecordedColumn, columns + 1);
    for (int t = 0; t < own->n_topics; t++) {
        const McapTopic *topic = own->topics[t];
        for (int j = 0; j < topic->n_joints; j++) {
            for (int f = 0; f < MCAP_FIELDS; f++) {
                if (topic->counts[j][f] == 0) continue;
                all[file->count++] = (RecordedColumn){
                    .name = arena_format(&file->arena, "%.*s.%.*s.%s",
                                         (int)(topic->topic.length < 200 ? topic->topic.length : 200), topic->topic.at,
                                         (int)(topic->joints[j].length < 200 ? topic->joints[j].length : 200),
                                         topic->joints[j].at, mcap_fields[f]),
                    .count = topic->counts[j][f],
                    .array = t,
                    .item = MCAP_FIELDS * j + f};
            }
        }
    }
    file->columns = all;
}

Error recorded_mcap(RecordedFile *file)
{
    static const char *const clocks[] = {"stamp", "log_time", NULL};
    const Bytes data = file->data;
    McapOwn *own = ARENA_NEW(&file->arena, McapOwn, 1);
    own->topics = ARENA_NEW(&file->arena, McapTopic *, MCAP_CHANNELS_MAX);
    own->first[0] = own->first[1] = INT64_MAX;
    uint16_t *schemas = ARENA_NEW(&file->arena, uint16_t, MCAP_CHANNELS_MAX);
    McapJoints *joints = ARENA_NEW(&file->arena, McapJoints, 1);
    int n_schemas = 0;
    file->own = own;
    file->load = mcap_load;
    file->clocks = clocks;
    if (data.size < 2 * MCAP_MARK || memcmp(data.data + data.size - MCAP_MARK, data.data, MCAP_MARK) != 0)
        return error_make(ERROR_USER, "%.160s: the MCAP file has no end: `mcap recover IN -o OUT` mends it", file->of);
    McapScan scan = mcap_scan(file);
    for (int64_t message = 1; mcap_next(&scan);) {
        RecordedBytes body = scan.body;
        if (scan.opcode == MCAP_CHANNEL) TRY(mcap_add_channel(file, own, schemas, n_schemas, body));
        const uint16_t id = (uint16_t)recorded_number(&body, 2);
        if (scan.opcode == MCAP_SCHEMA) {
            const McapText name = mcap_text(&body);
            const bool states = mcap_is(name, "sensor_msgs/msg/JointState") || mcap_is(name, "sensor_msgs/JointState");
            if (states && n_schemas < MCAP_CHANNELS_MAX) schemas[n_schemas++] = id;
        }
        McapTopic *topic = scan.opcode == MCAP_MESSAGE ? mcap_topic(own, id) : NULL;
        if (topic == NULL) continue;
        if (!mcap_joints(scan.body, joints))
            return error_make(ERROR_USER, "%.160s: message %lld of the topics of joints is damaged", file->of,
                              (long long)message);
        TRY(mcap_count(file, own, topic, joints, message));
        message++;
    }
    TRY(scan.error);
    if (own->n_topics == 0)
        return error_make(ERROR_USER, "%.160s has no topic of sensor_msgs/msg/JointState", file->of);
    mcap_columns(file, own);
    return error_none();
}
