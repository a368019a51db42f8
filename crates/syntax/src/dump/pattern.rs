//! Patterns and `switch`.

use super::Dumper;
use crate::tree::{
    Designation, Expr, Pattern, PatternKind, RecursivePattern, Subpattern, SwitchArm, Type,
};

impl Dumper {
    pub(super) fn switch(&mut self, value: &Expr, arms: &[SwitchArm]) {
        self.node("switch ", |this| {
            this.expr(value);
            for arm in arms {
                this.text(" (");
                this.pattern(&arm.pattern);
                if let Some(guard) = &arm.guard {
                    this.text(" when ");
                    this.expr(guard);
                }
                this.text(" => ");
                this.expr(&arm.value);
                this.text(")");
            }
        });
    }

    pub(super) fn declaration(&mut self, ty: &Type, designation: &Designation) {
        self.node("decl ", |this| {
            this.ty(ty);
            this.text(" ");
            this.designation(designation);
        });
    }

    fn designation(&mut self, designation: &Designation) {
        match designation {
            Designation::Discard(_) => self.text("_"),
            Designation::Single(name) => self.identifier(name),
            Designation::Tuple(variables, _) => self.node("vars", |this| {
                for variable in variables {
                    this.text(" ");
                    this.designation(variable);
                }
            }),
        }
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Discard => self.text("(discard)"),
            PatternKind::Constant(value) => self.expr(value),
            PatternKind::TypeOrConstant(name) => self.exprs("name", &[name]),
            PatternKind::Type(ty) => self.with_type("type", ty),
            PatternKind::Declaration(ty, designation) => self.declaration(ty, designation),
            PatternKind::Var(designation) => {
                self.node("var ", |this| this.designation(designation))
            }
            PatternKind::Relational(op, value) => {
                self.exprs(&format!("rel{}", op.text()), &[value]);
            }
            PatternKind::And(left, right) => self.patterns("and", &[left, right]),
            PatternKind::Or(left, right) => self.patterns("or", &[left, right]),
            PatternKind::Not(inner) => self.patterns("not", &[inner]),
            PatternKind::Paren(inner) => self.patterns("paren", &[inner]),
            PatternKind::Recursive(recursive) => self.recursive(recursive),
            PatternKind::List {
                patterns,
                designation,
            } => self.node("listpat", |this| {
                for pattern in patterns {
                    this.text(" ");
                    this.pattern(pattern);
                }
                if let Some(designation) = designation {
                    this.text(" as ");
                    this.designation(designation);
                }
            }),
            PatternKind::Slice(None) => self.text("(slice)"),
            PatternKind::Slice(Some(inner)) => self.patterns("slice", &[inner]),
        }
    }

    fn recursive(&mut self, recursive: &RecursivePattern) {
        self.node("pattern ", |this| {
            match &recursive.ty {
                Some(ty) => this.ty(ty),
                None => this.text("()"),
            }
            if let Some(positional) = &recursive.positional {
                this.text(" ");
                this.node("pos", |this| {
                    for subpattern in positional {
                        this.text(" ");
                        this.subpattern(subpattern);
                    }
                });
            }
            if let Some(properties) = &recursive.properties {
                this.properties(properties);
            }
            if let Some(designation) = &recursive.designation {
                this.text(" ");
                this.designation(designation);
            }
        });
    }

    fn patterns(&mut self, head: &str, patterns: &[&Pattern]) {
        self.node(head, |this| {
            for pattern in patterns {
                this.text(" ");
                this.pattern(pattern);
            }
        });
    }

    fn properties(&mut self, properties: &[Subpattern]) {
        self.text(" {");
        for (i, subpattern) in properties.iter().enumerate() {
            if i > 0 {
                self.text(" ");
            }
            self.subpattern(subpattern);
        }
        self.text("}");
    }

    fn subpattern(&mut self, subpattern: &Subpattern) {
        let Some((first, rest)) = subpattern.path.split_first() else {
            return self.pattern(&subpattern.pattern);
        };
        self.node(": ", |this| {
            this.text(&"(. ".repeat(rest.len()));
            this.identifier(first);
            for name in rest {
                this.text(" ");
                this.identifier(name);
                this.text(")");
            }
            this.text(" ");
            this.pattern(&subpattern.pattern);
        });
    }
}
