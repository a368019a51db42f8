//! Breakpoints on lines: columns, lines without code, paths, source files that changed.

use host::api::{
    BreakpointSpec, BreakpointState, Details, ErrorCode, Place, Reply, Request, SourceMap,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{
    at_function, at_line, at_marker, at_text, here, hit, line, lines, list, set,
};

const FIXTURE: &str = "bp_lines";

fn launched<'s>(sandbox: &'s Sandbox, specs: &[BreakpointSpec]) -> Debuggee<'s> {
    let specs = specs.to_vec();
    sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = specs)
        .start()
}

/// Runs to the end and returns how often each breakpoint was hit.
fn all_hits(program: &Debuggee<'_>) -> Vec<u64> {
    while program.settle().exit.is_none() {
        program.cont();
    }
    list(program).iter().map(|it| it.hits).collect()
}

#[test]
fn columns_choose_a_statement_or_a_lambda_of_the_line() {
    let sandbox = Sandbox::new();
    let program = launched(
        &sandbox,
        &[
            at_text(FIXTURE, "several", "b = 2"),
            at_text(FIXTURE, "several", "a += b"),
            at_text(FIXTURE, "lambda", "x * x"),
            at_marker(FIXTURE, "lambda"),
            at_text(FIXTURE, "multi_end", "squares"),
        ],
    );
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, hit(1));
    let at = list(&program)[0].locations[0]
        .source
        .as_ref()
        .and_then(|it| it.column);
    let Place::Line { column, .. } = at_text(FIXTURE, "several", "int b").place else {
        unreachable!("a line")
    };
    assert_eq!(at, column);
    assert_eq!(all_hits(&program), [1, 1, 3, 1, 1]);
    let note = &list(&program)[3].notes[0];
    assert!(note.contains("give the column"), "{note}");
    assert_eq!(lines(&list(&program)[4]), [line(FIXTURE, "multi")]);
}

#[test]
fn wrong_columns_list_the_statements_of_the_line() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    let marker = Fixture::named(FIXTURE).marker("several");
    let spec = at_line(&marker.file.display().to_string(), marker.line, Some(200));
    let error = program
        .request(Request::SetBreakpoint(spec))
        .expect_err("no such column");
    assert_eq!(error.code, ErrorCode::InvalidColumn);
    let Some(Details::AvailablePoints(points)) = error.details.as_deref() else {
        panic!("{error:#?}")
    };
    let texts: Vec<_> = points.iter().filter_map(|it| it.text.as_deref()).collect();
    assert_eq!(texts, ["int a = 1;", "int b = 2;", "a += b;"]);
    assert!(
        points
            .iter()
            .all(|it| (it.start_line, it.end_line) == (marker.line, marker.line))
    );
    assert_eq!(points[1].start_column, points[0].end_column + 1);
    // In the body of a lambda the statement that the lambda is written in is not meant.
    let returns = line(FIXTURE, "inner_end") + 1;
    let spec = at_line(&marker.file.display().to_string(), returns, Some(200));
    let error = program.request(Request::SetBreakpoint(spec));
    let error = error.expect_err("no such column");
    let Some(Details::AvailablePoints(points)) = error.details.as_deref() else {
        panic!("{error:#?}")
    };
    let texts: Vec<_> = points.iter().filter_map(|it| it.text.as_deref()).collect();
    assert_eq!(texts, ["return y;"]);
    assert!(list(&program).is_empty(), "what was refused is not kept");
}

