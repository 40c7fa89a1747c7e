// `replay --frames`: the pictures of a video in a folder, and the command that makes the video of them.
#include "command.h"

#include <stdlib.h>
#include <string.h>

// Frames of an earlier motion would become part of the video.
static Error frames_folder(const CommandLine *line, const char *folder)
{
    char **names;
    int count = 0;
    TRY(folder_make(folder));
    TRY(folder_list(folder, line->arena, &names, &count));
    if (count == 0) return error_none();
    return error_make(ERROR_USER, "--frames: %.200s holds files already: name a new folder, or remove it first",
                      text_visible(folder, line->arena));
}

static Error frames_write_one(const CommandLine *line, const ReplayTrace *trace, const TraceFrames *frames, int64_t k,
                              const char *path)
{
    TextStream svg;
    bool standard = false;
    char *data = NULL;
    size_t bytes = 0;
    const PictureFormat format = picture_format(path);
    TRY(text_stream_open("a frame", &svg));
    trace_write_frame(trace, frames, k, svg.out, line->arena);
    Error error = text_stream_close(&svg);
    if (error.kind == OK && format != PICTURE_SVG)
        error = picture_convert(svg.text, svg.size, format, 96, line->arena, &data, &bytes);
    if (error.kind == OK)
        error =
            output_write(path, data != NULL ? data : svg.text, data != NULL ? bytes : svg.size, line->arena, &standard);
    free(svg.text);
    free(data);
    return error;
}

// The folder's frames as ffmpeg reads their names: %% is a percent sign.
static const char *frames_pattern(const char *folder, const char *ending, Arena *arena)
{
    char *escaped = ARENA_NEW(arena, char, 2 * strlen(folder) + 1), *to = escaped;
    for (const char *at = folder; *at != '\0'; at++) {
        if (*at == '%') *to++ = '%';
        *to++ = *at;
    }
    *to = '\0';
    return command_quoted(arena_format(arena, "%s/%%05d.%s", escaped, ending), arena);
}

static void frames_print(const CommandLine *line, const TraceFrames *frames, const char *folder, const char *ending)
{
    Arena *arena = line->arena;
    FILE *out = switch_given(line, "json") ? line->messages : line->out;
    put_visible(out, folder);
    fprintf(out, ": %s frames, %d per second\n", text_count(frames->count).text, frames->fps);
    const bool svg = strcmp(ending, "svg") == 0;
    fprintf(out, "make a video of them%s: ffmpeg -framerate %d -i %s -pix_fmt yuv420p %s\n",
            svg ? " by an ffmpeg with librsvg" : "", frames->fps, frames_pattern(folder, ending, arena),
            command_quoted(arena_format(arena, "%s.mp4", folder), arena));
}

Error frames_write(const CommandLine *line, const ReplayTrace *trace)
{
    static const char *const endings[] = {"png", "svg"};
    const char *asked = switch_text(line, "frames", ""), *ending = endings[switch_choice(line, "image", 0)];
    char *folder = arena_copy(line->arena, asked);
    for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/';) folder[--length] = '\0';
    TraceFrames frames;
    TRY(trace_frames(trace, (int)switch_integer(line, "fps", 30), line->arena, &frames));
    TRY(frames_folder(line, folder));
    for (int64_t k = 0; k < frames.count; k++) {
        const size_t before = line->arena->used;
        TRY(frames_write_one(line, trace, &frames, k,
                             arena_format(line->arena, "%s/%05lld.%s", folder, (long long)k, ending)));
        arena_rewind(line->arena, before);
    }
    if (frames.repeats)
        fputs("some frames are equal, because the motion is sampled less often: add --sample SECONDS\n",
              line->messages);
    frames_print(line, &frames, folder, ending);
    return error_none();
}
