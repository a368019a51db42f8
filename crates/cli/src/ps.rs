//! `ndbg ps`: the .NET processes, as a table or as JSON.

use std::io;
use std::process::ExitCode;

use host::processes::{self, Attachable, ProcessSummary};
use serde_json::json;

use crate::output::{self, cut, plain};

/// Lists the .NET processes.
pub(crate) fn ps(as_json: bool) -> io::Result<ExitCode> {
    let processes = processes::list();
    if as_json {
        let list: Vec<_> = processes.iter().map(as_value).collect();
        let mut text = serde_json::to_string_pretty(&list)?;
        text.push('\n');
        output::write(text.as_bytes())?;
    } else if processes.is_empty() {
        output::write(b"No .NET process is running that can be seen from here.\n")?;
    } else {
        output::write(table(&processes, output::width()).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_value(process: &ProcessSummary) -> serde_json::Value {
    let reason = match &process.attachable {
        Attachable::Yes => None,
        Attachable::No(error) => Some(json!({
            "code": error.code.name(),
            "message": error.message,
            "hint": error.hint,
        })),
    };
    json!({
        "pid": process.pid.0,
        "name": process.name,
        "runtime": process.runtime.as_ref().map(|version| &version.0),
        "user": process.user,
        "commandLine": process.command_line,
        "attachable": reason.is_none(),
        "reason": reason,
    })
}

const HEADINGS: [&str; 5] = ["PID", "USER", "RUNTIME", "ATTACHABLE", "COMMAND"];

/// A line for each process, cut to the terminal's width, and below it the reason if it cannot be debugged.
fn table(processes: &[ProcessSummary], width: Option<usize>) -> String {
    let rows: Vec<[String; 5]> = processes
        .iter()
        .map(|process| {
            let version = process.runtime.as_ref().map(|version| plain(&version.0));
            let attachable = match process.attachable {
                Attachable::Yes => "yes",
                Attachable::No(_) => "no",
            };
            [
                process.pid.0.to_string(),
                plain(&process.user),
                version.unwrap_or_else(|| "?".into()),
                attachable.to_owned(),
                plain(&process.command_line.join(" ")).replace('\n', " "),
            ]
        })
        .collect();
    let widths: Vec<usize> = HEADINGS
        .iter()
        .enumerate()
        .map(|(column, heading)| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let longest = cells.map(|cell| cell.chars().count()).max();
            longest.unwrap_or(0).max(heading.len())
        })
        .collect();
    let line = |cells: [&str; 5]| {
        let mut text = String::new();
        for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            match column {
                0 => text += &format!("{cell:>width$}"),
                4 => text += &format!("  {cell}"),
                _ => text += &format!("  {cell:<width$}"),
            }
        }
        let text = text.trim_end();
        match width {
            Some(width) => cut(text, width) + "\n",
            None => format!("{text}\n"),
        }
    };
    let mut text = line(HEADINGS);
    let indent = " ".repeat(widths.first().copied().unwrap_or(0));
    for (process, row) in processes.iter().zip(&rows) {
        text += &line(row.each_ref().map(String::as_str));
        if let Attachable::No(error) = &process.attachable {
            // Told in full: it is what the reader needs to know.
            text += &format!("{indent}  {}\n", plain(&error.message));
            if let Some(hint) = &error.hint {
                text += &format!("{indent}  Hint: {}\n", plain(hint));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use host::api::{Error, ErrorCode, ProcessId, RuntimeVersion};

    fn some() -> Vec<ProcessSummary> {
        let process = |pid, line: &str, attachable| ProcessSummary {
            pid: ProcessId(pid),
            name: "x".into(),
            runtime: Some(RuntimeVersion("9.0.1".into())),
            command_line: line.split(' ').map(str::to_owned).collect(),
            user: "ann".into(),
            attachable,
        };
        let off = Error::new(ErrorCode::DebuggingDisabled, "debugging is switched off")
            .hint("start it again");
        vec![
            process(7, "dotnet Shop.dll --port\u{1b} 80", Attachable::Yes),
            process(12345, "./bank", Attachable::No(off)),
        ]
    }

    #[test]
    fn the_table_fits_its_terminal() {
        let wide = expect![[r#"
              PID  USER  RUNTIME  ATTACHABLE  COMMAND
                7  ann   9.0.1    yes         dotnet Shop.dll --port\u{1b} 80
            12345  ann   9.0.1    no          ./bank
                   debugging is switched off
                   Hint: start it again
        "#]];
        wide.assert_eq(&table(&some(), None));
        let narrow = expect![[r#"
              PID  USER  RUNTIME  ATTACHABLE  C…
                7  ann   9.0.1    yes         d…
            12345  ann   9.0.1    no          .…
                   debugging is switched off
                   Hint: start it again
        "#]];
        narrow.assert_eq(&table(&some(), Some(36)));
    }

    #[test]
    fn json_tells_the_reason() {
        let values: Vec<_> = some().iter().map(as_value).collect();
        let text = serde_json::to_string_pretty(&values).expect("plain data");
        expect![[r#"
            [
              {
                "attachable": true,
                "commandLine": [
                  "dotnet",
                  "Shop.dll",
                  "--port\u001b",
                  "80"
                ],
                "name": "x",
                "pid": 7,
                "reason": null,
                "runtime": "9.0.1",
                "user": "ann"
              },
              {
                "attachable": false,
                "commandLine": [
                  "./bank"
                ],
                "name": "x",
                "pid": 12345,
                "reason": {
                  "code": "DEBUGGING_DISABLED",
                  "hint": "start it again",
                  "message": "debugging is switched off"
                },
                "runtime": "9.0.1",
                "user": "ann"
              }
            ]"#]]
        .assert_eq(&text);
    }
}
