// Numbers as texts for people.
#ifndef HOPSCOTCH_IO_TEXT_H
#define HOPSCOTCH_IO_TEXT_H

#include "../sim/sim.h"

// Numbers for people: "1,234,567", "1.2 s", "3 min 20 s", "64.0 MiB"; into a buffer that is returned.
typedef struct Text32 {
    char text[32];
} Text32;
Text32 text_count(int64_t value);
Text32 text_duration(double seconds);
Text32 text_bytes(double bytes);
Text32 text_short(double value); // "950", "12.3k", "1.20M"
// The shortest decimal that reads back to the same double.
Text32 text_number(double value);

#endif
