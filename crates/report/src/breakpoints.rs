//! Breakpoints as an agent sees them.

use std::fmt::Write as _;
use std::path::Path;

use engine::api::{
    BoundLocation, Breakpoint, BreakpointState, ExceptionBreakpoint, ExceptionSpec, Place,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Reader, Render, is_false, is_zero, is_zero_u64, text};

/// Places in code told of one breakpoint.
const LOCATIONS: usize = 4;
/// Breakpoints told at once.
const SHOWN: usize = 60;
/// Characters told of a name, a path or an expression.
const NAME: usize = 200;
/// Characters told of a reason.
const REASON: usize = 400;

/// A breakpoint at a place in code.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct BreakpointEntry {
    /// Its number.
    pub id: u32,
    /// The file it was asked for in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line it was asked for on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column it was asked for at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The method it was asked for in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// `pending` (no loaded module has the place yet), `bound` (set in the code), `unbound` (its module is gone),
    /// `disabled` or `failed`.
    pub state: &'static str,
    /// Why it is not bound, or what is to be known of it though it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where in the code it is set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<LocationEntry>,
    /// Places that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_locations: u32,
    /// It stops only if this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// It stops only at some hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    /// It logs this and does not stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
    /// It switches itself off after so many hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hits: Option<u64>,
    /// What else is to be known of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How often it was reached with its condition true.
    pub hits: u64,
    /// How often it was reached with its condition false.
    #[serde(skip_serializing_if = "is_zero_u64")]
    #[schemars(extend("x-minor" = true))]
    pub passed_by: u64,
    /// How often it was reached and its condition could not be told.
    #[serde(skip_serializing_if = "is_zero_u64")]
    #[schemars(extend("x-minor" = true))]
    pub failed: u64,
    /// How often it stopped the program or logged before its condition was changed.
    #[serde(skip_serializing_if = "is_zero_u64")]
    #[schemars(extend("x-minor" = true))]
    pub earlier_hits: u64,
    /// None of its hits was one that its hit condition asks for.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("x-minor" = true))]
    pub never_acted: bool,
    /// Its code may have run without coming by: what compiled it may have merged statements and calls.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("x-minor" = true))]
    pub may_be_passed: bool,
}

/// A place in code where a breakpoint is set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct LocationEntry {
    /// The method.
    pub method: String,
    /// File name of its module.
    pub module: String,
    /// Source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// 1-based column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Offset in the method's IL.
    pub il_offset: u32,
}

/// A breakpoint at exceptions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ExceptionBreakpointEntry {
    /// Its number.
    pub id: u32,
    /// Type names; none for every type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Type names that are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// Whether derived types count.
    pub subtypes: bool,
    /// It stops when one is thrown.
    pub thrown: bool,
    /// It stops when one leaves the user's code and is caught elsewhere.
    pub user_unhandled: bool,
    /// It stops when nobody catches one.
    pub unhandled: bool,
    /// Of those thrown, only ones that the user's code catches (true) or does not (false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caught_by_user: Option<bool>,
    /// It stops when one leaves the user's code for good, as that of a failing test does.
    #[serde(skip_serializing_if = "is_false")]
    pub escaping: bool,
    /// C# on `$exception` that must be true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// What else is to be known of it: a type that no loaded module has, or that is no exception.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub notes: Vec<String>,
    /// How often it stopped the program.
    pub hits: u64,
}

/// One breakpoint, after it was set or changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct BreakpointReport {
    /// The session's id.
    pub session: String,
    /// At a place in code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoint: Option<BreakpointEntry>,
    /// At exceptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception_breakpoint: Option<ExceptionBreakpointEntry>,
    /// Whether it was there before: it keeps its number and has the new settings.
    pub duplicate: bool,
    /// Whether exceptions that nobody catches stop the program, if that was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_at_unhandled: Option<bool>,
}

/// All breakpoints of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct BreakpointsReport {
    /// The session's id.
    pub session: String,
    /// At places in code.
    pub breakpoints: Vec<BreakpointEntry>,
    /// At exceptions.
    pub exception_breakpoints: Vec<ExceptionBreakpointEntry>,
    /// Breakpoints that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// Those that were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<u32>,
}

/// A reason of several lines in one, without the lines that show where in an expression something is wrong.
fn in_one_line(reason: &str) -> String {
    let said = reason.lines().filter(|line| !line.starts_with(' '));
    said.collect::<Vec<_>>().join("; ")
}

