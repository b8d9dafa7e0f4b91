"""The faults that break an invariant of docs/design/change.md: "<number>: what is wrong"."""

COPIED = ("int old = openat(from, self->temporary.name, O_RDONLY), "
          "new = openat(to, place.name, O_WRONLY | O_CREAT | O_TRUNC, 0666); "
          "result = new < 0 || copy_file_range(old, NULL, new, NULL, 1 << 20, 0) < 0; (void)close(old); (void)close(new);")


def unit(name):
    return {"name": f"unit_{name}", "links": [f"tests/unit_{name}"], "run": [f"SCRATCH/unit_{name}"]}


def points(what):
    return {"name": f"fault_{what}_points", "links": [f"tests/fault/fault_{what}_points"],
            "run": [f"SCRATCH/fault_{what}_points", "quick"]}


APPEND, APPENDS, CHANGE = points("append"), unit("copy_append"), unit("change_change_record")
STEPS, REPAIR = "src/copy/append_steps.c", "src/copy/append_repair.c"
ANNOUNCEMENT = "src/array/announcement.c"

BROKEN = [
    {"name": "1: an object is written again where it is", "file": "src/store/posix_writer.c",
     "tests": [unit("store_posix")],
     "from": "    result = mode == PP_PUBLISH_EXCLUSIVE ? pp_posix_rename_exclusive(from, self->temporary.name, to, place.name)\n"
             "                                          : renameat(from, self->temporary.name, to, place.name);\n",
     "to": "    if (mode == PP_PUBLISH_EXCLUSIVE) {\n"
           "        result = pp_posix_rename_exclusive(from, self->temporary.name, to, place.name);\n"
           "    } else {\n        " + COPIED + "\n    }\n"},
    {"name": "2: elements are written before the append is announced", "file": STEPS, "tests": [APPEND],
     "from": "    status = pp_comm_agree(comm, \"appending\",\n"
             "                           pp_append_leads(append) ? pp_announcement_publish(&place, &append->change) : PARAPET_OK);\n"
             "    if (status != PARAPET_OK)\n        return give_up_announcing(append, status);\n"
             "    if ((status = write_elements(append)) == PARAPET_OK)\n",
     "to": "    if ((status = write_elements(append)) == PARAPET_OK)\n"
           "        status = pp_comm_agree(comm, \"appending\", pp_append_leads(append) ? "
           "pp_announcement_publish(&place, &append->change) : PARAPET_OK);\n    if (status == PARAPET_OK)\n"},
    {"name": "3: a record takes the place of another", "file": ANNOUNCEMENT, "tests": [APPENDS],
     "from": "pp_own_object_write(&object, text->data, text->bytes, PP_PUBLISH_EXCLUSIVE);",
     "to": "pp_own_object_write(&object, text->data, text->bytes, PP_PUBLISH_REPLACE);"},
    {"name": "3: the record of another change is removed", "file": ANNOUNCEMENT, "tests": [APPENDS],
     "from": "(status = is_own(place, change, &is_ours)) != PARAPET_OK || !is_ours)\n        return status;\n"
             "    return pp_own",
     "to": "(status = is_own(place, change, &is_ours)) != PARAPET_OK)\n        return status;\n    return pp_own"},
    {"name": "3: a record is removed although the lock is lost", "file": ANNOUNCEMENT, "tests": [APPENDS],
     "from": "    if ((status = pp_node_lock_prove(place->lock)) != PARAPET_OK ||\n        (status = is_own",
     "to": "    if ((status = is_own"},
    {"name": "4: recovery goes on although the arrays are not what was left", "file": REPAIR, "tests": [APPENDS],
     "from": "\"repairing\", check_arrays(append));", "to": "\"repairing\", (check_arrays(append), PARAPET_OK));"},
    {"name": "5: the coordinate becomes longer first", "file": STEPS, "tests": [APPEND],
     "from": "    parapet_array *target = append->growing.targets[array];\n",
     "to": "    parapet_array *target = append->growing.targets[append->growing.count - 1 - array];\n"},
    {"name": "6: what was published is not undone when the rest fails", "file": STEPS, "tests": [APPEND],
     "from": "!pp_comm_is_lost(pp_append_comm(append)) && pp_append_undo(append) != PARAPET_OK)",
     "to": "!pp_comm_is_lost(pp_append_comm(append)))"},
    {"name": "7: opening a series makes an array longer", "file": "src/series/uncommitted.c",
     "tests": [unit("series_uncommitted")],
     "from": "    if (steps != committed && !pp_row_records_explain",
     "to": "    if (steps > committed && !pp_row_records_explain"},
    {"name": "7: a step is committed before the arrays have it", "file": "src/series/commit.c",
     "tests": [unit("series_steps")],
     "from": "    for (i = 0; i <= series->count && status == PARAPET_OK; i++)\n"
             "        status = pp_array_write_document(series->arrays[i], PP_PUBLISH_REPLACE);\n",
     "to": "    if (status == PARAPET_OK)\n        status = pp_series_write_group(series, series->steps, NULL);\n"
           "    for (i = 0; i <= series->count && status == PARAPET_OK; i++)\n"
           "        status = pp_array_write_document(series->arrays[i], PP_PUBLISH_REPLACE);\n"},
    {"name": "8: an array with another document is cut", "file": "src/change/change_record.c", "tests": [CHANGE],
     "from": "change->after == length &&\n           strcmp(change->documents[array], digest) == 0;",
     "to": "change->after == length;"},
    {"name": "8: the coordinate is cut", "file": REPAIR, "tests": [APPENDS],
     "from": "(number < append->change.count - 1 &&", "to": "(number < append->change.count &&"},
    {"name": "9: a move that a crash cut short is not completed", "file": "src/store/posix_writer.c",
     "tests": [unit("store_move")],
     "from": "    if (is_same_file(wanted->from, old.name, to, new.name) &&", "to": "    if (0 &&"},
    {"name": "9: outer groups are recovered before inner ones", "file": "src/checkpoint/collect.c",
     "tests": [unit("checkpoint_collect")],
     "from": "for (i = pp_word_list_count(&self->found); i-- > 0 && !pp_comm_is_lost(pp_store_comm(self->store));) {",
     "to": "for (i = 0; i < pp_word_list_count(&self->found) && !pp_comm_is_lost(pp_store_comm(self->store)); i++) {"},
    {"name": "10: all that lies in an array is removed with it", "file": "src/array/remove_node.c",
     "tests": [unit("array_replaced")],
     "from": "    return document != NULL ? pp_key_parse(&document->keys, document->ndim, key, cell) : is_ordinary_key(key);",
     "to": "    return true || pp_key_parse(&document->keys, document->ndim, key, cell) || is_ordinary_key(key);"},
    {"name": "10: an array's shards are looked for in other nodes", "file": "src/array/walk.c",
     "tests": [unit("array_replaced")],
     "from": ".context = context, .is_alone = true};", "to": ".context = context};"},
    {"name": "11: a record is believed that would be printed differently", "file": "src/change/change_record.c",
     "tests": [CHANGE],
     "from": "    if (status == PARAPET_OK && strcmp(text, again.data) != 0)", "to": "    if (0)"},
    {"name": "11: the paths of a record may lead anywhere", "file": "src/change/change_record.c", "tests": [CHANGE],
     "from": "\"array: \")) != NULL && pp_path_check(value) == PARAPET_OK)", "to": "\"array: \")) != NULL)"},
    {"name": "12: an array grows while there is a record", "file": "src/array/change.c", "tests": [APPEND],
     "from": "    parapet_status status = pp_announcement_refuse_above(array->store, array->path);\n",
     "to": "    parapet_status status = PARAPET_OK;\n"},
    {"name": "12: the record goes before what it tells of", "file": "src/change/registry.c",
     "tests": [unit("checkpoint_store_remove")],
     "from": "\"an append\", PP_OWN_GC_RECOVER, PP_OWN_END_WITH_NODE,",
     "to": "\"an append\", PP_OWN_GC_RECOVER, PP_OWN_END_FIRST,"},
    {"name": "13: what is opened for reading is collected", "file": "src/checkpoint/collect.c",
     "tests": [unit("checkpoint_collect")],
     "from": "self->is_dry || (status = pp_store_check_writable(self->store)) != PARAPET_OK)", "to": "self->is_dry)"},
    {"name": "14: a directory is flushed again after a failure", "file": "src/store/posix_dirty.c",
     "tests": [unit("store_posix")],
     "from": "        if (store->failed_flush.status == PARAPET_OK)\n", "to": "        store->failed_flush.status = PARAPET_OK;\n"},
    {"name": "15: whoever holds SHORT waits for LONG", "file": "src/array/bulk_create.c",
     "tests": [unit("array_bulk_create")],
     "from": "pp_node_locks_try(&hold, &wish);", "to": "pp_node_locks_take(&hold, &wish);"},
]

INVARIANTS = [{**mutant, "name": "invariant " + mutant["name"]} for mutant in BROKEN]
