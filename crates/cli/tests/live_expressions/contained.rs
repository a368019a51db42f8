//! What the framework asks others about is not decided here: a collection by its own comparer, a letter by its culture.

use engine::api::{BreakpointSpec, EnvChange, Evaluate, Line, Place, Stream};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

#[test]
fn linq_asks_a_collection_whether_it_contains_an_element() {
    let (with_code, reading) = refused_in("expressions_contained", None);
    // Newer versions of the framework ask a collection below an operator too.
    for text in with_code {
        let is_above = text.contains(".Append(") || text.contains(".Distinct(");
        assert!(is_above, "{text} was refused");
    }
    // What the framework compares in a way that is known needs no code.
    for text in [
        "allowed.Contains(\"ADMIN\")",
        "keys.Contains(\"A\")",
        "values.Contains(1)",
        "plain.Contains(\"ADMIN\")",
        "few.Contains(100)",
        "few.Contains(3)",
    ] {
        assert!(!reading.iter().any(|it| it == text), "{text} was refused");
    }
}

#[test]
fn a_letter_changes_its_case_as_the_culture_has_it() {
    // Tests run without cultures, as not every machine has what they need.
    let libraries = std::fs::read("/etc/ld.so.cache").unwrap_or_default();
    let has_cultures = libraries.windows(12).any(|it| it == b"libicuuc.so.");
    let name = "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT".to_owned();
    let with_cultures = has_cultures.then(|| (name, Some("0".to_owned())));
    let (with_code, reading) = refused_in("expressions_letters", with_cultures);
    assert!(with_code.is_empty(), "{with_code:?}");
    let other = "(int)char.ToUpper(other)";
    assert!(!reading.iter().any(|it| it == other), "{reading:?}");
}

/// Compares what the program has computed with what is told of the same texts; gives those that were refused, with code and
/// without.
fn refused_in(
    name: &'static str,
    environment: Option<(String, EnvChange)>,
) -> (Vec<String>, Vec<String>) {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named(name);
    let marker = fixture.marker("stop");
    let at = BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    });
    let program = sandbox
        .launch_fixture(&fixture)
        .with(|launch| {
            launch.breakpoints = vec![at];
            launch.env.extend(environment);
        })
        .start();
    program.wait_stop();
    let (mut with_code, mut reading, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let output = program.text(Stream::Stdout);
    for row in output.lines() {
        let (text, expected) = row.split_once('\t').expect("a text and its value");
        for side_effects in [true, false] {
            let asked = Evaluate {
                side_effects,
                ..Evaluate::read(text)
            };
            match ask(&program, asked).outcome {
                Ok(value) => {
                    let told = value.text.trim_matches('"');
                    if !told.eq_ignore_ascii_case(expected) {
                        wrong.push(format!("{text}: {expected}, told {told} ({side_effects})"));
                    }
                }
                Err(error) => {
                    let why = error.error.message;
                    let is_known = why.contains("depends on the version")
                        || !side_effects && (why.contains("code") || why.contains("running"));
                    if !is_known {
                        wrong.push(format!("{text}: {why} ({side_effects})"));
                    }
                    let refused = if side_effects {
                        &mut with_code
                    } else {
                        &mut reading
                    };
                    refused.push(text.to_owned());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    (with_code, reading)
}
