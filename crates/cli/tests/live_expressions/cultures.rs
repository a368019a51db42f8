//! Texts of numbers are those of the program's own culture, or are not told without running its code.

use std::fmt::Write as _;

use engine::api::{BreakpointSpec, Evaluate, Line, Place, Stream};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;

const EXPRESSIONS: &[&str] = &[
    "price.ToString()",
    "$\"{price:N2}\"",
    "\"half \" + half",
    "loss.ToString()",
    "loss.ToString(\"D3\")",
    "$\"{count} {count:X2}\"",
    "string.Concat(boxed, \"!\")",
    "boxed.ToString()",
    "$\"{(loss, half)}\"",
    "string.Join(\" \", new[] { price, 2.5 })",
    "(int)(double.Parse(\"1,5\") * 10) + \" \" + int.Parse(\"~5\") + \" \" + Convert.ToInt32(\"7\")",
];

#[test]
fn numbers_are_written_as_the_program_writes_them() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("expressions_culture");
    let marker = fixture.marker("stop");
    let at = BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    });
    let program = sandbox
        .launch_fixture(&fixture)
        .with(|launch| launch.breakpoints = vec![at])
        .start();
    program.wait_stop();
    let told = program.text(Stream::Stdout);
    assert_eq!(told.lines().count(), EXPRESSIONS.len(), "{told}");
    for (text, told) in EXPRESSIONS.iter().zip(told.lines()) {
        let expected = format!("{told:?}");
        let with_code = Evaluate {
            side_effects: true,
            ..Evaluate::read(*text)
        };
        let value = ask(&program, with_code).outcome;
        assert_eq!(value.expect("it has a text").text, expected, "{text}");
        // Reading alone never tells another one.
        match ask(&program, Evaluate::read(*text)).outcome {
            Ok(value) => assert_eq!(value.text, expected, "{text}"),
            Err(error) => {
                let why = error.error.message;
                assert!(why.contains("code"), "{text}: {why}");
            }
        }
    }
    // What needs no sign and no separator needs no code either.
    let plain = ask(&program, Evaluate::read("count.ToString()")).outcome;
    assert_eq!(plain.expect("digits").text, "\"4\"");
}

/// What each culture of `expressions_clones` writes.
const CLONES: &[&str] = &[
    "when.ToString()",
    "$\"{when}\"",
    "$\"{when:d}\"",
    "\"\" + when",
    "when.ToString(\"G\")",
    "$\"{when:T}\"",
    "$\"{when:yyyy/MM/dd}\"",
    "$\"{when:o}\"",
    "$\"{new DateOnly(2024, 12, 31)}\"",
    "$\"{big:N}\"",
    "$\"{big:F}\"",
    "big.ToString(\"N2\")",
    "$\"{big:F1}\"",
    "$\"{part:P}\"",
    "$\"{part:C}\"",
    "$\"{-part:C1}\"",
    "$\"{big:#,##0.0}\"",
    "$\"{none}\"",
    "$\"{big}\"",
    "level.ToString()",
    "$\"{level}\"",
    "\"\" + level",
    "$\"{level:D}\"",
    "$\"{high} {level:X}\"",
    "$\"{part:P0}\"",
];

/// Whether reading alone tells the same text or none.
fn wrong(program: &Debuggee<'_>, texts: &[&str], truth: &[&str], side_effects: bool) -> String {
    let mut wrong = String::new();
    for (text, told) in texts.iter().zip(truth) {
        let request = Evaluate {
            side_effects,
            ..Evaluate::read(*text)
        };
        let found = match ask(program, request).outcome {
            Ok(value) => value.text,
            Err(error) if !side_effects && error.error.message.contains("code") => continue,
            Err(error) => error.error.message,
        };
        if found != format!("{told:?}") {
            writeln!(wrong, "{text}: {found}, not {told:?}").expect("a string");
        }
    }
    wrong
}

#[test]
fn copies_of_the_invariant_culture_write_as_they_were_told_to() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("expressions_clones");
    let at = |name: &str| {
        let marker = fixture.marker(name);
        BreakpointSpec::at(Place::Line {
            file: marker.file.display().to_string(),
            line: Line(marker.line),
            column: None,
        })
    };
    // What was not written yet is asked for before, and what it was only then.
    let plain = sandbox.launch_fixture(&fixture).start();
    plain.expect_exit(0);
    let output = plain.text(Stream::Stdout);
    let program = sandbox
        .launch_fixture(&fixture)
        .with(|launch| launch.breakpoints = vec![at("before"), at("stop")])
        .start();
    let lines: Vec<&str> = output.lines().collect();
    let cultures: Vec<&[&str]> = lines.split(|it| *it == "told").collect();
    assert_eq!(cultures.len(), 12, "{output}");
    for (number, truth) in cultures.iter().take(11).enumerate() {
        assert_eq!(truth.len(), CLONES.len(), "{truth:?}");
        for side_effects in [false, true, false] {
            if !side_effects {
                program.wait_stop();
            }
            let wrong = wrong(&program, CLONES, truth, side_effects);
            assert_eq!(wrong, "", "culture {number}, {side_effects}");
            if side_effects {
                program.cont();
            }
        }
        program.cont();
    }
    program.expect_exit(0);
}

/// Of the account; the program computes the same when it is told their number.
const AGAIN: &[&str] = &[
    "$\"{bal:N2} {amt,10:F1} {tx[0].When:dd/MM} {Nm ?? \"-\"}\"",
    "$\"{half} {bal:N2} {tx[0].When:dd/MM} {this.Nm} {amt}\"",
    "bal.ToString() + amt.ToString(\"F1\") + tx[0].When.ToString(\"yyyy\") + (Nm ?? \"-\") + half.ToString()",
    "string.Join(\"|\", new[] { bal, amt, 1.5m }.Select(it => $\"{it:N1}{tx[0].When:dd}{Nm}\"))",
    "$\"{(bal, half)} {amt:F1} {new DateTime(2024, 3, 4):MM} {bal} {tx[0].Count} {Nm?.Length}\"",
    "$\"{half:F2}{amt}{Math.Round(amt):N0}{tx[0].When:yy}{(half < 0 ? Nm : \"none\")}{decimal.Parse(\"2\")}\"",
];

#[test]
fn what_is_found_of_a_culture_stays_for_the_rest_of_an_expression() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("expressions_again");
    let marker = fixture.marker("stop");
    for (number, text) in AGAIN.iter().enumerate() {
        let program = sandbox
            .launch_fixture(&fixture)
            .with(|launch| {
                launch.args = vec![number.to_string()];
                launch.breakpoints = vec![BreakpointSpec::at(Place::Line {
                    file: marker.file.display().to_string(),
                    line: Line(marker.line),
                    column: None,
                })];
            })
            .start();
        program.wait_stop();
        let with_code = Evaluate {
            side_effects: true,
            ..Evaluate::read(*text)
        };
        let value = ask(&program, with_code).outcome;
        let value = value.unwrap_or_else(|why| panic!("{text}: {why:?}")).text;
        program.cont();
        program.expect_exit(0);
        let told = program.text(Stream::Stdout);
        assert_eq!(value, format!("{:?}", told.trim_end()), "{text}");
    }
}
