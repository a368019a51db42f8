//! What would stop debugging on this machine, found by trying it, and what to do about it.
//!
//! Invariant: a check tries the real thing where that is harmless (makes a pipe, opens a child's memory) instead of
//! guessing from settings, leaves nothing behind, and every answer that is not "fine" says what to do.

mod dotnet;
pub(crate) mod folders;
mod system;

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use crate::program;
pub(crate) use system::may_inspect_others;

/// The outcome of all checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Each check, in an order that a person reads from the ground up.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was looked at; a short name that stays the same.
    pub name: String,
    /// How it came out.
    pub outcome: Outcome,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing stands in the way.
    Ok,
    /// Debugging works, but slower or with something missing.
    Warning,
    /// Programs cannot be debugged.
    Problem,
}

impl Report {
    /// Whether programs can be debugged here.
    pub fn can_debug(&self) -> bool {
        self.worst() < Outcome::Problem
    }

    /// The worst outcome of all.
    pub fn worst(&self) -> Outcome {
        let outcomes = self.checks.iter().map(|check| check.outcome);
        outcomes.max().unwrap_or(Outcome::Ok)
    }
}

impl Check {
    fn new(name: &str, outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            outcome,
            message: message.into(),
            advice: None,
        }
    }

    fn ok(name: &str, message: impl Into<String>) -> Self {
        Self::new(name, Outcome::Ok, message)
    }

    fn warning(name: &str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..Self::new(name, Outcome::Warning, message)
        }
    }

    fn problem(name: &str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..Self::new(name, Outcome::Problem, message)
        }
    }
}

/// Looks at this machine, with the environment that `variable` tells.
pub fn examine(variable: impl Fn(&str) -> Option<OsString>) -> Report {
    let temporary = program::temporary_folder(&variable);
    let mut checks = vec![
        system::machine(),
        system::c_library(),
        folders::temporary(&temporary),
        folders::shared_memory("/dev/shm".as_ref()),
    ];
    checks.extend(system::inspection());
    checks.push(system::other_users(
        rustix::process::geteuid().is_root(),
        may_inspect_others(),
    ));
    checks.push(system::process_handles());
    checks.push(system::fast_memory(&variable));
    checks.push(dotnet::switched_off(&variable));
    checks.extend(dotnet::installed(&variable));
    Report { checks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_outcome_decides() {
        let report = |outcomes: &[Outcome]| Report {
            checks: outcomes
                .iter()
                .map(|outcome| Check::new("x", *outcome, "y"))
                .collect(),
        };
        assert!(report(&[]).can_debug());
        assert!(report(&[Outcome::Ok, Outcome::Warning]).can_debug());
        let bad = report(&[Outcome::Ok, Outcome::Problem, Outcome::Warning]);
        assert!(!bad.can_debug());
        assert_eq!(bad.worst(), Outcome::Problem);
    }

    #[test]
    fn everything_that_is_not_fine_has_advice_and_nothing_is_left_behind() {
        let temporary = tempfile::tempdir().expect("a folder");
        let report = examine(|name| match name {
            "TMPDIR" => Some(temporary.path().into()),
            _ => std::env::var_os(name),
        });
        for check in &report.checks {
            assert_eq!(
                check.advice.is_some(),
                check.outcome != Outcome::Ok,
                "{check:?}"
            );
            assert!(!check.message.is_empty(), "{check:?}");
        }
        let left = std::fs::read_dir(temporary.path()).expect("it is there");
        assert_eq!(left.count(), 0);
    }
}
