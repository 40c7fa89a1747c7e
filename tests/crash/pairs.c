// Two commands at once on the same campaigns, every ordered pair of them, again and again: side by side with a random
// delay, one killed at a random moment, one stopped in place of one of its calls until the other has ended, or killed
// there. Afterwards the folder must be what the two would have left one after the other, in one of the two orders, as
// their exit codes say: a command that said 0 did all of it, one that failed says why in one line and did nothing.
//
//     pairs FOLDER ROUNDS [SEED [KINDS]]     FOLDER: is made, and left behind when something was found
//                                            KINDS: "merge,gc": pairs of these; "merge:gc,rm": merge with each of these
//
// HOPSCOTCH and HOPSCOTCH_FAULTS_PROGRAM name the programs. Prints a line `ok …` or `FAIL …` per first command.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 3, PATH = 512, WORDS = 16, ANY = -1, TEXT = 4096, SECONDS_MAX = 60 };
static const char *const names[NAMES] = {"a", "b", "c"};

// ---- the campaigns --------------------------------------------------------------------------------------------------

// Number of trials of a complete campaign of each shape: a grid, the same grid extended, a larger grid, a table.
typedef enum Shape { GRID, EXTENDED, LARGER, TABLE } Shape;
static const int shape_trials[] = {24, 36, 36, 2};

static const char spec_grid[] = "version: 1\nexperiment: grid\nmodel: bbob\n"
                                "search: {method: grid, over: {x1: {linspace: [-5, 5, 12]}, x2: [-1, 1]}}\n"
                                "record: {trajectories: {select: {best: 2}}}\n";
static const char spec_larger[] = "version: 1\nexperiment: grid\nmodel: bbob\n"
                                  "search: {method: grid, over: {x1: {linspace: [-5, 5, 12]}, x2: [-1, 1, 3]}}\n"
                                  "record: {trajectories: {select: {best: 2}}}\n";
static const char spec_table[] = "version: 1\nexperiment: grid\nmodel: bbob\n"
                                 "search: {method: list, points: [{x1: 1, x2: 2}, {x1: 3, x2: 4}]}\n"
                                 "record: {trajectories: {select: {best: 2}}}\n";

// What the test knows of a campaign: which one it is, and whether it is complete.
typedef struct Content {
    bool there;
    char who; // A, B: there from the start; M: merged; N: new
    Shape shape;
    int trials; // ANY: the run was cut short
    bool tagged, noted;
} Content;

typedef struct World {
    Content of[NAMES];
} World;

// ---- the commands ---------------------------------------------------------------------------------------------------

// One command and the campaigns it names.
typedef struct Action {
    const struct Kind *kind;
    int x, y, z;
    const char *words[WORDS]; // ends with NULL
} Action;

typedef struct Kind {
    const char *name;
    const char *words;                                 // X, Y and Z stand for campaign names
    bool (*apply)(const Action *action, World *world); // false: it is refused in this world and changes nothing
    bool resumes;                                      // another run completes what this command began
    bool writes;                                       // the command writes to one existing campaign
} Kind;

static bool apply_merge(const Action *action, World *world)
{
    const Content *x = &world->of[action->x], *y = &world->of[action->y];
    Content *z = &world->of[action->z];
    if (!x->there || !y->there || z->there || action->x == action->y || x->shape != y->shape) return false;
    *z = y->trials > x->trials ? *y : *x;
    z->who = 'M';
    return true;
}

static bool apply_nothing(const Action *action, World *world)
{
    (void)action, (void)world;
    return true;
}

static bool apply_read(const Action *action, World *world) { return world->of[action->x].there; }

static bool apply_compare(const Action *action, World *world)
{
    return world->of[action->x].there && world->of[action->y].there;
}

static bool apply_rm(const Action *action, World *world)
{
    const bool there = world->of[action->x].there;
    if (there) world->of[action->x] = (Content){.there = false};
    return there;
}

static bool apply_make(Content *content, Shape shape)
{
    if (!content->there) *content = (Content){.there = true, .who = 'N', .shape = shape};
    if (content->shape != shape) return false;
    content->trials = shape_trials[shape];
    return true;
}

static bool apply_run(const Action *action, World *world) { return apply_make(&world->of[action->z], GRID); }
static bool apply_table(const Action *action, World *world) { return apply_make(&world->of[action->z], TABLE); }

static bool apply_extend(const Action *action, World *world)
{
    Content *content = &world->of[action->z];
    if (content->there && content->shape == GRID) content->shape = EXTENDED;
    return apply_make(content, content->there && content->shape == EXTENDED ? EXTENDED : LARGER);
}

static bool apply_resume(const Action *action, World *world)
{
    Content *content = &world->of[action->x];
    if (content->there) content->trials = shape_trials[content->shape];
    return content->there;
}

