//! The tree of an expression: plain data for the binder to walk.
//!
//! Nothing here knows what a name means. Where C# decides only by binding whether a name is a type or a
//! value, the tree keeps the name as written: [`Expr::to_type`] gives the other reading. Every node has a
//! span; a tree built by the parser is never higher than [`MAX_HEIGHT`](crate::MAX_HEIGHT), so recursion
//! over it is safe, and so is dropping it.

mod expr;
mod literal;
mod ops;
mod pattern;
mod query;
mod types;

pub use expr::{
    AnonymousMember, Argument, ArgumentModifier, ArrayElement, ArrayInitializer, Block,
    CollectionElement, Expr, ExprKind, InitValue, Initializer, InitializerMember, Interpolation,
    InterpolationPart, Lambda, LambdaParameter, MemberAccess, New, NewArray, ParameterModifier,
    ReturnRef, Statement, SwitchArm,
};
pub use literal::{
    Decimal, IntegerForm, IntegerLiteral, IntegerSuffix, IntegerType, Literal, Utf16String,
};
pub use ops::{AssignOp, BinaryOp, PostfixOp, Precedence, UnaryOp};
pub use pattern::{Designation, Pattern, PatternKind, RecursivePattern, RelationalOp, Subpattern};
pub use query::{
    FromClause, JoinClause, Ordering, Query, QueryBody, QueryClause, QueryContinuation, QueryEnd,
};
pub use types::{
    FunctionPointer, FunctionPointerParameter, Identifier, Predefined, PseudoVariable,
    QualifiedName, SimpleName, TupleTypeElement, Type, TypeArguments, TypeKind,
};