impl From<&Breakpoint> for BreakpointEntry {
    fn from(breakpoint: &Breakpoint) -> Self {
        let short = |text: &Option<String>| text.as_deref().map(|text| text::one_line(text, NAME));
        let spec = &breakpoint.spec;
        let mut entry = Self {
            id: breakpoint.id.0,
            state: state_name(breakpoint.state),
            reason: breakpoint
                .reason
                .as_deref()
                .map(|reason| text::one_line(&in_one_line(reason), REASON)),
            locations: breakpoint
                .locations
                .iter()
                .take(LOCATIONS)
                .map(LocationEntry::from)
                .collect(),
            more_locations: count(breakpoint.locations.len().saturating_sub(LOCATIONS)),
            condition: short(&spec.condition),
            hit_condition: short(&spec.hit_condition),
            log_message: short(&spec.log_message),
            max_hits: spec.max_hits,
            notes: breakpoint
                .notes
                .iter()
                .take(4)
                .map(|note| text::one_line(note, REASON))
                .collect(),
            hits: breakpoint.hits,
            passed_by: breakpoint
                .passes
                .saturating_sub(breakpoint.hits)
                .saturating_sub(breakpoint.failures),
            failed: breakpoint.failures,
            earlier_hits: breakpoint.acted_before,
            never_acted: breakpoint.hits > 0 && breakpoint.acted == 0,
            may_be_passed: breakpoint.locations.iter().any(|it| it.may_be_passed),
            ..Self::default()
        };
        match &spec.place {
            Place::Line { file, line, column } => {
                entry.file = Some(text::one_line(file, NAME));
                entry.line = Some(line.0);
                entry.column = *column;
            }
            Place::Function { name } => entry.function = Some(text::one_line(name, NAME)),
        }
        entry
    }
}

impl From<&BoundLocation> for LocationEntry {
    fn from(location: &BoundLocation) -> Self {
        let source = location.source.as_ref();
        Self {
            method: text::one_line(&location.method, NAME),
            module: text::one_line(&location.module, NAME),
            file: source.map(|source| text::one_line(&source.path.to_string_lossy(), NAME)),
            line: source.map(|source| source.line.0),
            column: source.and_then(|source| source.column),
            il_offset: location.il_offset,
        }
    }
}

impl From<&ExceptionBreakpoint> for ExceptionBreakpointEntry {
    fn from(breakpoint: &ExceptionBreakpoint) -> Self {
        let short = |names: &[String]| {
            let short = names.iter().map(|name| text::one_line(name, NAME));
            short.take(SHOWN).collect()
        };
        let ExceptionSpec {
            types,
            except,
            subtypes,
            thrown,
            user_unhandled,
            unhandled,
            caught_by_user,
            escaping,
            condition,
            enabled,
            ..
        } = &breakpoint.spec;
        Self {
            id: breakpoint.id.0,
            types: short(types),
            except: short(except),
            subtypes: *subtypes,
            thrown: *thrown,
            user_unhandled: *user_unhandled,
            unhandled: *unhandled,
            caught_by_user: *caught_by_user,
            escaping: *escaping,
            condition: condition.as_deref().map(|it| text::one_line(it, NAME)),
            enabled: *enabled,
            hits: breakpoint.hits,
            notes: breakpoint
                .notes
                .iter()
                .take(4)
                .map(|note| text::one_line(note, REASON))
                .collect(),
        }
    }
}

impl BreakpointsReport {
    /// The breakpoints of a session, as many as can be told.
    pub fn of(
        session: &str,
        breakpoints: &[Breakpoint],
        exceptions: &[ExceptionBreakpoint],
    ) -> Self {
        Self {
            session: session.to_owned(),
            breakpoints: breakpoints.iter().take(SHOWN).map(Into::into).collect(),
            exception_breakpoints: exceptions.iter().take(SHOWN).map(Into::into).collect(),
            left_out: count(
                breakpoints.len().saturating_sub(SHOWN) + exceptions.len().saturating_sub(SHOWN),
            ),
            removed: Vec::new(),
        }
    }
}

