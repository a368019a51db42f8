//! What goes to the log: standard error, as much as `NDBG_LOG` asks for.
//!
//! Invariant: a value that means nothing is told, and what is logged then is the default.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

const VARIABLE: &str = "NDBG_LOG";
const DEFAULT: LevelFilter = LevelFilter::WARN;

/// Begins to log. `complain`: say it if the variable means nothing; a host leaves that to who started it.
pub(crate) fn begin(complain: bool) {
    let wanted = std::env::var_os(VARIABLE);
    let wanted = wanted.as_ref().map(|it| it.to_string_lossy());
    let filter = wanted.as_deref().map_or_else(|| Ok(default()), parse);
    let filter = filter.unwrap_or_else(|part| {
        if complain {
            eprintln!(
                "warning: {VARIABLE} is ignored: {part:?} is no level; give error, warn, info, debug or trace, or levels \
                 of parts such as warn,engine=debug"
            );
        }
        default()
    });
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .init();
}

fn default() -> Targets {
    // rmcp warns of every error that a client is told, and of streams that a client opens twice.
    Targets::new()
        .with_default(DEFAULT)
        .with_target("rmcp", LevelFilter::ERROR)
}

/// Levels separated by commas, each for everything or, as `part=level`, for one part; an error names what is no level.
fn parse(text: &str) -> Result<Targets, &str> {
    let mut everything = DEFAULT;
    let mut parts = Vec::new();
    for directive in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let (part, level) = match directive.split_once('=') {
            Some((part, level)) => (Some(part.trim()), level.trim()),
            None => (None, directive),
        };
        let level: LevelFilter = level.parse().map_err(|_| directive)?;
        match part {
            Some("") => return Err(directive),
            Some(part) => parts.push((part, level)),
            None => everything = level,
        }
    }
    Ok(Targets::new().with_default(everything).with_targets(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_everything_and_of_parts_are_understood() {
        let check = |text, expected: Targets| assert_eq!(parse(text), Ok(expected), "{text}");
        check("", Targets::new().with_default(DEFAULT));
        check("debug", Targets::new().with_default(LevelFilter::DEBUG));
        check("off", Targets::new().with_default(LevelFilter::OFF));
        check(
            " warn , engine = trace ",
            Targets::new()
                .with_default(DEFAULT)
                .with_target("engine", LevelFilter::TRACE),
        );
    }

    #[test]
    fn what_is_no_level_is_named() {
        for (text, part) in [
            ("verbose", "verbose"),
            ("debug,loud", "loud"),
            ("engine=loud", "engine=loud"),
            ("=debug", "=debug"),
        ] {
            assert_eq!(parse(text), Err(part));
        }
    }
}
