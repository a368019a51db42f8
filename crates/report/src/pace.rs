//! How often breakpoints are passed while the program runs: each time holds it for a moment, which a hot place multiplies.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::api::Breakpoint;

/// Passes in a second from which on a program may be noticeably slower.
const WARM: u64 = 50;
/// Passes in a second from which on it certainly is; a few thousand are all that there can be.
const HOT: u64 = 200;
/// A shorter time says little about a pace.
const SHORTEST: Duration = Duration::from_millis(50);
/// So do fewer passes, unless they are all there were in a second.
const FEWEST: u64 = 25;
const SECOND: Duration = Duration::from_secs(1);

/// How often each breakpoint was passed when somebody last looked.
#[derive(Debug, Default)]
pub struct Pace(BTreeMap<u32, Seen>);

#[derive(Debug, Clone, Copy)]
struct Seen {
    hits: u64,
    at: Instant,
    /// As it was found last.
    per_second: u64,
}

impl Pace {
    /// What there is to say of each breakpoint that slows the program down, as of now.
    pub fn look<'b>(
        &mut self,
        breakpoints: impl IntoIterator<Item = &'b Breakpoint>,
        now: Instant,
    ) -> Vec<(u32, String)> {
        let mut told = Vec::new();
        for breakpoint in breakpoints {
            let (id, hits) = (breakpoint.id.0, breakpoint.passes);
            let seen = self.0.entry(id).or_insert(Seen {
                hits,
                at: now,
                per_second: 0,
            });
            let elapsed = now.saturating_duration_since(seen.at);
            let passed = hits.saturating_sub(seen.hits);
            if elapsed >= SECOND || (elapsed >= SHORTEST && passed >= FEWEST) {
                let passed = passed.saturating_mul(1000);
                let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
                *seen = Seen {
                    hits,
                    at: now,
                    per_second: passed / elapsed.max(1),
                };
            }
            let per_second = seen.per_second;
            if per_second >= WARM && breakpoint.spec.enabled {
                let slower = if per_second >= HOT {
                    "much slower"
                } else {
                    "slower"
                };
                let (reached, instead) = match breakpoint.spec.condition {
                    // Only those with a true condition count for it.
                    Some(_) => (
                        "reached",
                        "a condition is cheaper where the program comes by less often",
                    ),
                    None => ("hit", "max_hits switches it off by itself"),
                };
                let note = format!(
                    "breakpoint {id} was {reached} about {per_second} times a second, and the program is held each time, so it \
                     runs {slower} as long as that is set: breakpoint_remove removes it, {instead}"
                );
                told.push((id, note));
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::api::{BreakpointId, BreakpointSpec, BreakpointState, Place};

    #[test]
    fn breakpoint_that_is_hit_without_pause_is_told_with_its_pace() {
        let mut breakpoint = Breakpoint {
            id: BreakpointId(3),
            spec: BreakpointSpec::at(Place::Function { name: "M".into() }),
            state: BreakpointState::Bound,
            reason: None,
            notes: Vec::new(),
            locations: Vec::new(),
            hits: 0,
            passes: 0,
            failures: 0,
            acted: 0,
            acted_before: 0,
            exhausted: false,
        };
        let (mut pace, start) = (Pace::default(), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        assert!(pace.look([&breakpoint], start).is_empty());
        breakpoint.passes = 1000;
        // Too early to know.
        assert!(pace.look([&breakpoint], after(10)).is_empty());
        let told = pace.look([&breakpoint], after(500));
        assert!(told[0].1.contains("about 2000 times a second"), "{told:?}");
        assert!(told[0].1.contains("runs much slower"), "{told:?}");
        // The same holds a moment later, and no longer when the place is quiet.
        assert_eq!(pace.look([&breakpoint], after(501)), told);
        assert!(pace.look([&breakpoint], after(1500)).is_empty());
        // A few stops with somebody who continues at once are no pace.
        breakpoint.passes += 5;
        assert!(pace.look([&breakpoint], after(1560)).is_empty());
        breakpoint.passes += 95;
        let told = pace.look([&breakpoint], after(2500));
        assert!(told[0].1.contains("runs slower"), "{told:?}");
    }
}
