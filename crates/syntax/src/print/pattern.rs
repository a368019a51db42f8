//! Patterns and `switch`.

use super::Printer;
use crate::tree::{
    Designation, Expr, Pattern, PatternKind, Precedence, RecursivePattern, Subpattern, SwitchArm,
};

/// How tightly a pattern holds together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Primary,
}

fn level(pattern: &Pattern) -> Level {
    match pattern.kind {
        PatternKind::Or(..) => Level::Or,
        PatternKind::And(..) => Level::And,
        PatternKind::Not(_) => Level::Not,
        _ => Level::Primary,
    }
}

impl Printer {
    /// `pattern`, with constants in it that are looser than `min` in parentheses.
    pub(super) fn pattern(&mut self, pattern: &Pattern, min: Precedence) {
        self.pattern_in(pattern, Level::Or, min);
    }

    fn pattern_in(&mut self, pattern: &Pattern, min_level: Level, min: Precedence) {
        if level(pattern) < min_level {
            self.text("(");
            self.pattern_in(pattern, Level::Or, Precedence::Conditional);
            self.text(")");
            return;
        }
        match &pattern.kind {
            PatternKind::Discard => self.text("_"),
            PatternKind::Constant(value) | PatternKind::TypeOrConstant(value) => {
                self.last(value, min);
            }
            PatternKind::Type(ty) => self.ty(ty),
            PatternKind::Declaration(ty, designation) => {
                self.ty(ty);
                self.text(" ");
                self.designation(designation);
            }
            PatternKind::Var(designation) => {
                self.text("var ");
                self.designation(designation);
            }
            PatternKind::Relational(op, value) => {
                self.text(op.text());
                self.text(" ");
                self.last(value, Precedence::Shift);
            }
            PatternKind::And(left, right) => {
                self.pattern_in(left, Level::And, min);
                self.text(" and ");
                self.pattern_in(right, Level::Not, min);
            }
            PatternKind::Or(left, right) => {
                self.pattern_in(left, Level::Or, min);
                self.text(" or ");
                self.pattern_in(right, Level::And, min);
            }
            PatternKind::Not(inner) => {
                self.text("not ");
                self.pattern_in(inner, Level::Not, min);
            }
            PatternKind::Paren(inner) => {
                self.text("(");
                self.pattern(inner, Precedence::Conditional);
                self.text(")");
            }
            PatternKind::Recursive(recursive) => self.recursive(recursive),
            PatternKind::List {
                patterns,
                designation,
            } => {
                self.text("[");
                self.list(patterns, |this, it| {
                    this.pattern(it, Precedence::Conditional)
                });
                self.text("]");
                self.trailing_designation(designation.as_ref());
            }
            PatternKind::Slice(inner) => {
                self.text("..");
                if let Some(inner) = inner {
                    self.text(" ");
                    self.pattern(inner, min);
                }
            }
        }
    }

    fn recursive(&mut self, recursive: &RecursivePattern) {
        if let Some(ty) = &recursive.ty {
            self.ty(ty);
        }
        if let Some(positional) = &recursive.positional {
            self.text("(");
            self.list(positional, Self::subpattern);
            self.text(")");
        }
        if let Some(properties) = &recursive.properties {
            if recursive.ty.is_some() || recursive.positional.is_some() {
                self.text(" ");
            }
            self.braces(properties, Self::subpattern);
        }
        self.trailing_designation(recursive.designation.as_ref());
    }

    fn trailing_designation(&mut self, designation: Option<&Designation>) {
        if let Some(designation) = designation {
            self.text(" ");
            self.designation(designation);
        }
    }

    fn subpattern(&mut self, subpattern: &Subpattern) {
        for (i, name) in subpattern.path.iter().enumerate() {
            if i > 0 {
                self.text(".");
            }
            self.identifier(name);
        }
        if !subpattern.path.is_empty() {
            self.text(": ");
        }
        self.pattern(&subpattern.pattern, Precedence::Conditional);
    }

    pub(super) fn designation(&mut self, designation: &Designation) {
        match designation {
            Designation::Discard(_) => self.text("_"),
            Designation::Single(name) => self.identifier(name),
            Designation::Tuple(variables, _) => {
                self.text("(");
                self.list(variables, Self::designation);
                self.text(")");
            }
        }
    }

    pub(super) fn switch(&mut self, value: &Expr, arms: &[SwitchArm]) {
        self.first(value, "switch", Precedence::Switch);
        self.text(" switch { ");
        self.list(arms, |this, arm| {
            this.pattern(&arm.pattern, Precedence::Coalescing);
            if let Some(guard) = &arm.guard {
                this.text(" when ");
                this.last(guard, Precedence::Coalescing);
            }
            this.text(" => ");
            this.any(&arm.value);
        });
        self.text(" }");
    }
}
