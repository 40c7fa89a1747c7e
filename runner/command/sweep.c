// A spec with `sweep`, for run, check and plan: the command for each of its campaigns in turn.
#include "command.h"

#include <inttypes.h>
#include <string.h>

const char *command_campaign_name(const CommandLine *line, const Spec *spec)
{
    return line->swept_name != NULL ? line->swept_name : switch_text(line, "name", spec->experiment);
}

static Error sweep_find(const CommandLine *line, Sweep *sweep)
{
    const char *path = line->arguments[0];
    *sweep = (Sweep){.count = 0};
    if (!command_is_file(path, line->arena)) return error_none(); // a campaign is one
    const Overrides overrides = command_overrides(line);
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    const Error error = spec_sweep(path, &overrides, line->arena, diagnostics, sweep);
    diagnostics_print(diagnostics, line->messages, terminal_colour(line->messages));
    return error;
}

static CommandLine sweep_line(const CommandLine *line, const Sweep *sweep, const char *name, int campaign)
{
    CommandLine one = *line;
    one.swept = &sweep->campaigns[campaign].overrides;
    one.swept_name = arena_format(line->arena, "%s.%s", name, sweep->campaigns[campaign].name);
    return one;
}

// Error (usage): the command line sets a key that the sweep sets, too.
static Error sweep_check_given(const CommandLine *line, const Sweep *sweep)
{
    const Overrides given = command_overrides(line), *swept = &sweep->campaigns[0].overrides;
    for (int i = 0; i < given.count; i++) {
        const int length = (int)strcspn(given.items[i], "=");
        for (int k = 0; k + 1 < swept->count; k++) { // the last one is that of the key `sweep`
            if (strncmp(given.items[i], swept->items[k], (size_t)length + 1) == 0)
                return error_make(ERROR_USAGE,
                                  "%.*s is swept, and the command line gives it a value: add --set sweep=none, or "
                                  "--set 'sweep.%.*s=[...]'",
                                  length, given.items[i], length, given.items[i]);
        }
    }
    return error_none();
}

// Errors of all specs are found before anything is run.
static Error sweep_check(const CommandLine *line, const Sweep *sweep, const char *name)
{
    TRY(sweep_check_given(line, sweep));
    for (int i = 0; i < sweep->count; i++) {
        Spec spec;
        const CommandLine one = sweep_line(line, sweep, name, i);
        TRY(campaign_name_check(one.swept_name));
        const Error error = command_spec(&one, one.arguments[0], &spec);
        if (error.kind != OK)
            return error_make(error.kind, "%.200s, as campaign %s of its sweep", error.text, one.swept_name);
    }
    return error_none();
}

Error command_sweep(const CommandLine *line, Error (*run)(const CommandLine *))
{
    Sweep sweep;
    const bool json = switch_given(line, "json");
    TRY(sweep_find(line, &sweep));
    if (sweep.count == 0) return run(line);
    const char *name = switch_text(line, "name", sweep.experiment != NULL ? sweep.experiment : "sweep");
    TRY(sweep_check(line, &sweep, name));
    if (json) fputs("[\n", line->out);
    for (int i = 0; i < sweep.count; i++) {
        const CommandLine one = sweep_line(line, &sweep, name, i);
        if (json && i > 0) fputs(",\n", line->out);
        if (!json) fprintf(line->out, "%s%s (%d of %d)\n", i > 0 ? "\n" : "", one.swept_name, i + 1, sweep.count);
        fflush(line->out);
        const Error error = run(&one);
        if (error.kind == ERROR_INTERRUPTED || error.kind == ERROR_UNFINISHED)
            fprintf(line->messages, "the same command goes on with the sweep, %d of %d campaigns are left\n",
                    sweep.count - i, sweep.count);
        TRY(error);
    }
    if (json) fputs("]\n", line->out);
    if (!json && strcmp(line->command->name, "run") == 0)
        fprintf(line->out, "\nnext      %s best %s/%s.* compares the best trials of these %d campaigns\n",
                command_program(line->arena), line->results, name, sweep.count);
    return error_none();
}
