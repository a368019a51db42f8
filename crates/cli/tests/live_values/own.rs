//! Static fields that the runtime keeps in places of its own: those of each thread, of generic types over reference types, and
//! those of types that can be unloaded.

use host::api::{Stream, View};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::setting::set;
use crate::support::{at, look, says_the_same_as, stopped};

const SET: [(&str, &str, &str); 10] = [
    ("Own<string>.Count", "77", "77"),
    ("Own<string>.Rate", "2.5", "2.5"),
    ("Own<string>.Last", "\"new\"", "\"new\""),
    (
        "Own<string>.All",
        "new List<string> { \"one\", \"two\" }",
        "Count = 2 { \"one\", \"two\" }",
    ),
    ("Own<string>.Range.Name", "\"part\"", "\"part\""),
    ("Own<string>.Range.To", "12", "12"),
    ("Own<string>.Whole.Name", "\"of all\"", "\"of all\""),
    (
        "Own<string>.Shared",
        "\"shared and set\"",
        "\"shared and set\"",
    ),
    ("Own<string>.Made", "8", "8"),
    ("label", "\"told\"", "\"told\""),
];

/// What the program prints from one stop to the next one.
fn printed(program: &Debuggee<'_>, known: &mut usize) -> String {
    let text = program.text(Stream::Stdout);
    let new = text.get(*known..).expect("text grows").to_owned();
    *known = text.len();
    new
}

#[test]
fn static_fields_of_threads_and_instantiations_are_read_and_set() {
    let sandbox = Sandbox::new();
    let program = stopped(&sandbox, "values_own", &["look", "after"]);
    let mut known = 0;
    // One thread that has used its own, and one that has not.
    for _ in 0..2 {
        says_the_same_as(&program, &printed(&program, &mut known), &View::default());
        for (path, value, told) in SET {
            assert_eq!(set(&program, 0, path, value), told, "{path}");
            assert_eq!(look(&program, path).value.text, told, "{path}");
        }
        program.cont();
        program.wait_stop();
        let after = printed(&program, &mut known);
        says_the_same_as(&program, &after, &View::default());
        for (path, _, told) in &SET[..9] {
            let line = format!("{path}\t{told}\n");
            assert!(
                after.contains(&line) || *path == "Own<string>.Rate",
                "{path}: {after}"
            );
        }
        // What another type's instantiation of the same code has on this thread.
        assert_eq!(look(&program, "Own<Version>.Last").value.text, "null");
        program.cont();
        program.settle();
    }
    assert_eq!(
        program.text(Stream::Stdout).matches("label told").count(),
        2
    );
}

#[test]
fn static_fields_of_types_that_can_be_unloaded_are_read_and_set() {
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch("values_own")
        .args(["plugin"])
        .with(|launch| {
            launch.breakpoints = vec![at("values_own", "look"), at("values_own", "after")];
        })
        .start();
    program.wait_stop();
    let mut known = 0;
    says_the_same_as(&program, &printed(&program, &mut known), &View::default());
    for (path, value, told) in [
        ("Own<Word>.Count", "61", "61"),
        ("Own<Word>.Made", "62", "62"),
        ("Own<string>.Last", "\"last\"", "\"last\""),
        ("Own<string>.Range.Name", "\"part\"", "\"part\""),
    ] {
        assert_eq!(set(&program, 0, path, value), told, "{path}");
    }
    program.cont();
    program.wait_stop();
    let after = printed(&program, &mut known);
    says_the_same_as(&program, &after, &View::default());
    for line in [
        "Count\t61\n",
        "Made\t62\n",
        "Last\t\"last\"\n",
        "Name\t\"part\"\n",
    ] {
        assert!(after.contains(line), "{line}: {after}");
    }
}