static bool apply_tag(const Action *action, World *world)
{
    return world->of[action->x].tagged = apply_read(action, world);
}
static bool apply_note(const Action *action, World *world)
{
    return world->of[action->x].noted = apply_read(action, world);
}
// None of them has parts.
static bool apply_gather(const Action *action, World *world)
{
    (void)action, (void)world;
    return false;
}
static const Kind kinds[] = {
    {"merge", "merge X Y --into Z", apply_merge, false, false},
    {"gather", "gather X --progress none", apply_gather, false, false},
    {"gc", "gc --yes", apply_nothing, false, false},
    {"rm", "rm X --yes", apply_rm, false, false},
    {"run", "run grid.yaml --name Z --batch 6 --threads 1 --progress none", apply_run, true, true},
    {"doctor", "doctor X", apply_read, false, false},
    {"extend", "run larger.yaml --name Z --extend --batch 6 --threads 1 --progress none", apply_extend, true, true},
    {"resume", "resume X --set limits.trials=none --threads 1 --progress none", apply_resume, true, true},
    {"table", "run table.yaml --name Z --progress none", apply_table, true, false},
    {"repair", "doctor X --repair", apply_read, false, true},
    {"gc_one", "gc X --yes", apply_read, false, true},
    {"tag", "tag X told", apply_tag, false, true},
    {"note", "note X told", apply_note, false, true},
    {"query", "query X --where x1>0 --order x2", apply_read, false, false},
    {"verify", "verify X --threads 1 --progress none", apply_read, false, false},
    {"compare", "compare X Y --threads 1 --progress none", apply_compare, false, false},
    {"report", "report X -o page.html", apply_read, false, false},
    {"export", "export X --csv trials.csv", apply_read, false, false},
    {"list", "list", apply_nothing, false, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

// ---- chance ---------------------------------------------------------------------------------------------------------

// Operations of io/system.h at which a command stops, and about how many of each a command makes.
static const struct {
    const char *name;
    int calls;
} operations[] = {{"stat", 60}, {"write", 12}, {"fsync", 8},  {"list", 4},  {"close", 40},
                  {"lock", 4},  {"rmdir", 2},  {"sql", 90},   {"read", 20}, {"truncate", 3},
                  {"open", 40}, {"mkdir", 2},  {"rename", 4}, {"unlink", 4}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

typedef struct Pairs {
    const char *folder, *program, *faults;
    uint64_t random, seed;
    int rounds, bad, killed, paused, refused;
    double seconds[KINDS];        // duration of each kind alone (s), estimated
    int calls[KINDS][OPERATIONS]; // most calls of each operation seen so far
} Pairs;

static int pairs_random(Pairs *pairs, int below)
{
    pairs->random = pairs->random * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX
    return (int)((pairs->random >> 33) % (uint64_t)below);
}

// x, y: two different campaigns, mostly existing ones; z: mostly a name that is free, so that few commands are refused
// for their arguments. The second command often gets the campaign that the first one makes.
static Action pairs_choose(Pairs *pairs, const Kind *kind, bool second)
{
    static char words[2][TEXT];
    static int which;
    char *text = words[which ^= 1];
    const bool any = pairs_random(pairs, second ? 2 : 6) == 0;
    Action action = {.kind = kind, .x = pairs_random(pairs, any ? NAMES : 2), .z = NAMES - 1};
    action.y = any ? (action.x + 1 + pairs_random(pairs, NAMES - 1)) % NAMES : 1 - action.x;
    if (any || (kind->resumes && pairs_random(pairs, 2) == 0)) action.z = pairs_random(pairs, NAMES);
    const char *const given[] = {names[action.x], names[action.y], names[action.z]};
    int count = 0;
    snprintf(text, TEXT, "%s", kind->words);
    for (char *rest = text, *word; (word = strsep(&rest, " ")) != NULL && count < WORDS - 1;)
        action.words[count++] = word[1] == '\0' && word[0] >= 'X' && word[0] <= 'Z' ? given[word[0] - 'X'] : word;
    return action;
}

// ---- files ----------------------------------------------------------------------------------------------------------

static void fatal(const char *what)
{
    fprintf(stderr, "pairs: %s: %s\n", what, strerror(errno));
    exit(3);
}

static bool path_is(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static void path_join(char *path, const char *folder, const char *name)
{
    if (snprintf(path, PATH, "%s/%s", folder, name) >= PATH) fatal("a path is too long");
}

static void file_put(const char *folder, const char *name, const char *text)
{
    char path[PATH];
    path_join(path, folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) fatal(path);
}

// Reads the file into `text`, cut at its size.
static void file_get(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH];
    path_join(path, folder, name);
    FILE *file = fopen(path, "r");
    text[file != NULL ? fread(text, 1, size - 1, file) : 0] = '\0';
    if (file != NULL) fclose(file);
}

static void file_copy(const char *from, const char *to)
{
    char data[1 << 16];
    const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    ssize_t count = 0;
    if (in < 0 || out < 0) fatal(from);
    while ((count = read(in, data, sizeof data)) > 0) {
        if (write(out, data, (size_t)count) != count) fatal(to);
    }
    if (count < 0) fatal(from);
    close(in);
    close(out);
}

// Copies the folder and its contents, or removes it if `to` is NULL.
static void folder_each(const char *from, const char *to)
{
    struct stat status;
    char inner[PATH], copy[PATH];
    DIR *folder = opendir(from);
    if (folder == NULL && errno == ENOENT && to == NULL) return;
    if (folder == NULL || (to != NULL && mkdir(to, 0777) != 0)) fatal(from);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        path_join(inner, from, entry->d_name);
        if (to != NULL) path_join(copy, to, entry->d_name);
        if (lstat(inner, &status) != 0) fatal(inner);
        if (S_ISDIR(status.st_mode))
            folder_each(inner, to != NULL ? copy : NULL);
        else if (to != NULL)
            file_copy(inner, copy);
        else if (unlink(inner) != 0)
            fatal(inner);
    }
    closedir(folder);
    if (to == NULL && rmdir(from) != 0) fatal(from);
}

// ---- processes ------------------------------------------------------------------------------------------------------

typedef struct Process {
    const Action *action;
    const char *said; // file with its output
    pid_t pid;
    bool over, stopped, killed;
    int status; // as waitpid gives it
    double begun, took;
} Process;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void rest(double seconds)
{
    const long whole = (long)seconds;
    nanosleep(&(struct timespec){.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))}, NULL);
}

