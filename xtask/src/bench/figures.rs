//! Every figure: what it is, what it is compared with, and what it must keep.
//!
//! A time alone says more about the machine than about us. So a figure is compared with another one of the same run
//! wherever there is something to compare it with.

/// What a figure must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// At most this many times what it is compared with.
    Ratio(f64),
    /// At most this, in the figure's unit; at least this for a rate.
    Absolute(f64),
    /// At most this much more than what it is compared with, in the figure's unit.
    More(f64),
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    /// The benchmark that measures it.
    pub(crate) bench: &'static str,
    /// As the measuring program names it.
    pub(crate) name: &'static str,
    /// As a person names it.
    pub(crate) title: &'static str,
    /// The figure it is compared with.
    pub(crate) baseline: Option<&'static str>,
    pub(crate) budget: Option<Budget>,
}

const MS: f64 = 1e6;
const MB: f64 = 1e6;

/// All figures in the order in which they are shown.
///
/// A figure `x` that was also measured without the fast memory layer has that under `x/plain`; what System.Reflection.Metadata
/// takes for the same work is `x/theirs`.
pub(crate) const FIGURES: &[Figure] = &[
    figure("start", "start.bare", "bare run to its first line"),
    figure("start", "start.stop", "launch to a stop behind that line")
        .against("start.bare", Some(Budget::Ratio(1.5))),
    figure(
        "start",
        "start.bare.work",
        "processor time of that bare run",
    ),
    figure(
        "start",
        "start.stop.work",
        "processor time of program and host at that stop",
    )
    .against("start.bare.work", None),
    figure(
        "start",
        "start.cold",
        "launch to that stop with the start of its host",
    )
    .against("start.bare", None),
    figure("start", "start.entry", "launch to the first line of Main").against("start.bare", None),
    figure("attach", "attach.host", "start of a host"),
    figure("attach", "attach.running", "attach to a running program").against("attach.host", None),
    figure(
        "pause",
        "pause.sleeping.round_trip",
        "asking for the state (program sleeps)",
    ),
    figure("pause", "pause.sleeping", "pause of a program that sleeps")
        .against("pause.sleeping.round_trip", Some(Budget::Absolute(MS))),
    figure(
        "pause",
        "pause.busy.round_trip",
        "asking for the state (program computes)",
    ),
    figure(
        "pause",
        "pause.busy",
        "pause of a program that computes without a call",
    )
    // No budget: the runtime itself looks only every 20 ms whether such a thread has come to rest.
    .against("pause.busy.round_trip", None),
    figure("step", "step.round_trip", "asking for the state"),
    figure("step", "step.over", "step over a statement")
        .against("step.round_trip", Some(Budget::Absolute(MS))),
    figure(
        "step",
        "step.work",
        "processor time of program and host for a step",
    ),
    figure("step", "step.reads", "reads from the system for a step")
        .against("step.reads/plain", None),
    figure("hits", "hits.counted", "breakpoint hits that only count")
        .within(Budget::Absolute(1_500.0)),
    figure("hits", "hits.stopping", "breakpoint hits that stop").within(Budget::Absolute(1_500.0)),
    figure(
        "conditions",
        "conditions.local",
        "breakpoint hits with a condition on a local",
    )
    .within(Budget::Absolute(1_000.0)),
    figure(
        "conditions",
        "conditions.path",
        "breakpoint hits with a condition on a.b.c",
    )
    .within(Budget::Absolute(800.0)),
    figure(
        "conditions",
        "conditions.getter",
        "breakpoint hits with a condition that calls a getter",
    )
    .within(Budget::Absolute(300.0)),
    figure("traces", "traces.text", "breakpoint hits that log a text")
        .within(Budget::Absolute(800.0)),
    figure("traces", "traces.value", "breakpoint hits that log a value")
        .within(Budget::Absolute(800.0)),
    figure("stack", "stack.round_trip", "asking for the state"),
    figure("stack", "stack.first", "stack of 20 frames after a stop")
        .against("stack.round_trip", Some(Budget::Absolute(2.0 * MS))),
    figure("stack", "stack.again", "the same stack once more").against("stack.round_trip", None),
    figure(
        "stack",
        "stack.reads",
        "reads from the system for the first stack",
    )
    .against("stack.reads/plain", None),
    figure("values", "values.round_trip", "asking for the state"),
    figure("values", "values.one", "first frame and one local")
        .against("values.round_trip", Some(Budget::Absolute(0.5 * MS))),
    figure("values", "values.many", "20 locals of mixed types")
        .against("values.round_trip", Some(Budget::Absolute(2.0 * MS))),
    figure(
        "values",
        "values.list",
        "100 elements of a list with DebuggerDisplay",
    )
    .against("values.round_trip", Some(Budget::Absolute(3.0 * MS))),
    figure("values", "values.page", "100 elements of 10 million")
        .against("values.round_trip", Some(Budget::Absolute(MS))),
    figure("values", "values.getter", "a property that runs code")
        .against("values.round_trip", Some(Budget::Absolute(1.5 * MS))),
    figure("values", "values.local", "evaluating a local")
        .against("values.round_trip", Some(Budget::Absolute(0.5 * MS))),
    figure("values", "values.arithmetic", "evaluating a + b * c")
        .against("values.round_trip", Some(Budget::Absolute(0.5 * MS))),
    figure("memory", "memory.host", "resident memory of a host"),
    figure(
        "memory",
        "memory.host.share",
        "its proportional share (PSS)",
    ),
    figure(
        "memory",
        "memory.host.private",
        "what it shares with nobody",
    ),
    figure(
        "memory",
        "memory.mcp",
        "resident memory of MCP server and host, each by itself",
    ),
    figure(
        "memory",
        "memory.mcp.share",
        "the same, what they share counted once (PSS)",
    )
    .within(Budget::Absolute(25.0 * MB)),
    figure(
        "memory",
        "memory.mcp.server",
        "resident memory of the server alone",
    ),
    figure("mcp", "mcp.version", "run of ndbg --version"),
    figure(
        "mcp",
        "mcp.start",
        "start of the MCP server to its first answer",
    )
    .against("mcp.version", Some(Budget::Absolute(10.0 * MS))),
    figure("mcp", "mcp.tools", "tools/list over MCP").within(Budget::Absolute(5.0 * MS)),
    figure(
        "mcp",
        "mcp.step.engine",
        "step over a statement, engine alone",
    ),
    figure("mcp", "mcp.step", "debug_step over MCP, with its report")
        .against("mcp.step.engine", Some(Budget::More(MS))),
    figure("mcp", "mcp.status", "debug_status over MCP"),
    figure(
        "mcp",
        "mcp.report",
        "debug_continue to the next stop and its report",
    )
    .against("mcp.status", Some(Budget::Absolute(5.0 * MS))),
    figure("modules", "modules.bare", "bare run that loads 300 modules"),
    figure("modules", "modules.stop", "launch to a stop behind that").against("modules.bare", None),
    figure(
        "modules",
        "modules.pending",
        "the same with 100 pending breakpoints",
    )
    .against("modules.stop", Some(Budget::Ratio(1.05))),
    figure(
        "symbols",
        "symbols.open.cold",
        "open CoreLib, first time in the process",
    )
    .against("symbols.open.cold/theirs", None),
    figure("symbols", "symbols.open.warm", "open CoreLib, again")
        .against("symbols.open.warm/theirs", None),
    figure(
        "symbols",
        "symbols.pdb.open",
        "open a PDB of 10,000 methods",
    )
    .against("symbols.pdb.open/theirs", None),
    figure(
        "symbols",
        "symbols.points",
        "decode all its 45,000 sequence points",
    )
    .against("symbols.points/theirs", Some(Budget::Ratio(1.0 / 5.0))),
    figure(
        "symbols",
        "symbols.line.first",
        "open it and find the code of a first line",
    )
    .against("symbols.line.first/theirs", Some(Budget::Ratio(1.0 / 20.0))),
    figure(
        "symbols",
        "symbols.line.filtered",
        "the same, theirs passing over other documents",
    )
    .against("symbols.line.filtered/theirs", None),
    figure(
        "symbols",
        "symbols.line.again",
        "find the code of another line",
    )
    .against("symbols.line.again/theirs", None),
    figure(
        "symbols",
        "symbols.type.first",
        "first type by name in CoreLib",
    )
    .against("symbols.type.first/theirs", None),
    figure("symbols", "symbols.type.again", "another type by name")
        .against("symbols.type.again/theirs", None),
    figure("symbols", "symbols.search", "search all names of CoreLib")
        .within(Budget::Absolute(5.0 * MS)),
    figure(
        "symbols",
        "symbols.memory",
        "resident memory after points and line",
    )
    .against("symbols.memory/theirs", Some(Budget::Ratio(1.0 / 5.0))),
    figure(
        "dap",
        "dap.start",
        "start of the adapter to its capabilities",
    )
    .within(Budget::Absolute(5.0 * MS)),
    figure("dap", "dap.launch", "adapter, launch, breakpoint hit"),
    figure(
        "dap",
        "dap.look",
        "stackTrace, scopes and two times variables",
    )
    .within(Budget::Absolute(4.0 * MS)),
    figure("dap", "dap.evaluate.local", "evaluate a local").within(Budget::Absolute(0.7 * MS)),
    figure("dap", "dap.evaluate.field", "evaluate a field").against("dap.evaluate.local", None),
    figure(
        "dap",
        "dap.evaluate.property",
        "evaluate a property whose getter runs",
    )
    .against("dap.evaluate.local", None),
    figure("dap", "dap.evaluate.index", "evaluate an element of a list")
        .against("dap.evaluate.local", None),
    figure("dap", "dap.expand", "100 elements of a list of 1,000"),
    figure("dap", "dap.next", "next to the stop").within(Budget::Absolute(1.2 * MS)),
    figure(
        "dap",
        "dap.conditions",
        "breakpoint hits with a condition on a local",
    )
    .within(Budget::Absolute(1_000.0)),
    figure("dap", "dap.memory", "memory of adapter and host (PSS)")
        .within(Budget::Absolute(20.0 * MB)),
];

const fn figure(bench: &'static str, name: &'static str, title: &'static str) -> Figure {
    Figure {
        bench,
        name,
        title,
        baseline: None,
        budget: None,
    }
}

impl Figure {
    const fn against(mut self, baseline: &'static str, budget: Option<Budget>) -> Self {
        self.baseline = Some(baseline);
        self.budget = budget;
        self
    }

    const fn within(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// A figure by its name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FIGURES.iter().find(|figure| figure.name == name)
    }
}

/// The names of the benchmarks, each once, in order.
pub(crate) fn benches() -> Vec<&'static str> {
    let mut names: Vec<_> = FIGURES.iter().map(|figure| figure.bench).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_are_measured_by_the_same_benchmark() {
        for figure in FIGURES {
            let Some(baseline) = figure.baseline else {
                assert!(
                    !matches!(figure.budget, Some(Budget::Ratio(_) | Budget::More(_))),
                    "{} has nothing to be compared with",
                    figure.name
                );
                continue;
            };
            let plain = baseline
                .strip_suffix("/plain")
                .or_else(|| baseline.strip_suffix("/theirs"));
            let other = Figure::named(plain.unwrap_or(baseline));
            assert_eq!(other.map(|other| other.bench), Some(figure.bench));
        }
    }
}
