// The resolved spec reads back to the same spec; the hash depends on everything that can change a number, and on
// nothing else.
#include "robot_folder.h"

#include <stdlib.h>
#include <string.h>

static bool resolve_parse(const char *text, const char *const *overrides, int n_overrides, Arena *arena, Spec *out)
{
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Error error = robot_folder_parse(text, overrides, n_overrides, arena, diagnostics, out);
    if (error.kind != OK) diagnostics_print(diagnostics, stdout, false);
    CHECK_OK(error);
    return error.kind == OK;
}

static void resolve_check_round_trip(const char *text)
{
    Arena arena;
    Spec spec, again;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    if (resolve_parse(text, NULL, 0, &arena, &spec) && resolve_parse(spec.resolved, NULL, 0, &arena, &again)) {
        CHECK_TEXT(spec.resolved, again.resolved);
        CHECK_TEXT(spec.canonical, again.canonical);
        CHECK_TEXT(spec.hash.hex, again.hash.hex);
        CHECK_INTEGER(spec.n_axes, again.n_axes);
        for (int i = 0; i < spec.configured.n_parameters; i++) CHECK_BITS(spec.fixed[i], again.fixed[i]);
        for (int a = 0; a < spec.n_axes && a < again.n_axes; a++) {
            const Values *values = &spec.axes[a].values, *read = &again.axes[a].values;
            CHECK_INTEGER(spec.axes[a].parameter, again.axes[a].parameter);
            CHECK_INTEGER(values->count, read->count);
            for (int64_t i = 0; i < values->count && i < 1000; i++)
                CHECK_BITS(values_at(values, i), values_at(read, i));
        }
    }
    arena_destroy(&arena);
}

TEST(resolve_reads_back_to_the_same_spec)
{
    static const char *const tricky[] = {
        "",
        "parameters: {k_fp: 0.1, k_att: 1e-300, g: 9.80665, x_dot_des: -0.30000000000000004, J: 1e6}\n",
        "search: {over: {k_xdot: [0.1, 1e-7, 5e-324, -3, 0.30000000000000004], k_fp: {logspace: [1e-3, 1e3, 17]},\n"
        "  b_fp: {linspace: [0.1, 0.7, 17]}, k_att: {arange: [0, 0.3, 0.1]}}, zip: [[b_fp, k_fp]]}\n",
        "search: {over: {b_fp: {derive: \"min(k_fp, 3) / 7\"}, b_att: {derive: b_fp^2 - -k_fp*2}, k_fp: [1, 2]},\n"
        "  exclude: [\"not (k_fp > 1 or b_fp < 2)\", k_fp = 2]}\n",
        "search: {method: random, trials: 1e3,\n"
        "  over: {k_fp: {range: [1, 300], scale: log, integer: true}, b_fp: {range: [0, 1]}}}\n",
        "search: {method: list, over: {b_att: {derive: k_fp}},\n"
        "  points: [{k_fp: 0.1, z_foot: 1}, {z_foot: 0.2, k_fp: 3}]}\n",
        "replicates: {count: 3, common: false, store: true,\n"
        "  perturb: {z_foot: {uniform: [0.3, 0.4]}, phi_leg: {normal: [0, 0.1]}}}\n",
        "objective: {minimize: \"max(velocity_error, energy) + k_fp ^ 0.5\",\n"
        "  over: quantile(0.25), failed: penalty(1e9)}\n",
        "objective: {over: worst, failed: ignore}\nlimits: {trials: 10, wall_time: 1.5h, failures: 33%}\n",
        "record: {trajectories: {select: {best: 1, every: 2, failures: 3, trials: [9007199254740991, 0]},\n"
        "  replicates: all, sample: 300us, precision: float64, compression: gzip}}\ndevice: {backend: cpu, batch: 7}\n",
        "simulation: {terrain: table, terrain_points: [[-1, 0.1], [0, 0], [0.30000000000000004, -1e-3]], machine: "
        "four_state,\n  push: random, wind: gusting, accounting: parts}\nparameters: {push_std: 3, wind_drag: 0.25}\n"
        "search: {over: {retract: [0, 0.1]}}\nreplicates: {count: 2, perturb: {gust_speed: {uniform: [1, 3]}}}\n",
        "simulation: {terrain: slope}\nsearch: {over: {terrain_slope: {linspace: [-0.1, 0.1, 3]}}}\n",
        "simulation: {duration: 700ms, dt: 1e-3, settle: 0.1, integrator: semi_implicit_euler, equations: reference,\n"
        "  newton: {iterations: 3, tolerance: 1e-10}}\n",
    };
    for (size_t i = 0; i < sizeof tricky / sizeof tricky[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text, "version: 1\nexperiment: %s\nmodel: hopper\n%s", i % 2 == 0 ? "tricky" : "007",
                 tricky[i]);
        resolve_check_round_trip(text);
    }
    resolve_check_round_trip("version: 1\nexperiment: null\nmodel: bbob\nsimulation: {dimension: 3, instance: 1e3}\n"
                             "parameters: {x2: -1}\nsearch: {over: {x1: [1, 2], x3: [3]}}\n");
}

TEST(resolve_shipped_specs_read_back)
{
    Arena arena;
    char **names;
    int count = 0;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    if (!file_exists("experiments")) {
        test_skip("files of the repository", "run it from its root");
        return;
    }
    CHECK_OK(folder_list("experiments", &arena, &names, &count));
    for (int i = 0; i < count; i++) {
        Bytes bytes;
        if (strstr(names[i], ".yaml") == NULL) continue;
        CHECK_OK(file_read(arena_format(&arena, "experiments/%s", names[i]), 1 << 20, &arena, &bytes));
        resolve_check_round_trip((const char *)bytes.data);
    }
    arena_destroy(&arena);
}

