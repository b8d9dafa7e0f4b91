"""The faults: what is changed where, and which tests are to find it out."""
from invariants import INVARIANTS


def power(form, count):
    return {"name": f"power_{form}", "links": [],
            "run": ["python3", "ROOT/tests/power/test_power.py", form, str(count), "BUILD/tests/power", "LAUNCHER"]}


def flush():
    return {"name": "fault_checkpoint_flush", "links": [],
            "run": ["python3", "ROOT/tests/fault/test_checkpoint_flush.py", "BUILD/tests/fault/checkpoint_ranks",
                    "LAUNCHER", "11", "BUILD/tests/harness/libharness_kill_shim.so"]}


def launched(noun, ranks, *arguments):
    return {"name": f"parallel_{noun}", "links": [],
            "run": ["LAUNCHER", "-n", str(ranks), f"BUILD/tests/parallel/parallel_{noun}", *arguments]}


POINTS = {"name": "fault_checkpoint_points", "links": ["tests/fault/fault_checkpoint_points"],
          "run": ["SCRATCH/fault_checkpoint_points", "quick"]}
SERIES = {"name": "unit_series_steps", "links": ["tests/unit_series_steps"], "run": ["SCRATCH/unit_series_steps"]}
SERIES_FAULTS = {"name": "parallel_series_faults", "links": ["tests/parallel/parallel_series_faults"],
                 "run": ["LAUNCHER", "-n", "3", "SCRATCH/parallel_series_faults", "97"]}
STATES = power("states", 200)
FLUSH = flush()
CHECKPOINT = launched("checkpoint", 3)
RACES = launched("commit_races", 3, "1000")
TAKING = {"name": "unit_comm_stealing", "links": ["tests/unit_comm_stealing"], "run": ["SCRATCH/unit_comm_stealing"]}
TAKEN = {"name": "parallel_stealing", "links": ["tests/parallel/parallel_stealing"],
         "run": ["LAUNCHER", "-n", "4", "SCRATCH/parallel_stealing"]}
SETTLE = {"name": "parallel_sync_dirs", "links": ["tests/parallel/parallel_sync_dirs"],
          "run": ["LAUNCHER", "-n", "4", "SCRATCH/parallel_sync_dirs"]}


def taken(noun, *arguments):
    """A suite in which one server is slow, and others take shards from it."""
    return {"name": f"parallel_{noun}, taking", "links": [f"tests/parallel/parallel_{noun}"],
            "run": ["env", "PARAPET_TEST_STRATEGY=taking", "LAUNCHER", "-n", "4", f"SCRATCH/parallel_{noun}", *arguments]}


COUNTS = {"name": "parallel_counts", "links": ["tests/parallel/parallel_counts"],
          "run": ["LAUNCHER", "-n", "4", "SCRATCH/parallel_counts"]}

LOST = {"file": "src/transfer/thief.c",
        "from": "    pp_supply_begin(&transfer->supply, &transfer->view->list);\n    return PARAPET_OK;",
        "to": "    pp_supply_begin(&transfer->supply, &transfer->view->list);\n"
              "    (void)pp_supply_next(&transfer->supply, &bytes, &end);\n    return PARAPET_OK;"}

COMMITS, CHECKPOINTS = "src/checkpoint/commits.c", "src/checkpoint/checkpoint.c"

