// Finds out whether a stream is a terminal, whether it shows colours, and how wide it is.
#include "terminal.h"

#include "characters.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TERMINAL_COLUMNS_DEFAULT = 80, TERMINAL_COLUMNS_MAX = 1000, TERMINAL_ROWS_DEFAULT = 24 };

// The variable is set and not empty (https://no-color.org asks for non-empty).
static bool terminal_variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

// A stream without a descriptor (in memory) is not a terminal.
bool terminal_interactive(FILE *out)
{
    const int descriptor = fileno(out);
    const char *kind = getenv("TERM");
    return descriptor >= 0 && isatty(descriptor) && (kind == NULL || strcmp(kind, "dumb") != 0);
}

bool terminal_colour(FILE *out) { return terminal_interactive(out) && !terminal_variable("NO_COLOR"); }

// The terminal is asked each time, so that a resized window needs no signal. Elsewhere COLUMNS decides.
int terminal_columns(FILE *out)
{
    struct winsize window;
    const int descriptor = fileno(out);
    if (descriptor >= 0 && ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) return window.ws_col;
    const char *columns = getenv("COLUMNS");
    const long wanted = columns != NULL ? strtol(columns, NULL, 10) : 0;
    return wanted > 0 && wanted <= TERMINAL_COLUMNS_MAX ? (int)wanted : TERMINAL_COLUMNS_DEFAULT;
}

int terminal_breaks(FILE *out) { return terminal_interactive(out) ? terminal_columns(out) : 0; }

void terminal_paragraph(FILE *out, const char *text, int indent, int columns)
{
    int column = indent;
    for (const char *word = text; *word != '\0'; word += strspn(word, " ")) {
        const size_t bytes = strcspn(word, " ");
        const int width = utf8_count(word, bytes);
        const bool breaks = column > indent && columns > 0 && column + 1 + width > columns;
        if (breaks)
            fprintf(out, "\n%*s", indent, "");
        else if (column > indent)
            fputc(' ', out);
        column = breaks ? indent + width : column + (column > indent) + width;
        fwrite(word, 1, bytes, out);
        word += bytes;
    }
}

int terminal_rows(FILE *out)
{
    struct winsize window;
    const int descriptor = fileno(out);
    const bool known = descriptor >= 0 && ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_row > 0;
    return known ? window.ws_row : TERMINAL_ROWS_DEFAULT;
}

// The first variable that is set decides (POSIX, 8.2).
bool terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!terminal_variable(names[i])) continue;
        const char *dot = strchr(getenv(names[i]), '.');
        return dot != NULL && (strncasecmp(dot, ".utf-8", 6) == 0 || strncasecmp(dot, ".utf8", 5) == 0);
    }
    return false;
}

// xterm's control sequences: the alternate screen (1049) and the cursor (25).
void terminal_enter(FILE *out)
{
    signal(SIGTSTP, SIG_IGN); // a stopped process would leave the shell on the alternate screen
    fputs("\033[?1049h\033[?25l\033[2J", out);
}

void terminal_leave(FILE *out)
{
    fputs("\033[?25h\033[?1049l", out);
    fflush(out);
    signal(SIGTSTP, SIG_DFL);
}
