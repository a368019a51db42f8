//! Expressions on a real program: the same answers as the C# compiler's, on thousands of them; conditions, messages,
//! names, side effects, limits.

mod bound;
mod changes;
mod checks;
mod code;
mod compiler;
mod completion;
mod contained;
mod corners;
mod cultures;
mod dispatch;
mod dynamics;
mod early;
mod evaluate;
mod forms;
mod functions;
mod generic;
mod hits;
mod language;
mod large;
mod limits;
mod mutations;
mod names;
mod others;
mod overflow;
mod places;
mod pure;
mod referring;
mod refused;
mod scope;
mod sequences;
mod statics;
mod stops;
mod throws;
