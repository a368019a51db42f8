//! Unsigned integers of 256 bits, enough for exact products and quotients of decimals.

/// Four 64-bit limbs, the highest first so that the derived order is the numeric one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wide([u64; 4]);

impl From<u128> for Wide {
    fn from(value: u128) -> Self {
        Self([0, 0, (value >> 64) as u64, value as u64])
    }
}

impl Wide {
    pub(super) fn is_zero(self) -> bool {
        self.0 == [0; 4]
    }

    /// The value, if it fits.
    pub(super) fn to_u128(self) -> Option<u128> {
        let [a, b, c, d] = self.0;
        (a == 0 && b == 0).then_some(u128::from(c) << 64 | u128::from(d))
    }

    pub(super) fn add(self, other: Self) -> Self {
        let mut carry = 0_u128;
        let mut limbs = [0; 4];
        for (limb, (a, b)) in limbs.iter_mut().zip(self.0.iter().zip(&other.0)).rev() {
            let sum = u128::from(*a) + u128::from(*b) + carry;
            *limb = sum as u64;
            carry = sum >> 64;
        }
        Self(limbs)
    }

    /// `other` must not be larger.
    pub(super) fn sub(self, other: Self) -> Self {
        let mut borrow = false;
        let mut limbs = [0; 4];
        for (limb, (a, b)) in limbs.iter_mut().zip(self.0.iter().zip(&other.0)).rev() {
            let (difference, first) = a.overflowing_sub(*b);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            *limb = difference;
            borrow = first || second;
        }
        Self(limbs)
    }

    pub(super) fn mul_small(self, factor: u64) -> Self {
        let mut carry = 0_u128;
        let mut limbs = self.0;
        for limb in limbs.iter_mut().rev() {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        Self(limbs)
    }

    pub(super) fn mul(self, factor: u128) -> Self {
        let low = self.mul_small(factor as u64);
        let [_, b, c, d] = self.mul_small((factor >> 64) as u64).0;
        low.add(Self([b, c, d, 0]))
    }

    /// Quotient and remainder.
    pub(super) fn div_rem_small(self, divisor: u64) -> (Self, u64) {
        let mut rest = 0_u128;
        let mut limbs = self.0;
        for limb in &mut limbs {
            let value = rest << 64 | u128::from(*limb);
            *limb = (value / u128::from(divisor)) as u64;
            rest = value % u128::from(divisor);
        }
        (Self(limbs), rest as u64)
    }

    /// Quotient and remainder by long division, bit by bit.
    pub(super) fn div_rem(self, divisor: Self) -> (Self, Self) {
        if let (Some(left), Some(right)) = (self.to_u128(), divisor.to_u128()) {
            return (Self::from(left / right), Self::from(left % right));
        }
        let mut quotient = Self::from(0);
        let mut rest = Self::from(0);
        for bit in (0..256).rev() {
            rest = rest.add(rest);
            quotient = quotient.add(quotient);
            let limb = self.0[3 - bit / 64];
            if limb >> (bit % 64) & 1 != 0 {
                rest = rest.add(Self::from(1));
            }
            if rest >= divisor {
                rest = rest.sub(divisor);
                quotient = quotient.add(Self::from(1));
            }
        }
        (quotient, rest)
    }
}
