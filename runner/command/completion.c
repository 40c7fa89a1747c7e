// Scripts that complete a command line in bash and zsh: commands, options and choices from the tables that `help`
// prints; campaigns from the results folder; examples and pages from the program; files.
#include "command.h"

#include <string.h>

// What completes an argument, by its name in the command's row.
typedef enum CompletionKind {
    COMPLETE_FILES,
    COMPLETE_SPECS, // files and examples
    COMPLETE_EXAMPLES,
    COMPLETE_PAGES,
    COMPLETE_CAMPAIGNS,
    COMPLETE_COMMANDS,
    COMPLETE_MODELS,
    COMPLETE_NOTHING
} CompletionKind;

static CompletionKind completion_kind(const char *arguments)
{
    if (strstr(arguments, "CAMPAIGN") != NULL) return COMPLETE_CAMPAIGNS;
    if (strstr(arguments, "COMMAND") != NULL) return COMPLETE_COMMANDS;
    if (strstr(arguments, "MODEL") != NULL) return COMPLETE_MODELS;
    if (strstr(arguments, "SPEC") != NULL) return COMPLETE_SPECS;
    if (strstr(arguments, "FOLDER") != NULL) return COMPLETE_EXAMPLES;
    if (strstr(arguments, "PAGE") != NULL) return COMPLETE_PAGES;
    return strstr(arguments, "FILE") != NULL || strstr(arguments, "TABLE") != NULL ? COMPLETE_FILES : COMPLETE_NOTHING;
}

static bool completion_takes_file(const Switch *row)
{
    return row->argument != NULL && (strncmp(row->argument, "FILE", 4) == 0 || strcmp(row->argument, "DIR") == 0);
}

// Escapes a text for single quotes of a shell; for zsh's _arguments also : [ ] and the backslash.
static void completion_put(FILE *out, const char *text, bool zsh)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (zsh && strchr(":[]\\", *text) != NULL)
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

// The choices of "auto|cpu|cuda" with spaces between them.
static void completion_put_choices(FILE *out, const Switch *row)
{
    for (const char *c = row->argument; *c != '\0'; c++) fputc(*c == '|' ? ' ' : *c, out);
}

static void completion_put_models(FILE *out)
{
    for (int i = 0; i < model_count(); i++) fprintf(out, "%s%s", i > 0 ? " " : "", model_at(i)->name);
}

// ---- bash -----------------------------------------------------------------------------------------------------------

static void completion_bash_options(const Command *command, FILE *out)
{
    const Switches *group;
    fprintf(out, "    %s)\n        options='", command->name);
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count; i++) fprintf(out, "--%s ", group->rows[i].name);
    }
    fputs("'\n        case $previous in\n", out);
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count; i++) {
            const Switch *row = &group->rows[i];
            if (row->argument == NULL) continue;
            fprintf(out, "        --%s) ", row->name);
            if (row->type == SWITCH_CHOICE) {
                fputs("words='", out);
                completion_put_choices(out, row);
                fputs("' ;;\n", out);
            } else {
                fputs(completion_takes_file(row) ? "kind=files ;;\n" : "kind=nothing ;;\n", out);
            }
        }
    }
    static const char *const kinds[] = {"files",     "specs",    "examples", "pages",
                                        "campaigns", "commands", "models",   "nothing"};
    fprintf(out, "        *) kind=%s ;;\n        esac ;;\n", kinds[completion_kind(command->arguments)]);
}

