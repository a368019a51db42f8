//! Trees back to C# text: `Display` for expressions, types and patterns.
//!
//! What the parser made prints with the very tokens it was made of, but for the spelling of literals, so
//! parsing the print gives the same tree. A tree that was put together by hand gets the parentheses that
//! precedence asks for.

mod creation;
mod lambda;
mod pattern;
mod types;

use std::fmt;

use crate::tree::{
    Argument, BinaryOp, CollectionElement, Expr, ExprKind, IntegerForm, IntegerLiteral,
    IntegerSuffix, InterpolationPart, Literal, MemberAccess, Pattern, PostfixOp, Precedence,
    QualifiedName, Type, TypeKind, UnaryOp,
};

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.expr(self, Precedence::Expression);
        f.write_str(&printer.out)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.ty(self);
        f.write_str(&printer.out)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.pattern(self, Precedence::Coalescing);
        f.write_str(&printer.out)
    }
}

#[derive(Default)]
struct Printer {
    out: String,
}

impl Printer {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn show(&mut self, value: impl fmt::Display) {
        self.out.push_str(&value.to_string());
    }

    /// `items`, each printed by `print`, with commas between.
    fn list<T>(&mut self, items: &[T], mut print: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            print(self, item);
        }
    }

    /// `{ a, b }` or `{ }`
    fn braces<T>(&mut self, items: &[T], print: impl FnMut(&mut Self, &T)) {
        if items.is_empty() {
            self.text("{ }");
            return;
        }
        self.text("{ ");
        self.list(items, print);
        self.text(" }");
    }

    /// `expr`, in parentheses if it is looser than `min`.
    fn expr(&mut self, expr: &Expr, min: Precedence) {
        if precedence(expr) < min {
            self.parenthesized(expr);
        } else {
            self.bare(expr);
        }
    }

    fn parenthesized(&mut self, expr: &Expr) {
        self.text("(");
        self.bare(expr);
        self.text(")");
    }

    fn any(&mut self, expr: &Expr) {
        self.expr(expr, Precedence::Expression);
    }

    /// An operand at the end of something with precedence `min`: what starts with its own operator may
    /// stand there without parentheses.
    fn last(&mut self, expr: &Expr, min: Precedence) {
        match expr.kind {
            ExprKind::Range(None, _) | ExprKind::Query(_) => self.bare(expr),
            _ => self.expr(expr, min),
        }
    }

    /// An operand at the start of something with precedence `min`, before `op`: what does not end in an
    /// operand may stand there without parentheses.
    fn first(&mut self, expr: &Expr, op: &str, min: Precedence) {
        match &expr.kind {
            ExprKind::As(_, ty) if continues_type(ty, op) => self.expr(expr, Precedence::Primary),
            ExprKind::As(..) | ExprKind::Switch(..) | ExprKind::With(..)
                if min <= Precedence::Range =>
            {
                self.bare(expr);
            }
            _ => self.expr(expr, min),
        }
    }

    /// What stands before a member access, call or index.
    fn target(&mut self, expr: &Expr) {
        if ends_in_chain(expr) {
            self.parenthesized(expr);
        } else {
            self.expr(expr, Precedence::Primary);
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::DefaultLiteral => self.text("default"),
            ExprKind::Interpolated(parts) => self.interpolated(parts),
            ExprKind::Name(name) => self.simple_name(name),
            ExprKind::AliasQualified(alias, name) => {
                self.identifier(alias);
                self.text("::");
                self.simple_name(name);
            }
            ExprKind::Predefined(predefined) => self.text(predefined.text()),
            ExprKind::Pseudo(pseudo) => self.show(pseudo),
            ExprKind::This => self.text("this"),
            ExprKind::Base => self.text("base"),
            ExprKind::Paren(inner) => self.call_like("", inner),
            ExprKind::Tuple(elements) => self.arguments("(", elements, ")"),
            ExprKind::Collection(elements) => self.collection(elements),
            ExprKind::Member {
                target,
                access,
                name,
            } => {
                match access {
                    MemberAccess::Dot => self.target(target),
                    MemberAccess::Arrow => self.expr(target, Precedence::Primary),
                }
                self.text(access.text());
                self.simple_name(name);
            }
            ExprKind::Call { target, arguments } => {
                self.target(target);
                self.arguments("(", arguments, ")");
            }
            ExprKind::Index { target, arguments } => {
                match &target.kind {
                    // `new T[1][2]` would have two ranks.
                    ExprKind::NewArray(array) if array.initializer.is_none() => {
                        self.parenthesized(target);
                    }
                    _ => self.target(target),
                }
                self.arguments("[", arguments, "]");
            }
            ExprKind::ConditionalAccess { target, access } => {
                self.target(target);
                self.text("?");
                self.bare(access);
            }
            ExprKind::MemberBinding(name) => {
                self.text(".");
                self.simple_name(name);
            }
            ExprKind::ElementBinding(arguments) => self.arguments("[", arguments, "]"),
            ExprKind::Postfix(op, operand) => {
                self.expr(operand, Precedence::Primary);
                self.text(op.text());
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Assign(op, left, right) => {
                self.expr(left, Precedence::Coalescing);
                self.text(&format!(" {} ", op.text()));
                self.any(right);
            }
            ExprKind::Conditional(condition, when_true, when_false) => {
                self.expr(condition, Precedence::Coalescing);
                self.text(" ? ");
                self.any(when_true);
                self.text(" : ");
                self.any(when_false);
            }
            ExprKind::Range(left, right) => self.range(left.as_deref(), right.as_deref()),
            ExprKind::Cast(ty, operand) => {
                self.cast(ty, operand);
            }
            ExprKind::As(left, ty) => {
                self.first(left, "as", Precedence::Relational);
                self.text(" as ");
                self.ty(ty);
            }
            ExprKind::Is(left, pattern) => {
                self.first(left, "is", Precedence::Relational);
                self.text(" is ");
                self.pattern(pattern, Precedence::Shift);
            }
            ExprKind::Switch(value, arms) => self.switch(value, arms),
            ExprKind::With(target, initializer) => {
                self.first(target, "with", Precedence::Switch);
                self.text(" with ");
                self.initializer(initializer);
            }
            ExprKind::New(new) => self.new_object(new),
            ExprKind::NewArray(array) => self.new_array(array),
            ExprKind::Anonymous(members) => self.anonymous(members),
            ExprKind::TypeOf(ty) => self.type_operator("typeof(", ty),
            ExprKind::SizeOf(ty) => self.type_operator("sizeof(", ty),
            ExprKind::Default(ty) => self.type_operator("default(", ty),
            ExprKind::Checked(true, inner) => self.call_like("checked", inner),
            ExprKind::Checked(false, inner) => self.call_like("unchecked", inner),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Query(query) => self.query(query),
            ExprKind::Ref(inner) => {
                self.text("ref ");
                self.any(inner);
            }
            ExprKind::Declaration(ty, designation) => {
                self.ty(ty);
                self.text(" ");
                self.designation(designation);
            }
        }
    }

    fn call_like(&mut self, name: &str, inner: &Expr) {
        self.text(name);
        self.text("(");
        self.any(inner);
        self.text(")");
    }

    fn type_operator(&mut self, start: &str, ty: &Type) {
        self.text(start);
        self.ty(ty);
        self.text(")");
    }

    /// Runs `print`, and puts a space before what it printed if that would join with what is there.
    fn apart(&mut self, joins: impl Fn(u8, u8) -> bool, print: impl FnOnce(&mut Self)) {
        let at = self.out.len();
        print(self);
        let bytes = self.out.as_bytes();
        let before = at.checked_sub(1).and_then(|it| bytes.get(it));
        if let (Some(&before), Some(&after)) = (before, bytes.get(at))
            && joins(before, after)
        {
            self.out.insert(at, ' ');
        }
    }

    fn cast(&mut self, ty: &Type, operand: &Expr) {
        self.text("(");
        self.ty(ty);
        self.text(")");
        let at = self.out.len();
        self.last(operand, Precedence::Unary);
        // `(T)-x` subtracts, and `(T)[x]` takes an element; but of nothing, which is a collection.
        let printed = self.out.as_bytes().get(at..).unwrap_or(&[]);
        if printed.first().is_some_and(|&next| is_no_cast(ty, next)) && !printed.starts_with(b"[]")
        {
            self.out.insert(at, '(');
            self.out.push(')');
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) {
        self.text(op.text());
        let joins = |before, after| before == after && matches!(before, b'+' | b'-' | b'&');
        self.apart(joins, |this| this.last(operand, Precedence::Unary));
    }

    fn range(&mut self, left: Option<&Expr>, right: Option<&Expr>) {
        if let Some(left) = left {
            self.first(left, "..", Precedence::Range);
        }
        self.text("..");
        if let Some(right) = right {
            let joins = |before, after| before == b'.' && after == b'.';
            self.apart(joins, |this| this.last(right, Precedence::Unary));
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let precedence = op.precedence();
        let (left_min, right_min) = match op {
            BinaryOp::Coalesce => (Precedence::ConditionalOr, precedence),
            _ => (precedence, tighter(precedence)),
        };
        self.first(left, op.text(), left_min);
        self.text(&format!(" {} ", op.text()));
        self.last(right, right_min);
    }

    fn arguments(&mut self, open: &str, arguments: &[Argument], close: &str) {
        self.text(open);
        self.list(arguments, |this, argument| {
            if let Some(name) = &argument.name {
                this.identifier(name);
                this.text(": ");
            }
            if let Some(modifier) = argument.modifier {
                this.text(modifier.text());
                this.text(" ");
            }
            this.any(&argument.value);
        });
        self.text(close);
    }

    fn collection(&mut self, elements: &[CollectionElement]) {
        self.text("[");
        self.list(elements, |this, element| match element {
            CollectionElement::Value(value) => this.any(value),
            CollectionElement::Spread(value) => {
                this.text("..");
                let joins = |before, after| before == b'.' && after == b'.';
                this.apart(joins, |this| this.any(value));
            }
        });
        self.text("]");
    }

    fn interpolated(&mut self, parts: &[InterpolationPart]) {
        self.text("$\"");
        for part in parts {
            match part {
                InterpolationPart::Text(text, _) => {
                    let escaped = text.escaped('"').to_string();
                    self.text(&escaped.replace('{', "{{").replace('}', "}}"));
                }
                InterpolationPart::Hole(hole) => {
                    self.text("{");
                    self.any(&hole.value);
                    if let Some(alignment) = &hole.alignment {
                        self.text(",");
                        self.last(alignment, Precedence::Coalescing);
                    }
                    if let Some(format) = &hole.format {
                        self.text(":");
                        self.show(format.escaped('"'));
                    }
                    self.text("}");
                }
            }
        }
        self.text("\"");
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.text("null"),
            Literal::Bool(true) => self.text("true"),
            Literal::Bool(false) => self.text("false"),
            Literal::Integer(integer) => self.integer(*integer),
            Literal::Float(value) => self.text(&format!("{value:?}f")),
            Literal::Double(value) => self.text(&format!("{value:?}")),
            Literal::Decimal(value) => self.text(&format!("{value}m")),
            Literal::Char(unit) => {
                let text = crate::tree::Utf16String::from(vec![*unit]);
                self.text(&format!("'{}'", text.escaped('\'')));
            }
            Literal::String(text) => self.text(&format!("\"{}\"", text.escaped('"'))),
            Literal::Utf8(bytes) => {
                let text = crate::tree::Utf16String::from(&*String::from_utf8_lossy(bytes));
                self.text(&format!("\"{}\"u8", text.escaped('"')));
            }
        }
    }

    fn integer(&mut self, integer: IntegerLiteral) {
        let value = integer.value;
        self.text(&match integer.form {
            IntegerForm::Decimal => value.to_string(),
            IntegerForm::Hex => format!("0x{value:X}"),
            IntegerForm::Binary => format!("0b{value:b}"),
        });
        self.text(match integer.suffix {
            IntegerSuffix::None => "",
            IntegerSuffix::Unsigned => "U",
            IntegerSuffix::Long => "L",
            IntegerSuffix::UnsignedLong => "UL",
        });
    }
}

/// How tightly `expr` holds together.
fn precedence(expr: &Expr) -> Precedence {
    match &expr.kind {
        ExprKind::Assign(..) | ExprKind::Lambda(_) | ExprKind::Query(_) | ExprKind::Ref(_) => {
            Precedence::Expression
        }
        ExprKind::Conditional(..) => Precedence::Conditional,
        ExprKind::Binary(op, ..) => op.precedence(),
        ExprKind::Is(..) | ExprKind::As(..) => Precedence::Relational,
        ExprKind::Switch(..) | ExprKind::With(..) => Precedence::Switch,
        ExprKind::Range(..) => Precedence::Range,
        ExprKind::Unary(..) | ExprKind::Cast(..) => Precedence::Unary,
        _ => Precedence::Primary,
    }
}

/// The next tighter precedence.
fn tighter(precedence: Precedence) -> Precedence {
    match precedence {
        Precedence::Expression => Precedence::Conditional,
        Precedence::Conditional => Precedence::Coalescing,
        Precedence::Coalescing => Precedence::ConditionalOr,
        Precedence::ConditionalOr => Precedence::ConditionalAnd,
        Precedence::ConditionalAnd => Precedence::LogicalOr,
        Precedence::LogicalOr => Precedence::LogicalXor,
        Precedence::LogicalXor => Precedence::LogicalAnd,
        Precedence::LogicalAnd => Precedence::Equality,
        Precedence::Equality => Precedence::Relational,
        Precedence::Relational => Precedence::Shift,
        Precedence::Shift => Precedence::Additive,
        Precedence::Additive => Precedence::Multiplicative,
        Precedence::Multiplicative => Precedence::Switch,
        Precedence::Switch => Precedence::Range,
        Precedence::Range => Precedence::Unary,
        Precedence::Unary | Precedence::Primary => Precedence::Primary,
    }
}

/// Whether `op` behind `ty` would be read as a part of it, or as a reason to take a `?` from it.
fn continues_type(ty: &Type, op: &str) -> bool {
    match &ty.kind {
        TypeKind::Nullable(_) => matches!(op, "+" | "-" | "*" | "&" | "^" | ".." | "with"),
        TypeKind::Array { .. } => false,
        TypeKind::Name(name) if op == "<" => {
            name.parts.last().is_some_and(|it| it.arguments.is_none())
        }
        _ => op == "*",
    }
}

/// Whether `(T)` before an operand that starts with `next` would not be read as a cast.
fn is_no_cast(ty: &Type, next: u8) -> bool {
    let is_plain =
        |name: &QualifiedName| name.parts.last().is_some_and(|it| it.arguments.is_none());
    match &ty.kind {
        TypeKind::Name(name) if name.alias.is_some() && name.parts.len() == 1 => false,
        TypeKind::Name(name) => {
            matches!(next, b'+' | b'-' | b'*' | b'&' | b'^' | b'.')
                || next == b'[' && is_plain(name)
        }
        TypeKind::Tuple(_) => matches!(next, b'+' | b'-' | b'*' | b'&' | b'^' | b'.'),
        _ => false,
    }
}

/// Whether a member access behind `expr` would become part of a conditional access in it.
fn ends_in_chain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::ConditionalAccess { .. } => true,
        ExprKind::Postfix(PostfixOp::NullForgiving, inner) => ends_in_chain(inner),
        _ => false,
    }
}
