//! Medians, ratios and the table they are shown in.
//!
//! A time alone says more about the machine than about us; so a row may be compared with another one
//! measured in the same run, and the ratio is what is promised.

use std::{fmt::Write, time::Duration};

/// What a row measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// The median of several runs.
    Time(Duration),
    /// Resident memory in bytes, or another size.
    Bytes(u64),
    /// How often per second.
    PerSecond(f64),
}

impl Value {
    /// As a person reads it.
    fn show(self) -> String {
        match self {
            Self::Time(time) => {
                let ms = time.as_secs_f64() * 1000.0;
                if ms < 10.0 {
                    format!("{ms:.2} ms")
                } else {
                    format!("{ms:.0} ms")
                }
            }
            Self::Bytes(bytes) => format!("{:.1} MB", bytes as f64 / 1_000_000.0),
            Self::PerSecond(rate) => format!("{rate:.0} /s"),
        }
    }

    fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Bytes(bytes) => bytes as f64,
            Self::PerSecond(rate) => rate,
        }
    }
}

/// What a row must not exceed (or, for a rate, fall below).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// Its ratio to the row it is compared with.
    Ratio(f64),
    /// Its own value.
    Absolute(Value),
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) name: String,
    /// The result.
    pub(crate) value: Value,
    /// The name and result of what it is compared with.
    pub(crate) baseline: Option<(String, Value)>,
    /// What it must keep.
    pub(crate) budget: Option<Budget>,
}

impl Row {
    /// A row without comparison or budget.
    pub(crate) fn new(name: impl Into<String>, value: Value) -> Self {
        Self {
            name: name.into(),
            value,
            baseline: None,
            budget: None,
        }
    }

    /// Compares it with another row of the same run.
    pub(crate) fn compared_with(mut self, other: &Self) -> Self {
        self.baseline = Some((other.name.clone(), other.value));
        self
    }

    /// Sets what it must keep.
    pub(crate) fn within(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// How many times the baseline it is.
    fn ratio(&self) -> Option<f64> {
        let (_, baseline) = self.baseline.as_ref()?;
        let baseline = baseline.number();
        (baseline > 0.0).then(|| self.value.number() / baseline)
    }

    /// Whether the budget is kept; `None` without one, or with nothing to compare.
    fn keeps_budget(&self) -> Option<bool> {
        Some(match (self.budget?, self.value) {
            (Budget::Ratio(most), _) => self.ratio()? <= most,
            (Budget::Absolute(least), Value::PerSecond(rate)) => rate >= least.number(),
            (Budget::Absolute(most), value) => value.number() <= most.number(),
        })
    }
}

/// The middle of the sorted times; of two middles the later one.
pub(crate) fn median(times: &mut [Duration]) -> Option<Duration> {
    times.sort();
    times.get(times.len() / 2).copied()
}

/// The rows as a markdown table, which a terminal shows well enough.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = ["what", "result", "compared with", "ratio", "budget"].map(str::to_owned);
    let mut lines = vec![head];
    lines.extend(rows.iter().map(cells));
    let mut widths = [0; 5];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(widths) {
            // Writing to a string cannot fail.
            let _ = write!(text, "| {cell:width$} ");
        }
        text.push_str("|\n");
        if i == 0 {
            for width in widths {
                let _ = write!(text, "|{}", "-".repeat(width + 2));
            }
            text.push_str("|\n");
        }
    }
    text
}

fn cells(row: &Row) -> [String; 5] {
    let compared = row
        .baseline
        .as_ref()
        .map(|(name, value)| format!("{name}: {}", value.show()));
    let budget = row.budget.map(|budget| {
        let sign = if matches!(row.value, Value::PerSecond(_)) {
            "≥"
        } else {
            "≤"
        };
        let limit = match budget {
            Budget::Ratio(ratio) => format!("{ratio:.2} ×"),
            Budget::Absolute(value) => value.show(),
        };
        let verdict = match row.keeps_budget() {
            Some(true) => "kept",
            Some(false) => "EXCEEDED",
            None => "not comparable",
        };
        format!("{sign} {limit}, {verdict}")
    });
    [
        row.name.clone(),
        row.value.show(),
        compared.unwrap_or_default(),
        row.ratio()
            .map(|ratio| format!("{ratio:.2} ×"))
            .unwrap_or_default(),
        budget.unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn ms(ms: u64) -> Value {
        Value::Time(Duration::from_millis(ms))
    }

    #[test]
    fn median_is_the_middle() {
        let times = |list: &[u64]| {
            list.iter()
                .map(|ms| Duration::from_millis(*ms))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            median(&mut times(&[9, 1, 5])),
            Some(Duration::from_millis(5))
        );
        assert_eq!(median(&mut times(&[4, 1])), Some(Duration::from_millis(4)));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn table_shows_ratios_and_budgets() {
        let bare = Row::new("bare run", ms(50));
        let rows = [
            Row::new("launch", ms(60))
                .compared_with(&bare)
                .within(Budget::Ratio(1.5)),
            Row::new("slow launch", ms(100))
                .compared_with(&bare)
                .within(Budget::Ratio(1.5)),
            Row::new("memory", Value::Bytes(20_500_000))
                .within(Budget::Absolute(Value::Bytes(25_000_000))),
            Row::new("conditions", Value::PerSecond(900.0))
                .within(Budget::Absolute(Value::PerSecond(1000.0))),
            Row::new("alone", ms(1)).within(Budget::Ratio(2.0)),
            bare,
        ];
        expect![[r#"
            | what        | result  | compared with   | ratio  | budget                   |
            |-------------|---------|-----------------|--------|--------------------------|
            | launch      | 60 ms   | bare run: 50 ms | 1.20 × | ≤ 1.50 ×, kept           |
            | slow launch | 100 ms  | bare run: 50 ms | 2.00 × | ≤ 1.50 ×, EXCEEDED       |
            | memory      | 20.5 MB |                 |        | ≤ 25.0 MB, kept          |
            | conditions  | 900 /s  |                 |        | ≥ 1000 /s, EXCEEDED      |
            | alone       | 1.00 ms |                 |        | ≤ 2.00 ×, not comparable |
            | bare run    | 50 ms   |                 |        |                          |
        "#]]
        .assert_eq(&table(&rows));
    }
}
