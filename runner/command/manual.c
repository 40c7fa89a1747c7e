// Pages for man(1) in the macros of man(7), from the tables that `help` prints.
#include "command.h"

#include <stdlib.h>
#include <string.h>

// Escapes a text within a line: hyphens stay copyable, a backslash is printed as it is.
static void manual_put(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
    }
}

// Escapes whole lines: a leading . or ' would be a request of troff.
static void manual_put_lines(FILE *out, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        char line[4096];
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (line[0] == '.' || line[0] == '\'') fputs("\\&", out);
        manual_put(out, line);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

static void manual_head(const char *title, int section, const char *name, const char *doc, FILE *out)
{
    fprintf(out, ".TH \"%s\" %d \"\" \"hopscotch %s\" \"Hopscotch\"\n.SH NAME\n", title, section, HOPSCOTCH_VERSION);
    manual_put(out, name);
    fputs(" \\- ", out);
    manual_put(out, doc);
    fputc('\n', out);
}

static void manual_tail(const char *others, FILE *out)
{
    fputs(".SH \"EXIT STATUS\"\n"
          "0 done, 1 the spec or the request is wrong, 2 usage, 3 the machine failed, 75 not finished: run the same "
          "command again, 130 Ctrl-C or stop, 143 SIGTERM, 129 SIGHUP.\n"
          ".SH \"SEE ALSO\"\n",
          out);
    fputs(others, out);
}

static void manual_switch(const Switch *row, FILE *out)
{
    fputs(".TP\n\\fB\\-\\-", out);
    manual_put(out, row->name);
    fputs("\\fR", out);
    if (row->argument != NULL) {
        fputs(" \\fI", out);
        manual_put(out, row->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    manual_put_lines(out, row->doc);
}

static void manual_switches(const Command *command, FILE *out)
{
    const Switches *group;
    fputs(".SH OPTIONS\n", out);
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count; i++) manual_switch(&group->rows[i], out);
    }
}

static void manual_program(FILE *out)
{
    manual_head("HOPSCOTCH", 1, "hopscotch", "run experiments that a YAML spec declares", out);
    fputs(".SH SYNOPSIS\n\\fBhopscotch\\fR \\fICOMMAND\\fR [arguments] [options]\n.SH DESCRIPTION\n"
          "Simulates every trial of an experiment on the GPU or the CPU, stores trajectories in HDF5 and results in\n"
          "SQLite. A killed run can be resumed, with the same results.\n.SH COMMANDS\n",
          out);
    for (int i = 0; i < command_count(); i++) {
        if (command_group(i) != NULL) fprintf(out, ".SS %s\n", command_group(i));
        fputs(".TP\n\\fB", out);
        manual_put(out, command_at(i)->name);
        fputs("\\fR ", out);
        manual_put(out, command_at(i)->arguments);
        fputc('\n', out);
        manual_put_lines(out, command_at(i)->doc);
    }
    manual_switches(NULL, out);
    manual_tail(".BR hopscotch\\-run (1),\n.BR hopscotch\\-spec (5)\n", out);
}

void manual_command(const Command *command, FILE *out)
{
    char title[80], name[80];
    if (command == NULL) {
        manual_program(out);
        return;
    }
    snprintf(name, sizeof name, "hopscotch-%s", command->name);
    snprintf(title, sizeof title, "%s", name);
    for (char *c = title; *c != '\0'; c++) *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    manual_head(title, 1, name, command->doc, out);
    fputs(".SH SYNOPSIS\n\\fBhopscotch ", out);
    manual_put(out, command->name);
    fputs("\\fR ", out);
    manual_put(out, command->arguments);
    fputs(" [options]\n", out);
    manual_switches(command, out);
    fputs(".SH EXAMPLES\n.nf\n", out);
    manual_put_lines(out, command->examples);
    fputs(".fi\n", out);
    manual_tail(".BR hopscotch (1),\n.BR hopscotch\\-spec (5)\n", out);
}

void manual_spec(FILE *out)
{
    TextStream keys;
    if (text_stream_open("the page of keys", &keys).kind != OK) return;
    spec_reference(keys.out);
    (void)text_stream_close(&keys); // after an error, the beginning of the text is shown
    manual_head("HOPSCOTCH-SPEC", 5, "hopscotch-spec", "every key of an experiment's spec", out);
    fputs(".SH DESCRIPTION\n.nf\n", out);
    manual_put_lines(out, keys.text);
    fputs(".fi\n", out);
    manual_tail(".BR hopscotch (1),\n.BR hopscotch\\-check (1)\n", out);
    free(keys.text);
}