// Starts the command in the round's folder, with both outputs in one file. fault: a rule of io/system.h, or NULL.
static void process_start(const Pairs *pairs, const char *const *words, const char *said, const char *fault,
                          Process *process)
{
    const char *arguments[WORDS + 1] = {fault != NULL ? pairs->faults : pairs->program};
    for (int i = 0; words[i] != NULL; i++) arguments[i + 1] = words[i];
    char rules[64];
    snprintf(rules, sizeof rules, "%s", fault != NULL ? fault : "");
    process->said = said;
    process->begun = now();
    process->pid = fork();
    if (process->pid < 0) fatal("fork");
    if (process->pid > 0) return;
    const int out = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666), in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0) _exit(99);
    dup2(in, STDIN_FILENO);
    dup2(out, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    if (fault != NULL) setenv("HOPSCOTCH_FAULT", rules, 1);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(99);
}

static void process_look(Process *process)
{
    int status = 0;
    if (process->pid == 0 || process->over) return;
    const pid_t answer = waitpid(process->pid, &status, WNOHANG | WUNTRACED);
    if (answer != process->pid) return;
    process->stopped = WIFSTOPPED(status);
    if (process->stopped) return;
    process->over = true;
    process->status = status;
    process->took = now() - process->begun;
}

static void process_kill(Process *process)
{
    if (process->pid == 0 || process->over) return;
    kill(process->pid, SIGKILL);
    process->killed = true;
}

// Waits until all have ended or stopped, or the time is over.
static bool process_wait(Process *first, Process *second, double seconds)
{
    const double end = now() + seconds;
    for (;;) {
        process_look(first);
        if (second != NULL) process_look(second);
        if ((first->over || first->stopped) && (second == NULL || second->over)) return true;
        if (now() > end) return false;
        rest(2e-4);
    }
}

// Runs a command without disturbance. Returns its exit status.
static int process_run(const Pairs *pairs, const char *const *words, const char *said)
{
    Process process = {.pid = 0};
    process_start(pairs, words, said, NULL, &process);
    if (!process_wait(&process, NULL, SECONDS_MAX)) kill(process.pid, SIGKILL);
    process_wait(&process, NULL, SECONDS_MAX);
    return process.over && WIFEXITED(process.status) ? WEXITSTATUS(process.status) : 128;
}

// ---- reading the campaigns ------------------------------------------------------------------------------------------

// The first value of the first row; `missing` if there is none. *bad counts the queries that failed.
static int64_t ask(sqlite3 *database, const char *sql, int64_t missing, int *bad)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = missing;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) (*bad)++;
    if (statement != NULL && sqlite3_step(statement) == SQLITE_ROW) value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static bool ask_is(sqlite3 *database, const char *sql)
{
    int bad = 0;
    return ask(database, sql, 0, &bad) > 0 && bad == 0;
}

// SQL that finds wrong trials. Each trial must be a point of the grid, with the sphere's fitness there, and occur once:
// bbob's default function and dimension, with the optimum at x = (1.4, 1.4).
static const char ask_wrong[] = "SELECT (SELECT count(*) FROM trials) <> (SELECT count(*) FROM (SELECT DISTINCT x1, x2 "
                                "FROM trials)) OR (SELECT ifnull(sum(trials), 0) FROM batches) <> (SELECT count(*) "
                                "FROM trials) OR EXISTS (SELECT * FROM trials AS t LEFT JOIN pristine.trials AS p ON "
                                "p.x1 = t.x1 AND p.x2 = t.x2 WHERE p.fitness IS NOT t.fitness)";