#[test]
fn lines_without_code_move_on_in_the_method_or_name_the_nearest() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    let (moved, _) = set(&program, at_marker(FIXTURE, "comment"));
    assert_eq!(lines(&moved), [line(FIXTURE, "multi")]);
    let reason = moved.reason.expect("it moved");
    assert!(
        reason.contains(&format!("moved to line {}", line(FIXTURE, "multi"))),
        "{reason}"
    );
    // In the middle of a statement of a lambda, which is in the middle of another statement.
    let (inner, _) = set(&program, at_marker(FIXTURE, "inner_end"));
    assert_eq!(lines(&inner), [line(FIXTURE, "inner")]);
    let marker = Fixture::named(FIXTURE).marker("nothing");
    let file = marker.file.display().to_string();
    let error = program
        .request(Request::SetBreakpoint(at_line(&file, marker.line, None)))
        .expect_err("no code follows");
    assert_eq!(error.code, ErrorCode::InvalidLine);
    let Some(Details::NearestLines(nearest)) = error.details.as_deref() else {
        panic!("{error:#?}")
    };
    assert!(nearest.contains(&line(FIXTURE, "end")), "{nearest:?}");
    // The same line in a launch is not refused, for nothing is known yet; it fails when the module loads.
    let program = launched(
        &sandbox,
        &[at_line(&file, marker.line, None), at_marker(FIXTURE, "end")],
    );
    program.wait_stop();
    let failed = &list(&program)[0];
    assert_eq!(failed.state, BreakpointState::Failed);
    assert!(
        failed
            .reason
            .as_deref()
            .is_some_and(|it| it.contains("nearest lines")),
        "{failed:#?}"
    );
}

#[test]
fn lines_of_the_head_of_a_method_move_to_its_body() {
    let sandbox = Sandbox::new();
    let check = |fixture: &str, expected: &[(&str, u32, Option<u32>)]| {
        let program = sandbox.launch(fixture).stop_at_entry().start();
        program.wait_stop();
        for (marker, above, lands) in expected {
            let marker = Fixture::named(fixture).marker(marker);
            let file = marker.file.display().to_string();
            let spec = at_line(&file, marker.line - above, None);
            match (program.request(Request::SetBreakpoint(spec)), lands) {
                (Ok(Reply::Breakpoint { breakpoint, .. }), Some(lands)) => {
                    assert_eq!(lines(&breakpoint), [marker.line - lands]);
                    let reason = breakpoint.reason.unwrap_or_default();
                    assert!(reason.contains("has no code; moved"), "{reason}");
                }
                (Err(error), None) => assert_eq!(error.code, ErrorCode::InvalidLine),
                (other, _) => panic!("{above} lines above {marker:?}: {other:?}"),
            }
        }
        program.disconnect(Some(true), false);
    };
    // Two lines above the first statement is the signature, three the space between methods.
    check(
        FIXTURE,
        &[
            ("generic", 2, Some(1)),
            ("generic", 3, None),
            ("async_before", 2, Some(1)),
            ("iterator", 2, Some(1)),
            ("local", 2, Some(1)),
            ("field", 1, None),
            ("field", 2, None),
        ],
    );
    check(
        "bp_release",
        &[
            ("go", 1, Some(0)),
            ("go", 2, Some(0)),
            ("go", 3, None),
            ("name", 2, Some(0)),
            ("name", 3, None),
        ],
    );
}

#[test]
fn one_line_is_set_in_all_code_that_was_made_of_it() {
    let sandbox = Sandbox::new();
    let markers = [
        "field",
        "two_methods",
        "generic",
        "async_before",
        "async_after",
        "iterator",
        "local",
    ];
    let specs: Vec<_> = markers.iter().map(|it| at_marker(FIXTURE, it)).collect();
    let program = launched(&sandbox, &specs);
    program.wait_stop();
    let locations: Vec<usize> = list(&program).iter().map(|it| it.locations.len()).collect();
    // A field is initialised by each constructor; two methods share a line; instantiations share their code's text.
    assert_eq!(locations, [2, 2, 1, 1, 1, 1, 1]);
    // Four twins; both methods; int, string and double.
    assert_eq!(all_hits(&program), [4, 2, 3, 1, 1, 1, 1]);
}

