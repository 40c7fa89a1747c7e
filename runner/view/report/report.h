// What the files of the report share.
#ifndef HOPSCOTCH_REPORT_H
#define HOPSCOTCH_REPORT_H

#include "../plots/plot.h"

// Rules for light, dark and printed pages, for page_start.
Error report_style(Arena *arena, const char **style);

#endif