// false: the campaign is not complete; `why` says what is wrong.
static bool content_read(const char *folder, const char *pristine, Content *content, char *why)
{
    char path[PATH], sql[PATH + 64];
    sqlite3 *database = NULL;
    int bad = 0;
    *content = (Content){.there = false};
    path_join(path, folder, "campaign.db");
    if (!path_is(path)) return true;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) fatal(path);
    sqlite3_busy_timeout(database, 5000);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS pristine", pristine);
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fatal(pristine);
    content->there = ask(database, "SELECT count(*) FROM main.sqlite_schema", 0, &bad) > 0;
    if (content->there) {
        const bool larger = ask_is(database, "SELECT instr(resolved, '3]') > 0 AND experiment = 'grid' FROM campaign");
        const bool extended = ask_is(database, "SELECT count(*) FROM segments");
        content->shape = extended ? EXTENDED : larger ? LARGER : GRID;
        if (ask_is(database, "SELECT resolved LIKE '%points%' FROM campaign")) content->shape = TABLE;
        content->trials = (int)ask(database, "SELECT count(*) FROM main.trials", ANY, &bad);
        content->who = ask_is(database, "SELECT count(*) FROM main.tags WHERE tag = 'A'") ? 'A' : 'N';
        if (ask_is(database, "SELECT count(*) FROM main.tags WHERE tag = 'B'")) content->who = 'B';
        if (ask_is(database, "SELECT count(*) FROM main.origin WHERE purpose = 'merges'")) content->who = 'M';
        content->tagged = ask_is(database, "SELECT count(*) FROM main.tags WHERE tag = 'told'");
        content->noted = ask_is(database, "SELECT count(*) FROM main.notes WHERE text = 'told'");
        if (ask(database, ask_wrong, 1, &bad) != 0) snprintf(why, TEXT, "%s has trials that are not its own", folder);
    }
    if (bad > 0) snprintf(why, TEXT, "%s: %s", path, sqlite3_errmsg(database));
    sqlite3_close(database);
    return why[0] == '\0';
}

static bool world_read(const Pairs *pairs, World *world, char *why)
{
    char folder[PATH], pristine[PATH];
    path_join(pristine, pairs->folder, "pristine/trials.db");
    for (int i = 0; i < NAMES; i++) {
        path_join(folder, "results", names[i]);
        if (!content_read(folder, pristine, &world->of[i], why)) return false;
    }
    return true;
}

static bool content_fits(const Content *found, const Content *wanted)
{
    if (found->there != wanted->there) return false;
    const bool trials = wanted->trials == ANY || found->trials == wanted->trials;
    return !found->there || (trials && found->who == wanted->who && found->shape == wanted->shape &&
                             found->tagged == wanted->tagged && found->noted == wanted->noted);
}

static bool world_fits(const World *found, const World *wanted)
{
    for (int i = 0; i < NAMES; i++) {
        if (!content_fits(&found->of[i], &wanted->of[i])) return false;
    }
    return true;
}

static void world_print(const World *world, FILE *out)
{
    for (int i = 0; i < NAMES; i++) {
        const Content *content = &world->of[i];
        if (content->there)
            fprintf(out, "  %s: %c, shape %d, %d trials%s%s\n", names[i], content->who, (int)content->shape,
                    content->trials, content->tagged ? ", tagged" : "", content->noted ? ", noted" : "");
    }
}

// ---- the expected campaigns -----------------------------------------------------------------------------------------

// The effect of a command: nothing, all of its work, or a part that another run continues.
typedef enum Effect { NOTHING, ALL, PART } Effect;

// gc succeeds beside a run of the same campaign and leaves it alone. That also holds if the campaign has no table yet
// and, because the run is killed then, never gets one.
static bool said_left_alone(const Process *process)
{
    char said[TEXT];
    file_get(".", process->said, said, sizeof said);
    return strstr(said, ": skipped") != NULL;
}

static bool effect_is_possible(const Process *process, Effect effect)
{
    const bool ended = process->over && WIFEXITED(process->status), good = ended && WEXITSTATUS(process->status) == 0;
    if (good) return effect == ALL || (effect == NOTHING && said_left_alone(process));
    if (effect == PART) return process->action->kind->resumes;
    return effect == NOTHING || process->killed;
}

// Applies the effect to the world. false: the command can't have had that effect.
static bool effect_apply(const Process *process, Effect effect, World *world)
{
    const World before = *world;
    if (!effect_is_possible(process, effect)) return false;
    if (effect == NOTHING) return true;
    if (!process->action->kind->apply(process->action, world)) return false;
    for (int i = 0; i < NAMES && effect == PART; i++) {
        if (world->of[i].trials != before.of[i].trials) world->of[i].trials = ANY;
    }
    return true;
}

// True if the message says that the other command was the reason for the refusal.
static bool said_busy(const char *said)
{
    static const char *const words[] = {"is being run by",
                                        "is held by",
                                        "works in",
                                        "another process removed",
                                        "removed or renamed by another process",
                                        "replaced or moved by another process",
                                        "put something there meanwhile",
                                        "while it was written"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(said, words[i]) != NULL) return true;
    }
    return false;
}

// True if that world explains the refusal.
static bool refusal_fits(const Process *process, const World *world)
{
    char said[TEXT], path[PATH];
    World copy = *world;
    if (process->killed || (WIFEXITED(process->status) && WEXITSTATUS(process->status) == 0)) return true;
    file_get(".", process->said, said, sizeof said);
    snprintf(path, sizeof path, "results/%s/campaign.db", names[process->action->z]);
    if (strstr(said, "there is something called") != NULL && path_is(path)) return true; // the campaign of a killed run
    return said_busy(said) || !process->action->kind->apply(process->action, &copy);
}

// True if the two effects, one after the other, give the world that was found.
static bool order_fits(const Process *first, Effect one, const Process *second, Effect two, const World *before,
                       const World *found)
{
    World world = *before;
    if (one != ALL && !refusal_fits(first, &world)) return false;
    if (!effect_apply(first, one, &world)) return false;
    if (two != ALL && !refusal_fits(second, &world)) return false;
    return effect_apply(second, two, &world) && world_fits(found, &world);
}

