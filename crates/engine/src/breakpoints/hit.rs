//! Hit conditions: at which of its hits a breakpoint stops.

use std::str::FromStr;

/// A condition on the number of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HitCondition {
    Equal(u64),
    AtLeast(u64),
    MoreThan(u64),
    Multiple(u64),
}

/// Why a text is no hit condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no hit condition")]
pub(super) struct BadHitCondition(String);

impl HitCondition {
    /// Whether the `hits`th hit stops; the first is 1.
    pub(super) fn holds(self, hits: u64) -> bool {
        match self {
            HitCondition::Equal(n) => hits == n,
            HitCondition::AtLeast(n) => hits >= n,
            HitCondition::MoreThan(n) => hits > n,
            HitCondition::Multiple(n) => hits.is_multiple_of(n),
        }
    }
}

impl FromStr for HitCondition {
    type Err = BadHitCondition;

    fn from_str(text: &str) -> Result<Self, BadHitCondition> {
        let bad = || BadHitCondition(text.to_owned());
        let text = text.trim();
        let (make, digits): (fn(u64) -> Self, _) = match text {
            _ if text.starts_with(">=") => (HitCondition::AtLeast, text.get(2..)),
            _ if text.starts_with("==") => (HitCondition::Equal, text.get(2..)),
            _ if text.starts_with('>') => (HitCondition::MoreThan, text.get(1..)),
            _ if text.starts_with('%') => (HitCondition::Multiple, text.get(1..)),
            _ if text.starts_with('=') => (HitCondition::Equal, text.get(1..)),
            _ => (HitCondition::Equal, Some(text)),
        };
        let number = digits
            .unwrap_or_default()
            .trim()
            .parse()
            .map_err(|_| bad())?;
        // The zeroth hit never comes, and nothing is a multiple of nothing.
        if number == 0
            && !matches!(
                make(1),
                HitCondition::MoreThan(_) | HitCondition::AtLeast(_)
            )
        {
            return Err(bad());
        }
        Ok(make(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[u64]) {
        let condition: HitCondition = text.parse().expect("a hit condition");
        let hits: Vec<u64> = (1..=7).filter(|hits| condition.holds(*hits)).collect();
        assert_eq!(hits, expected, "{text}");
    }

    #[test]
    fn hit_conditions_choose_the_hits_they_name() {
        check("3", &[3]);
        check("==3", &[3]);
        check("= 3", &[3]);
        check(">= 6", &[6, 7]);
        check(">5", &[6, 7]);
        check(">0", &[1, 2, 3, 4, 5, 6, 7]);
        check("% 3", &[3, 6]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "x",
            "0",
            "==0",
            "%0",
            "-1",
            "<3",
            "3x",
            "99999999999999999999",
        ] {
            assert!(text.parse::<HitCondition>().is_err(), "{text}");
        }
    }
}
