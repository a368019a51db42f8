//! The table of a run: medians, ratios, budgets.

use std::fmt::Write;

use super::{
    figures::{Budget, FIGURES, Figure},
    samples::{Run, Samples, Unit},
};

/// Whether a budget is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Kept,
    /// The median exceeds it, the best sample does not: the machine may have been busy.
    BestKeeps,
    Exceeded,
}

impl Verdict {
    fn show(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::BestKeeps => "EXCEEDED, best keeps it",
            Self::Exceeded => "EXCEEDED",
        }
    }
}

const HEAD: [&str; 8] = [
    "figure",
    "median",
    "best",
    "no fast memory",
    "compared with",
    "ratio",
    "budget",
    "verdict",
];

/// The figures that were measured, as a markdown table, which a terminal shows well enough.
pub(crate) fn table(run: &Run) -> String {
    let measured = FIGURES
        .iter()
        .filter_map(|figure| Some((figure, run.get(figure.name)?)));
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(measured.map(|(figure, samples)| cells(figure, samples, run)));
    let mut widths = [0; HEAD.len()];
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

/// `12 of 13 budgets kept`.
pub(crate) fn summary(run: &Run) -> String {
    let verdicts: Vec<_> = FIGURES
        .iter()
        .filter_map(|figure| verdict(figure, run.get(figure.name)?, run))
        .collect();
    let kept = verdicts
        .iter()
        .filter(|it| matches!(it, Verdict::Kept))
        .count();
    format!("{kept} of {} budgets kept", verdicts.len())
}

fn cells(figure: &Figure, samples: &Samples, run: &Run) -> [String; HEAD.len()] {
    let unit = samples.unit;
    let plain = run.get(&format!("{}/plain", figure.name));
    let baseline = figure.baseline.map(|name| match name.split_once('/') {
        Some((_, "plain")) => "no fast memory".to_owned(),
        Some((_, "theirs")) => theirs(name, run),
        _ => Figure::named(name)
            .map_or(name, |other| other.title)
            .to_owned(),
    });
    let ratio = ratio(figure, samples, run, Samples::median);
    let budget = figure.budget.map(|budget| match budget {
        Budget::Ratio(most) => format!("≤ {}", show_ratio(most)),
        Budget::More(most) => format!("≤ + {}", unit.show(most)),
        Budget::Absolute(limit) if unit == Unit::PerSecond => format!("≥ {}", unit.show(limit)),
        Budget::Absolute(limit) => format!("≤ {}", unit.show(limit)),
    });
    [
        figure.title.to_owned(),
        unit.show(samples.median()),
        unit.show(samples.best()),
        plain.map_or_else(String::new, |plain| unit.show(plain.median())),
        baseline.unwrap_or_default(),
        ratio.map_or_else(String::new, show_ratio),
        budget.unwrap_or_default(),
        verdict(figure, samples, run)
            .map_or("", Verdict::show)
            .to_owned(),
    ]
}

/// They have no line of their own, so their time stands beside their name.
fn theirs(name: &str, run: &Run) -> String {
    let time = run.get(name).map(|it| it.unit.show(it.median()));
    format!("System.Reflection.Metadata: {}", time.unwrap_or_default())
}

/// `1.50 ×`, or `1/20` of what is much larger.
fn show_ratio(ratio: f64) -> String {
    let times = 1.0 / ratio;
    match ratio {
        _ if ratio > 0.25 => format!("{ratio:.2} ×"),
        _ if times < 9.95 && times.fract() > 0.05 => format!("1/{times:.1}"),
        _ => format!("1/{times:.0}"),
    }
}

fn ratio(figure: &Figure, samples: &Samples, run: &Run, of: fn(&Samples) -> f64) -> Option<f64> {
    let baseline = of(run.get(figure.baseline?)?);
    (baseline > 0.0).then(|| of(samples) / baseline)
}

/// `None` without a budget, and if what it is compared with was not measured.
fn verdict(figure: &Figure, samples: &Samples, run: &Run) -> Option<Verdict> {
    let budget = figure.budget?;
    let keeps = |of: fn(&Samples) -> f64| {
        Some(match budget {
            Budget::Ratio(most) => ratio(figure, samples, run, of)? <= most,
            Budget::More(most) => of(samples) - of(run.get(figure.baseline?)?) <= most,
            Budget::Absolute(least) if samples.unit == Unit::PerSecond => of(samples) >= least,
            Budget::Absolute(most) => of(samples) <= most,
        })
    };
    Some(match (keeps(Samples::median)?, keeps(Samples::best)?) {
        (true, _) => Verdict::Kept,
        (false, true) => Verdict::BestKeeps,
        (false, false) => Verdict::Exceeded,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn table_shows_ratios_and_budgets() {
        let mut run = Run::default();
        run.read(
            "start.bare\tns\t50000000 52000000 40000000\n\
             start.stop\tns\t60000000 100000000 100000000\n\
             start.stop/plain\tns\t110000000\n\
             step.over\tns\t700000\n\
             mcp.step.engine\tns\t700000\n\
             mcp.step\tns\t1800000 1500000\n\
             step.reads\tcount\t40\n\
             step.reads/plain\tcount\t1000\n\
             hits.counted\t/s\t900\n\
             symbols.line.first\tns\t40000\n\
             symbols.line.first/theirs\tns\t1640000\n\
             symbols.memory\tbytes\t4000000\n\
             symbols.memory/theirs\tbytes\t19000000\n",
        )
        .expect("samples");
        expect![[r#"
            | figure                                    | median  | best    | no fast memory | compared with                       | ratio  | budget      | verdict                 |
            |-------------------------------------------|---------|---------|----------------|-------------------------------------|--------|-------------|-------------------------|
            | bare run to its first line                | 50 ms   | 40 ms   |                |                                     |        |             |                         |
            | launch to a stop behind that line         | 100 ms  | 60 ms   | 110 ms         | bare run to its first line          | 2.00 × | ≤ 1.50 ×    | EXCEEDED, best keeps it |
            | step over a statement                     | 0.70 ms | 0.70 ms |                | asking for the state                |        | ≤ 1.00 ms   | kept                    |
            | reads from the system for a step          | 40      | 40      | 1000           | no fast memory                      | 1/25   |             |                         |
            | breakpoint hits that only count           | 900 /s  | 900 /s  |                |                                     |        | ≥ 1500 /s   | EXCEEDED                |
            | step over a statement, engine alone       | 0.70 ms | 0.70 ms |                |                                     |        |             |                         |
            | debug_step over MCP, with its report      | 1.80 ms | 1.50 ms |                | step over a statement, engine alone | 2.57 × | ≤ + 1.00 ms | EXCEEDED, best keeps it |
            | open it and find the code of a first line | 40 µs   | 40 µs   |                | System.Reflection.Metadata: 1.64 ms | 1/41   | ≤ 1/20      | kept                    |
            | resident memory after points and line     | 4.0 MB  | 4.0 MB  |                | System.Reflection.Metadata: 19.0 MB | 1/4.8  | ≤ 1/5       | EXCEEDED                |
        "#]]
        .assert_eq(&table(&run));
        assert_eq!(summary(&run), "2 of 6 budgets kept");
    }
}
