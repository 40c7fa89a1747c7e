// hopscotch docs: the pages that come with the program.
#include "command.h"

#include <string.h>

static const struct {
    const char *name, *file, *doc;
} docs_pages[] = {
    {"readme", "README.md", "a first tour: run, query, show, replay, write a spec, verify, compare"},
    {"experiments", "experiments/README.md", "from an idea to a verified gait; the spec by example; searching; robots"},
    {"equations", "experiments/equations.md", "a model of your own, written as equations in the spec"},
    {"control_law", "experiments/control_law.md", "a control law of your own for a robot"},
    {"identification", "experiments/identification.md", "fitting a model to recordings"},
    {"costly_trials", "experiments/costly_trials.md", "searching with few trials"},
    {"results", "results/README.md", "what a campaign's folder holds; resume, repair, export; SQL and Python"},
    {"formats", "results/formats.md", "versions of files, and what stays readable"},
    {"changes", "CHANGELOG.md", "what is new in which version"},
};
enum { DOCS_PAGES = sizeof docs_pages / sizeof *docs_pages };

static void docs_list(const CommandLine *line)
{
    for (int i = 0; i < DOCS_PAGES; i++) fprintf(line->out, "%-15s %s\n", docs_pages[i].name, docs_pages[i].doc);
    fprintf(line->out, "\nnext  %s\n", command_again(NULL, "docs experiments | less").text);
}

static Error docs_page(const char *name, int *page)
{
    const char *names[DOCS_PAGES];
    for (*page = 0; *page < DOCS_PAGES; ++*page) {
        names[*page] = docs_pages[*page].name;
        if (strcmp(names[*page], name) == 0) return error_none();
    }
    const char *nearest = nearest_name(name, names, DOCS_PAGES);
    return error_make(ERROR_USER, "there is no page '%.60s'%s%s%s", name,
                      nearest != NULL ? "; did you mean '" : "; `hopscotch docs` lists the pages",
                      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static Error docs_run(const CommandLine *line)
{
    const char *folder;
    int page;
    Bytes text;
    if (line->n_arguments == 0) {
        docs_list(line);
        return error_none();
    }
    TRY(docs_page(line->arguments[0], &page));
    TRY(shipped_folder(line->arena, &folder));
    TRY(shipped_read(folder, docs_pages[page].file, line->arena, &text));
    if (switch_given(line, "path"))
        fprintf(line->out, "%s/%s\n", folder, docs_pages[page].file);
    else
        fwrite(text.data, 1, text.size, line->out);
    return error_none();
}

static const Switch docs_rows[] = {{"path", SWITCH_FLAG, NULL, 0, 0, "print where the page is, not the page"}};
static const Switches docs_switches = {docs_rows, sizeof docs_rows / sizeof *docs_rows};

const Command command_docs = {
    .name = "docs",
    .arguments = "[PAGE]",
    .doc = "list the pages that come with the program, or print one (Markdown)",
    .examples = "  hopscotch docs\n"
                "  hopscotch docs equations | less\n"
                "  hopscotch docs results --path\n",
    .least = 0,
    .most = 1,
    .switches = {&docs_switches},
    .run = docs_run,
};
