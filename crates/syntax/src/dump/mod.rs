//! The shape of a tree as an S-expression: `a + b * c` is `(+ a (* b c))`.
//!
//! For tests and bug reports. It shows everything but spans and is different for different trees, so two
//! trees are the same up to spans if their dumps are.

mod creation;
mod lambda;
mod pattern;
mod types;

use std::fmt::Write as _;

use crate::tree::{
    Argument, CollectionElement, Expr, ExprKind, IntegerForm, IntegerLiteral, IntegerSuffix,
    IntegerType, InterpolationPart, Literal, PostfixOp, Type, UnaryOp, Utf16String,
};

/// The shape of `expr` as an S-expression.
pub fn dump(expr: &Expr) -> String {
    let mut dumper = Dumper::default();
    dumper.expr(expr);
    dumper.out
}

#[derive(Default)]
struct Dumper {
    out: String,
}

impl Dumper {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// `(head …)` with what `rest` writes.
    fn node(&mut self, head: &str, rest: impl FnOnce(&mut Self)) {
        self.text("(");
        self.text(head);
        rest(self);
        self.text(")");
    }

    /// `(head a b)`
    fn exprs(&mut self, head: &str, exprs: &[&Expr]) {
        self.node(head, |this| {
            for expr in exprs {
                this.text(" ");
                this.expr(expr);
            }
        });
    }

    fn with_type(&mut self, head: &str, ty: &Type) {
        self.node(head, |this| {
            this.text(" ");
            this.ty(ty);
        });
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            self.text(" ");
            let name = argument.name.as_ref();
            if let Some(name) = name {
                self.text("(: ");
                self.identifier(name);
                self.text(" ");
            }
            match argument.modifier {
                None => self.expr(&argument.value),
                Some(modifier) => self.exprs(modifier.text(), &[&argument.value]),
            }
            if name.is_some() {
                self.text(")");
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::DefaultLiteral => self.text("default"),
            ExprKind::Interpolated(parts) => self.interpolated(parts),
            ExprKind::Name(name) => self.simple_name(name),
            ExprKind::AliasQualified(alias, name) => self.node("::", |this| {
                this.text(" ");
                this.identifier(alias);
                this.text(" ");
                this.simple_name(name);
            }),
            ExprKind::Predefined(predefined) => self.text(predefined.text()),
            ExprKind::Pseudo(pseudo) => self.text(&pseudo.to_string()),
            ExprKind::This => self.text("this"),
            ExprKind::Base => self.text("base"),
            ExprKind::Paren(inner) => self.exprs("paren", &[inner]),
            ExprKind::Tuple(elements) => self.node("tuple", |this| this.arguments(elements)),
            ExprKind::Collection(elements) => self.collection(elements),
            ExprKind::Member {
                target,
                access,
                name,
            } => self.node(access.text(), |this| {
                this.text(" ");
                this.expr(target);
                this.text(" ");
                this.simple_name(name);
            }),
            ExprKind::Call { target, arguments } => self.applied("call", target, arguments),
            ExprKind::Index { target, arguments } => self.applied("index", target, arguments),
            ExprKind::ConditionalAccess { target, access } => self.exprs("?.", &[target, access]),
            ExprKind::MemberBinding(name) => self.node(".bind ", |this| this.simple_name(name)),
            ExprKind::ElementBinding(arguments) => {
                self.node("[]bind", |this| this.arguments(arguments));
            }
            ExprKind::Postfix(op, operand) => {
                let head = match op {
                    PostfixOp::Increment => "post++",
                    PostfixOp::Decrement => "post--",
                    PostfixOp::NullForgiving => "suppress",
                };
                self.exprs(head, &[operand]);
            }
            ExprKind::Unary(op, operand) => {
                let head = match op {
                    UnaryOp::Dereference => "deref",
                    UnaryOp::AddressOf => "addr",
                    op => op.text(),
                };
                self.exprs(head, &[operand]);
            }
            ExprKind::Binary(op, left, right) => self.exprs(op.text(), &[left, right]),
            ExprKind::Assign(op, left, right) => self.exprs(op.text(), &[left, right]),
            ExprKind::Conditional(condition, when_true, when_false) => {
                self.exprs("?:", &[condition, when_true, when_false]);
            }
            ExprKind::Range(left, right) => self.node("..", |this| {
                this.text(" ");
                this.optional(left.as_deref());
                this.text(" ");
                this.optional(right.as_deref());
            }),
            ExprKind::Cast(ty, operand) => self.node("cast ", |this| {
                this.ty(ty);
                this.text(" ");
                this.expr(operand);
            }),
            ExprKind::As(left, ty) => self.node("as ", |this| {
                this.expr(left);
                this.text(" ");
                this.ty(ty);
            }),
            ExprKind::Is(left, pattern) => self.node("is ", |this| {
                this.expr(left);
                this.text(" ");
                this.pattern(pattern);
            }),
            ExprKind::Switch(value, arms) => self.switch(value, arms),
            ExprKind::With(target, initializer) => self.node("with ", |this| {
                this.expr(target);
                this.text(" ");
                this.initializer(initializer);
            }),
            ExprKind::New(new) => self.new_object(new),
            ExprKind::NewArray(array) => self.new_array(array),
            ExprKind::Anonymous(members) => self.anonymous(members),
            ExprKind::TypeOf(ty) => self.with_type("typeof", ty),
            ExprKind::SizeOf(ty) => self.with_type("sizeof", ty),
            ExprKind::Default(ty) => self.with_type("default", ty),
            ExprKind::Checked(true, inner) => self.exprs("checked", &[inner]),
            ExprKind::Checked(false, inner) => self.exprs("unchecked", &[inner]),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Query(query) => self.query(query),
            ExprKind::Ref(inner) => self.exprs("ref", &[inner]),
            ExprKind::Declaration(ty, designation) => self.declaration(ty, designation),
        }
    }