fn state_name(state: BreakpointState) -> &'static str {
    match state {
        BreakpointState::Pending => "pending",
        BreakpointState::Bound => "bound",
        BreakpointState::Unbound => "unbound",
        BreakpointState::Disabled => "disabled",
        BreakpointState::Failed => "failed",
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl BreakpointEntry {
    /// Where it was asked for: `shop.cs:20` or the method. Files of the same name are told apart from others.
    fn place(&self, others: &[&str]) -> String {
        match (&self.file, self.line, &self.function) {
            (Some(file), Some(line), _) => match self.column {
                Some(column) => format!("{}:{line}:{column}", distinct_name(file, others)),
                None => format!("{}:{line}", distinct_name(file, others)),
            },
            (_, _, Some(function)) => function.clone(),
            _ => "an unknown place".into(),
        }
    }

    /// One line: what it is, whether it can be hit, and why not.
    pub(super) fn render(&self) -> String {
        self.render_among(&[])
    }

    /// The same, among breakpoints in these files.
    fn render_among(&self, files: &[&str]) -> String {
        let kind = if self.log_message.is_some() {
            "Tracepoint"
        } else {
            "Breakpoint"
        };
        let mut line = format!("{kind} {} at {}", self.id, self.place(files));
        if let Some(first) = self.locations.first() {
            let _ = write!(line, ", in {}", first.method);
            // Where it is set is news if it is not what was asked for.
            match (&first.file, first.line) {
                (Some(file), Some(at)) if self.line != Some(at) => {
                    let _ = write!(line, " at {}:{at}", file_name(file));
                }
                (None, _) => {
                    let _ = write!(line, " ({}, IL offset {})", first.module, first.il_offset);
                }
                _ => {}
            }
            let others = self.locations.len() - 1 + self.more_locations as usize;
            if others > 0 {
                let places = if others == 1 { "place" } else { "places" };
                let _ = write!(line, " and {others} more {places}");
            }
        }
        let _ = write!(line, ": {}", self.state);
        if let Some(reason) = &self.reason {
            let _ = write!(line, ", {reason}");
        }
        if !line.ends_with(['?', '.']) {
            line.push('.');
        }
        // A tracepoint never stops.
        let (only_if, only_at) = match self.log_message {
            Some(_) => ("Logs only if", "Logs only at hit"),
            None => ("Stops only if", "Stops only at hit"),
        };
        for (label, value) in [
            (only_if, &self.condition),
            (only_at, &self.hit_condition),
            ("Logs", &self.log_message),
        ] {
            if let Some(value) = value {
                let _ = write!(line, " {label} {}.", text::quoted(value, NAME));
            }
        }
        match self.max_hits {
            // That it did is its state.
            _ if self.state == "disabled" => {}
            Some(1) => line.push_str(" Switches itself off after its first hit."),
            Some(hits) => {
                let _ = write!(line, " Switches itself off after {hits} hits.");
            }
            None => {}
        }
        for note in &self.notes {
            let _ = write!(line, " Note: {note}.");
        }
        let (hits, unmet) = match self.never_acted {
            true => (0, self.hits),
            false => (self.hits, 0),
        };
        for (did, count, how) in [
            (
                "Hit",
                self.earlier_hits,
                " before its condition was changed",
            ),
            ("Hit", hits, ""),
            ("Passed", unmet, " without meeting its hit condition"),
            ("Passed", self.passed_by, " with its condition false"),
            ("Its condition failed", self.failed, ""),
        ] {
            let _ = match count {
                0 => Ok(()),
                1 => write!(line, " {did} once{how}."),
                count => write!(line, " {did} {count} times{how}."),
            };
        }
        line
    }

    /// Whether it has ever stopped the program or logged.
    pub(crate) fn has_acted(&self) -> bool {
        self.earlier_hits > 0 || self.hits > 0 && !self.never_acted
    }

    /// Whether the program ever came to it.
    pub(crate) fn was_reached(&self) -> bool {
        [self.earlier_hits, self.hits, self.passed_by, self.failed] != [0; 4]
    }
}

impl ExceptionBreakpointEntry {
    /// One line: at which exceptions it stops, and when.
    fn render(&self) -> String {
        let list = |names: &[String]| names.join(", ");
        let mut line = format!("Exception breakpoint {}: ", self.id);
        match self.types.as_slice() {
            [] => line.push_str("any exception"),
            types => line.push_str(&list(types)),
        }
        if !self.types.is_empty() && self.subtypes {
            line.push_str(" and derived types");
        }
        if !self.except.is_empty() {
            let _ = write!(line, " except {}", list(&self.except));
        }
        let stages: Vec<_> = [
            (
                self.thrown,
                match self.caught_by_user {
                    None => "thrown",
                    Some(true) => "thrown and caught in the user's code",
                    Some(false) => "thrown and not caught in the user's code",
                },
            ),
            (self.user_unhandled, "it leaves the user's code"),
            (self.unhandled, "unhandled"),
            (self.escaping, "it fails a test"),
        ]
        .iter()
        .filter(|(on, _)| *on)
        .map(|(_, name)| *name)
        .collect();
        if stages.is_empty() {
            line.push_str(", never");
        } else {
            let _ = write!(line, ", when {}", stages.join(" or "));
        }
        if !self.enabled {
            line.push_str(" (disabled)");
        }
        line.push('.');
        if let Some(condition) = &self.condition {
            let _ = write!(line, " Stops only if {}.", text::quoted(condition, NAME));
        }
        for note in &self.notes {
            let _ = write!(line, " Note: {note}.");
        }
        match self.hits {
            0 => {}
            1 => line.push_str(" Stopped once."),
            hits => {
                let _ = write!(line, " Stopped {hits} times.");
            }
        }
        line
    }
}

impl Render for BreakpointReport {
    fn render_for(&self, _: Reader) -> String {
        let mut lines = Vec::new();
        if let Some(breakpoint) = &self.breakpoint {
            lines.push(breakpoint.render());
            if breakpoint.state == "pending" {
                lines.push("It is set as soon as a module with that place is loaded.".into());
            }
        }
        if let Some(breakpoint) = &self.exception_breakpoint {
            lines.push(breakpoint.render());
        }
        if self.duplicate {
            lines.push("It was there before and has these settings now.".into());
        }
        match self.stop_at_unhandled {
            Some(true) => lines.push("Exceptions that nobody catches stop the program.".into()),
            Some(false) => {
                lines.push("Exceptions that nobody catches end the program without a stop.".into())
            }
            None => {}
        }
        lines.join("\n")
    }
}

impl Render for BreakpointsReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut lines = Vec::new();
        match self.removed.as_slice() {
            [] => {}
            [only] => lines.push(format!("Removed breakpoint {only}.")),
            several => {
                let ids: Vec<_> = several.iter().map(u32::to_string).collect();
                lines.push(format!("Removed breakpoints {}.", ids.join(", ")));
            }
        }
        let files = self.breakpoints.iter().filter_map(|it| it.file.as_deref());
        let files: Vec<_> = files.collect();
        let breakpoints = self.breakpoints.iter();
        lines.extend(breakpoints.map(|it| it.render_among(&files)));
        let exceptions = self.exception_breakpoints.iter();
        lines.extend(exceptions.map(ExceptionBreakpointEntry::render));
        if self.left_out > 0 {
            lines.push(format!("({} more are not shown)", self.left_out));
        }
        if self.breakpoints.is_empty() && self.exception_breakpoints.is_empty() {
            let next = reader.words("breakpoint_set sets one", "`break` sets one");
            lines.push(format!("{} has no breakpoints; {next}.", self.session));
        }
        lines.join("\n")
    }
}

