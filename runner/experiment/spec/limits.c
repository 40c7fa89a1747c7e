// The limits of a spec, for the reference page.
#include "forms.h"

#include <stdio.h>

typedef struct LimitRow {
    const char *what; // NULL: the rows of forms stand here
    double most;
    const char *unit; // NULL: bytes
} LimitRow;

static const LimitRow limits_rows[] = {
    {"a spec's file", YAML_BYTES_MAX, NULL},
    {"a spec with every value written out", RESOLVED_BYTES_MAX, NULL},
    {"a file of points", (double)POINTS_BYTES_MAX, NULL},
    {"files that a spec includes, together no larger than it", INCLUDES_MAX, "files"},
    {"nesting", YAML_DEPTH_MAX, "levels"},
    {"values, an alias counting as often as it is used", YAML_NODES_MAX, "values"},
    {"anchors", YAML_ANCHORS_MAX, "anchors"},
    {"a name", NAME_LENGTH_MAX, "of A-Z a-z 0-9 . _ -, not starting with . or -"},
    {"an integer", (double)INTEGER_MAX, "(2^53 - 1)"},
    {"an expression", EXPRESSION_LENGTH, "characters"},
    {"nesting of an expression", EXPRESSION_DEPTH, "levels"},
    {NULL, 0.0, NULL}, // those of forms
    {"trials, before exclude", (double)TRIALS_MAX, "trials"},
    {"searches side by side, of all points of `outer`", SEARCHES_MAX, "searches"},
    {"replicates of a trial", REPLICATES_MAX, "replicates"},
    {"points of a terrain", POINTS_MAX, "points"},
    {"trajectories of one trial", (double)RECORD_TRIAL_BYTES_MAX, NULL},
    {"debug rows of one trial", (double)RECORD_BYTES_MAX, NULL},
};

static void limits_print(FILE *out, const char *what, double limit, const char *unit)
{
    const Text32 most = unit == NULL ? text_bytes(limit) : text_count((int64_t)limit);
    fprintf(out, "%-50s  %s %s\n", what, most.text, unit != NULL ? unit : "");
}

void limits_reference(FILE *out)
{
    fputs("\nLIMITS\n\n", out);
    for (size_t i = 0; i < sizeof limits_rows / sizeof *limits_rows; i++) {
        const LimitRow *row = &limits_rows[i];
        if (row->what != NULL) limits_print(out, row->what, row->most, row->unit);
        for (int f = 0; row->what == NULL && f < form_count(); f++) {
            const Form *form = form_at(f);
            if (form->most > 0.0) limits_print(out, form->path, form->most, form->most_of);
        }
    }
}
