//! `DateTimeOffset`, which is a moment and how far a clock was from it; `CancellationToken`; and static fields of the framework
//! that nothing has used so far, whose values are fixed.

use syntax::Span;

use super::times::{self, compared};
use super::{Result, Runner, Val, integer};
use crate::expressions::plan::{FieldRef, Node};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

/// Ticks of a minute and of a second.
const MINUTE: i128 = 600_000_000;
const SECOND: i128 = 10_000_000;
/// The beginning of 1970.
const EPOCH: i128 = 621_355_968_000_000_000;
/// The bits of a `DateTime` that say that it is UTC.
const UTC: u64 = 1 << 62;

impl Runner<'_, '_> {
    /// A member of `DateTimeOffset`.
    pub(super) fn offset_member(
        &mut self,
        name: &str,
        target: Option<(&Val, &Type)>,
        arguments: &[Val],
        node: &Node,
    ) -> Result<Option<Val>> {
        let span = node.span;
        let target = target.map(|(value, _)| value);
        let mut moments = Vec::new();
        for value in target.into_iter().chain(arguments) {
            match self.moment(value, span)? {
                Some(moment) => moments.push(moment),
                None => return Ok(None),
            }
        }
        let long = |value| Some(Val::Scalar(Scalar::Int(Kind::Long, value)));
        Ok(match *moments {
            [(one, _), (other, _)] => compared(name, one.cmp(&other)),
            [(ticks, minutes)] => {
                let clock = ticks + minutes * MINUTE;
                match name {
                    "get_Offset" => Some(self.time(node, minutes * MINUTE, 0)),
                    "get_UtcDateTime" => Some(self.time(node, ticks, UTC)),
                    "get_DateTime" => Some(self.time(node, clock, 0)),
                    "get_Date" => Some(self.time(node, clock - clock % times::DAY, 0)),
                    "get_TimeOfDay" => Some(self.time(node, clock % times::DAY, 0)),
                    "get_UtcTicks" => long(ticks),
                    "ToUnixTimeSeconds" => long(ticks.div_euclid(SECOND) - EPOCH / SECOND),
                    "ToUnixTimeMilliseconds" => {
                        long(ticks.div_euclid(SECOND / 1000) - EPOCH / (SECOND / 1000))
                    }
                    "GetHashCode" => {
                        let hash = (ticks as i64 as i32) ^ ((ticks >> 32) as i32);
                        Some(Val::int(hash.into()))
                    }
                    _ => times::part("System.DateTime", name, clock),
                }
            }
            _ => None,
        })
    }

    /// The ticks of a moment in UTC, and the minutes that a clock was before it.
    fn moment(&mut self, value: &Val, span: Span) -> Result<Option<(i128, i128)>> {
        let Val::Struct(place) = value else {
            return Ok(None);
        };
        if !self.is_core(&place.ty, "System", "DateTimeOffset") {
            return Ok(None);
        }
        let read = |this: &Self, name| {
            let field = this.reader.field(place, name);
            let field = field.map_err(|why| this.unreadable(&why, span))?;
            this.decode(&field, span)
        };
        let (time, minutes) = (read(self, "_dateTime")?, read(self, "_offsetMinutes")?);
        let ticks = self.ticks(&time, span)?;
        Ok(ticks.zip(integer(&minutes)))
    }

    /// Whether a token or its source is cancelled.
    pub(super) fn is_cancelled(&mut self, value: &Val, span: Span) -> Result<Option<Val>> {
        let source = match value {
            Val::Struct(place) => {
                let field = self.reader.field(place, "_source");
                let field = field.map_err(|why| self.unreadable(&why, span))?;
                self.decode(&field, span)?
            }
            other => other.clone(),
        };
        match source {
            Val::Null if matches!(value, Val::Struct(_)) => Ok(Some(Val::bool(false))),
            Val::Object(source) => {
                let state = self.raw(&source, "_state", span)?;
                Ok(integer(&state).map(|it| Val::bool(it != 0)))
            }
            _ => Ok(None),
        }
    }

    /// A static field whose value is the same in every program.
    pub(super) fn fixed_static(&self, field: &FieldRef) -> Option<Val> {
        let is = |name: &str| self.types.is_named(&field.declared_in, "System", name);
        let number: i64 = match &*field.name {
            "Zero" if is("TimeSpan") => 0,
            "MinValue" if is("TimeSpan") => i64::MIN,
            "MaxValue" if is("TimeSpan") => i64::MAX,
            _ => return None,
        };
        let bytes = number.to_le_bytes().to_vec();
        Some(Val::Struct(self.reader.copied(field.ty.clone(), bytes)))
    }
}
