//! Looking over and over costs the host nothing that stays: its memory is as large after 10,000 looks as after the first.

use host::api::{Evaluate, Request, VariablesQuery};
use testkit::debuggee::Debuggee;
use testkit::procfs::memory_kib;
use testkit::sandbox::Sandbox;

use crate::support::{at, stopped};

/// Looks before memory is measured: caches fill, the allocator takes what it needs.
const WARM_UP: u32 = 1_500;
/// Kinds of looks.
const KINDS: u32 = 12;
/// Looks in all.
const LOOKS: u32 = 10_000;
/// How much the host may grow in between: what the allocator scatters. A leak of 60 bytes for each look would be told, and
/// the runtime's library keeps 350 for each local that it is asked for.
const MAY_GROW_KIB: u64 = 512;

/// One of the looks of a session: all variables, pages of a large array from another place each time, objects, collections,
/// expressions with and without a result that stays, static fields, the stack, threads, paths that lead nowhere.
fn look(program: &Debuggee<'_>, number: u32) {
    let page = |path: &str, start: u64, count: u32| {
        Request::Variables(Box::new(VariablesQuery {
            path: Some(path.into()),
            start,
            count,
            ..VariablesQuery::default()
        }))
    };
    let request = match number % KINDS {
        0 => page("millions", u64::from(number) * 997 % 10_000_000, 3),
        1 => page("orders", u64::from(number % 28), 2),
        2 => page(&format!("orders[{}].Name", number % 30), 0, 0),
        3 => Request::Evaluate(Evaluate::read(format!("millions[{number}] + {number}"))),
        4 => Request::Stack {
            thread: None,
            start: 0,
            count: 5,
        },
        5 => page("dictionary", 0, 3),
        // Every fourth of these gives an object, which is kept for a while.
        6 if number % (4 * KINDS) == 6 => {
            Request::Evaluate(Evaluate::read(format!("orders[{}]", number % 30)))
        }
        6 => Request::Evaluate(Evaluate::read("numbers.Count")),
        7 => page("orders[3].Nothing", 0, 0),
        8 => Request::Variables(Box::default()),
        9 => Request::Evaluate(Evaluate::read("string.Empty")),
        10 => Request::Threads,
        _ => Request::AsyncStack { thread: None },
    };
    let wanted = number % KINDS != 7;
    let reply = program.request(request);
    assert_eq!(reply.is_ok(), wanted, "look {number}: {reply:?}");
}

#[test]
fn memory_of_the_host_stays_flat_over_ten_thousand_looks() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_collections", &["stop"]);
    let host = program.host_pid();
    (0..WARM_UP).for_each(|number| look(&program, number));
    let before = memory_kib(host, "RssAnon");
    (WARM_UP..LOOKS).for_each(|number| look(&program, number));
    let after = memory_kib(host, "RssAnon");
    assert!(
        after <= before + MAY_GROW_KIB,
        "{before} KiB after {WARM_UP} looks, {after} KiB after {LOOKS}"
    );
}

/// The kilobytes that a process has set aside between large and small blocks, for copies that nobody has looked at.
fn deferred_kib(pid: u32) -> u64 {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("it lives");
    let inaccessible = maps.lines().filter(|line| line.contains(" ---p 00000000 "));
    let sizes = inaccessible.filter_map(|line| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some((number(end)? - number(start)?) / 1024)
    });
    // Guards of stacks are smaller, what the allocator has in reserve is larger.
    sizes.filter(|size| (16..8 * 1024).contains(size)).sum()
}

#[test]
fn names_of_the_core_library_are_copied_only_where_they_are_looked_at() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("values_collections")
        .host_env("NDBG_FAST_MEMORY", "1")
        .with(|launch| launch.breakpoints = vec![at("values_collections", "stop")])
        .start();
    program.wait_stop();
    let host = program.host_pid();
    program
        .request(Request::Variables(Box::default()))
        .expect("variables");
    let deferred = deferred_kib(host);
    assert!(deferred > 1024, "{deferred} KiB are not copied");
    // All that it knows is still there for it.
    (0..KINDS).for_each(|number| look(&program, number));
    let full = Request::Evaluate(Evaluate::read(
        "typeof(System.Collections.Generic.SortedList<int, string>)",
    ));
    program.request(full).expect("a name");
}
