#include "mechanisms.h"
#include "rigid_case.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(rigid_mechanisms_probe)
{
    const char *kinds = getenv("KIND");
    const int n = getenv("N") ? atoi(getenv("N")) : 10;
    const char *options = getenv("OPTIONS") ? getenv("OPTIONS") : "stabilisation: rattle, dt: 0.001";
    for (int kind = 0; kind < MECHANISM_KINDS; kind++) {
        if (kinds && atoi(kinds) != kind) continue;
        uint64_t state = 77 + (uint64_t)kind;
        int wrong = 0, reported = 0, inexact = 0, both = 0;
        double worst = 0;
        for (int k = 0; k < n; k++) {
            Mechanism m;
            MechanismMotion motion;
            mechanism_draw((MechanismKind)kind, &state, &m);
            mechanism_move(&m, 3.0, &motion);
            RigidRun run;
            Arena arena;
            CHECK_OK(arena_create(&arena, 1 << 24, "x"));
            const char *sim = arena_format(&arena, "{duration: 3, %s, %s}", options, mechanism_world(&m, &arena));
            rigid_start(&run, sim, "", 1, "scalar");
            rigid_go(&run, 100000);
            double error = 0;
            for (int b = 0; b < m.n_links; b++)
                for (int c = 0; c < 3; c++) {
                    char name[40];
                    snprintf(name, sizeof name, "link%d_end_%c", b, "xyz"[c]);
                    double e = fabs(rigid_metric(&run, name, 0) - motion.p[b][c]);
                    if (!(e <= error)) error = e;
                }
            const int status = run.batch->status[0] - LANE_DONE;
            const bool bad = !(error < 1e-3);
            wrong += bad; reported += status != 0; inexact += !motion.exact; both += bad && status == 0;
            if (!bad && motion.exact) worst = fmax(worst, error);
            if (getenv("V") || (bad && status == 0 && getenv("B")))
                printf("%-18s %3d exact %d least %.2e: status %d error %.2e energy %.2e C %.2e lambda %.2e redundant %g residual %.2e\n", mechanism_names[kind], k, motion.exact, motion.least, status, error,
                       rigid_metric(&run, "energy_error", 0), rigid_metric(&run, "error_max", 0), rigid_metric(&run, "multiplier_max", 0), rigid_metric(&run, "redundant_rows", 0), rigid_metric(&run, "residual_max", 0));
            rigid_end(&run);
            arena_destroy(&arena);
        }
        printf("%-18s %d: wrong %d unreported %d failed %d; reference inexact %d; worst of right %.2e\n", mechanism_names[kind], n, wrong, both, reported, inexact, worst);
    }
}
