// The twelve hoppers against their stored trajectories and event times: DOP853 at rtol 1e-12 with every switch located
// and continuous control, in both forms of the equations.
#include "../../sim/hopper/hopper.h"
#include "../hopper_twelve.h"
#include "hopper_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN_SAMPLES = 51, KNOWN_EVENTS_MAX = 64, DORMAND_PRINCE = 4 };

typedef struct KnownTrajectory {
    double state[KNOWN_SAMPLES][10]; // every 0.1 s
    double event_time[KNOWN_EVENTS_MAX];
    int event_state[KNOWN_EVENTS_MAX]; // state of the machine after the event
    int samples, events;
} KnownTrajectory;

typedef struct KnownTrajectories {
    KnownTrajectory of[2][HOPPER_TWELVE]; // per form of the equations
} KnownTrajectories;

// Skips to the next number and reads it; false at a `]` that comes first.
static bool known_number(const char **text, double *number)
{
    while (**text != '\0' && strchr("-0123456789]", **text) == NULL) (*text)++;
    if (**text == ']' || **text == '\0') return false;
    char *end;
    *number = strtod(*text, &end);
    *text = end;
    return true;
}

// Reads "states": [[10 numbers], ...], "events": [[time, state], ...]; a null state ends the states.
static const char *known_read_one(const char *text, KnownTrajectory *known)
{
    text = strstr(text, "\"states\"");
    while (known->samples < KNOWN_SAMPLES && known_number(&text, &known->state[known->samples][0])) {
        for (int c = 1; c < 10; c++) known_number(&text, &known->state[known->samples][c]);
        known->samples++;
        text = strchr(text, ']') + 1;
        if (strncmp(text, ", null", 6) == 0) break;
    }
    text = strstr(text, "\"events\"");
    double state;
    while (known->events < KNOWN_EVENTS_MAX && known_number(&text, &known->event_time[known->events])) {
        known_number(&text, &state);
        known->event_state[known->events++] = (int)state;
        text = strchr(text, ']') + 1;
    }
    return text;
}

// false if the files are missing; then the test is skipped
static bool known_read(KnownTrajectories *known)
{
    const char *path = test_shared("data/hopper_trajectories.json");
    FILE *file = path == NULL ? NULL : fopen(path, "rb");
    if (file == NULL) {
        test_skip("reference data that are not in the repository", "../shared");
        return false;
    }
    enum { KNOWN_BYTES_MAX = 4 << 20 };
    char *text = calloc(1, KNOWN_BYTES_MAX + 1);
    CHECK(fread(text, 1, KNOWN_BYTES_MAX, file) > 0 && feof(file));
    fclose(file);
    memset(known, 0, sizeof *known);
    const char *rest = text;
    for (int i = 0; i < HOPPER_TWELVE; i++) {
        for (int form = 0; form < 2; form++) rest = known_read_one(rest, &known->of[form][i]);
    }
    free(text);
    return true;
}

static void known_gains(double *parameter, const Configured *configured, int64_t lane)
{
    for (int g = 0; g < HOPPER_TWELVE_GAINS; g++)
        parameter[hopper_index(configured, hopper_twelve_gains[g])] = hopper_twelve[lane % HOPPER_TWELVE][g];
}

// All twelve hoppers over 5 s, sampled every 0.1 s.
static HopperCase known_case(int integrator, double dt, int form)
{
    HopperCase test = hopper_case;
    test.duration = 5.0;
    test.dt = dt;
    test.integrator = integrator;
    test.equations = form;
    test.lanes = test.traced = HOPPER_TWELVE;
    test.every = (int64_t)(0.1 / dt + 0.5);
    test.threads = 2;
    test.fill = known_gains;
    return test;
}

