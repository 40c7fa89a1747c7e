// Writes JSON.
#ifndef HOPSCOTCH_IO_JSON_H
#define HOPSCOTCH_IO_JSON_H

#include "../sim/sim.h"

#include <stdio.h>

// Commas, indentation and escapes are added. name: key of the value, NULL inside an array and at the top. The caller
// checks `out` for errors of writing.
typedef struct Json {
    FILE *out;
    int depth;      // at most 63
    bool pretty;    // indented, one value per line
    bool first[64]; // nothing is written yet at this depth
} Json;
void json_start(Json *json, FILE *out, bool pretty);
void json_object(Json *json, const char *name);                                 // opens {
void json_array(Json *json, const char *name);                                  // opens [
void json_close(Json *json, char bracket);                                      // '}' or ']'
void json_text(Json *json, const char *name, const char *value);                // NULL: null
void json_before(Json *json, const char *name);                                 // of a value that another prints
void json_number(Json *json, const char *name, double value);                   // NaN, infinities: null
void json_value(Json *json, const char *name, const char *words, double value); // of a parameter, as table_value
void json_integer(Json *json, const char *name, int64_t value);
void json_boolean(Json *json, const char *name, bool value);

#endif
