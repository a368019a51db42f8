//! `List<T>.Sort` with a comparison: the very steps of the framework, as they decide where equal elements end up.

use std::cmp::Ordering;

use syntax::Span;

use super::{Result, Runner, Val};

/// Up to so many elements are sorted by insertion.
const BY_INSERTION: usize = 16;

impl Runner<'_, '_> {
    /// Sorts the numbers of elements by a comparison of these.
    pub(super) fn introsort(
        &mut self,
        order: &mut [usize],
        items: &[Val],
        comparison: &Val,
        span: Span,
    ) -> Result<()> {
        let depth = 2 * (order.len().max(1).ilog2() as usize + 1);
        let mut less = |this: &mut Runner<'_, '_>, a: usize, b: usize| -> Result<Ordering> {
            this.item(span)?;
            match (items.get(a), items.get(b)) {
                (Some(a), Some(b)) => {
                    let order = this.compare_by(a, b, comparison, span);
                    order.map_err(|why| super::comparing::not_compared(why, span))
                }
                _ => Ok(Ordering::Equal),
            }
        };
        self.intro(order, depth, &mut less)
    }

    fn intro(
        &mut self,
        all: &mut [usize],
        mut depth: usize,
        compare: &mut Compare<'_>,
    ) -> Result<()> {
        let mut size = all.len();
        while size > 1 {
            let part = all.get_mut(..size).unwrap_or_default();
            if size <= BY_INSERTION {
                return match size {
                    2 => self.swap_if_greater(part, 0, 1, compare),
                    3 => {
                        self.swap_if_greater(part, 0, 1, compare)?;
                        self.swap_if_greater(part, 0, 2, compare)?;
                        self.swap_if_greater(part, 1, 2, compare)
                    }
                    _ => self.insertion(part, compare),
                };
            }
            if depth == 0 {
                return self.heap(part, compare);
            }
            depth -= 1;
            let pivot = self.partition(part, compare)?;
            let above = part.get_mut(pivot + 1..).unwrap_or_default();
            self.intro(above, depth, compare)?;
            size = pivot;
        }
        Ok(())
    }

    fn swap_if_greater(
        &mut self,
        all: &mut [usize],
        a: usize,
        b: usize,
        compare: &mut Compare<'_>,
    ) -> Result<()> {
        if compare(self, at(all, a), at(all, b))? == Ordering::Greater {
            all.swap(a, b);
        }
        Ok(())
    }

    fn insertion(&mut self, all: &mut [usize], compare: &mut Compare<'_>) -> Result<()> {
        for last in 1..all.len() {
            let moved = at(all, last);
            let mut to = last;
            while to > 0 && compare(self, moved, at(all, to - 1))? == Ordering::Less {
                put(all, to, at(all, to - 1));
                to -= 1;
            }
            put(all, to, moved);
        }
        Ok(())
    }

    fn partition(&mut self, all: &mut [usize], compare: &mut Compare<'_>) -> Result<usize> {
        let high = all.len() - 1;
        let middle = high >> 1;
        self.swap_if_greater(all, 0, middle, compare)?;
        self.swap_if_greater(all, 0, high, compare)?;
        self.swap_if_greater(all, middle, high, compare)?;
        let pivot = at(all, middle);
        all.swap(middle, high - 1);
        let (mut left, mut right) = (0, high - 1);
        while left < right {
            // A comparison that is no order must not lead out of the list.
            while left < high - 1 {
                left += 1;
                if compare(self, at(all, left), pivot)? != Ordering::Less {
                    break;
                }
            }
            while right > 0 {
                right -= 1;
                if compare(self, pivot, at(all, right))? != Ordering::Less {
                    break;
                }
            }
            if left >= right {
                break;
            }
            all.swap(left, right);
        }
        if left != high - 1 {
            all.swap(left, high - 1);
        }
        Ok(left)
    }

    fn heap(&mut self, all: &mut [usize], compare: &mut Compare<'_>) -> Result<()> {
        let count = all.len();
        for from in (1..=count / 2).rev() {
            self.sift(all, from, count, compare)?;
        }
        for last in (2..=count).rev() {
            all.swap(0, last - 1);
            self.sift(all, 1, last - 1, compare)?;
        }
        Ok(())
    }

    fn sift(
        &mut self,
        all: &mut [usize],
        mut from: usize,
        count: usize,
        compare: &mut Compare<'_>,
    ) -> Result<()> {
        let moved = at(all, from - 1);
        while from <= count / 2 {
            let mut child = 2 * from;
            if child < count && compare(self, at(all, child - 1), at(all, child))? == Ordering::Less
            {
                child += 1;
            }
            if compare(self, moved, at(all, child - 1))? != Ordering::Less {
                break;
            }
            put(all, from - 1, at(all, child - 1));
            from = child;
        }
        put(all, from - 1, moved);
        Ok(())
    }
}

/// Compares two elements by their numbers.
type Compare<'c> = dyn FnMut(&mut Runner<'_, '_>, usize, usize) -> Result<Ordering> + 'c;

fn at(all: &[usize], index: usize) -> usize {
    all.get(index).copied().unwrap_or(0)
}

fn put(all: &mut [usize], index: usize, value: usize) {
    if let Some(place) = all.get_mut(index) {
        *place = value;
    }
}
