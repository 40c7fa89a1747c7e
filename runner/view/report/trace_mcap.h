// The messages of a trace that is written as MCAP (trace_mcap.c).
#ifndef HOPSCOTCH_TRACE_MCAP_H
#define HOPSCOTCH_TRACE_MCAP_H

#include "trace.h"

// A trace on its way into a file.
typedef struct TraceLog {
    const ReplayTrace *trace;
    McapWriter *writer;
    Arena *arena;
} TraceLog;

uint64_t trace_nanoseconds(const ReplayTrace *trace, int64_t i); // the time of row i
void trace_put_value(Json *json, const char *name, double value);

// A field of a message, and those of its own. The last of a list has no name.
typedef struct MessageField {
    const char *name, *type, *doc;
    const struct MessageField *fields; // of an object, or of the objects in an array; NULL: none
} MessageField;
// Adds a topic of JSON; its schema is the fields.
Error trace_add_topic(TraceLog *log, const char *topic, const char *schema, const MessageField *fields, int *number);

// Where the bodies are, and their shapes (trace_mcap_scene.c).
typedef struct TraceScene {
    const Drawing *drawing;
    const char *world;   // the frame of the world, which no body has as its name
    int frames, figures; // topics; -1: none
    int64_t each;        // rows from one figure in the plane to the next
} TraceScene;
Error trace_scene_start(TraceLog *log, TraceScene *scene);
Error trace_scene_put(TraceLog *log, const TraceScene *scene, int64_t i);

#endif