void completion_bash(FILE *out)
{
    fputs("# bash completion of hopscotch: made by `hopscotch help --completion bash`\n"
          "_hopscotch_names() { \"$1\" \"$2\" 2>/dev/null | sed '/^$/,$d; s/ .*//'; }\n"
          "_hopscotch()\n{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command=${COMP_WORDS[1]} commands='",
          out);
    for (int i = 0; i < command_count(); i++) fprintf(out, "%s%s", i > 0 ? " " : "", command_at(i)->name);
    fputs("' options='' words='' kind='' folder\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$current\")\n"
          "        return\n"
          "    fi\n"
          "    case $command in\n",
          out);
    for (int i = 0; i < command_count(); i++) completion_bash_options(command_at(i), out);
    fputs("    *) return ;;\n"
          "    esac\n"
          "    case $current in -*) words=$options kind='' ;; esac\n"
          "    case $kind in\n"
          "    files | specs) mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
          "    pages) words=$(_hopscotch_names \"${COMP_WORDS[0]}\" docs) ;;\n"
          "    commands) words=$commands ;;\n",
          out);
    fputs("    models) words='", out);
    completion_put_models(out);
    fputs("' ;;\n"
          "    campaigns)\n"
          "        for folder in \"${HOPSCOTCH_RESULTS:-results}\"/*/campaign.db; do\n"
          "            [ -e \"$folder\" ] || continue\n"
          "            folder=${folder%/campaign.db}\n"
          "            words=\"$words ${folder##*/}\"\n"
          "        done ;;\n"
          "    esac\n"
          "    case $kind in specs | examples) words=$(_hopscotch_names \"${COMP_WORDS[0]}\" examples) ;; esac\n"
          "    [ -z \"$words\" ] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$words\" -- "
          "\"$current\")\n"
          "}\n"
          "complete -o filenames -F _hopscotch hopscotch\n",
          out);
}

// ---- zsh ------------------------------------------------------------------------------------------------------------

static void completion_zsh_switch(const Switch *row, FILE *out)
{
    fprintf(out, "            '*--%s%s[", row->name, row->argument != NULL ? "=" : ""); // --name VALUE or --name=VALUE
    completion_put(out, row->doc, true);
    fputc(']', out);
    if (row->argument != NULL) {
        fputc(':', out);
        completion_put(out, row->argument, true);
        fputc(':', out);
    }
    if (row->type == SWITCH_CHOICE) {
        fputc('(', out);
        completion_put_choices(out, row);
        fputc(')', out);
    } else if (completion_takes_file(row)) {
        fputs("_files", out);
    }
    fputs("' \\\n", out);
}

static void completion_zsh_command(const Command *command, FILE *out)
{
    static const char *const actions[] = {"_files",
                                          "_hopscotch_specs",
                                          "_hopscotch_names examples",
                                          "_hopscotch_names docs",
                                          "_hopscotch_campaigns",
                                          "_hopscotch_commands",
                                          "_hopscotch_models",
                                          ""};
    const Switches *group;
    fprintf(out, "    %s)\n        _arguments \\\n", command->name);
    for (int g = 0; (group = command_switches(command, g)) != NULL; g++) {
        for (int i = 0; i < group->count; i++) completion_zsh_switch(&group->rows[i], out);
    }
    fputs("            '*:", out);
    completion_put(out, command->arguments[0] != '\0' ? command->arguments : "nothing", true);
    fprintf(out, ":%s' ;;\n", actions[completion_kind(command->arguments)]);
}

void completion_zsh(FILE *out)
{
    fputs("#compdef hopscotch\n"
          "# zsh completion of hopscotch: made by `hopscotch help --completion zsh`\n"
          "_hopscotch_commands()\n{\n    local -a commands=(\n",
          out);
    for (int i = 0; i < command_count(); i++) {
        fprintf(out, "        '%s:", command_at(i)->name);
        completion_put(out, command_at(i)->doc, true);
        fputs("'\n", out);
    }
    fputs("    )\n    _describe command commands\n}\n"
          "_hopscotch_campaigns()\n{\n"
          "    local -a campaigns=(${HOPSCOTCH_RESULTS:-results}/*/campaign.db(N:h:t))\n"
          "    compadd -a campaigns\n}\n"
          "_hopscotch_models() { compadd ",
          out);
    completion_put_models(out);
    fputs("; }\n"
          "_hopscotch_names()\n{\n"
          "    local list=$argv[-1]\n" // behind options of _arguments
          "    local -a names=(${(f)\"$(${(Q)program} $list 2>/dev/null | sed '/^$/,$d; s/ .*//')\"})\n"
          "    compadd -a names\n}\n"
          "_hopscotch_specs() { _files; _hopscotch_names examples; }\n"
          "_hopscotch()\n{\n"
          "    if (( CURRENT == 2 )); then\n        _hopscotch_commands\n        return\n    fi\n"
          "    local program=$words[1] command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n",
          out);
    for (int i = 0; i < command_count(); i++) completion_zsh_command(command_at(i), out);
    fputs("    esac\n}\n_hopscotch \"$@\"\n", out);
}
