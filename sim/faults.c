// Faults of devices on request of a test, in builds with -DHOPSCOTCH_FAULTS. HOPSCOTCH_FAULT holds rules, separated by
// commas. io/system.c reads the rules for files and databases.
//
//     backend:wait:3:LOST    the third wait of the backend `faulty` (sim/backend_faulty.c) finds its device lost
//     backend:wait:3+:LOST   and every later one too. Operations: open prepare begin advance wait
//     backend:wait1:3:LOST   the third of its device 1
//         MEMORY   not enough memory                  LAUNCH   the launch failed: nothing works until it is reopened
//         HANG     the slice does not end             LOST     nothing works on this device any more
//         TIME     the device's clock gives a wrong time
//     gpu:moves              `auto` takes the backend `faulty` for a GPU, and finds it faster; gpu:stays: slower
//     cuda:17:719            the 17th CUDA call is skipped and gives error 719; 99999: a kernel crashes in its place
#include "faults.h"

#ifdef HOPSCOTCH_FAULTS
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULT_RULES_MAX = 8 };

typedef struct FaultRule {
    char operation[16]; // of a backend, or "cuda"
    long at;            // the call that fails, from 1
    bool onward;        // and all after it
    int what;           // DeviceFault, or the error number
    atomic_long seen;
} FaultRule;

static FaultRule fault_rules[FAULT_RULES_MAX];
static int fault_rule_count;
static pthread_once_t fault_once = PTHREAD_ONCE_INIT;

static const char *const fault_names[FAULTS] = {[FAULT_MEMORY] = "MEMORY",
                                                [FAULT_LAUNCH] = "LAUNCH",
                                                [FAULT_LOST] = "LOST",
                                                [FAULT_HANG] = "HANG",
                                                [FAULT_TIME] = "TIME"};

// A misspelt rule would make a test pass that tests nothing: stop at once.
static void fault_bad_rule(const char *rule)
{
    fprintf(stderr, "hopscotch: HOPSCOTCH_FAULT: %s: expected backend:operation:n:WHAT or cuda:n:code\n", rule);
    abort();
}

static int fault_of_name(const char *name)
{
    for (int i = 1; i < FAULTS; i++) {
        if (strcmp(fault_names[i], name) == 0) return i;
    }
    return FAULT_NONE;
}

static void fault_parse_rule(const char *text)
{
    const bool cuda = strncmp(text, "cuda:", 5) == 0, backend = strncmp(text, "backend:", 8) == 0;
    char at[24], what[16];
    if (!cuda && !backend) return;
    if (fault_rule_count == FAULT_RULES_MAX) fault_bad_rule(text);
    FaultRule *rule = &fault_rules[fault_rule_count++];
    snprintf(rule->operation, sizeof rule->operation, "cuda");
    if (cuda ? sscanf(text, "cuda:%20[0-9+]:%15[0-9]", at, what) != 2
             : sscanf(text, "backend:%15[a-z0-9]:%20[0-9+]:%15[A-Z]", rule->operation, at, what) != 3)
        fault_bad_rule(text);
    rule->at = atol(at);
    rule->onward = strchr(at, '+') != NULL;
    rule->what = cuda ? atoi(what) : fault_of_name(what);
    atomic_store(&rule->seen, 0);
    if (rule->at < 1 || rule->what == FAULT_NONE) fault_bad_rule(text);
}

static void fault_parse(const char *rules)
{
    char text[256], *rest = NULL;
    fault_rule_count = 0;
    if ((size_t)snprintf(text, sizeof text, "%s", rules) >= sizeof text) fault_bad_rule(rules);
    for (char *rule = strtok_r(text, ",", &rest); rule != NULL; rule = strtok_r(NULL, ",", &rest))
        fault_parse_rule(rule);
}

static void fault_parse_environment(void)
{
    const char *rules = getenv("HOPSCOTCH_FAULT");
    fault_parse(rules != NULL ? rules : "");
}

void device_set_faults(const char *rules)
{
    pthread_once(&fault_once, fault_parse_environment);
    fault_parse(rules);
}

static int fault_due(const char *operation)
{
    pthread_once(&fault_once, fault_parse_environment);
    int what = 0;
    for (int i = 0; i < fault_rule_count; i++) {
        FaultRule *rule = &fault_rules[i];
        if (strcmp(rule->operation, operation) != 0) continue;
        const long call = atomic_fetch_add(&rule->seen, 1) + 1;
        if (call == rule->at || (rule->onward && call > rule->at)) what = rule->what;
    }
    return what;
}

DeviceFault device_fault(const char *operation) { return (DeviceFault)fault_due(operation); }

bool backend_cuda_fault(int *code) { return (*code = fault_due("cuda")) != 0; }

int backend_faulty_is_gpu(void)
{
    const char *rules = getenv("HOPSCOTCH_FAULT");
    if (rules == NULL) return 0;
    return strstr(rules, "gpu:moves") != NULL ? 1 : strstr(rules, "gpu:stays") != NULL ? -1 : 0;
}
#else
bool backend_cuda_fault(int *code)
{
    (void)code;
    return false;
}

int backend_faulty_is_gpu(void) { return 0; }
#endif