static bool outcome_fits(const Process *p, const Process *q, const World *before, const World *found)
{
    for (int i = 0; i < 9; i++) {
        const Effect of_p = (Effect)(i / 3), of_q = (Effect)(i % 3);
        if (order_fits(p, of_p, q, of_q, before, found) || order_fits(q, of_q, p, of_p, before, found)) return true;
    }
    return false;
}

// ---- one round ------------------------------------------------------------------------------------------------------

typedef enum Mode { BESIDE, KILLED, PAUSED, KILLED_THERE, MODES } Mode;
static const char *const mode_names[MODES] = {"side by side", "one killed", "the first paused", "the first killed"};

// Stops the command before one of its calls.
static void process_pause(Pairs *pairs, Process *p)
{
    const int operation = pairs_random(pairs, OPERATIONS);
    int *calls = &pairs->calls[p->action->kind - kinds][operation];
    const int at = 1 + pairs_random(pairs, *calls + *calls / 8 + (*calls == 0 || pairs_random(pairs, 4) == 0));
    char rule[32];
    snprintf(rule, sizeof rule, "%s:%d:STOP", operations[operation].name, at);
    file_put(".", "rule", rule);
    process_start(pairs, p->action->words, "p.said", rule, p);
    process_wait(p, NULL, SECONDS_MAX);
    if (p->over && p->status == 0 && at <= *calls) *calls = at - 1;
    if (p->stopped && at > *calls) *calls = at;
    pairs->paused += p->stopped;
}

static void round_beside(Pairs *pairs, Mode mode, Process *p, Process *q)
{
    const double span = pairs->seconds[p->action->kind - kinds];
    Process *victim = pairs_random(pairs, 2) == 0 ? p : q;
    process_start(pairs, p->action->words, "p.said", NULL, p);
    rest(span * pairs_random(pairs, 1200) / 1000 * (pairs_random(pairs, 3) > 0));
    process_start(pairs, q->action->words, "q.said", NULL, q);
    if (mode == KILLED) {
        const double life = pairs->seconds[victim->action->kind - kinds] * pairs_random(pairs, 1500) / 1000;
        while (!victim->over && now() < victim->begun + life) {
            process_look(victim);
            rest(1e-4);
        }
        process_kill(victim);
    }
    process_wait(p, q, SECONDS_MAX);
    double *mean = &pairs->seconds[p->action->kind - kinds];
    if (mode == BESIDE && p->over) *mean += (p->took - *mean) / 8;
}

// The first command stops before a call; then the second runs, and may have to wait for the first.
static void round_paused(Pairs *pairs, Mode mode, Process *p, Process *q)
{
    process_pause(pairs, p);
    process_start(pairs, q->action->words, "q.said", NULL, q);
    process_wait(q, NULL, 0.4);
    if (mode == KILLED_THERE) process_kill(p);
    if (p->stopped) kill(p->pid, SIGCONT);
    p->stopped = false;
    process_wait(p, q, SECONDS_MAX);
}

// ---- checks after a round -------------------------------------------------------------------------------------------

static bool ended_well(Process *process, char *why)
{
    char said[TEXT];
    int lines = 0;
    if (!process->over) {
        snprintf(why, TEXT, "%s hangs", process->action->kind->name);
        process_kill(process);
        process_wait(process, NULL, SECONDS_MAX);
        return false;
    }
    if (WIFSIGNALED(process->status)) {
        if (!process->killed)
            snprintf(why, TEXT, "%s ended by signal %d", process->action->kind->name, WTERMSIG(process->status));
        return why[0] == '\0';
    }
    process->killed = false; // it ended before the kill
    const int status = WEXITSTATUS(process->status);
    if (status == 0) return true;
    file_get(".", process->said, said, sizeof said);
    for (const char *at = said; at != NULL && *at != '\0'; at = strchr(at, '\n'), at += at != NULL)
        lines += strncmp(at, "hopscotch: ", 11) == 0;
    if (lines != 1) snprintf(why, TEXT, "%s ended with %d and %d messages", process->action->kind->name, status, lines);
    if (status != 1 && status != 3) snprintf(why, TEXT, "%s ended with %d", process->action->kind->name, status);
    return why[0] == '\0';
}

static bool must(const Pairs *pairs, const char *const *words, const char *what, char *why)
{
    const int status = process_run(pairs, words, "must.said");
    if (status == 0) return true;
    const int length =
        snprintf(why, TEXT, "%s: %s %s ended with %d:\n", what, words[0], words[1] ? words[1] : "", status);
    file_get(".", "must.said", why + length, (size_t)(TEXT - length));
    return false;
}

// After a kill, or a run that was cut short, another run completes each campaign, which then has all of its trials.
static bool settle(const Pairs *pairs, const bool *changed, World *world, char *why)
{
    for (int i = 0; i < NAMES; i++) {
        const char *const words[] = {"resume", names[i], "--set", "limits.trials=none", "--progress", "none", NULL};
        if (world->of[i].there && changed[i] && !must(pairs, words, "after the round", why)) return false;
    }
    const char *const list[] = {"list", NULL};
    if (!must(pairs, list, "after the round", why) || !world_read(pairs, world, why)) return false;
    for (int i = 0; i < NAMES; i++) {
        const Content *content = &world->of[i];
        if (content->there && changed[i] && content->trials != shape_trials[content->shape])
            snprintf(why, TEXT, "%s has %d trials when it was resumed", names[i], content->trials);
    }
    return why[0] == '\0';
}

