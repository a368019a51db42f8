//! The shape of the machine a benchmark ran on, and the day.

use std::{
    fs, thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// `2 cores, 25 GB memory, Linux 6.18.5`.
pub(crate) fn shape() -> String {
    let cores = thread::available_parallelism().map_or(1, |count| count.get());
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = total_memory(&memory).map_or_else(
        || "unknown memory".to_owned(),
        |bytes| format!("{:.0} GB memory", bytes as f64 / 1e9),
    );
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, {memory}, Linux {}", kernel.trim())
}

/// Today in UTC, as `2026-11-15`.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    date(since.unwrap_or_default())
}

fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The date of a moment, by counting years and months.
fn date(since_epoch: Duration) -> String {
    let mut days = since_epoch.as_secs() / 86_400;
    let mut year = 1970_u64;
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    loop {
        let in_year = if is_leap(year) { 366 } else { 365 };
        if days < in_year {
            break;
        }
        days -= in_year;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for in_month in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < in_month {
            break;
        }
        days -= in_month;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let check = |seconds, expected| assert_eq!(date(Duration::from_secs(seconds)), expected);
        check(0, "1970-01-01");
        check(951_782_399, "2000-02-28");
        check(951_782_400, "2000-02-29");
        check(1_709_251_200, "2024-03-01");
        check(1_798_761_599, "2026-12-31");
        check(1_798_761_600, "2027-01-01");
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(
            total_memory("MemTotal:       24 kB\nMemFree: 1 kB"),
            Some(24 * 1024)
        );
        assert_eq!(total_memory("MemFree: 1 kB"), None);
    }
}