/// The shortest end of a path that no other path of the same file name has.
fn distinct_name<'p>(path: &'p str, others: &[&str]) -> &'p str {
    let name = file_name(path);
    let mut others = others
        .iter()
        .filter(|it| **it != path && file_name(it) == name);
    let Some(first) = others.next() else {
        return name;
    };
    let is_distinct = |end: &str| {
        let mut all = std::iter::once(first).chain(others.clone());
        all.all(|it| !it.ends_with(end))
    };
    let starts = path.rmatch_indices(['/', '\\']).skip(1);
    let ends = starts.filter_map(|(at, _)| Some((path.get(at..)?, path.get(at + 1..)?)));
    let mut distinct = ends.filter(|(whole, _)| is_distinct(whole));
    distinct.next().map_or(path, |(_, end)| end)
}

/// The last part of a path of any system.
pub(super) fn file_name(path: &str) -> &str {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.unwrap_or(path).rsplit('\\').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{distinct_name, in_one_line};

    #[test]
    fn reasons_are_one_line() {
        let reason = "INVALID_CONDITION: error CS0103: no `nope`\n  nope == 3\n  ^^^^\nthe program stops there";
        let told = "INVALID_CONDITION: error CS0103: no `nope`; the program stops there";
        assert_eq!(in_one_line(reason), told);
    }

    #[test]
    fn files_of_one_name_are_told_apart() {
        let files = ["/src/a/same.cs", "/src/b/same.cs", "/src/other.cs"];
        assert_eq!(distinct_name("/src/other.cs", &files), "other.cs");
        assert_eq!(distinct_name("/src/a/same.cs", &files), "a/same.cs");
        let nested = ["/x/a/same.cs", "/y/a/same.cs", "same.cs"];
        assert_eq!(distinct_name("/y/a/same.cs", &nested), "y/a/same.cs");
        assert_eq!(distinct_name("same.cs", &nested), "same.cs");
        let windows = [r"C:\a\same.cs", r"C:\b\same.cs"];
        assert_eq!(distinct_name(r"C:\b\same.cs", &windows), r"b\same.cs");
    }
}
