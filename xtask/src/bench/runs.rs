//! Running programs and looking at the clock.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};

use super::stats::median;

/// How long a program takes from its start to its first line of output; it is then ended.
pub(crate) fn to_first_line(command: &mut Command) -> Result<Duration> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let stdout = child.stdout.take().context("the program has no output")?;
    let mut line = Vec::new();
    let read = BufReader::new(stdout).read_until(b'\n', &mut line);
    let elapsed = started.elapsed();
    // It may have ended by itself by now; it must be waited for in any case.
    let _ = child.kill();
    child.wait().context("cannot wait for the program")?;
    read.context("cannot read the program's output")?;
    ensure!(
        !line.is_empty(),
        "{} printed nothing",
        command.get_program().display()
    );
    Ok(elapsed)
}

/// The median of `count` measurements, after one that does not count (caches fill).
pub(crate) fn median_of(
    count: usize,
    mut measure: impl FnMut() -> Result<Duration>,
) -> Result<Duration> {
    measure()?;
    let times: Result<Vec<_>> = (0..count).map(|_| measure()).collect();
    median(&mut times?).context("nothing was measured")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_is_waited_for_and_the_program_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; exec sleep 1000"]);
        to_first_line(&mut command).expect("prints a line");
    }

    #[test]
    fn silent_program_is_an_error() {
        let error = to_first_line(&mut Command::new("true")).expect_err("prints nothing");
        assert_eq!(error.to_string(), "true printed nothing");
    }

    #[test]
    fn first_measurement_does_not_count() {
        let mut times = [900, 1, 2, 3].into_iter();
        let measured = median_of(3, || {
            let ms = times.next().context("asked too often")?;
            Ok(Duration::from_millis(ms))
        });
        assert_eq!(measured.expect("measured"), Duration::from_millis(2));
    }
}