#[test]
fn paths_match_by_their_ends_in_any_case_and_with_any_slashes() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    let end = line(FIXTURE, "end");
    let (first, duplicate) = set(&program, at_marker(FIXTURE, "end"));
    assert!(!duplicate);
    for path in [
        "bp_lines.cs",
        "fixtures/bp_lines.cs",
        r"fixtures\bp_lines.cs",
        "BP_Lines.CS",
        "./bp_lines.cs",
    ] {
        let (same, duplicate) = set(&program, at_line(path, end, None));
        assert!(duplicate && same.id == first.id, "{path}: {same:#?}");
        assert_eq!(same.state, BreakpointState::Bound, "{path}");
    }
    let (partly, _) = set(
        &program,
        at_line("/nowhere/fixtures/bp_lines.cs", end - 1, None),
    );
    assert_eq!(partly.state, BreakpointState::Bound, "{partly:#?}");
    assert!(
        partly.notes.iter().any(|it| it.contains("was taken to be")),
        "{partly:#?}"
    );
}

#[test]
fn several_files_of_one_name_are_asked_about() {
    let sandbox = Sandbox::new();
    let own = line("bp_documents", "windows");
    let program = sandbox.launch("bp_documents").stop_at_entry().start();
    program.wait_stop();
    let error = program
        .request(Request::SetBreakpoint(at_line("Same.cs", 10, None)))
        .expect_err("it may be either");
    assert_eq!(error.code, ErrorCode::InvalidFile);
    let both = vec!["/one/Same.cs".to_owned(), "/two/Same.cs".to_owned()];
    assert_eq!(
        error.details.as_deref(),
        Some(&Details::Candidates(both)),
        "{error:#?}"
    );
    for (path, bound) in [
        ("two/Same.cs", "/two/Same.cs"),
        ("/one/Same.cs", "/one/Same.cs"),
        ("/elsewhere/one/Same.cs", "/one/Same.cs"),
        (
            r"c:\build\src\BP_documents.cs",
            r"C:\Build\Src\bp_documents.cs",
        ),
        ("Src/bp_documents.cs", r"C:\Build\Src\bp_documents.cs"),
    ] {
        let line = if path.ends_with("Same.cs") { 10 } else { own };
        let (breakpoint, _) = set(&program, at_line(path, line, None));
        let source = breakpoint
            .locations
            .first()
            .and_then(|it| it.source.as_ref());
        let found = source.map(|it| it.path.display().to_string());
        assert_eq!(found.as_deref(), Some(bound), "{path}: {breakpoint:#?}");
    }
    let windows = SourceMap {
        from: r"C:\Build".into(),
        to: "/mapped".into(),
    };
    program
        .request(Request::SetSourceMaps(vec![windows]))
        .expect("mapped");
    let (mapped, _) = set(&program, at_line("/mapped/Src/bp_documents.cs", own, None));
    assert_eq!(mapped.state, BreakpointState::Bound, "{mapped:#?}");
    assert!(mapped.notes.is_empty(), "{mapped:#?}");
}

#[test]
fn unknown_files_are_pending_and_say_which_file_has_the_name() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    let other = sandbox.folder().join("bp_lines.cs");
    std::fs::write(&other, "// Another file of that name.\n").expect("written");
    let (breakpoint, _) = set(&program, at_line(&other.display().to_string(), 1, None));
    assert_eq!(
        breakpoint.state,
        BreakpointState::Pending,
        "{breakpoint:#?}"
    );
    let reason = breakpoint.reason.expect("a reason");
    let real = Fixture::named(FIXTURE).marker("end").file;
    assert!(reason.contains(&real.display().to_string()), "{reason}");
}

