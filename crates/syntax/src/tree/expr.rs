//! Expressions.

use super::{
    AssignOp, BinaryOp, Designation, Identifier, Literal, Pattern, PostfixOp, Predefined,
    PseudoVariable, QualifiedName, Query, SimpleName, Type, TypeKind, UnaryOp, Utf16String,
};
use crate::span::Span;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What kind of expression.
    pub kind: ExprKind,
    /// Where, from its first to its last token.
    pub span: Span,
}

/// The kinds of expression. Parentheses are kept, as they can matter (`(a?.b).c`, `-(2147483648)`).
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `null`, `1`, `"a"`
    Literal(Literal),
    /// `default` without a type.
    DefaultLiteral,
    /// `$"a{b,10:x}"`
    Interpolated(Vec<InterpolationPart>),
    /// `x`, `F<int>`: a variable, member, type or namespace.
    Name(SimpleName),
    /// `global::System`
    AliasQualified(Box<Identifier>, Box<SimpleName>),
    /// `int` in `int.Parse`
    Predefined(Predefined),
    /// `$exception`
    Pseudo(PseudoVariable),
    /// `this`
    This,
    /// `base`, which makes sense only before `.` and `[`.
    Base,
    /// `(e)`
    Paren(Box<Expr>),
    /// `(a, name: b)`, two or more. On the left of `=` it deconstructs.
    Tuple(Vec<Argument>),
    /// `[a, ..b]`
    Collection(Vec<CollectionElement>),
    /// `target.name` or `pointer->name`; `target` may be a type or a namespace.
    Member {
        /// What stands before the dot.
        target: Box<Expr>,
        /// `.` or `->`.
        access: MemberAccess,
        /// The member.
        name: SimpleName,
    },
    /// `target(args)`; also `nameof(x)`, see [`Expr::as_nameof`].
    Call {
        /// What is called.
        target: Box<Expr>,
        /// With what.
        arguments: Vec<Argument>,
    },
    /// `target[args]`
    Index {
        /// What is indexed.
        target: Box<Expr>,
        /// At least one index.
        arguments: Vec<Argument>,
    },
    /// `target?.a.b[0]`: if `target` is not null, the value of `access`.
    ///
    /// `access` is the rest of the chain; at its innermost left it has [`ExprKind::MemberBinding`] or
    /// [`ExprKind::ElementBinding`], which stand for a member or an element of `target`.
    ConditionalAccess {
        /// What may be null.
        target: Box<Expr>,
        /// What to take of it otherwise.
        access: Box<Expr>,
    },
    /// `.name` after `?`
    MemberBinding(SimpleName),
    /// `[args]` after `?`
    ElementBinding(Vec<Argument>),
    /// `x++`, `x!`
    Postfix(PostfixOp, Box<Expr>),
    /// `-x`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a = b`, `a += b`
    Assign(AssignOp, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a..b`, either side may be left out.
    Range(Option<Box<Expr>>, Option<Box<Expr>>),
    /// `(T)e`
    Cast(Box<Type>, Box<Expr>),
    /// `e as T`
    As(Box<Expr>, Box<Type>),
    /// `e is pattern`; `e is T` is one with a type, or with a name that the binder looks up.
    Is(Box<Expr>, Box<Pattern>),
    /// `e switch { pattern => value, … }`
    Switch(Box<Expr>, Vec<SwitchArm>),
    /// `e with { A = 1 }`; all members are [`InitializerMember::Property`] with an expression.
    With(Box<Expr>, Initializer),
    /// `new T(a) { B = c }`, `new(a)`
    New(Box<New>),
    /// `new T[3]`, `new[] { a }`, `stackalloc T[3]`
    NewArray(Box<NewArray>),
    /// `new { A = 1, b.C }`
    Anonymous(Vec<AnonymousMember>),
    /// `typeof(T)`
    TypeOf(Box<Type>),
    /// `sizeof(T)`
    SizeOf(Box<Type>),
    /// `default(T)`
    Default(Box<Type>),
    /// `checked(e)`, or `unchecked(e)` if false.
    Checked(bool, Box<Expr>),
    /// `x => e`
    Lambda(Box<Lambda>),
    /// `from x in xs select x`
    Query(Box<Query>),
    /// `ref e`, as the right side of `=`, a lambda's body or a branch of `?:`.
    Ref(Box<Expr>),
    /// `var x`, `int x`, `var (x, y)`: after `out`, in a tuple, on the left of `=`.
    Declaration(Box<Type>, Designation),
}

impl Expr {
    /// The argument of `nameof(x)`, if this has the shape of one.
    ///
    /// It is the operator only if no method of that name is in scope (C# 12.8.23).
    pub fn as_nameof(&self) -> Option<&Expr> {
        let ExprKind::Call { target, arguments } = &self.kind else {
            return None;
        };
        let ExprKind::Name(name) = &target.kind else {
            return None;
        };
        match arguments.as_slice() {
            [
                Argument {
                    name: None,
                    modifier: None,
                    value,
                },
            ] if name.identifier.is_word("nameof") && name.arguments.is_none() => Some(value),
            _ => None,
        }
    }

    /// The expression inside all parentheses around it.
    pub fn without_parens(&self) -> &Expr {
        let mut expr = self;
        while let ExprKind::Paren(inner) = &expr.kind {
            expr = inner;
        }
        expr
    }

    /// The name, if this is one: `A`, `A.B<int>`, `global::A.B`; parentheses around the whole are skipped.
    pub fn to_name(&self) -> Option<QualifiedName> {
        let mut expr = self.without_parens();
        let span = expr.span;
        let mut parts = Vec::new();
        let alias = loop {
            match &expr.kind {
                ExprKind::Name(name) => {
                    parts.push(name.clone());
                    break None;
                }
                ExprKind::AliasQualified(alias, name) => {
                    parts.push((**name).clone());
                    break Some(alias.clone());
                }
                ExprKind::Member {
                    target,
                    access: MemberAccess::Dot,
                    name,
                } => {
                    parts.push(name.clone());
                    expr = target;
                }
                _ => return None,
            }
        };
        parts.reverse();
        Some(QualifiedName { alias, parts, span })
    }

    /// The other reading of an expression that may name a type, such as `A.B` or `int`.
    pub fn to_type(&self) -> Option<Type> {
        let expr = self.without_parens();
        let kind = match &expr.kind {
            ExprKind::Predefined(predefined) => TypeKind::Predefined(*predefined),
            _ => TypeKind::Name(expr.to_name()?),
        };
        Some(Type {
            kind,
            span: expr.span,
        })
    }
}

/// `.` or `->`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemberAccess {
    /// `.`
    Dot,
    /// `->`
    Arrow,
}

impl MemberAccess {
    /// The operator as written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Dot => ".",
            Self::Arrow => "->",
        }
    }
}

/// A piece of an interpolated string.
#[derive(Debug, Clone, PartialEq)]
pub enum InterpolationPart {
    /// Text, with escapes and doubled braces decoded; never empty, never two in a row.
    Text(Utf16String, Span),
    /// `{value,alignment:format}`
    Hole(Box<Interpolation>),
}

/// A hole of an interpolated string.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpolation {
    /// What to show.
    pub value: Expr,
    /// After the comma: a constant, negative to align left.
    pub alignment: Option<Expr>,
    /// After the colon, as written but for escapes.
    pub format: Option<Utf16String>,
    /// From brace to brace.
    pub span: Span,
}

/// An argument, or an element of a tuple.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// `name:`
    pub name: Option<Identifier>,
    /// `ref`, `out` or `in`.
    pub modifier: Option<ArgumentModifier>,
    /// The value. After `out` it may be a [`ExprKind::Declaration`], or the name `_`.
    pub value: Expr,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentModifier {
    /// `ref`
    Ref,
    /// `out`
    Out,
    /// `in`
    In,
}

impl ArgumentModifier {
    /// The keyword.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ref => "ref",
            Self::Out => "out",
            Self::In => "in",
        }
    }
}

/// An element of a collection expression.
#[derive(Debug, Clone, PartialEq)]
pub enum CollectionElement {
    /// `e`
    Value(Expr),
    /// `..e`: every element of `e`.
    Spread(Expr),
}

/// An arm of a `switch` expression.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchArm {
    /// What the value must match.
    pub pattern: Pattern,
    /// `when condition`
    pub guard: Option<Expr>,
    /// The result.
    pub value: Expr,
}

/// `new T(args) { … }`
#[derive(Debug, Clone, PartialEq)]
pub struct New {
    /// The type; `None` for `new(…)`, which takes the type of its place.
    pub ty: Option<Type>,
    /// The arguments; `None` for `new T { … }`.
    pub arguments: Option<Vec<Argument>>,
    /// What follows in braces; `None` only if there are arguments.
    pub initializer: Option<Initializer>,
}

/// The braces of an object or collection initialiser.
#[derive(Debug, Clone, PartialEq)]
pub struct Initializer {
    /// What is in them; empty for `{ }`.
    pub members: Vec<InitializerMember>,
    /// From brace to brace.
    pub span: Span,
}

/// A piece of an object or collection initialiser. C# allows the first two or the last two together.
#[derive(Debug, Clone, PartialEq)]
pub enum InitializerMember {
    /// `Name = value`
    Property(Identifier, InitValue),
    /// `[args] = value`
    Index(Vec<Argument>, InitValue),
    /// `value`, given to `Add`.
    Element(Expr),
    /// `{ a, b }`, given to `Add` together.
    Elements(Vec<Expr>, Span),
}

/// What a member is initialised with.
#[derive(Debug, Clone, PartialEq)]
pub enum InitValue {
    /// A new value.
    Expr(Expr),
    /// `{ … }`: sets members of, or adds to, the object that is there.
    Nested(Initializer),
}

/// `new T[a, b][] { … }`, `new[,] { … }` and the same with `stackalloc`.
#[derive(Debug, Clone, PartialEq)]
pub struct NewArray {
    /// `stackalloc` instead of `new`.
    pub stackalloc: bool,
    /// The type of the elements (for `new int[3][]` it is `int[]`); `None` if it is inferred.
    pub element: Option<Type>,
    /// The number of dimensions, at least 1.
    pub rank: u32,
    /// One size for each dimension, or empty if the initialiser tells.
    pub sizes: Vec<Expr>,
    /// The values; `None` only if there are sizes.
    pub initializer: Option<ArrayInitializer>,
}

/// `{ a, { b, c } }`
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayInitializer {
    /// The elements.
    pub elements: Vec<ArrayElement>,
    /// From brace to brace.
    pub span: Span,
}

/// An element of an array initialiser.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrayElement {
    /// A value.
    Value(Expr),
    /// A row of an array with several dimensions.
    Nested(ArrayInitializer),
}

/// A member of an anonymous object.
#[derive(Debug, Clone, PartialEq)]
pub struct AnonymousMember {
    /// `Name =`; without it the name is that of the member or variable that is the value.
    pub name: Option<Identifier>,
    /// Its value.
    pub value: Expr,
}

/// A lambda with an expression body.
#[derive(Debug, Clone, PartialEq)]
pub struct Lambda {
    /// `static`
    pub is_static: bool,
    /// `async`
    pub is_async: bool,
    /// The return type, if written: `int (x) => x`.
    pub return_type: Option<Type>,
    /// `ref` or `ref readonly` before the return type.
    pub return_ref: Option<ReturnRef>,
    /// The parameters.
    pub parameters: Vec<LambdaParameter>,
    /// Whether there are parentheses around them; `x => x` has none.
    pub parenthesized: bool,
    /// What comes before the body, if that is in braces.
    pub block: Option<Block>,
    /// The body: what it returns, or what it does last.
    pub body: Expr,
}

/// The braces of a lambda: `{ var a = b; c(); return d; }`, of which `d` is the body.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// What is done before the body.
    pub statements: Vec<Statement>,
    /// Whether `return` stands before the body.
    pub returns: bool,
}

/// A statement of a lambda.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `var a = b;`
    Declare {
        /// The type; `var` is one.
        ty: Type,
        /// The variable.
        name: Identifier,
        /// Its value.
        value: Expr,
    },
    /// `a();`
    Expr(Expr),
}

/// The keyword before the return type of a lambda.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReturnRef {
    /// `ref`
    Ref,
    /// `ref readonly`
    RefReadonly,
}

/// A parameter of a lambda.
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaParameter {
    /// `scoped`
    pub scoped: bool,
    /// `ref`, `out`, `in`, `ref readonly` or `params`; only with a type.
    pub modifier: Option<ParameterModifier>,
    /// The type, if written.
    pub ty: Option<Type>,
    /// The name; `_` is a discard if there are several of them.
    pub name: Identifier,
    /// `= value`
    pub default: Option<Expr>,
}

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterModifier {
    /// `ref`
    Ref,
    /// `ref readonly`
    RefReadonly,
    /// `out`
    Out,
    /// `in`
    In,
    /// `params`
    Params,
}

impl ParameterModifier {
    /// The keywords.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ref => "ref",
            Self::RefReadonly => "ref readonly",
            Self::Out => "out",
            Self::In => "in",
            Self::Params => "params",
        }
    }
}
