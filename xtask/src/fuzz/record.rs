//! `docs/fuzzing.md`: how often each target has run.
//!
//! The table is the state: it is read, added to, and written again, so counts grow over runs and nothing else has to be kept.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::{Context as _, Result, bail};

const HEAD: &str = "\
# Fuzzing

Written by `cargo xtask fuzz --write`, which runs every target of `fuzz/fuzz_targets` for a bounded time, at most 10 s and 2 GB
for an input. Seeds are cut out of the compiled fixtures; the mutators change bytes inside a stream, heap or header and leave
the structure around it, so most inputs get past the headers. A target fails on a panic, on an overflow, on a hang and on memory
without bound. *Executions* are all that were ever recorded here, on all versions of the readers; the other columns are of the last
run. A crash that a run finds becomes a named test, most of them in `crates/metadata/tests/encodings/hostile.rs`.

`binder` is no libFuzzer target, since types exist only in a live program: a program is launched and stopped, and `ndbg host` is
asked for the values of texts of the compiler tests, changed token by token, by reading only. It must live on, in 2 GB, and answer
each with a value or with an error whose place is inside the text.
`live_expressions::mutations::whatever_is_asked_has_an_answer` is the same in short, on every run of the tests.

`dap_framing` reads bytes as an editor's connection; `dap_dispatcher` serves whole conversations without a debuggee, changed message by
message, and fails also if a request is not answered. `dap::hostile` is the same in short.

";

const COLUMNS: &str =
    "| target | executions | last run | its seconds | its executions | memory | slowest input |";

/// What libFuzzer says of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    pub(crate) executions: u64,
    pub(crate) peak_megabytes: u64,
    pub(crate) slowest_seconds: u64,
}

impl Runs {
    /// Takes in a line that libFuzzer printed; most say nothing of interest.
    pub(crate) fn read(&mut self, line: &str) {
        let Some((name, value)) = line
            .strip_prefix("stat::")
            .and_then(|it| it.split_once(':'))
        else {
            return;
        };
        let Ok(value) = value.trim().parse() else {
            return;
        };
        match name {
            "number_of_executed_units" => self.executions = value,
            "peak_rss_mb" => self.peak_megabytes = value,
            "slowest_unit_time_sec" => self.slowest_seconds = value,
            _ => {}
        }
    }
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    executions: u64,
    day: String,
    seconds: u32,
    last: Runs,
}

/// The whole table, by target.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Record(BTreeMap<String, Line>);

impl Record {
    /// Reads what [`Record::text`] wrote; an empty text is an empty record.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let rows = text.lines().skip_while(|line| *line != COLUMNS).skip(2);
        let mut record = Self::default();
        for row in rows.take_while(|line| line.starts_with('|')) {
            let (target, line) =
                line(row).with_context(|| format!("not a line of docs/fuzzing.md: {row}"))?;
            record.0.insert(target, line);
        }
        Ok(record)
    }

    /// Adds a run.
    pub(crate) fn add(&mut self, target: &str, day: &str, seconds: u32, runs: Runs) {
        let executions = self.executions(target).saturating_add(runs.executions);
        let line = Line {
            executions,
            day: day.to_owned(),
            seconds,
            last: runs,
        };
        self.0.insert(target.to_owned(), line);
    }

    /// All executions of a target.
    pub(crate) fn executions(&self, target: &str) -> u64 {
        self.0.get(target).map_or(0, |line| line.executions)
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{HEAD}{COLUMNS}\n|---|---|---|---|---|---|---|\n");
        for (target, line) in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {target} | {} | {} | {} | {} | {} MB | {} s |",
                grouped(line.executions),
                line.day,
                line.seconds,
                grouped(line.last.executions),
                line.last.peak_megabytes,
                line.last.slowest_seconds,
            );
        }
        text
    }
}

fn line(row: &str) -> Result<(String, Line)> {
    let cells: Vec<_> = row
        .trim_matches(['|', ' '])
        .split('|')
        .map(str::trim)
        .collect();
    let [target, executions, day, seconds, last, megabytes, slowest] = cells[..] else {
        bail!("there should be seven cells");
    };
    let last = Runs {
        executions: last.replace(',', "").parse()?,
        peak_megabytes: megabytes.trim_end_matches(" MB").parse()?,
        slowest_seconds: slowest.trim_end_matches(" s").parse()?,
    };
    let line = Line {
        executions: executions.replace(',', "").parse()?,
        day: day.to_owned(),
        seconds: seconds.parse()?,
        last,
    };
    Ok((target.to_owned(), line))
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_over_runs() {
        let mut runs = Runs::default();
        for line in [
            "#2097152\tpulse  cov: 1 ft: 2",
            "stat::number_of_executed_units: 2097152",
            "stat::average_exec_per_sec:     34379",
            "stat::slowest_unit_time_sec:    1",
            "stat::peak_rss_mb:              433",
        ] {
            runs.read(line);
        }
        let expected = Runs {
            executions: 2_097_152,
            peak_megabytes: 433,
            slowest_seconds: 1,
        };
        assert_eq!(runs, expected);
        let mut record = Record::read("").expect("nothing");
        record.add("pe", "2026-11-15", 60, runs);
        record.add("tables", "2026-11-15", 60, Runs::default());
        let mut record = Record::read(&record.text()).expect("what was written");
        record.add("pe", "2026-11-16", 90, runs);
        assert_eq!(record.executions("pe"), 2 * 2_097_152);
        assert!(
            record
                .text()
                .ends_with("| pe | 4,194,304 | 2026-11-16 | 90 | 2,097,152 | 433 MB | 1 s |\n| tables | 0 | 2026-11-15 | 60 | 0 | 0 MB | 0 s |\n"),
            "{}",
            record.text()
        );
    }

    #[test]
    fn broken_table_is_refused_and_not_overwritten() {
        let text = format!("{COLUMNS}\n|---|\n| pe | many |\n");
        assert!(Record::read(&text).is_err());
    }
}
