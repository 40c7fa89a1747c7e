// hopscotch stop: asks the process that runs a campaign to end, as Ctrl-C would (campaign/batch/interrupt.c).
#include "command.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct StopTarget {
    CampaignLocation location;
    const char *lock;
    char holder[160]; // the process that runs the campaign; "": none
} StopTarget;

static Error stop_find(const CommandLine *line, StopTarget *target)
{
    TRY(campaign_find(line, line->arguments[0], &target->location));
    target->lock = arena_format(line->arena, "%s/" CAMPAIGN_LOCK, target->location.folder);
    return lock_holder(target->lock, target->holder, sizeof target->holder);
}

// Waits until the holder of the lock has changed: another process may start at once.
static Error stop_wait(const StopTarget *target)
{
    char holder[sizeof target->holder];
    for (;;) {
        TRY(lock_holder(target->lock, holder, sizeof holder));
        if (strcmp(holder, target->holder) != 0) return error_none();
        if (interrupt_requested() != 0)
            return error_make(ERROR_INTERRUPTED, "%.128s was asked to stop and has not ended yet; %s shows its state",
                              target->location.name,
                              command_again(target->location.results, "status %.128s", target->location.name).text);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}

static Error stop_run(const CommandLine *line)
{
    StopTarget target;
    TRY(stop_find(line, &target));
    const char *name = target.location.name, *root = command_results_option(target.location.results, line->arena);
    if (target.holder[0] == '\0')
        return error_make(ERROR_USER, "no process runs %.128s, so there is nothing to stop (%s)", name,
                          command_again(target.location.results, "status %.128s", name).text);
    const char *request = arena_format(line->arena, "%s\n", target.holder);
    TRY(file_write(target.location.folder, CAMPAIGN_STOP, request, strlen(request)));
    if (switch_given(line, "wait")) interrupt_install();
    fprintf(line->out, "%s: asked %s to stop\n", name, target.holder);
    if (!switch_given(line, "wait")) return error_none();
    fflush(line->out);
    TRY(stop_wait(&target));
    StatusReport report;
    TRY(status_read(&target.location, line->arena, &report));
    fprintf(line->out, "%s: stopped; %s resume %s%s%s continues it\n", name, command_program(line->arena), name,
            command_allow(model_find(report.model)), root);
    return error_none();
}

static const Switch stop_rows[] = {{"wait", SWITCH_FLAG, NULL, 0, 0, "return when the run has ended"}};
static const Switches stop_switches = {stop_rows, sizeof stop_rows / sizeof *stop_rows};

const Command command_stop = {
    .name = "stop",
    .arguments = "CAMPAIGN",
    .doc = "stop a running campaign as Ctrl-C would, from any machine that sees its folder",
    .examples = "  hopscotch stop raibert_gains --wait\n",
    .least = 1,
    .most = 1,
    .switches = {&stop_switches},
    .run = stop_run,
};