// Finds an entry of the results root that belongs to no campaign and not to the catalogue; "": none.
static void find_left(const World *world, char *left, size_t size)
{
    DIR *folder = opendir("results");
    if (folder == NULL) fatal("results");
    left[0] = '\0';
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *name = entry->d_name;
        bool known = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strncmp(name, "index.", 6) == 0;
        for (int i = 0; i < NAMES; i++) known |= world->of[i].there && strcmp(name, names[i]) == 0;
        if (!known) snprintf(left, size, "%s", name);
    }
    closedir(folder);
}

// gc removes what crashes leave; rm removes a campaign that a run had only begun to make. An empty folder, which may be
// the user's, does not block its name.
static bool nothing_is_left(const Pairs *pairs, bool clean, const World *world, char *why)
{
    const char *const gc[] = {"gc", "--yes", NULL};
    char left[256];
    find_left(world, left, sizeof left);
    if ((clean || left[0] != '\0') && !must(pairs, gc, "afterwards", why)) return false;
    find_left(world, left, sizeof left);
    const char *const rm[] = {"rm", left, "--yes", NULL};
    char path[PATH];
    path_join(path, "results", left);
    if (left[0] == '\0' || rmdir(path) == 0 || (left[0] != '.' && process_run(pairs, rm, "must.said") == 0))
        return true;
    snprintf(why, TEXT, "results/%s is left, and gc leaves it", left);
    return false;
}

// changed[NAMES]: campaigns that may have changed
static bool whole_afterwards(Pairs *pairs, bool cut_short, const bool *changed, World *world, char *why)
{
    if (cut_short && !settle(pairs, changed, world, why)) return false;
    for (int i = 0; i < NAMES; i++) {
        const char *const words[] = {"doctor", names[i], NULL};
        if (world->of[i].there && changed[i] && !must(pairs, words, "afterwards", why)) return false;
    }
    return nothing_is_left(pairs, pairs_random(pairs, 4) == 0, world, why);
}

// ---- all rounds -----------------------------------------------------------------------------------------------------

// True if the command names that campaign, or works on all campaigns.
static bool action_names(const Action *action, int name)
{
    int given = 0;
    for (int i = 1; action->words[i] != NULL; i++) {
        if (strcmp(action->words[i], names[name]) == 0) return true;
        for (int k = 0; k < NAMES; k++) given += strcmp(action->words[i], names[k]) == 0;
    }
    return given == 0;
}

static bool was_cut_short(const Process *process)
{
    const bool failed = WIFEXITED(process->status) && WEXITSTATUS(process->status) != 0;
    return process->killed || (failed && process->action->kind->resumes);
}

// The doctor may report damage in a campaign whose run was killed meanwhile.
static void excuse_doctor(Process *process, const Process *other)
{
    const bool doctor = strncmp(process->action->words[0], "doctor", 6) == 0;
    if (doctor && was_cut_short(other) && WIFEXITED(process->status)) process->killed = true;
}

static bool round_judge(Pairs *pairs, Process *p, Process *q, const World *before, char *why)
{
    World found;
    if (!ended_well(p, why) || !ended_well(q, why)) return false;
    const bool cut_short = was_cut_short(p) || was_cut_short(q);
    pairs->killed += p->killed || q->killed;
    pairs->refused += !p->killed && !q->killed && (p->status != 0 || q->status != 0);
    if (!world_read(pairs, &found, why)) return false;
    excuse_doctor(p, q);
    excuse_doctor(q, p);
    if (!outcome_fits(p, q, before, &found)) {
        snprintf(why, TEXT, "neither order of the two commands explains the result");
        return false;
    }
    bool changed[NAMES];
    for (int i = 0; i < NAMES; i++) changed[i] = action_names(p->action, i) || action_names(q->action, i);
    return whole_afterwards(pairs, cut_short, changed, &found, why);
}

static void round_tell(const Pairs *pairs, Mode mode, const Process *both, uint64_t seed, const char *why)
{
    char text[TEXT];
    World found;
    file_get(".", "rule", text, sizeof text);
    printf("   seed %llu, %s %s: %s\n", (unsigned long long)seed, mode_names[mode], mode >= PAUSED ? text : "", why);
    for (int i = 0; i < 2; i++) {
        printf("   $ hopscotch");
        for (int w = 0; both[i].action->words[w] != NULL; w++) printf(" %s", both[i].action->words[w]);
        printf("   # %s %d\n", WIFEXITED(both[i].status) ? "ended with" : "signal",
               WIFEXITED(both[i].status) ? WEXITSTATUS(both[i].status) : WTERMSIG(both[i].status));
        file_get(".", both[i].said, text, 600);
        printf("%s", text);
    }
    text[0] = '\0';
    (void)world_read(pairs, &found, text);
    world_print(&found, stdout);
    fflush(stdout);
}

