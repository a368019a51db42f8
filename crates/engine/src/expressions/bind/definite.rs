//! Whether a variable that a pattern or `out` declares has a value where it is read (C# 9.4).
//!
//! What is not certain counts as assigned: the run tells then.

use std::collections::BTreeSet;

use syntax::Span;
use syntax::tree::{BinaryOp, UnaryOp};

use crate::expressions::plan::{Arm, Constant, Node, Op, Referred, Test};
use crate::expressions::scalar::Scalar;
use crate::types::Type;

/// The variables that have a value at a place; `None` where nothing gets to.
type State = Option<BTreeSet<u32>>;

/// Where a plan reads a variable that may have no value there.
pub(super) fn unassigned(plan: &Node) -> Option<Span> {
    let mut declared = BTreeSet::new();
    plan.visit(&mut |node| match &node.op {
        Op::Is(_, _, test) => declared_by(test, &mut declared),
        Op::Switch(_, _, arms) => {
            let tests = arms.iter().map(|it| &it.test);
            tests.for_each(|it| declared_by(it, &mut declared));
        }
        Op::Reference(Referred::Slot(slot), _) => {
            declared.insert(*slot);
        }
        _ => {}
    });
    if declared.is_empty() {
        return None;
    }
    let mut flow = Flow {
        declared,
        found: None,
    };
    flow.value(plan, Some(BTreeSet::new()));
    flow.found
}

fn declared_by(test: &Test, declared: &mut BTreeSet<u32>) {
    match test {
        Test::And(one, two) | Test::Or(one, two) => {
            declared_by(one, declared);
            declared_by(two, declared);
        }
        Test::Not(inner) | Test::Part { test: inner, .. } => declared_by(inner, declared),
        Test::Bind { slot, .. } => {
            declared.insert(*slot);
        }
        _ => {}
    }
}

fn joined(one: State, other: State) -> State {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersection(&other).copied().collect()),
        (one, None) => one,
        (None, other) => other,
    }
}

fn with(state: State, slot: u32) -> State {
    state.map(|mut it| {
        it.insert(slot);
        it
    })
}

fn truth(node: &Node) -> Option<bool> {
    match node.scalar() {
        Some(Scalar::Bool(value)) => Some(*value),
        _ => None,
    }
}

struct Flow {
    declared: BTreeSet<u32>,
    found: Option<Span>,
}

impl Flow {
    /// The state behind a value.
    fn value(&mut self, node: &Node, state: State) -> State {
        match &node.op {
            Op::Slot(slot) => {
                let known = |it: &BTreeSet<u32>| it.contains(slot);
                if self.declared.contains(slot) && !state.as_ref().is_none_or(known) {
                    self.found.get_or_insert(node.span);
                }
                state
            }
            Op::Logical(..) | Op::Is(..) | Op::Unary(UnaryOp::Not, ..) => {
                let (yes, no) = self.condition(node, state);
                joined(yes, no)
            }
            Op::Conditional(test, one, other) | Op::ConditionalRef(test, one, other) => {
                let (yes, no) = self.condition(test, state);
                joined(self.value(one, yes), self.value(other, no))
            }
            Op::Coalesce(left, _, value, right) => {
                let (present, missing) = self.nullable(left, state);
                joined(self.value(value, present), self.value(right, missing))
            }
            Op::Access(..) => {
                let (present, missing) = self.nullable(node, state);
                joined(present, missing)
            }
            Op::Switch(subject, _, arms) => {
                let mut state = self.value(subject, state);
                let mut out = None;
                for Arm { test, guard, value } in arms {
                    let (fits, fails) = self.test(test, &subject.ty, state);
                    let (fits, refused) = match guard {
                        Some(guard) => self.condition(guard, fits),
                        None => (fits, None),
                    };
                    out = joined(out, self.value(value, fits));
                    state = joined(fails, refused);
                }
                out
            }
            Op::Lambda(closure) => {
                self.value(&closure.body, state.clone());
                state
            }
            // What an argument sets is set when the call is over.
            Op::Call(..) | Op::New(..) => {
                let mut after = self.parts(node, state);
                node.parts(&mut |it| {
                    if let Op::Reference(Referred::Slot(slot), _) = &it.op {
                        after = with(after.take(), *slot);
                    }
                });
                after
            }
            Op::Reference(Referred::Slot(_), _) => state,
            Op::Let(values, body) => {
                let mut state = state;
                for (slot, value) in values {
                    state = self.value(value, state);
                    state = with(state, *slot);
                }
                self.value(body, state)
            }
            _ => self.parts(node, state),
        }
    }

    fn parts(&mut self, node: &Node, state: State) -> State {
        let mut state = state;
        node.parts(&mut |it| state = self.value(it, state.take()));
        state
    }

