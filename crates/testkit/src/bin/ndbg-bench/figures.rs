//! Samples of figures, and how they are printed.

use std::time::{Duration, Instant};

/// What the samples of a figure count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
    PerSecond,
    Count,
}

/// A figure that is being measured.
#[derive(Debug)]
pub(crate) struct Figure {
    name: String,
    unit: Unit,
    samples: Vec<u64>,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self {
            name: name.into(),
            unit,
            samples: Vec::new(),
        }
    }

    /// A figure of times.
    pub(crate) fn time(name: impl Into<String>) -> Self {
        Self::new(name, Unit::Nanoseconds)
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, sample: u64) {
        self.samples.push(sample);
    }

    /// Forgets the samples so far.
    pub(crate) fn clear(&mut self) {
        self.samples.clear();
    }

    /// Adds the time that something takes.
    pub(crate) fn timed<T, E>(&mut self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let started = Instant::now();
        let result = work()?;
        self.add(nanoseconds(started.elapsed()));
        Ok(result)
    }

    /// Prints the figure.
    pub(crate) fn print(self) {
        let unit = match self.unit {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "bytes",
            Unit::PerSecond => "/s",
            Unit::Count => "count",
        };
        let samples: Vec<String> = self.samples.iter().map(u64::to_string).collect();
        println!("{}\t{unit}\t{}", self.name, samples.join(" "));
    }
}

/// A time as a sample.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
