// What a terminal can show, and its alternate screen.
#ifndef HOPSCOTCH_IO_TERMINAL_H
#define HOPSCOTCH_IO_TERMINAL_H

#include "../sim/sim.h"

#include <stdio.h>

bool terminal_colour(FILE *out);      // terminal_interactive, and NO_COLOR is unset or empty
bool terminal_interactive(FILE *out); // a terminal whose TERM is not "dumb"
int terminal_columns(FILE *out);      // width in characters: the terminal's, else COLUMNS, else 80
int terminal_breaks(FILE *out); // the width at which texts are broken: a terminal's; 0: nowhere, as in files and pipes
// Prints the text broken between words so that lines have at most `columns` characters; 0: unbroken. `indent` of them
// stand on the first line already; further lines begin with as many blanks. No newline at the end.
void terminal_paragraph(FILE *out, const char *text, int indent, int columns);
int terminal_rows(FILE *out); // height in characters: the terminal's, else 24
bool terminal_utf8(void);     // the environment's locale uses UTF-8
// terminal_enter switches to the alternate screen, hides the cursor and ignores Ctrl-Z; terminal_leave restores all.
void terminal_enter(FILE *out);
void terminal_leave(FILE *out);

#endif