static const char resolve_base[] =
    "version: 1\nexperiment: test\nseed: 7\nmodel: hopper\nparameters: {k_fp: 100, b_fp: 10}\n"
    "search: {over: {thrust: [25, 30], k_att: [100, 200]}, exclude: [thrust > 100, k_att < 1]}\n"
    "replicates: {count: 2, perturb: {phi_leg: {normal: [0, 0.1]}, z_foot: {uniform: [0.3, 0.4]}}}\n";

// A name that another YAML reader would read as a number or a boolean is quoted, so that it is text there too.
TEST(resolve_quotes_names_that_look_like_numbers_or_booleans)
{
    static const struct {
        const char *name, *line;
    } cases[] = {{"007", "experiment: \"007\"\n"},
                 {"null", "experiment: \"null\"\n"},
                 {"No", "experiment: \"No\"\n"},
                 {"1e5", "experiment: \"1e5\"\n"},
                 {"run.2", "experiment: run.2\n"}};
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = arena_format(&arena, "version: 1\nexperiment: %s\nmodel: hopper\n", cases[i].name);
        CHECK(resolve_parse(text, NULL, 0, &arena, &spec));
        CHECK(strstr(spec.resolved, cases[i].line) != NULL);
        CHECK_TEXT(cases[i].name, spec.experiment);
    }
    arena_destroy(&arena);
}

// A change that alters no number does not alter the hash.
TEST(resolve_hash_ignores_what_changes_no_number)
{
    static const char *const same[] = {
        "# a comment\nmodel: hopper\nseed: 7.0\nexperiment: other\nversion: 1\n"
        "parameters:\n    b_fp: 1e1\n    k_fp: 100.0\n"
        "search:\n  exclude: [\"k_att < 1\", \"thrust>100\"]\n  over:\n    thrust: [25.0, 3e1]\n    k_att: [100, 200]\n"
        "replicates: {perturb: {phi_leg: {normal: [0, 0.1]}, z_foot: {uniform: [0.3, 0.4]}}, count: 2}\n",
    };
    static const char *const overrides[] = {"limits.trials=5",
                                            "limits.wall_time=2h",
                                            "device.backend=cpu",
                                            "device.batch=7",
                                            "record.trajectories.select.best=3",
                                            "experiment=renamed",
                                            "replicates.store=true",
                                            "parameters.m=10",
                                            "simulation.duration=5000ms",
                                            "search.method=grid"};
    Arena arena;
    Spec base, other;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    CHECK(resolve_parse(resolve_base, NULL, 0, &arena, &base));
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        CHECK(resolve_parse(same[i], NULL, 0, &arena, &other));
        CHECK_TEXT(base.canonical, other.canonical);
    }
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        CHECK(resolve_parse(resolve_base, &overrides[i], 1, &arena, &other));
        CHECK_TEXT(base.hash.hex, other.hash.hex);
    }
    arena_destroy(&arena);
}

TEST(resolve_hash_sees_what_can_change_a_number)
{
    static const char *const overrides[] = {
        "seed=8",
        "parameters.k_fp=101",
        "initial.phi_body=0.01",
        "simulation.dt=2e-4",
        "simulation.settle=0.5",
        "simulation.equations=reference",
        "search.over.thrust=[25, 31]",
        "search.over.thrust=[30, 25]",
        "search.over={k_att: [100, 200], thrust: [25, 30]}",
        "search.over.b_att={derive: 2*thrust}",
        "search.zip=[[thrust, k_att]]",
        "search.exclude=[thrust > 99]",
        "replicates.count=3",
        "replicates.common=false",
        "replicates.perturb={z_foot: {uniform: [0.3, 0.4]}, phi_leg: {normal: [0, 0.1]}}",
        "objective.over=median",
        "objective.minimize=energy",
        "objective.failed=ignore",
        "objective.failed=penalty(3)",
    };
    enum { CASES = sizeof overrides / sizeof overrides[0] };
    Arena arena;
    Spec base;
    Sha256Text seen[CASES + 1];
    int count = 0;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    CHECK(resolve_parse(resolve_base, NULL, 0, &arena, &base));
    seen[count++] = base.hash;
    for (int i = 0; i < CASES; i++) {
        Spec other;
        if (!resolve_parse(resolve_base, &overrides[i], 1, &arena, &other)) continue;
        for (int k = 0; k < count; k++) CHECK(strcmp(seen[k].hex, other.hash.hex) != 0);
        seen[count++] = other.hash;
    }
    CHECK_INTEGER(CASES + 1, count);
    arena_destroy(&arena);
}

TEST(resolve_canonical_text_is_sorted_lines)
{
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    CHECK(resolve_parse(resolve_base, NULL, 0, &arena, &spec));
    const char *last = "";
    char *text = arena_copy(&arena, spec.canonical);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        CHECK(strcmp(last, line) <= 0);
        CHECK(strstr(line, " = ") != NULL);
        last = line;
    }
    CHECK(strstr(spec.canonical, "search.axis.000.thrust = [25, 30]\n") != NULL);
    CHECK(strstr(spec.canonical, "thrust = 35") == NULL); // the parameter is searched, so its default is not stored
    const Sha256Text hash = sha256_of(spec.canonical, strlen(spec.canonical));
    CHECK_TEXT(hash.hex, spec.hash.hex);
    arena_destroy(&arena);
}
