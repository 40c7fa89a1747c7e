// JSON.
#ifndef HOPSCOTCH_IO_JSON_H
#define HOPSCOTCH_IO_JSON_H

#include "../sim/sim.h"

#include <stdio.h>

// A small JSON writer: it adds commas and escapes. name is NULL inside an array.
typedef struct Json {
    FILE *out;
    int depth;
    bool pretty;
    bool first[64];
} Json;
void json_start(Json *json, FILE *out, bool pretty);
void json_object(Json *json, const char *name);                  // opens {
void json_array(Json *json, const char *name);                   // opens [
void json_close(Json *json, char bracket);                       // '}' or ']'
void json_text(Json *json, const char *name, const char *value); // NULL: null
void json_number(Json *json, const char *name, double value);    // NaN, infinities: null
void json_integer(Json *json, const char *name, int64_t value);
void json_boolean(Json *json, const char *name, bool value);

#endif