// Leaves the round's folder behind if something was wrong.
static void round_run(Pairs *pairs, const Kind *first, const Kind *second, const World *before)
{
    char why[TEXT] = "", folder[PATH], copy[PATH];
    const uint64_t seed = pairs->random;
    const Action actions[2] = {pairs_choose(pairs, first, false), pairs_choose(pairs, second, true)};
    Process both[2] = {{.action = &actions[0], .said = "p.said"}, {.action = &actions[1], .said = "q.said"}};
    const Mode mode = (Mode)pairs_random(pairs, MODES);
    snprintf(folder, sizeof folder, "%s/round%d", pairs->folder, pairs->bad);
    path_join(copy, pairs->folder, "template");
    folder_each(copy, folder);
    if (chdir(folder) != 0) fatal(folder);
    if (mode < PAUSED)
        round_beside(pairs, mode, &both[0], &both[1]);
    else
        round_paused(pairs, mode, &both[0], &both[1]);
    const bool good = round_judge(pairs, &both[0], &both[1], before, why);
    if (!good) round_tell(pairs, mode, both, seed, why);
    if (chdir(pairs->folder) != 0) fatal(pairs->folder);
    if (good) folder_each(folder, NULL);
    pairs->bad += !good;
    pairs->rounds++;
}

// ---- replaced campaigns ---------------------------------------------------------------------------------------------

// Another program, which takes no locks, puts copies of `a` in the place of `b`, while a command is stopped in the
// middle of its work on b: at any of its calls. old: the replaced files are kept here, as long as the folder exists.
typedef struct Foreign {
    const char *name;
    bool folder, keeps; // the whole folder is replaced; the replaced one is kept under another name
} Foreign;

static const Foreign foreigns[] = {{"another campaign.db", false, true},
                                   {"another folder", true, true},
                                   {"an older copy, the folder removed", true, false}};
enum { FOREIGNS = sizeof foreigns / sizeof *foreigns };

static void move_to(const char *from, const char *to)
{
    if (rename(from, to) != 0) fatal(from);
}

static void foreign_put(const Foreign *foreign)
{
    if (foreign->folder && foreign->keeps) {
        move_to("results/b", "old");
        move_to("spare", "results/b");
        return;
    }
    if (mkdir("old", 0777) != 0 || link("results/b/campaign.db", "old/campaign.db") != 0) fatal("old");
    if (!foreign->folder) {
        move_to("spare/campaign.db", "results/b/campaign.db");
        return;
    }
    move_to("results/b", "gone");
    move_to("spare", "results/b");
    folder_each("gone", NULL);
}

// A command that exits with 0 has not written to replaced files; one that fails has left the copies unchanged.
static bool foreign_judge(const Pairs *pairs, const Foreign *foreign, Process *p, const Content *before,
                          const World *start, char *why)
{
    char pristine[PATH];
    Content old = {.there = false}, new = {.there = false};
    World done = *start;
    path_join(pristine, pairs->folder, "pristine/trials.db");
    done.of[1] = done.of[0];
    if (!ended_well(p, why)) return false;
    if (!content_read("old", pristine, &old, why) || !content_read("results/b", pristine, &new, why)) return false;
    const bool good = p->status == 0, applied = p->action->kind->apply(p->action, &done);
    if (good && !content_fits(&old, before)) snprintf(why, TEXT, "it ended with 0 and wrote to a replaced file");
    if (!content_fits(&new, &start->of[0]) && !(good && applied && content_fits(&new, &done.of[1])))
        snprintf(why, TEXT, "the copy that was put there has changed");
    const char *const words[] = {"doctor", "b", NULL};
    const char *const list[] = {"list", NULL};
    if (why[0] == '\0' && foreign->folder)
        return must(pairs, list, "afterwards", why) && must(pairs, words, "afterwards", why);
    return why[0] == '\0';
}

static bool foreign_round(Pairs *pairs, const Foreign *foreign, Process *p, const World *start, char *why)
{
    char pristine[PATH];
    Content before;
    path_join(pristine, pairs->folder, "pristine/trials.db");
    folder_each("results/a", "spare");
    process_pause(pairs, p);
    if (!content_read("results/b", pristine, &before, why)) return false;
    foreign_put(foreign);
    if (p->stopped) kill(p->pid, SIGCONT);
    p->stopped = false;
    process_wait(p, NULL, SECONDS_MAX);
    return foreign_judge(pairs, foreign, p, &before, start, why);
}

static void foreign_run(Pairs *pairs, const Kind *kind, const Foreign *foreign, const World *start)
{
    char why[TEXT] = "", folder[PATH], copy[PATH];
    const uint64_t seed = pairs->random;
    Action action = pairs_choose(pairs, kind, false);
    Process both[2] = {{.action = &action, .said = "p.said"}, {.action = &action, .said = "none"}};
    for (int i = 0; action.words[i] != NULL; i++) {
        if (strcmp(action.words[i], names[action.x]) == 0 || strcmp(action.words[i], names[action.z]) == 0)
            action.words[i] = "b";
    }
    action.x = action.z = 1;
    snprintf(folder, sizeof folder, "%s/round%d", pairs->folder, pairs->bad);
    path_join(copy, pairs->folder, "template");
    folder_each(copy, folder);
    if (chdir(folder) != 0) fatal(folder);
    const bool good = foreign_round(pairs, foreign, &both[0], start, why);
    if (!good) printf("   %s:\n", foreign->name), round_tell(pairs, PAUSED, both, seed, why);
    if (chdir(pairs->folder) != 0) fatal(pairs->folder);
    if (good) folder_each(folder, NULL);
    pairs->bad += !good;
    pairs->rounds++;
}

