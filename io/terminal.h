// What a terminal can show, and its alternate screen.
#ifndef HOPSCOTCH_IO_TERMINAL_H
#define HOPSCOTCH_IO_TERMINAL_H

#include "../sim/sim.h"

#include <stdio.h>

bool terminal_colour(FILE *out); // a terminal, TERM not dumb, NO_COLOR unset or empty
bool terminal_interactive(FILE *out);
int terminal_columns(FILE *out); // width in characters: the terminal's, else COLUMNS, else 80
int terminal_rows(FILE *out);    // height in characters: the terminal's, else 24
bool terminal_utf8(void);        // the environment's locale uses UTF-8
// Switches to the alternate screen and hides the cursor; and back. Ctrl-Z is ignored in between.
void terminal_enter(FILE *out);
void terminal_leave(FILE *out);

#endif
