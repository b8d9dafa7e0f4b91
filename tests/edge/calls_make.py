#!/usr/bin/env python3
"""Writes the calls of every public function, which the headers list, with arguments that are right.

    calls_make.py OUTPUT HEADER...

A function whose parameters have no argument here ends the build: add one to ARGUMENTS.
"""
import pathlib
import re
import sys

# By the function and the parameter, by the parameter's type and name, or by its type. A handle that a call makes has a
# place of its own; those that it uses or ends are open.
ARGUMENTS = {
    "parapet_store_close.store": "&all->store",
    "parapet_group_close.group": "&all->group",
    "parapet_array_close.array": "&all->array",
    "parapet_arrays_close.arrays": "&all->array",
    "parapet_checkpoint_begin.checkpoint": "&all->made_checkpoint",
    "parapet_restore_close.restore": "&all->restore",
    "parapet_series_close.series": "&all->series",
    "parapet_request_wait.request": "&all->request",
    "parapet_array_parts_free.list": "&all->built",
    "parapet_group_create.path": '"made_group"',
    "parapet_array_create.path": '"made_array"',
    "parapet_array_open.path": '"a"',
    "parapet_checkpoint_begin.path": '"other"',
    "parapet_restore_open.path": '"r"',
    "parapet_checkpoint_list.path": '"r"',
    "parapet_series_create.path": '"made_series"',
    "parapet_series_open.path": '"s"',
    "parapet_series_repair.path": '"s"',
    "parapet_store_collect.path": '""',
    "parapet_array_resize.shape": "all->count",
    "parapet_store_options_set.name": '"threads"',
    "parapet_store_options_set.value": '"1"',
    "parapet_copy_request_set.name": '"passes"',
    "parapet_copy_request_set.value": '"1"',
    "parapet_option_words.name": '"locks"',
    "parapet_type_from_name.name": '"int32"',
    "parapet_text_visible.text": '"x"',
    "parapet_free.text": "NULL",
    "parapet_distribution_box.start": "all->place",
    "parapet_distribution_box.count": "all->place",
    "parapet_distribution_count.count": "all->place",
    "parapet_array_read_texts_local.text": "&all->text",
    "const char * path": '"g"',
    "const char * attributes": "NULL",
    "const char * name": '"note"',
    "const char * json": '"1"',
    "const char * url": "all->other_url",
    "char ** json": "&all->text",
    "char ** text": "&all->text",
    "char ** svg": "NULL",
    "char ** left_out": "&all->text",
    "char * visible": "all->room",
    "size_t room": "sizeof all->room",
    "void * context": "NULL",
    "void * data": "all->values",
    "int dry_run": "0", "int recursive": "1", "int as_json": "0", "int count": "1", "int part_count": "1",
    "int index": "0", "int * is_done": "&all->answer",
    "int64_t rank": "0", "int64_t index": "0", "int64_t generation": "0", "int64_t displacement_bytes": "0",
    "int64_t * generation": "all->place", "int64_t * ends": "all->place",
    "double coordinate": "7",
    "const int64_t * start": "all->start", "const int64_t * count": "all->count",
    "const char *const * paths": "all->paths",
    "MPI_Comm": "all->comm",
    "MPI_Datatype": "all->datatype",
    "parapet_mode": "PARAPET_CREATE",
    "parapet_store *": "all->store", "parapet_group *": "all->group", "parapet_array *": "all->array",
    "parapet_checkpoint *": "all->checkpoint", "parapet_restore *": "all->restore", "parapet_series *": "all->series",
    "parapet_request *": "all->request",
    "parapet_store **": "&all->made_store", "parapet_group **": "&all->made_group",
    "parapet_array **": "&all->made_array", "parapet_checkpoint **": "&all->checkpoint",
    "parapet_restore **": "&all->made_restore", "parapet_series **": "&all->made_series",
    "parapet_request **": "&all->made_request",
    "const parapet_store_options *": "NULL",
    "const parapet_checkpoint_options *": "NULL",
    "const parapet_array_spec *": "&all->spec", "const parapet_series_spec *": "&all->series_spec",
    "const parapet_part *": "&all->part", "const parapet_step *": "&all->step",
    "const parapet_points *": "&all->points", "const parapet_runs *": "&all->runs",
    "const parapet_array_parts *": "&all->list", "parapet_array_parts *": "&all->built",
    "const parapet_checkpoint_item *": "&all->item", "const parapet_distribution *": "&all->distribution",
    "const parapet_copy_request *": "&all->copy", "const parapet_file_request *": "&all->file",
    "const parapet_transfer_plan_request *": "&all->transfer_plan",
    "const parapet_copy_plan_request *": "&all->copy_plan",
    "parapet_child_visitor": "visit_child", "parapet_box_visitor": "visit_box",
    "parapet_generation_visitor": "visit_generation", "parapet_removal_visitor": "visit_removal",
    "parapet_finding_visitor": "visit_finding",
}
# Handles, and what refers to one: such a call is on the store.
ON_STORE = re.compile(r"all->(store|group|array|checkpoint|restore|series|request|list|copy|file)\b")


def argument(function, kind, name, enums, structs):
    for key in (f"{function}.{name}", f"{kind} {name}", kind):
        if key in ARGUMENTS:
            return ARGUMENTS[key]
    if kind in enums:
        return f"({kind})0"
    if kind.endswith(" *") and kind[:-2] in structs:
        return f"&({kind[:-2]}){{0}}"
    raise SystemExit(f"calls_make.py: no argument for {kind} {name} of {function}")


def parameters(text):
    for parameter in text.split(","):
        kind, name = re.fullmatch(r"\s*(.*?)(\w+)\s*", parameter, flags=re.DOTALL).groups()
        yield re.sub(r"\s*(\*+)$", r" \1", re.sub(r"\s+", " ", kind.strip())), name


def main():
    output, *headers = sys.argv[1:]
    code = re.sub(r"/\*.*?\*/", "", "".join(pathlib.Path(header).read_text() for header in headers), flags=re.DOTALL)
    enums = set(re.findall(r"typedef enum (parapet_\w+) \{", code))
    structs = set(re.findall(r"typedef struct (parapet_\w+) \{", code))
    functions = re.findall(r"^PARAPET_API ([^(]*?)(parapet_\w+)\(([^)]*)\);", code, flags=re.MULTILINE)
    lines, rows = ['#include "calls_table.h"', ""], []
    for result, name, text in functions:
        values = [] if text.strip() == "void" else [argument(name, kind, word, enums, structs)
                                                    for kind, word in parameters(text)]
        call = f"{name}({', '.join(values)})"
        is_on_store = any(ON_STORE.search(value) for value in values)
        lines += [f"static parapet_status call_{name[8:]}(bed *all)", "{", "    (void)all;"]
        has_status = result.strip() == "parapet_status"
        lines += [f"    return {call};"] if has_status else [f"    (void){call};", "    return PARAPET_OK;"]
        lines += ["}", ""]
        rows.append(f'    {{"{name}", call_{name[8:]}, {int(is_on_store)}, {int(has_status)}}},')
    lines += ["const row rows[] = {", *rows, "};", "", "const int row_count = sizeof rows / sizeof rows[0];", ""]
    pathlib.Path(output).write_text("\n".join(lines))


main()