// Greatest distance (m) of foot and leg length from the known values, over the regular samples of a lane.
static double known_distance(const HopperOutcome *outcome, int64_t lane, const KnownTrajectory *known, int *compared)
{
    double distance = 0.0;
    *compared = 0;
    for (int k = 0; k < known->samples && k < outcome->batch->trace.count[lane]; k++) {
        const double *sample = hopper_sample_of(outcome, lane, k);
        if (fabs(sample[0] - 0.1 * k) > 1e-9) break; // the last sample of a failed lane
        for (int c = 0; c < 5; c++) distance = fmax(distance, fabs(sample[1 + c] - known->state[k][c]));
        ++*compared;
    }
    return distance;
}

// ---- event times ----------------------------------------------------------------------------------------------------

typedef struct KnownWatch {
    const KnownTrajectory *known; // [HOPPER_TWELVE]
    int events[HOPPER_TWELVE];    // number of events so far
    double last[HOPPER_TWELVE];   // time of the last event
    double worst;                 // difference (s)
} KnownWatch;

static void known_watch(const HopperOutcome *outcome, void *watcher)
{
    KnownWatch *watch = watcher;
    for (int lane = 0; lane < HOPPER_TWELVE; lane++) {
        const double t = hopper_state(outcome, HOPPER_WORK_t_transition, lane);
        if (t == watch->last[lane]) continue;
        const KnownTrajectory *known = &watch->known[lane];
        const int event = watch->events[lane]++;
        watch->last[lane] = t;
        CHECK(event < known->events);
        if (event >= known->events) continue;
        CHECK_INTEGER(known->event_state[event], (int)hopper_state(outcome, HOPPER_WORK_fsm, lane));
        CHECK_NEAR(known->event_time[event], t, 1e-7);
        watch->worst = fmax(watch->worst, fabs(t - known->event_time[event]));
    }
}

// Number of known events before the lane ended.
static int known_events_before(const KnownTrajectory *known, double survived)
{
    int count = 0;
    while (count < known->events && known->event_time[count] < survived) count++;
    return count;
}

TEST(hopper_dormand_prince_follows_known_trajectories_and_events)
{
    static KnownTrajectories known;
    if (!known_read(&known)) return;
    for (int form = 0; form < 2; form++) {
        HopperCase test = known_case(DORMAND_PRINCE, 1e-4, form);
        KnownWatch watch = {.known = known.of[form]};
        test.option[0] = (HopperSetting){"tolerance", 1e-9};
        test.slice = 1;
        test.watch = known_watch;
        test.watcher = &watch;
        HopperOutcome outcome = hopper_simulate(&test);
        int samples = 0, events = 0;
        for (int lane = 0; lane < HOPPER_TWELVE; lane++) {
            int compared = 0;
            CHECK_NEAR(0.0, known_distance(&outcome, lane, &known.of[form][lane], &compared), 1e-6);
            CHECK_INTEGER(known_events_before(&known.of[form][lane], hopper_metric(&outcome, "survived", lane)),
                          watch.events[lane]);
            samples += compared;
            events += watch.events[lane];
        }
        CHECK(samples > 500 && events > 150);
        hopper_release(&outcome);
    }
}

// Control is held over a step: the error is proportional to the step.
TEST(hopper_fixed_steps_converge_to_the_known_trajectories)
{
    static KnownTrajectories known;
    if (!known_read(&known)) return;
    for (int integrator = 0; integrator < DORMAND_PRINCE; integrator++) {
        double distance[2];
        for (int i = 0; i < 2; i++) {
            HopperCase test = known_case(integrator, i == 0 ? 1e-4 : 1e-5, 0);
            int compared;
            test.lanes = test.traced = 4; // the default hopper at four speeds
            HopperOutcome outcome = hopper_simulate(&test);
            distance[i] = 0.0;
            for (int lane = 0; lane < 4; lane++)
                distance[i] = fmax(distance[i], known_distance(&outcome, lane, &known.of[0][lane], &compared));
            hopper_release(&outcome);
        }
        CHECK(distance[0] < 0.05);
        CHECK(distance[1] < 0.3 * distance[0]);
    }
}