MUTANTS = INVARIANTS + [
    {"name": "a file is not flushed", "file": "src/store/posix_stream.c", "tests": [FLUSH, STATES],
     "from": "if (stream->is_durable && fsync(stream->descriptor) != 0)",
     "to": "if (0 && stream->is_durable && fsync(stream->descriptor) != 0)"},
    {"name": "a failed flush is tried again", "file": "src/store/posix_stream.c", "tests": [FLUSH],
     "from": "if (stream->is_durable && fsync(stream->descriptor) != 0)",
     "to": "if (stream->is_durable && fsync(stream->descriptor) != 0 && fsync(stream->descriptor) != 0)"},
    {"name": "directories are not flushed", "file": "src/store/posix_dirty.c", "tests": [FLUSH, STATES],
     "from": "if (fsync(descriptor) != 0 && errno != EINVAL)",
     "to": "if (0 && fsync(descriptor) != 0 && errno != EINVAL)"},
    {"name": "directories are not flushed for others", "file": "src/transfer/sync_dirs.c", "tests": [FLUSH, STATES],
     "from": "        pp_failure_take(&job.failure, pp_store_sync_taken_dirs(store));\n",
     "to": "        pp_failure_take(&job.failure, PARAPET_OK);\n"},
    {"name": "a directory is dealt to nobody", "file": "src/transfer/sync_dirs.c", "tests": [FLUSH, STATES],
     "from": "    while (*bytes == 0 && job->turn < job->server_count) {",
     "to": "    while (*bytes == 0 && job->turn < job->server_count - 1) {"},
    {"name": "another mount is taken for one's own", "file": "src/comm/topology.c", "tests": [SETTLE],
     "from": "    pp_call_add(&way, place, 2 * sizeof *place);\n", "to": "    (void)place;\n"},
    {"name": "a rank without a server flushes nothing", "file": "src/transfer/sync_dirs.c", "tests": [SETTLE],
     "from": "    if (job.server_count == 0)\n        keep_prefixes(&job);\n",
     "to": "    if (0)\n        keep_prefixes(&job);\n"},
    {"name": "most servers flush nothing", "file": "src/transfer/sync_dirs.c", "tests": [SETTLE],
     "from": "    return (int)((sum >> 32) % (uint64_t)job->server_count);",
     "to": "    return (int)(sum % 2 % (uint64_t)job->server_count);"},
    {"name": "only who failed to flush knows", "file": "src/transfer/sync_dirs.c", "tests": [SETTLE],
     "from": "        if (told == HAS_FAILED)\n            pp_store_fail", "to": "        if (0)\n            pp_store_fail"},
    {"name": "a rename that failed is taken for a flush", "file": "src/transfer/sync_dirs.c", "tests": [SETTLE],
     "from": "        if (told == HAS_FAILED)\n            pp_store_fail", "to": "        if (1)\n            pp_store_fail"},
    {"name": "what is not durable is forgotten", "file": "src/transfer/sync_dirs.c", "tests": [COUNTS, SETTLE],
     "from": "    if (status != PARAPET_OK) {\n        if (told", "to": "    if (status != PARAPET_OK) {\n        pp_store_forget_unsynced_dirs(store);\n        if (told"},
    {"name": "the parent of a new directory is not flushed", "file": "src/store/posix_directory.c",
     "tests": [FLUSH, STATES],
     "from": "        return mark_made(store, marked, is);",
     "to": "        return pp_free(marked), PARAPET_OK;"},
    {"name": "the commit record is not settled", "file": COMMITS, "tests": [FLUSH, STATES],
     "from": "if (status == PARAPET_OK && (status = pp_store_sync_dirs(pp_store_backend(store))) =="
             " PARAPET_OK)\n        status = check_not_overtaken",
     "to": "if (status == PARAPET_OK)\n        status = check_not_overtaken"},
    {"name": "the record is committed before the group's document", "file": CHECKPOINTS, "tests": [POINTS],
     "from": "    parapet_status status = write_group(checkpoint);\n    if (status == PARAPET_OK)\n"
             "        status = publish_record(checkpoint, &is_certain);\n",
     "to": "    parapet_status status = publish_record(checkpoint, &is_certain);\n"
           "    if (status == PARAPET_OK)\n        status = write_group(checkpoint);\n"},
    {"name": "older generations go before the commit", "file": CHECKPOINTS, "tests": [POINTS],
     "from": "    parapet_status status = write_group(checkpoint);\n",
     "to": "    parapet_status status;\n    checkpoint->keep -= 1;\n    tidy_up(checkpoint);\n"
           "    checkpoint->keep += 1;\n    status = write_group(checkpoint);\n"},
    {"name": "a generation's data goes before its record", "file": COMMITS, "tests": [POINTS],
     "from": "    if (status == PARAPET_OK && (status = pp_store_remove(pp_store_backend(store), key)) =="
             " PARAPET_ERR_NOT_FOUND)\n        status = PARAPET_OK;\n    if (status == PARAPET_OK && (status ="
             " pp_store_sync_dirs(pp_store_backend(store))) == PARAPET_OK &&\n        loaded == PARAPET_OK)\n"
             "        status = erase(store, path, commit.group, &commit);\n",
     "to": "    if (status == PARAPET_OK && loaded == PARAPET_OK)\n        status = erase(store, path,"
           " commit.group, &commit);\n    if (status == PARAPET_OK && (status = pp_store_remove(pp_store_backend(store),"
           " key)) == PARAPET_ERR_NOT_FOUND)\n        status = PARAPET_OK;\n    if (status == PARAPET_OK)\n"
           "        status = pp_store_sync_dirs(pp_store_backend(store));\n"},
    {"name": "what may be committed is erased", "file": CHECKPOINTS, "tests": [POINTS],
     "from": "    if (is_certain) {\n", "to": "    if (is_certain || status != PARAPET_OK) {\n"},
    {"name": "the record replaces another", "file": COMMITS, "tests": [RACES],
     "from": "text->data, text->bytes, PP_PUBLISH_EXCLUSIVE);", "to": "text->data, text->bytes, PP_PUBLISH_REPLACE);"},
    {"name": "the record's checksum is not compared", "file": "src/zarr/commit_record.c",
     "tests": [{"name": "unit_zarr_commit_record", "links": ["tests/unit_zarr_commit_record"], "run": ["SCRATCH/unit_zarr_commit_record"]}],
     "from": "    if (memcmp(rest->end, expected, line_bytes) != 0)",
     "to": "    if (0 && memcmp(rest->end, expected, line_bytes) != 0)"},
    {"name": "shards are not verified", "file": "src/checkpoint/restore.c", "tests": [CHECKPOINT],
     "from": "            status = pp_arrays_verify(restore->arrays, count);", "to": "            status = PARAPET_OK;"},
    {"name": "the group's document is not compared", "file": "src/checkpoint/restore.c", "tests": [CHECKPOINT],
     "from": "        compare_document(&node, restore->group_path, restore->commit.document) != PARAPET_OK)",
     "to": "        0 && compare_document(&node, restore->group_path, restore->commit.document) != PARAPET_OK)"},
    {"name": "a row in doubt is not announced", "file": "src/series/commit.c", "tests": [SERIES],
     "from": "    if (status != PARAPET_OK || !told->is_uncertain)",
     "to": "    if (1 || status != PARAPET_OK || !told->is_uncertain)"},
    {"name": "a step is committed before its shards", "file": "src/series/row.c", "tests": [SERIES],
     "from": "(status = pp_series_announce(series, series->steps, true)) == PARAPET_OK)\n"
             "        status = write_kept(series);",
     "to": "(status = pp_series_announce(series, series->steps, true)) == PARAPET_OK &&\n        (status ="
           " pp_series_commit(series)) == PARAPET_OK)\n        status = write_kept(series);"},
    {"name": "only the rank that failed cuts its log", "file": "src/series/arena.c", "tests": [SERIES_FAULTS],
     "from": "    if ((status = pp_comm_agree(pp_store_comm(series->store), \"staging a step\",\n"
             "                                append_step(series, step, measure))) != PARAPET_OK)\n",
     "to": "    parapet_status own = append_step(series, step, measure);\n    if ((status ="
           " pp_comm_agree(pp_store_comm(series->store), \"staging a step\", own)) != PARAPET_OK &&"
           " own != PARAPET_OK)\n"},
    {"name": "a row that failed to be published is given up", "file": "src/array/part_calls.c",
     "tests": [SERIES_FAULTS],
     "from": "            list[i].array->is_broken = false;", "to": "            *shards_written += 0;"},
    {"name": "taking: a question is answered although one is being given to", "file": "src/comm/stealing.c",
     "tests": [TAKING],
     "from": "    if (with->state != GIFT_NONE || taking->waiting_count == 0 || ",
     "to": "    if (taking->waiting_count == 0 || "},
    {"name": "taking: the description is sent before its receive is posted", "file": "src/comm/stealing.c",
     "tests": [TAKING],
     "from": "with->state = with->bytes > 0 ? GIFT_OFFERED : GIFT_NONE;",
     "to": "with->state = with->bytes > 0 ? GIFT_ACCEPTED : GIFT_NONE;"},
    {"name": "taking: the description is used again before it has left", "file": "src/comm/stealing.c",
     "tests": [TAKING],
     "from": "if (with->state == GIFT_SENT && is_over(taking, &with->move)) {",
     "to": "if (with->state == GIFT_SENT) {"},
    {"name": "taking: an answer is written over the one before", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": " || taking->waiting_count == 0 || !is_over(taking, &with->answer.request))",
     "to": " || taking->waiting_count == 0)"},
    {"name": "taking: work is given although the transfer fails", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": "with->bytes = pp_endpoint_is_aborted(taking->endpoint)\n", "to": "with->bytes = 0\n"},
    {"name": "taking: a rank asks although the transfer fails", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": " &&\n           !pp_endpoint_is_aborted(taking->endpoint);", "to": ";"},
    {"name": "taking: a rank that is told nothing asks for ever", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": "        taking->refusal_count++;\n", "to": ""},
    {"name": "taking: what arrives is used before it is there", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": "    case WISH_COMING:\n        if (!is_over(taking, &with->move))\n            return false;\n",
     "to": "    case WISH_COMING:\n"},
    {"name": "taking: a question is dropped", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": "    learn(taking, server, 0);\n    learn(taking, (int)control->of.words[WORD_RICHEST], "
             "control->of.words[WORD_RICHEST_LEFT]);\n}\n\nstatic void take_refusal",
     "to": "    if (taking->waiting_count > 2)\n        taking->waiting_count--;\n}\n\nstatic void take_refusal"},
    {"name": "taking: a rank joins while it is about to ask", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": "    return taking->state != PP_STEALING_ASKS && taking->wish.state == WISH_NONE",
     "to": "    return taking->wish.state == WISH_NONE"},
    {"name": "taking: a rank asks itself", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": "    distance = 1 + (distance - 1) % (taking->server_count - 1);\n", "to": ""},
    {"name": "taking: memory is freed while a message uses it", "file": "src/comm/stealing.c", "tests": [TAKING],
     "from": "    return pp_stealing_is_idle(taking) && is_over(taking, &taking->gift.answer.request) &&",
     "to": "    return pp_stealing_is_idle(taking) || is_over(taking, &taking->gift.answer.request) ||"},
    {"name": "taking: a shard stays with its giver", "file": "src/transfer/supply.c", "tests": [TAKEN],
     "from": "        supply->end = *first;\n", "to": ""},
    {"name": "taking: a claim of a shard is not described", "file": "src/transfer/stolen.c", "tests": [TAKEN],
     "from": "words[HEAD_CLAIMS] = (int64_t)(behind - first);",
     "to": "words[HEAD_CLAIMS] = (int64_t)(behind - first);\n        behind -= behind - first > 1;"},
    {"name": "taking: nobody ever gives", "file": "src/plan/surplus.c", "tests": [TAKEN],
     "from": "    return count;", "to": "    return 0;"},
    {"name": "strategies: a shard that was taken is lost, cancel", "tests": [taken("cancel", "funneled")], **LOST},
    {"name": "strategies: a shard that was taken is lost, leaks", "tests": [taken("leaks")], **LOST},
    {"name": "strategies: a shard that was taken is lost, faults", "tests": [taken("one_rank_fails", "quick", "arrays_write")],
     **LOST},
    {"name": "strategies: a shard that was taken is lost, two jobs", **LOST,
     "tests": [{"name": "two_jobs, taking", "links": ["tests/two_jobs/two_jobs"],
                "run": ["env", "PARAPET_TEST_STRATEGY=taking", "python3", "ROOT/tests/two_jobs/test_two_jobs.py",
                        "SCRATCH/two_jobs", "LAUNCHER", "1", "0", "0", "61"]}]},
    {"name": "strategies: questions of others are not freed", "file": "src/comm/stealing.c", "tests": [taken("leaks")],
     "from": "    pp_free(taking->waiting);\n", "to": ""},
    {"name": "strategies: who is asked may take for ever", "file": "src/transfer/event_loop.c", "tests": [taken("deadline", "full")],
     "from": " || (drive->taking != NULL && !pp_stealing_is_idle(drive->taking));", "to": ";"},
]