#[test]
fn source_maps_lead_to_files_that_were_compiled_elsewhere() {
    let sandbox = Sandbox::new();
    let marker = Fixture::named("metadata_mapped").marker("loop");
    let folder = marker
        .file
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    // The compiler was told to write another folder into the PDB.
    let map = |to: &str| {
        Request::SetSourceMaps(vec![SourceMap {
            from: "/_/src".into(),
            to: to.into(),
        }])
    };
    let program = sandbox.launch("metadata_mapped").stop_at_entry().start();
    program.wait_stop();
    program.request(map(&folder)).expect("mapped");
    let (breakpoint, _) = set(
        &program,
        at_line(&marker.file.display().to_string(), marker.line, None),
    );
    assert_eq!(breakpoint.state, BreakpointState::Bound, "{breakpoint:#?}");
    let shown = breakpoint.locations[0]
        .source
        .as_ref()
        .map(|it| it.path.clone());
    assert_eq!(shown.as_ref(), Some(&marker.file));
    assert!(breakpoint.notes.is_empty(), "{breakpoint:#?}");
    program.cont();
    assert_eq!(program.wait_stop().reasons, hit(breakpoint.id.0));
    match program.request(Request::Stack {
        thread: None,
        start: 0,
        count: 1,
    }) {
        Ok(Reply::Stack { frames, .. }) => {
            let source = frames[0].source.as_ref().expect("a source");
            assert_eq!(source.path, marker.file);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        program.refused(Request::SetSourceMaps(vec![SourceMap {
            from: "/".into(),
            to: "/a".into()
        }])),
        ErrorCode::InvalidParameter
    );
    // A folder that only the map knows of.
    program.request(map("/elsewhere/entirely")).expect("mapped");
    let (mapped, _) = set(
        &program,
        at_line(
            "/elsewhere/entirely/metadata_mapped.cs",
            marker.line + 1,
            None,
        ),
    );
    assert_eq!(mapped.state, BreakpointState::Bound, "{mapped:#?}");
    assert!(
        mapped.notes.iter().all(|it| !it.contains("taken to be")),
        "{mapped:#?}"
    );
}

#[test]
fn changed_source_files_are_told() {
    let sandbox = Sandbox::new();
    let marker = Fixture::named("metadata_mapped").marker("length");
    let copy = sandbox.folder().join("src/metadata_mapped.cs");
    std::fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
    let text = std::fs::read_to_string(&marker.file).expect("the source");
    let program = sandbox.launch("metadata_mapped").stop_at_entry().start();
    program.wait_stop();
    let copied = || at_line(&copy.display().to_string(), marker.line, None);
    // Other ends of lines are no change.
    std::fs::write(&copy, text.replace('\n', "\r\n")).expect("written");
    let (same, _) = set(&program, copied());
    assert!(
        same.state == BreakpointState::Bound && same.notes.is_empty(),
        "{same:#?}"
    );
    program
        .request(Request::RemoveBreakpoint(same.id))
        .expect("removed");
    std::fs::write(&copy, text.replace("length", "count")).expect("written");
    let (changed, _) = set(&program, copied());
    assert_eq!(changed.state, BreakpointState::Bound, "{changed:#?}");
    assert!(
        changed
            .notes
            .iter()
            .any(|it| it.contains("was changed since")),
        "{changed:#?}"
    );
}

#[test]
fn breakpoints_on_one_line_are_all_named_by_its_stop() {
    let sandbox = Sandbox::new();
    let next = at_function("Program.Next");
    let text = at_text(FIXTURE, "end", "Console");
    let program = launched(&sandbox, &[at_marker(FIXTURE, "end"), text, next]);
    let mut reasons = program.wait_stop().reasons;
    while here(&program).1 != line(FIXTURE, "end") {
        program.cont();
        reasons = program.wait_stop().reasons;
    }
    assert_eq!(
        format!("{reasons:?}"),
        "[Breakpoint { ids: [BreakpointId(1), BreakpointId(2)] }]"
    );
}

/// Statements that begin with a value on the stack have no code of their own in an optimised build; the runtime would
/// take breakpoints there, never stop at them, and crash as it sets others.
#[test]
fn statements_that_the_optimiser_left_no_code_are_told_and_the_rest_stops() {
    const RELEASE: &str = "bp_release";
    let markers = [
        "go",
        "go_return",
        "name",
        "trim",
        "upper",
        "main",
        "write",
        "call_name",
        "write_name",
        "if",
        "last",
        "moved",
        "twice",
        "abs",
        "array",
        "none",
        "one_line",
        "while",
        "first_handler",
    ];
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(RELEASE)
        .with(|launch| launch.breakpoints = markers.map(|it| at_marker(RELEASE, it)).into())
        .start();
    let mut stops = Vec::new();
    while program.settle_exit().is_none() {
        stops.push(here(&program).1);
        program.cont();
    }
    program.expect_exit(0);
    // The word `foreach` has no code: what the loop goes through is looked at first, and once.
    let expected = [
        "array",
        "none",
        "one_line",
        "while",
        "while",
        "while",
        "second_handler",
        "main",
        "go",
        "write",
        "call_name",
        "name",
        "trim",
        "upper",
        "write_name",
        "if",
        "last",
        "moved",
        "abs",
    ];
    assert_eq!(stops, expected.map(|it| line(RELEASE, it)));
    let told = list(&program);
    let of = |marker: &str| {
        let at = markers.iter().position(|it| *it == marker);
        &told[at.expect("a marker")]
    };
    let left_out = of("go_return");
    assert_eq!(left_out.state, BreakpointState::Failed, "{left_out:#?}");
    let reason = left_out.reason.as_deref().unwrap_or_default();
    assert!(reason.contains("left no code of its own"), "{reason}");
    let moved = of("twice");
    let reason = moved.reason.as_deref().unwrap_or_default();
    let line = line(RELEASE, "abs");
    assert!(
        reason.ends_with(&format!("moved to line {line}")),
        "{reason}"
    );
    let reason = of("first_handler").reason.clone().unwrap_or_default();
    assert!(reason.contains("moved to line"), "{reason}");
}

#[test]
fn lambdas_on_a_line_are_left_out_and_named_and_columns_of_a_statement_are_one_place() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, &[at_marker(FIXTURE, "lambdas")]);
    program.wait_stop();
    let told = &list(&program)[0];
    assert_eq!(told.locations.len(), 1, "{told:#?}");
    let column = |text: &str| match at_text(FIXTURE, "lambdas", text).place {
        Place::Line { column, .. } => column.expect("a column"),
        Place::Function { .. } => unreachable!("a line"),
    };
    let columns = format!("columns {} and {}", column("x + 1"), column("{ return"));
    assert!(told.notes[0].contains(&columns), "{:?}", told.notes);
    let (first, _) = set(&program, at_text(FIXTURE, "lambdas", "x + 1"));
    let (again, duplicate) = set(&program, at_text(FIXTURE, "lambdas", "+ 1"));
    assert_eq!((again.id, duplicate), (first.id, true));
    let (other, duplicate) = set(&program, at_text(FIXTURE, "lambdas", "return y"));
    assert_ne!((other.id, duplicate), (first.id, true));
}

