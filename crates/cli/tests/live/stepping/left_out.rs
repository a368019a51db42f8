//! Fixtures that are not walked from `Main` to their end, and why.

/// Not walked, and why.
pub(super) const LEFT_OUT: &[(&str, &str)] = &[
    ("async_ends", "fails or waits, and nothing else"),
    ("async_thrown", "fails, and nothing else"),
    ("async_work", "what it runs on other threads is not walked"),
    ("stack_overflows", "fails, and nothing else"),
    (
        "step_braces",
        "not every compiler says where its lambdas end",
    ),
    ("names_told", "its finalizers run on a thread of their own"),
    ("step_forgotten", "its Main looks again and again"),
    ("threads_busy", "does not end"),
    ("bp_dissolved", "has no statement that others have not"),
    (
        "step_taken_failed",
        "it has two threads, of which either may come first",
    ),
    (
        "values_large",
        "its collections are too large to be gone through",
    ),
    ("exceptions_old", "fails, and nothing else"),
    ("values_old", "what values_collections has, which is walked"),
    ("values_endless", "its loops have a hundred thousand rounds"),
    (
        "expressions_large",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_messages",
        "straight lines, as expressions_culture has them, which is walked",
    ),
    (
        "expressions_million",
        "its collections have a million elements",
    ),
    (
        "values_kept",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_floats_release",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_damaged",
        "has references that lead to no objects, and large ones made for a collection",
    ),
    (
        "async_stacks_release",
        "its Main ends while a thread of the pool is stepped",
    ),
    ("bench_dap", "never ends"),
    ("bench_modules", "never ends"),
    ("bench_start", "never ends"),
    ("bench_stops", "never ends"),
    ("bench_values", "never ends"),
    (
        "bp_called_threads",
        "its threads run at the same time: breakpoints_threads steps them",
    ),
    (
        "bp_many_modules",
        "loads modules by their names; breakpoints_modules runs it",
    ),
    (
        "bp_dying_threads",
        "its threads come and go: how often is not the same twice",
    ),
    ("bp_plugin", "has no Main: bp_plugins runs it"),
    (
        "bp_interfaces_declared",
        "has no Main: bp_interfaces calls it",
    ),
    ("bp_interfaces_late", "has no Main: bp_interfaces calls it"),
    (
        "bp_merged",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "bp_joined",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "bp_entered",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "bp_release",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "step_callbacks",
        "polls: how often is not the same twice; stepping::taken steps it",
    ),
    (
        "step_items",
        "polls: how often is not the same twice; stepping::items steps it",
    ),
    (
        "step_gone",
        "its threads end while they are stepped; stepping::control steps it",
    ),
    (
        "extension_members",
        "C# 14, which not every compiler knows: csharp14 steps it",
    ),
    (
        "values_accessors",
        "C# 14, which not every compiler knows: csharp14 sets its properties",
    ),
    ("demo_hang", "hangs on purpose"),
    ("lock_hang", "hangs on purpose"),
    ("waits_framework", "waits for ever"),
    (
        "step_ends",
        "its threads are stepped to their ends by live_mcp",
    ),
    (
        "desk",
        "editors look at it, and a task's thread runs its end",
    ),
    (
        "exceptions_origin",
        "throws in one method after the other: live_mcp::exceptions reads where",
    ),
    (
        "eval_names",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_early",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_hidden",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_hidden_types",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_checked",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_suspended",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "expressions_scope",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_around",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_asked",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_again",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_completed",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_conditions",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_contained",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_cultures",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_fresh",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_functions",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_invoked",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_letters",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_named",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "values_fixed",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_into",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_numbers",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_open",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_parts",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_slots",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_own",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_shown",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_imported",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "values_slow",
        "has no statement that others have not; live_values looks at its values",
    ),
    (
        "expressions_clones",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_culture",
        "has no statement that others have not; live_expressions stops in it",
    ),
    (
        "expressions_codeless",
        "declares methods without code: live_expressions is refused them",
    ),
    (
        "calls_while_begun",
        "its threads wait for each other; live_expressions runs code in it",
    ),
    (
        "calls_while_compiling",
        "has no statement that others have not; live_mcp stops in it",
    ),
    (
        "exceptions_awaited_which",
        "exceptions_awaited reads what becomes of what it throws",
    ),
    (
        "exceptions_framework",
        "exceptions_awaited reads what becomes of what it throws",
    ),
    (
        "exceptions_native",
        "has no statement that others have not; exceptions_told reads what it throws",
    ),
    ("exceptions_heard", "waits for others to end it"),
    (
        "exceptions_awaited",
        "its threads wait for each other; exceptions_awaited reads what it throws",
    ),
    (
        "exceptions_helpers",
        "has no statement that others have not; exceptions_told reads what it throws",
    ),
    (
        "exceptions_any",
        "polls, and its threads come and go: how often is not the same twice",
    ),
    ("left_alone", "never ends"),
    ("library", "has no Main: uses_library runs it"),
    ("loops", "never ends"),
    ("metadata_members", "has no Main"),
    (
        "step_late",
        "polls: how often is not the same twice; stepping::awaits steps it",
    ),
    (
        "step_targets",
        "its statements are gone back to; stepping::targets steps it",
    ),
    (
        "step_work",
        "its loops are shared by threads, not the same way twice; stepping::combined steps it",
    ),
    (
        "step_combined",
        "spins: how often is not the same twice; stepping::combined steps it",
    ),
    (
        "step_fails",
        "does the same twenty times; stepping::resumed steps it",
    ),
    (
        "step_builder",
        "what its builder does races; stepping::own_awaiters steps it",
    ),
    (
        "step_builder_bare",
        "what its builder does races; stepping::own_awaiters steps it",
    ),
    (
        "step_chosen",
        "polls: how often is not the same twice; stepping::taken steps it",
    ),
    (
        "step_unwrapped",
        "polls: how often is not the same twice; stepping::awaits steps it",
    ),
    (
        "step_taken",
        "spins: how often is not the same twice; stepping::taken steps it",
    ),
    ("metadata_types", "has no Main"),
    (
        "metadata_bench",
        "a tool of the tests, not a program to debug",
    ),
    (
        "metadata_oracle",
        "a tool of the tests, not a program to debug",
    ),
    (
        "expressions_calls",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_changes",
        "writes into a file that its test names",
    ),
    (
        "expressions_code",
        "spins until another thread has made a collection",
    ),
    (
        "expressions_compiler",
        "made by a tool: one method of thousands of lines",
    ),
    (
        "expressions_corners",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_dynamic",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_bound",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_throws",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_forms",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_late",
        "its conditions are what it is for: live_expressions sets them",
    ),
    (
        "expressions_missing",
        "has no statement that others have not; live_expressions calls its methods",
    ),
    (
        "expressions_generic",
        "has no statement that others have not; live_expressions looks at its variables",
    ),
    (
        "expressions_unlinked",
        "its conditions are what it is for: live_expressions sets them",
    ),
    (
        "expressions_places",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_referring",
        "stops where expressions are evaluated: live_expressions asks them",
    ),
    (
        "expressions_pure",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_taken",
        "computes one expression after the other: live_expressions compares them",
    ),
    (
        "expressions_sequences",
        "computes one expression after the other: live_expressions compares them",
    ),
    ("spin_optimized", "never ends"),
    ("terminal", "waits for input: live_repl steps it"),
    (
        "web",
        "its server ends when its connections do, which is not always soon",
    ),
    (
        "step_crowd",
        "a hundred invocations in any order: stepping::awaits follows one",
    ),
    (
        "step_crowd_optimized",
        "a hundred invocations in any order: stepping::awaits follows one",
    ),
    (
        "values_kinds",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_pointers",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_moved",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_behind",
        "has no statement that others have not; live_mcp looks at its variables",
    ),
    (
        "values_untouched",
        "has no statement that others have not; live_mcp looks at its variables",
    ),
    (
        "values_resumed",
        "has no statement that others have not; live_mcp looks at its variables",
    ),
    (
        "values_messages",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_lies",
        "its collections are damaged; live_values looks at them",
    ),
    (
        "values_reached",
        "has no statement that others have not; live_values sets its variables",
    ),
    (
        "declared",
        "has no statement that others have not; live_mcp asks for its types",
    ),
    (
        "calls_others",
        "its threads wait for each other; live_expressions evaluates in it",
    ),
    (
        "values_emitted",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_lost",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_shared",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_unused",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "expressions_dispatch",
        "has no statement that others have not; live_expressions reads its properties",
    ),
    (
        "values_declared",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_indexed",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_meant",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_odd",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_left",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_ranges",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_addresses",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "declared_generic",
        "has no statement that others have not; live_mcp looks at its types",
    ),
    (
        "values_unsaid",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_yields",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_compared",
        "has no statement that others have not; live_mcp compares its variables",
    ),
    (
        "values_taken_over",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_one_field",
        "has no statement that others have not; live_values looks at its variables",
    ),
    (
        "values_unkept",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_replaced",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_optimised",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "values_floats",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "optimized_awaits",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "optimized_enumerated",
        "is optimised: what it is for is stepped through in tiered",
    ),
    (
        "optimized_callbacks",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "optimized_calls",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "tiered_blocks",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "tiered_throws",
        "is optimised: what its code still has differs between runtimes",
    ),
    (
        "out_of_filters",
        "is about steps out: returning.rs makes them",
    ),
];
