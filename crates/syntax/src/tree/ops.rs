//! The operators and how tightly they bind (C# 12.4.2).
//!
//! One table here serves the parser and the printer, so they cannot disagree.

/// How tightly an expression holds together, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precedence {
    /// Assignments, lambdas, queries: anything.
    Expression,
    /// `a ? b : c`
    Conditional,
    /// `??`
    Coalescing,
    /// `||`
    ConditionalOr,
    /// `&&`
    ConditionalAnd,
    /// `|`
    LogicalOr,
    /// `^`
    LogicalXor,
    /// `&`
    LogicalAnd,
    /// `==`, `!=`
    Equality,
    /// `<`, `>`, `<=`, `>=`, `is`, `as`
    Relational,
    /// `<<`, `>>`, `>>>`
    Shift,
    /// `+`, `-`
    Additive,
    /// `*`, `/`, `%`
    Multiplicative,
    /// `switch`, `with`
    Switch,
    /// `..`
    Range,
    /// Prefix operators and casts.
    Unary,
    /// Names, literals, calls, member access: everything that needs no parentheses.
    Primary,
}

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `>>>`
    UnsignedShiftRight,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessOrEqual,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `|`
    Or,
    /// `&&`
    ConditionalAnd,
    /// `||`
    ConditionalOr,
    /// `??`
    Coalesce,
}

impl BinaryOp {
    /// The operator as written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::UnsignedShiftRight => ">>>",
            Self::Less => "<",
            Self::Greater => ">",
            Self::LessOrEqual => "<=",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::And => "&",
            Self::Xor => "^",
            Self::Or => "|",
            Self::ConditionalAnd => "&&",
            Self::ConditionalOr => "||",
            Self::Coalesce => "??",
        }
    }

    /// How tightly it binds. All are left-associative but `??`.
    pub const fn precedence(self) -> Precedence {
        match self {
            Self::Add | Self::Subtract => Precedence::Additive,
            Self::Multiply | Self::Divide | Self::Remainder => Precedence::Multiplicative,
            Self::ShiftLeft | Self::ShiftRight | Self::UnsignedShiftRight => Precedence::Shift,
            Self::Less | Self::Greater | Self::LessOrEqual | Self::GreaterOrEqual => {
                Precedence::Relational
            }
            Self::Equal | Self::NotEqual => Precedence::Equality,
            Self::And => Precedence::LogicalAnd,
            Self::Xor => Precedence::LogicalXor,
            Self::Or => Precedence::LogicalOr,
            Self::ConditionalAnd => Precedence::ConditionalAnd,
            Self::ConditionalOr => Precedence::ConditionalOr,
            Self::Coalesce => Precedence::Coalescing,
        }
    }
}

/// An operator that stores its result in its left side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssignOp {
    /// `=`
    Assign,
    /// `+=`
    Add,
    /// `-=`
    Subtract,
    /// `*=`
    Multiply,
    /// `/=`
    Divide,
    /// `%=`
    Remainder,
    /// `&=`
    And,
    /// `^=`
    Xor,
    /// `|=`
    Or,
    /// `<<=`
    ShiftLeft,
    /// `>>=`
    ShiftRight,
    /// `>>>=`
    UnsignedShiftRight,
    /// `??=`
    Coalesce,
}

impl AssignOp {
    /// The operator as written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Assign => "=",
            Self::Add => "+=",
            Self::Subtract => "-=",
            Self::Multiply => "*=",
            Self::Divide => "/=",
            Self::Remainder => "%=",
            Self::And => "&=",
            Self::Xor => "^=",
            Self::Or => "|=",
            Self::ShiftLeft => "<<=",
            Self::ShiftRight => ">>=",
            Self::UnsignedShiftRight => ">>>=",
            Self::Coalesce => "??=",
        }
    }

    /// The operator of a compound assignment; `None` for `=`.
    pub const fn binary(self) -> Option<BinaryOp> {
        Some(match self {
            Self::Assign => return None,
            Self::Add => BinaryOp::Add,
            Self::Subtract => BinaryOp::Subtract,
            Self::Multiply => BinaryOp::Multiply,
            Self::Divide => BinaryOp::Divide,
            Self::Remainder => BinaryOp::Remainder,
            Self::And => BinaryOp::And,
            Self::Xor => BinaryOp::Xor,
            Self::Or => BinaryOp::Or,
            Self::ShiftLeft => BinaryOp::ShiftLeft,
            Self::ShiftRight => BinaryOp::ShiftRight,
            Self::UnsignedShiftRight => BinaryOp::UnsignedShiftRight,
            Self::Coalesce => BinaryOp::Coalesce,
        })
    }
}

/// An operator before its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`; before a literal see [`IntegerLiteral::ty_after_minus`](super::IntegerLiteral::ty_after_minus).
    Minus,
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `++x`
    Increment,
    /// `--x`
    Decrement,
    /// `*p`
    Dereference,
    /// `&x`
    AddressOf,
    /// `^1`, an index from the end.
    FromEnd,
}

impl UnaryOp {
    /// The operator as written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Not => "!",
            Self::Complement => "~",
            Self::Increment => "++",
            Self::Decrement => "--",
            Self::Dereference => "*",
            Self::AddressOf => "&",
            Self::FromEnd => "^",
        }
    }
}

/// An operator after its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PostfixOp {
    /// `x++`
    Increment,
    /// `x--`
    Decrement,
    /// `x!`, which means nothing at run time.
    NullForgiving,
}

impl PostfixOp {
    /// The operator as written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Increment => "++",
            Self::Decrement => "--",
            Self::NullForgiving => "!",
        }
    }
}