/// The constructor that copies a record has its text where the other one begins, and must not be taken for it.
#[test]
fn the_name_of_a_record_is_where_its_constructors_begin() {
    let fixture = "expressions_forms";
    let sandbox = Sandbox::new();
    let specs = vec![at_text(fixture, "pair", "Pair")];
    let launch = sandbox.launch(fixture);
    let program = launch.with(|launch| launch.breakpoints = specs).start();
    let stop = program.wait_stop();
    assert_eq!(stop.reasons, hit(1));
    let locations = list(&program)[0].locations.clone();
    let methods: Vec<_> = locations.iter().map(|it| it.method.as_str()).collect();
    assert_eq!(
        methods,
        ["Pair..ctor(int A, string B)", "Pair..ctor(Pair original)"]
    );
}

/// A copy of `bp_runtime_async` whose method has the flag of those that the runtime suspends.
fn with_runtime_async(sandbox: &Sandbox) -> std::path::PathBuf {
    let fixture = Fixture::named("bp_runtime_async");
    let copy = sandbox.folder().join("bp_runtime_async.dll");
    for extension in ["dll", "pdb", "runtimeconfig.json"] {
        let file = fixture.dll().with_extension(extension);
        std::fs::copy(file, copy.with_extension(extension)).expect("copied");
    }
    let mut bytes = std::fs::read(&copy).expect("the copy");
    // `MethodImplAttributes` of the source, then `public static hidebysig`: ECMA-335 II.22.26.
    let flags = [0x68, 0x01, 0x96, 0x00];
    let found = bytes.windows(flags.len()).enumerate();
    let found: Vec<usize> = found
        .filter(|(_, it)| *it == flags)
        .map(|(at, _)| at)
        .collect();
    let [at] = found[..] else {
        panic!("the row of one method is expected, not {found:?}")
    };
    bytes[at..at + 2].copy_from_slice(&0x2000_u16.to_le_bytes());
    std::fs::write(&copy, bytes).expect("written");
    copy
}

