//! What the measuring program printed: one line per figure, its name, its unit and its samples.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

/// What the samples of a figure count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
    PerSecond,
    Count,
}

impl Unit {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "ns" => Self::Nanoseconds,
            "bytes" => Self::Bytes,
            "/s" => Self::PerSecond,
            "count" => Self::Count,
            _ => return None,
        })
    }

    /// A number of this unit as a person reads it.
    pub(crate) fn show(self, number: f64) -> String {
        match self {
            Self::Nanoseconds => show_time(number),
            Self::Bytes => format!("{:.1} MB", number / 1e6),
            Self::PerSecond => format!("{number:.0} /s"),
            Self::Count => format!("{number:.0}"),
        }
    }
}

fn show_time(nanoseconds: f64) -> String {
    let ms = nanoseconds / 1e6;
    match ms {
        _ if ms < 0.001 => format!("{nanoseconds:.0} ns"),
        _ if ms < 0.01 => format!("{:.1} µs", ms * 1000.0),
        _ if ms < 0.1 => format!("{:.0} µs", ms * 1000.0),
        _ if ms < 10.0 => format!("{ms:.2} ms"),
        _ => format!("{ms:.0} ms"),
    }
}

/// All samples of a figure; there is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Samples {
    pub(crate) unit: Unit,
    /// From the smallest to the largest.
    sorted: Vec<u64>,
}

impl Samples {
    /// The middle one; of two middles the larger.
    pub(crate) fn median(&self) -> f64 {
        let middle = self.sorted.get(self.sorted.len() / 2);
        middle.copied().unwrap_or_default() as f64
    }

    /// The best one: the machine did the least else meanwhile.
    pub(crate) fn best(&self) -> f64 {
        let best = match self.unit {
            Unit::PerSecond => self.sorted.last(),
            Unit::Nanoseconds | Unit::Bytes | Unit::Count => self.sorted.first(),
        };
        best.copied().unwrap_or_default() as f64
    }
}

/// The samples of one run by the names of their figures.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Run(BTreeMap<String, Samples>);

impl Run {
    /// Takes in what the measuring program printed.
    pub(crate) fn read(&mut self, text: &str) -> Result<()> {
        for line in text.lines() {
            let (name, samples) =
                figure(line).with_context(|| format!("not a line of samples: {line}"))?;
            self.0.insert(name, samples);
        }
        Ok(())
    }

    /// The samples of a figure, if it was measured.
    pub(crate) fn get(&self, name: &str) -> Option<&Samples> {
        self.0.get(name)
    }
}

fn figure(line: &str) -> Result<(String, Samples)> {
    let mut parts = line.split('\t');
    let name = parts.next().filter(|name| !name.is_empty());
    let name = name.context("no name")?;
    let unit = parts.next().and_then(Unit::parse).context("no unit")?;
    let samples = parts.next().context("no samples")?.split(' ');
    let sorted: Result<Vec<u64>, _> = samples.map(str::parse).collect();
    let mut sorted = sorted?;
    ensure!(
        !sorted.is_empty() && parts.next().is_none(),
        "not three parts"
    );
    sorted.sort_unstable();
    Ok((name.to_owned(), Samples { unit, sorted }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_a_median_and_a_best() {
        let mut run = Run::default();
        run.read("a.b\tns\t9 1 5\nrate\t/s\t10 30 20 40\n")
            .expect("two figures");
        let times = run.get("a.b").expect("measured");
        assert_eq!((times.median(), times.best()), (5.0, 1.0));
        let rates = run.get("rate").expect("measured");
        assert_eq!((rates.median(), rates.best()), (30.0, 40.0));
        assert_eq!(run.get("c"), None);
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "",
            "a\tns",
            "a\tns\t",
            "a\tns\t1 x",
            "a\tmiles\t1",
            "a\tns\t1\t2",
            "\tns\t1",
        ] {
            assert!(Run::default().read(&format!("{line}\n")).is_err(), "{line}");
        }
    }

    #[test]
    fn numbers_are_shown_with_the_digits_that_matter() {
        let check = |unit: Unit, number, expected| assert_eq!(unit.show(number), expected);
        check(Unit::Nanoseconds, 62.0, "62 ns");
        check(Unit::Nanoseconds, 4_190.0, "4.2 µs");
        check(Unit::Nanoseconds, 41_900.0, "42 µs");
        check(Unit::Nanoseconds, 700_000.0, "0.70 ms");
        check(Unit::Nanoseconds, 44_400_000.0, "44 ms");
        check(Unit::Bytes, 10_240_000.0, "10.2 MB");
        check(Unit::PerSecond, 7_648.0, "7648 /s");
        check(Unit::Count, 32.0, "32");
    }
}
