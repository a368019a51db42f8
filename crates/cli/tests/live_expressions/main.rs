//! Expressions on a real program: the same answers as the C# compiler's, on thousands of them; conditions, messages,
//! names, side effects, limits.

mod checks;
mod code;
mod compiler;
mod evaluate;
mod hits;
mod language;
mod mutations;
mod statics;
mod stops;