#[test]
fn methods_that_the_runtime_suspends_are_refused() {
    let sandbox = Sandbox::new();
    let copy = with_runtime_async(&sandbox);
    let program = sandbox
        .launch("bp_runtime_async")
        .program(&copy)
        .stop_at_entry()
        .start();
    program.wait_stop();
    for spec in [
        at_function("Never.Called"),
        at_marker("bp_runtime_async", "suspended"),
    ] {
        let error = program
            .request(Request::SetBreakpoint(spec))
            .expect_err("refused");
        assert_eq!(error.code, ErrorCode::NotSupported);
        assert!(error.message.contains("runtime-async"), "{error}");
    }
    program.cont();
    program.expect_exit(0);
    // One that is wanted before the module is there fails when it comes, and the program runs on.
    let program = sandbox
        .launch("bp_runtime_async")
        .program(&copy)
        .with(|launch| {
            launch.breakpoints = vec![
                at_function("Never.Called"),
                at_marker("bp_runtime_async", "main"),
            ]
        })
        .start();
    assert_eq!(program.wait_stop().reasons, hit(2));
    let failed = &list(&program)[0];
    assert_eq!(failed.state, BreakpointState::Failed);
    assert!(
        failed
            .reason
            .as_deref()
            .is_some_and(|it| it.contains("runtime-async")),
        "{failed:#?}"
    );
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_link_of_another_name_leads_to_the_file_that_was_compiled() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    let marker = Fixture::named(FIXTURE).marker("several");
    let link = sandbox.folder().join("Other.cs");
    std::os::unix::fs::symlink(&marker.file, &link).expect("a link");
    let (breakpoint, _) = set(
        &program,
        at_line(&link.display().to_string(), marker.line, None),
    );
    assert_eq!(lines(&breakpoint), [marker.line]);
    // A file of another name that is no link is another file, whatever it holds.
    let copy = sandbox.folder().join("Copy.cs");
    std::fs::copy(&marker.file, &copy).expect("a copy");
    let (breakpoint, _) = set(
        &program,
        at_line(&copy.display().to_string(), marker.line, None),
    );
    assert_eq!(breakpoint.state, BreakpointState::Pending);
    program.cont();
    program.wait_stop();
    assert_eq!(here(&program).1, marker.line);
    program.disconnect(Some(true), false);
}