    /// The states where a value is there and where it is null.
    fn nullable(&mut self, node: &Node, state: State) -> (State, State) {
        match &node.op {
            Op::Access(target, _, rest) => {
                let (present, missing) = self.nullable(target, state);
                (self.value(rest, present), missing)
            }
            Op::Convert(_, inner) => self.nullable(inner, state),
            _ => {
                let after = self.value(node, state);
                (after.clone(), after)
            }
        }
    }

    /// The states where a condition holds and where it does not.
    fn condition(&mut self, node: &Node, state: State) -> (State, State) {
        match truth(node) {
            Some(true) => return (state, None),
            Some(false) => return (None, state),
            None => {}
        }
        match &node.op {
            Op::Logical(true, left, right) => {
                let (yes, no) = self.condition(left, state);
                let (both, other) = self.condition(right, yes);
                (both, joined(no, other))
            }
            Op::Logical(false, left, right) => {
                let (yes, no) = self.condition(left, state);
                let (other, neither) = self.condition(right, no);
                (joined(yes, other), neither)
            }
            Op::Unary(UnaryOp::Not, inner, _) => {
                let (yes, no) = self.condition(inner, state);
                (no, yes)
            }
            Op::Conditional(test, one, other) => {
                let (yes, no) = self.condition(test, state);
                let (one, other) = (self.condition(one, yes), self.condition(other, no));
                (joined(one.0, other.0), joined(one.1, other.1))
            }
            Op::Is(subject, _, test) => match (subject.ty == Type::BOOL, &**test) {
                (true, Test::Equal(Constant::Scalar(Scalar::Bool(wanted)), _)) => {
                    self.compared(subject, *wanted, state)
                }
                _ => {
                    let state = self.value(subject, state);
                    self.test(test, &subject.ty, state)
                }
            },
            Op::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right, _) => {
                let (one, other) = match (truth(left), truth(right)) {
                    (_, Some(wanted)) => self.compared(left, wanted, state),
                    (Some(wanted), _) => self.compared(right, wanted, state),
                    _ => {
                        let (present, missing) = self.nullable(left, state);
                        let after = joined(present.clone(), missing);
                        match &right.constant {
                            // What is no null is equal only to what is there.
                            Some(Constant::Null) => (after, present),
                            Some(_) => (present, after),
                            None => {
                                let after = self.value(right, after);
                                (after.clone(), after)
                            }
                        }
                    }
                };
                match op {
                    BinaryOp::Equal => (one, other),
                    _ => (other, one),
                }
            }
            Op::Convert(_, inner) => self.condition(inner, state),
            Op::Coalesce(left, _, value, right) => {
                let (present, missing) = self.nullable(left, state);
                let (one, other) = (self.value(value, present), self.condition(right, missing));
                (joined(one.clone(), other.0), joined(one, other.1))
            }
            Op::Let(values, body) => {
                let mut state = state;
                for (slot, value) in values {
                    state = self.value(value, state);
                    state = with(state, *slot);
                }
                self.condition(body, state)
            }
            // What is compared with a nullable is there where it is equal.
            Op::Lifted(values, ..) => {
                let mut there = state.clone();
                let mut after = state;
                for (_, value) in values {
                    let (present, missing) = self.nullable(value, after);
                    there = joined(there, None).map(|mut it| {
                        it.extend(present.iter().flatten());
                        it
                    });
                    after = joined(present, missing);
                }
                (there, after)
            }
            _ => {
                let after = self.value(node, state);
                (after.clone(), after)
            }
        }
    }

    /// A condition that is compared with `true` or `false`.
    fn compared(&mut self, node: &Node, wanted: bool, state: State) -> (State, State) {
        let (yes, no) = self.condition(node, state);
        match wanted {
            true => (yes, no),
            false => (no, yes),
        }
    }

    /// The states where a value of a type passes a test and where it does not.
    fn test(&mut self, test: &Test, ty: &Type, state: State) -> (State, State) {
        match test {
            Test::Any => (state, None),
            Test::Bind { slot, .. } => (with(state, *slot), None),
            Test::Is(wanted) if wanted == ty && ty.is_value() == Some(true) => (state, None),
            Test::And(one, two) => {
                let (yes, no) = self.test(one, ty, state);
                let (both, other) = self.test(two, ty, yes);
                (both, joined(no, other))
            }
            Test::Or(one, two) => {
                let (yes, no) = self.test(one, ty, state);
                let (other, neither) = self.test(two, ty, no);
                (joined(yes, other), neither)
            }
            Test::Not(inner) => {
                let (yes, no) = self.test(inner, ty, state);
                (no, yes)
            }
            Test::Part { part, slot, test } => {
                let state = self.value(part, state);
                self.test(test, &part.ty, with(state, *slot))
            }
            Test::Check(node) => self.condition(node, state),
            _ => (state.clone(), state),
        }
    }
}