// ---- the start ------------------------------------------------------------------------------------------------------

// a: complete, with a shard of arrays that its spec no longer asks for; b: half done; and leftovers of crashes.
static void pairs_prepare(Pairs *pairs, World *world)
{
    static const char *const made[][WORDS] = {
        {"run", "grid.yaml", "--name", "a", "--set", "limits.trials=12", "--batch", "6", "--progress", "none"},
        {"resume", "a", "--set", "limits.trials=none", "--progress", "none"},
        {"run", "grid.yaml", "--name", "b", "--set", "limits.trials=12", "--batch", "6", "--progress", "none"},
        {"tag", "a", "A"},
        {"tag", "b", "B"},
        {"run", "larger.yaml", "--name", "whole", "--results", "../pristine", "--progress", "none"},
        {"run", "table.yaml", "--name", "table", "--results", "../pristine", "--progress", "none"}};
    char why[TEXT] = "", text[PATH];
    path_join(text, pairs->folder, "template");
    if (mkdir(pairs->folder, 0777) != 0 || mkdir(text, 0777) != 0 || chdir(text) != 0) fatal(pairs->folder);
    file_put(".", "grid.yaml", spec_grid);
    file_put(".", "larger.yaml", spec_larger);
    file_put(".", "table.yaml", spec_table);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (!must(pairs, made[i], "at the start", why)) fputs(why, stderr), exit(3);
    }
    sqlite3 *database = NULL;
    if (sqlite3_open("../pristine/trials.db", &database) != SQLITE_OK ||
        sqlite3_exec(
            database,
            "ATTACH '../pristine/whole/campaign.db' AS whole; ATTACH '../pristine/table/campaign.db' AS points;"
            "CREATE TABLE main.trials AS SELECT x1, x2, fitness FROM whole.trials UNION ALL "
            "SELECT x1, x2, fitness FROM points.trials",
            NULL, NULL, NULL) != SQLITE_OK)
        fatal(sqlite3_errmsg(database));
    sqlite3_close(database);
    if (mkdir("results/a/quarantine", 0777) != 0) fatal("quarantine");
    file_put("results/a/quarantine", "000009.h5", "no shard");
    if (!world_read(pairs, world, why)) fputs(why, stderr), exit(3);
    for (int i = 0; i < KINDS; i++) {
        pairs->seconds[i] = 0.02;
        for (int k = 0; k < OPERATIONS; k++) pairs->calls[i][k] = operations[k].calls;
    }
}

// The list "merge,gc" contains gc; NULL contains everything.
static bool listed(const char *list, size_t length, const char *name)
{
    for (const char *at = list; at != NULL && at < list + length;) {
        const size_t word = strcspn(at, ",:");
        if (strlen(name) == word && strncmp(at, name, word) == 0) return true;
        at += word + 1;
    }
    return list == NULL;
}

int main(int count, char **arguments)
{
    Pairs pairs = {.program = getenv("HOPSCOTCH"), .faults = getenv("HOPSCOTCH_FAULTS_PROGRAM")};
    World world;
    int status = 0;
    if (count < 3 || pairs.program == NULL || pairs.faults == NULL || arguments[1][0] != '/') {
        fprintf(stderr, "usage: pairs /FOLDER ROUNDS [SEED [KINDS]], with HOPSCOTCH and HOPSCOTCH_FAULTS_PROGRAM\n");
        return 2;
    }
    pairs.folder = arguments[1];
    pairs.random = count > 3 ? strtoull(arguments[3], NULL, 10) : 1;
    const char *one = count > 4 ? arguments[4] : NULL, *colon = one != NULL ? strchr(one, ':') : NULL;
    const char *other = colon != NULL ? colon + 1 : one;
    const size_t one_length = one == NULL ? 0 : colon != NULL ? (size_t)(colon - one) : strlen(one);
    const int rounds = atoi(arguments[2]);
    pairs_prepare(&pairs, &world);
    for (int i = 0; i < KINDS; i++) {
        const Pairs begun = pairs;
        if (!listed(one, one_length, kinds[i].name)) continue;
        for (int k = 0; k < KINDS; k++) {
            if (!listed(other, other != NULL ? strlen(other) : 0, kinds[k].name)) continue;
            for (int r = 0; r < rounds; r++) round_run(&pairs, &kinds[i], &kinds[k], &world);
        }
        for (int f = 0; kinds[i].writes && f < FOREIGNS; f++) {
            for (int r = 0; r < rounds; r++) foreign_run(&pairs, &kinds[i], &foreigns[f], &world);
        }
        const int bad = pairs.bad - begun.bad;
        printf("%s pairs: %s beside the others, %d rounds: %d with a kill, %d paused, %d refused, %d wrong\n",
               bad == 0 ? "ok  " : "FAIL", kinds[i].name, pairs.rounds - begun.rounds, pairs.killed - begun.killed,
               pairs.paused - begun.paused, pairs.refused - begun.refused, bad);
        fflush(stdout);
        status |= bad > 0;
    }
    return status;
}
