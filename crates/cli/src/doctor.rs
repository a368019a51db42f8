//! `ndbg doctor`: what would stop debugging here, as a list or as JSON.

use std::io;
use std::process::ExitCode;

use host::doctor::{self, Outcome, Report};
use serde_json::json;

use crate::exit;
use crate::output::{self, plain};

/// Examines this machine.
pub(crate) fn doctor(as_json: bool) -> io::Result<ExitCode> {
    let report = doctor::examine(|name| std::env::var_os(name));
    let text = if as_json {
        let value = json!({ "canDebug": report.can_debug(), "checks": report.checks });
        serde_json::to_string_pretty(&value)? + "\n"
    } else {
        list(&report, output::coloured())
    };
    output::write(text.as_bytes())?;
    Ok(if report.can_debug() {
        ExitCode::SUCCESS
    } else {
        exit::CANNOT_DEBUG.into()
    })
}

fn list(report: &Report, coloured: bool) -> String {
    let longest = report.checks.iter().map(|check| check.name.chars().count());
    let width = longest.max().unwrap_or(0);
    let mut text = String::new();
    for check in &report.checks {
        let word = match check.outcome {
            Outcome::Ok => "ok",
            Outcome::Warning => "warning",
            Outcome::Problem => "problem",
        };
        let word = format!("{word:<7}");
        let word = match (coloured, check.outcome) {
            (false, _) => word,
            (true, Outcome::Ok) => format!("\u{1b}[32m{word}\u{1b}[0m"),
            (true, Outcome::Warning) => format!("\u{1b}[33m{word}\u{1b}[0m"),
            (true, Outcome::Problem) => format!("\u{1b}[31m{word}\u{1b}[0m"),
        };
        let (name, message) = (&check.name, plain(&check.message));
        text += &format!("{word}  {name:<width$}  {message}\n");
        if let Some(advice) = &check.advice {
            text += &format!("{:7}  {:width$}  → {}\n", "", "", plain(advice));
        }
    }
    let count = |outcome| {
        let matching = report
            .checks
            .iter()
            .filter(|check| check.outcome == outcome);
        matching.count()
    };
    let (problems, warnings) = (count(Outcome::Problem), count(Outcome::Warning));
    text.push('\n');
    text += &match (problems, warnings) {
        (0, 0) => "Programs can be debugged here.\n".to_owned(),
        (0, _) => format!(
            "Programs can be debugged here; {}.\n",
            counted(warnings, "warning")
        ),
        _ => format!(
            "Programs cannot be debugged here: {}.\n",
            counted(problems, "problem")
        ),
    };
    text
}

fn counted(number: usize, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {word}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use host::doctor::Check;

    #[test]
    fn the_list_says_what_to_do() {
        let check = |name: &str, outcome, advice: Option<&str>| Check {
            name: name.into(),
            outcome,
            message: format!("about {name}"),
            advice: advice.map(str::to_owned),
        };
        let mut report = Report {
            checks: vec![
                check("system", Outcome::Ok, None),
                check("memory", Outcome::Warning, Some("do this")),
            ],
        };
        expect![[r#"
            ok       system  about system
            warning  memory  about memory
                             → do this

            Programs can be debugged here; 1 warning.
        "#]]
        .assert_eq(&list(&report, false));
        report
            .checks
            .push(check("x", Outcome::Problem, Some("do that")));
        let text = list(&report, true);
        assert!(text.contains("\u{1b}[31mproblem\u{1b}[0m"), "{text}");
        assert!(
            text.ends_with("Programs cannot be debugged here: 1 problem.\n"),
            "{text}"
        );
    }
}