    fn optional(&mut self, expr: Option<&Expr>) {
        match expr {
            Some(expr) => self.expr(expr),
            None => self.text("()"),
        }
    }

    fn applied(&mut self, head: &str, target: &Expr, arguments: &[Argument]) {
        self.node(head, |this| {
            this.text(" ");
            this.expr(target);
            this.arguments(arguments);
        });
    }

    fn collection(&mut self, elements: &[CollectionElement]) {
        self.node("list", |this| {
            for element in elements {
                this.text(" ");
                match element {
                    CollectionElement::Value(value) => this.expr(value),
                    CollectionElement::Spread(value) => this.exprs("spread", &[value]),
                }
            }
        });
    }

    fn interpolated(&mut self, parts: &[InterpolationPart]) {
        self.node("$", |this| {
            for part in parts {
                this.text(" ");
                match part {
                    InterpolationPart::Text(text, _) => this.quoted(text, '"'),
                    InterpolationPart::Hole(hole) => this.node("hole ", |this| {
                        this.expr(&hole.value);
                        if let Some(alignment) = &hole.alignment {
                            this.text(" , ");
                            this.expr(alignment);
                        }
                        if let Some(format) = &hole.format {
                            this.text(" : ");
                            this.quoted(format, '"');
                        }
                    }),
                }
            }
        });
    }

    fn quoted(&mut self, text: &Utf16String, quote: char) {
        let _infallible = write!(self.out, "{quote}{}{quote}", text.escaped(quote));
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.text("null"),
            Literal::Bool(value) => self.text(&value.to_string()),
            Literal::Integer(integer) => self.integer(*integer),
            Literal::Float(value) => self.text(&format!("{value:?}f")),
            Literal::Double(value) => self.text(&format!("{value:?}")),
            Literal::Decimal(value) => self.text(&format!("{value}m")),
            Literal::Char(unit) => self.quoted(&Utf16String::from(vec![*unit]), '\''),
            Literal::String(text) => self.quoted(text, '"'),
            Literal::Utf8(bytes) => {
                self.quoted(&Utf16String::from(&*String::from_utf8_lossy(bytes)), '"');
                self.text("u8");
            }
        }
    }

    /// Digits, suffix, and the type if the suffix alone does not tell it.
    fn integer(&mut self, integer: IntegerLiteral) {
        let value = integer.value;
        let digits = match integer.form {
            IntegerForm::Decimal => value.to_string(),
            IntegerForm::Hex => format!("0x{value:x}"),
            IntegerForm::Binary => format!("0b{value:b}"),
        };
        let (suffix, usual) = match integer.suffix {
            IntegerSuffix::None => ("", IntegerType::Int),
            IntegerSuffix::Unsigned => ("u", IntegerType::UInt),
            IntegerSuffix::Long => ("l", IntegerType::Long),
            IntegerSuffix::UnsignedLong => ("ul", IntegerType::ULong),
        };
        let ty = match integer.ty() {
            ty if ty == usual => "",
            IntegerType::Int => ":int",
            IntegerType::UInt => ":uint",
            IntegerType::Long => ":long",
            IntegerType::ULong => ":ulong",
        };
        self.text(&format!("{digits}{suffix}{ty}"));
    }
}