#[test]
fn a_file_that_was_compiled_under_the_name_of_a_link_is_found_by_its_own() {
    let sandbox = Sandbox::new();
    let marker = Fixture::named(FIXTURE).marker("several");
    // The folder that it was compiled in is another one here, where its name is that of a link.
    let folder = sandbox.folder().join("linked");
    std::fs::create_dir(&folder).expect("a folder");
    let target = sandbox.folder().join("Target.cs");
    std::fs::copy(&marker.file, &target).expect("a copy");
    let name = marker.file.file_name().expect("a name");
    std::os::unix::fs::symlink(&target, folder.join(name)).expect("a link");
    let maps = vec![SourceMap {
        from: marker
            .file
            .parent()
            .expect("a folder")
            .display()
            .to_string(),
        to: folder.display().to_string(),
    }];
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    program
        .request(Request::SetSourceMaps(maps))
        .expect("mapped");
    let other = sandbox.folder().join("Another.cs");
    std::os::unix::fs::symlink(&target, &other).expect("a link");
    for file in [target.clone(), other, "Target.cs".into(), folder.join(name)] {
        let (breakpoint, _) = set(
            &program,
            at_line(&file.display().to_string(), marker.line, None),
        );
        assert_eq!(lines(&breakpoint), [marker.line], "{breakpoint:#?}");
        program
            .request(Request::RemoveBreakpoint(breakpoint.id))
            .expect("removed");
    }
    let copy = sandbox.folder().join("elsewhere");
    std::fs::create_dir(&copy).expect("a folder");
    std::fs::copy(&target, copy.join("Target.cs")).expect("a copy");
    let copy = copy.join("Target.cs").display().to_string();
    let (breakpoint, _) = set(&program, at_line(&copy, marker.line, None));
    assert_eq!(breakpoint.state, BreakpointState::Pending);
    program.disconnect(Some(true), false);
}

#[test]
fn lines_of_heads_move_to_what_runs_first_and_those_between_members_are_refused() {
    let sandbox = Sandbox::new();
    let fixture = "bp_heads";
    let program = sandbox.launch(fixture).stop_at_entry().start();
    program.wait_stop();
    for (marker, below, expected) in [
        ("class_attribute", 0, None),
        ("class", 0, None),
        ("class_brace", 0, None),
        ("before", 0, Some("before")),
        ("before", 1, None),
        ("attribute", 0, Some("shared")),
        ("between", 0, None),
        ("between", 1, None),
        ("head", 0, Some("base")),
        ("parameter", 0, Some("base")),
        ("base", 1, Some("base")),
        ("inside", 0, Some("body")),
        ("body", 1, Some("last")),
        ("last", 2, None),
        ("implicit", 0, Some("this")),
        ("this", 1, None),
        ("static_head", 0, Some("static_brace")),
        ("property", 0, Some("get")),
        ("property", 1, None),
        ("getter", 0, Some("get")),
        ("get", 1, None),
        ("set", 2, None),
        ("after", 1, None),
        ("finalizer_head", 0, Some("finalizer")),
        ("primary", 0, Some("primary_base")),
        ("primary_parameter", 0, Some("primary_base")),
        ("primary_base", 2, None),
        ("sum", 0, Some("sum")),
        ("expression", 0, Some("expression")),
        ("main", 0, Some("main_brace")),
    ] {
        let from = Fixture::named(fixture).marker(marker);
        let file = from.file.display().to_string();
        let spec = at_line(&file, from.line + below, None);
        let answer = program.request(Request::SetBreakpoint(spec));
        match (answer, expected) {
            (Ok(Reply::Breakpoint { breakpoint, .. }), Some(expected)) => {
                let found = lines(&breakpoint);
                let expected = line(fixture, expected);
                assert_eq!(found, [expected], "{marker} {below}: {breakpoint:#?}");
                let reason = breakpoint.reason.unwrap_or_default();
                let is_told = reason.contains(&format!("moved to line {expected}"));
                assert_eq!(is_told, expected != from.line + below, "{marker}: {reason}");
            }
            (Err(error), None) => {
                assert_eq!(error.code, ErrorCode::InvalidLine, "{marker} {below}");
            }
            (other, _) => panic!("{marker} {below}: {other:?}"),
        }
    }
}
