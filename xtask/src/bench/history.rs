//! `docs/benchmarks.md`: the last few runs, the newest first.

/// Runs that are kept, so that the file stays small.
const KEPT: usize = 4;

const HEAD: &str = "\
# Benchmarks

Written by `cargo xtask bench --write`; the newest run comes first, older ones drop out at the end.

Medians are of one run on one machine, which may have been doing other things as well; *best* is the best sample. What is
compared is measured in turns. *No fast memory* is the same figure with `NDBG_FAST_MEMORY=0`. Times are what a front end
sees: from sending the request to having the answer, or the stop that follows it, in hand.

Memory is the resident set (`Rss` of `smaps_rollup`) of a program that is stopped and whose stack was asked for. It counts
in full what processes share, such as the executable that server and host both are; their proportional share (`Pss`)
divides that, so the sum of two shares is what both keep in memory together. 4 MiB of a host are the runtime library's own table, on .NET 9 and older.
";

/// The file's new text: `old` with a run on top.
pub(crate) fn with_run(old: &str, title: &str, table: &str) -> String {
    let mut text = format!("{HEAD}\n## {title}\n\n{table}");
    let runs = old.split("\n## ").skip(1).take(KEPT - 1);
    for run in runs {
        text.push_str("\n## ");
        text.push_str(run.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_run_comes_first_and_the_oldest_drops_out() {
        let mut text = String::new();
        for run in 1..=KEPT + 2 {
            text = with_run(&text, &format!("run {run}"), &format!("| {run} |\n"));
        }
        let titles: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("## run "))
            .collect();
        assert_eq!(titles, ["6", "5", "4", "3"]);
        assert!(text.starts_with(HEAD));
        assert!(text.ends_with("\n| 3 |\n"));
    }
}
