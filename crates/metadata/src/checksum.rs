//! SHA-1 and SHA-256 (FIPS 180-4), to tell whether a source file is the one that was compiled.

use crate::pdb::HashAlgorithm;

/// The checksum of a source file, unless the algorithm is unknown.
#[must_use]
pub fn checksum(algorithm: HashAlgorithm, bytes: &[u8]) -> Option<Vec<u8>> {
    match algorithm {
        HashAlgorithm::Sha1 => Some(words_to_bytes(&digest(Sha1::default(), bytes).0)),
        HashAlgorithm::Sha256 => Some(words_to_bytes(&digest(Sha256::default(), bytes).0)),
        HashAlgorithm::Other(_) => None,
    }
}

fn words_to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A hash function that works on blocks of sixteen words.
trait BlockHash {
    fn block(&mut self, block: &[u32; 16]);
}

fn digest<H: BlockHash>(mut hash: H, bytes: &[u8]) -> H {
    let (blocks, rest) = bytes.as_chunks::<64>();
    for block in blocks {
        hash.block(&words(block));
    }
    // A one bit, zeros, and the length in bits, in one block or two.
    let mut tail = rest.to_vec();
    tail.push(0x80);
    let padded = if tail.len() <= 56 { 56 } else { 120 };
    tail.resize(padded, 0);
    tail.extend((bytes.len() as u64).wrapping_mul(8).to_be_bytes());
    for block in tail.as_chunks::<64>().0 {
        hash.block(&words(block));
    }
    hash
}

fn words(block: &[u8; 64]) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    words
}

/// The message schedule: sixteen words of the block, each later one made from those before it.
fn schedule<const N: usize>(block: &[u32; 16], next: fn(&[u32; N], usize) -> u32) -> [u32; N] {
    let mut schedule = [0; N];
    for (word, &of_block) in schedule.iter_mut().zip(block) {
        *word = of_block;
    }
    for at in 16..N {
        let word = next(&schedule, at);
        if let Some(slot) = schedule.get_mut(at) {
            *slot = word;
        }
    }
    schedule
}

/// An earlier word of a schedule.
fn earlier(words: &[u32], at: usize, back: usize) -> u32 {
    at.checked_sub(back)
        .and_then(|index| words.get(index))
        .copied()
        .unwrap_or_default()
}

struct Sha1([u32; 5]);

impl Default for Sha1 {
    fn default() -> Self {
        Self([
            0x6745_2301,
            0xefcd_ab89,
            0x98ba_dcfe,
            0x1032_5476,
            0xc3d2_e1f0,
        ])
    }
}

impl BlockHash for Sha1 {
    fn block(&mut self, block: &[u32; 16]) {
        let schedule = schedule::<80>(block, |words, at| {
            let word = |back| earlier(words, at, back);
            (word(3) ^ word(8) ^ word(14) ^ word(16)).rotate_left(1)
        });
        let [mut a, mut b, mut c, mut d, mut e] = self.0;
        for (round, word) in schedule.into_iter().enumerate() {
            let (mixed, constant) = match round / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e);
            let sum = sum.wrapping_add(constant).wrapping_add(word);
            (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
        }
        for (slot, value) in self.0.iter_mut().zip([a, b, c, d, e]) {
            *slot = slot.wrapping_add(value);
        }
    }
}

struct Sha256([u32; 8]);

impl Default for Sha256 {
    fn default() -> Self {
        Self([
            0x6a09_e667,
            0xbb67_ae85,
            0x3c6e_f372,
            0xa54f_f53a,
            0x510e_527f,
            0x9b05_688c,
            0x1f83_d9ab,
            0x5be0_cd19,
        ])
    }
}

#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

impl BlockHash for Sha256 {
    fn block(&mut self, block: &[u32; 16]) {
        let schedule = schedule::<64>(block, |words, at| {
            let word = |back| earlier(words, at, back);
            let (a, b) = (word(15), word(2));
            let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let large = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            word(16)
                .wrapping_add(small)
                .wrapping_add(word(7))
                .wrapping_add(large)
        });
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.0;
        for (word, constant) in schedule.into_iter().zip(ROUNDS) {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let chosen = (e & f) ^ (!e & g);
            let first = h
                .wrapping_add(s1)
                .wrapping_add(chosen)
                .wrapping_add(constant)
                .wrapping_add(word);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        }
        for (slot, value) in self.0.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *slot = slot.wrapping_add(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(algorithm: HashAlgorithm, text: &[u8], expected: &str) {
        let hash = checksum(algorithm, text).expect("a known algorithm");
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, expected);
    }

    // The examples of FIPS 180-4, and lengths around the border of a block.
    #[test]
    fn examples() {
        check(
            HashAlgorithm::Sha1,
            b"abc",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
        );
        check(
            HashAlgorithm::Sha1,
            b"",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        );
        check(
            HashAlgorithm::Sha256,
            b"abc",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        );
        check(
            HashAlgorithm::Sha256,
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        );
        check(
            HashAlgorithm::Sha256,
            &[b'a'; 64],
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
        );
    }
}
