// What is at the other end of a stream: a terminal or not, with colours or not, and how wide.
#include "io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TERMINAL_COLUMNS_DEFAULT = 80, TERMINAL_COLUMNS_MAX = 1000 };

// The name is set to something (https://no-color.org asks for non-empty).
static bool terminal_variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

// A stream without a descriptor (in memory) is no terminal.
bool terminal_interactive(FILE *out)
{
    const int descriptor = fileno(out);
    const char *kind = getenv("TERM");
    return descriptor >= 0 && isatty(descriptor) && (kind == NULL || strcmp(kind, "dumb") != 0);
}

bool terminal_colour(FILE *out) { return terminal_interactive(out) && !terminal_variable("NO_COLOR"); }

// The terminal is asked each time, so that a resized window needs no signal. Off a terminal COLUMNS decides.
int terminal_columns(FILE *out)
{
    struct winsize window;
    const int descriptor = fileno(out);
    if (descriptor >= 0 && ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) return window.ws_col;
    const char *columns = getenv("COLUMNS");
    const long wanted = columns != NULL ? strtol(columns, NULL, 10) : 0;
    return wanted > 0 && wanted <= TERMINAL_COLUMNS_MAX ? (int)wanted : TERMINAL_COLUMNS_DEFAULT;
}
