// A spec that is derived from another says the same as its own text: read again, that gives the same identity and the
// same resolved text. Verify and recommend derive theirs so.
#include "../../runner/experiment/spec/keys.h"
#include "../../runner/view/view.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static const char derive_header[] = "version: 1\nexperiment: derived\nmodel: hopper\nsimulation: {duration: 1.5}\n";

static void derive_read(const char *text, Arena *arena, Spec *spec)
{
    Diagnostics *diagnostics = diagnostics_new(arena);
    CHECK_OK(spec_parse("derive.yaml", text, NULL, 0, arena, diagnostics, spec));
    diagnostics_print(diagnostics, stdout, false);
}

static void derive_check(Spec *derived, Arena *arena)
{
    Spec again;
    CHECK_OK(spec_complete(derived, arena, diagnostics_new(arena)));
    derive_read(derived->text, arena, &again);
    CHECK_TEXT(again.canonical, derived->canonical);
    CHECK_TEXT(again.resolved, derived->resolved);
    CHECK_TEXT(again.hash.hex, derived->hash.hex);
}

// Specs with every part of a search, and all other sections.
static const char *const derive_specs[] = {
    "search:\n"
    "  union: [{over: {k_fp: [100, 150], b_att: [3, 4]}}, {over: {k_att: [50, 60], k_xdot: [0.01, 0.02]},\n"
    "           zip: [[k_att, k_xdot]]}]\n"
    "  over: {b_fp: {derive: \"0.1*k_fp\"}}\n"
    "  exclude: [\"k_fp > 140 and b_att > 3.5\"]\n"
    "  when: {b_att: \"k_fp > 120\"}\n"
    "parameters: {thrust: 31, k_att: 70}\n"
    "replicates: {count: 3, perturb: {phi_leg: {normal: [0.01, 0.02]}, z_foot: {uniform: [0.35, 0.45]}}}\n"
    "objective: {minimize: [energy, apex_mean], over: quantile(0.9), failed: penalty(10), reference: [1, 2]}\n"
    "constraints: [\"peak_ground_force < 3000\"]\n"
    "record: {trajectories: {select: {best: 1, trials: [0, 2]}, sample: 0.005},\n"
    "         debug: {newton: {select: {best: 1}, keep: 9}}}\n"
    "limits: {trials: 1000}\ndevice: {backend: cpu, batch: 64}\n",
    "search: {method: cmaes, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40], integer: true}},\n"
    "         cmaes: {searches: 2, outer: {x_dot_des: [0, 1], k_att: [1, 2]}, inject: [{k_fp: 100, thrust: 30}]}}\n"
    "replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}}}\n",
    "search: {method: list, points: [{k_fp: 1, thrust: 30}, {k_fp: 2, thrust: 31}]}\n",
};
enum { DERIVE_SPECS = sizeof derive_specs / sizeof *derive_specs };

static void derive_verify(const Spec *spec, Arena *arena)
{
    StoredCampaign campaign = {.spec = *spec, .name = "stored"};
    VerifyTask task = {.campaign = &campaign, .seed = 7, .seeds = 5, .gains = 0.1, .physics = 0.1, .levels = 3};
    Spec derived;
    verify_take_defaults(&task, arena);
    CHECK_OK(verify_seeds_spec(&task, "seeds", arena, &derived));
    derive_check(&derived, arena);
    CHECK_INTEGER(5, derived.replicates.count);
    CHECK(!derived.record.trajectories && derived.limits.trials == 0 && derived.device.batch == 0);
    task.also = (const int[]){spec->axes[0].parameter};
    task.n_also = 1;
    CHECK_OK(verify_grid_spec(&task, "grid", arena, &derived));
    derive_check(&derived, arena);
    CHECK_INTEGER(1, derived.replicates.count);
}

TEST(derive_verify_runs_what_its_text_says)
{
    for (int i = 0; i < DERIVE_SPECS; i++) {
        Arena arena;
        Spec spec;
        CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
        derive_read(arena_format(&arena, "%s%s", derive_header, derive_specs[i]), &arena, &spec);
        derive_verify(&spec, &arena);
        arena_destroy(&arena);
    }
}

// A fraction of 0 gives an empty range: the trial's value stays.
TEST(derive_grid_keeps_what_it_cannot_vary)
{
    Arena arena;
    Spec spec, derived;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
    derive_read(arena_format(&arena, "%s%s", derive_header, derive_specs[1]), &arena, &spec);
    StoredCampaign campaign = {.spec = spec, .name = "stored"};
    VerifyTask task = {.campaign = &campaign, .seed = 7, .gains = 0.1, .physics = 0.1, .levels = 3, .n_also = 1};
    double *parameter = ARENA_NEW(&arena, double, spec.configured.n_parameters);
    memcpy(parameter, spec.fixed, (size_t)spec.configured.n_parameters * sizeof *parameter);
    const int outer = spec.axes[spec.n_axes + spec.n_derived].parameter;
    parameter[outer] = 0.0;
    task.parameter = parameter;
    task.also = &outer;
    CHECK_OK(verify_grid_spec(&task, "grid", &arena, &derived));
    const Axis *axis = axis_of(&derived, outer);
    CHECK(axis != NULL && axis->values.count == 1 && values_at(&axis->values, 0) == 0.0);
    arena_destroy(&arena);
}

TEST(derive_points_keep_all_but_the_search)
{
    static const char *const keys[] = {"version",    "seed",      "model",       "simulation", "initial",
                                       "parameters", "objective", "constraints", "replicates", "record",
                                       "limits",     "device",    "search"};
    for (int i = 0; i < DERIVE_SPECS; i++) {
        Arena arena;
        Spec spec, derived;
        char *text = NULL;
        size_t size = 0;
        CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
        derive_read(arena_format(&arena, "%s%s", derive_header, derive_specs[i]), &arena, &spec);
        CHECK_OK(spec_derive_points(&spec, "points", "points", "k_fp,m\n1,6\n2.5,7\n", &arena, diagnostics_new(&arena),
                                    &derived));
        CHECK_INTEGER(2, derived.n_points);
        CHECK_INTEGER(spec.replicates.count, derived.replicates.count);
        CHECK_INTEGER(spec.record.select.best, derived.record.select.best);
        FILE *out = open_memstream(&text, &size);
        fputs("experiment: points\n", out);
        spec_write(&derived, &spec, keys, (int)(sizeof keys / sizeof *keys), &arena, out);
        fclose(out);
        derived.text = text;
        derive_check(&derived, &arena);
        free(text);
        arena_destroy(&arena);
    }
}

TEST(derive_refuses_points_that_are_perturbed)
{
    Arena arena;
    Spec spec, derived;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
    derive_read(arena_format(&arena, "%s%s", derive_header, derive_specs[0]), &arena, &spec);
    Diagnostics *diagnostics = diagnostics_new(&arena);
    CHECK_ERROR(ERROR_USER,
                spec_derive_points(&spec, "points", "points", "k_fp,phi_leg\n1,0\n", &arena, diagnostics, &derived));
    CHECK_INTEGER(1, diagnostics_errors(diagnostics));
    arena_destroy(&arena);
}
