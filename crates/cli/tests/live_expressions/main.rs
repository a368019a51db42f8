//! Expressions on a real program: the same answers as the C# compiler's, on thousands of them.

mod compiler;
