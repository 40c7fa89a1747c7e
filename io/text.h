// Numbers as texts for people, and from the texts that people write.
#ifndef HOPSCOTCH_IO_TEXT_H
#define HOPSCOTCH_IO_TEXT_H

#include "../sim/sim.h"

// The text is returned by value: no allocation, and no lifetime to care about.
typedef struct Text32 {
    char text[32];
} Text32;
Text32 text_count(int64_t value);     // "1,234,567"
Text32 text_duration(double seconds); // "1.2 s", "3 min 20 s"
Text32 text_bytes(double bytes);      // "64.0 MiB"
Text32 text_short(double value);      // "950", "12.3k", "1.20M"
Text32 text_number(double value);     // the shortest decimal that reads back as the same double

// Where the number at the start of `text` ends; NULL: there is none.
const char *text_number_end(const char *text);
// `text` as a number, in one strict form and with nothing behind it; no negative zero. False: it is none, or infinite.
bool text_to_number(const char *text, double *value);

#endif
