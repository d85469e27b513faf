//! Functions that scatter keys: the hash functions and the permutation that scripts can call.
//!
//! All three give pgbench's values bit for bit, so a key chosen in one tool is the key in the other.

use super::ScriptRng;

/// FNV-1a (Fowler, Noll and Vo) of the eight bytes of `value`, low byte first; `seed` is mixed into
/// the offset basis.
pub fn fnv1a(value: i64, seed: i64) -> i64 {
    let basis = 0xcbf2_9ce4_8422_2325 ^ seed.cast_unsigned();
    value
        .to_le_bytes()
        .into_iter()
        .fold(basis, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
        .cast_signed()
}

/// MurmurHash2, 64-bit variant A (Appleby 2008), of the eight bytes of `value`.
pub fn murmur2(value: i64, seed: i64) -> i64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    // The length, 8 bytes, times M: constant for this one input size.
    let mut hash = seed.cast_unsigned() ^ M.wrapping_mul(8);
    let mut word = value.cast_unsigned().wrapping_mul(M);
    word ^= word >> R;
    word = word.wrapping_mul(M);
    hash = (hash ^ word).wrapping_mul(M);
    hash ^= hash >> R;
    hash = hash.wrapping_mul(M);
    (hash ^ (hash >> R)).cast_signed()
}

/// A bijection of `0..size` chosen by `seed`; `value` is taken modulo `size`, as unsigned. `size`
/// must be over 0.
///
/// Six rounds, each multiplying and xoring within the largest power of two that fits, first from
/// the low end, then from the high end, so that every value takes part; a random shift ends a round.
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    const ROUNDS: u32 = 6;
    let size = size.cast_unsigned();
    debug_assert!(size > 0, "the caller refuses sizes under 1");
    if size <= 1 {
        return 0;
    }
    let mut v = value.cast_unsigned() % size;
    let mut rng = ScriptRng::new(seed.cast_unsigned());
    let bits = size.ilog2();
    let mask = (1_u64 << bits) - 1;
    for _ in 0..ROUNDS {
        let factor = (rng.next_u64() & mask) | 1;
        let toggle = rng.next_u64() & mask;
        if v <= mask {
            let scrambled = (v.wrapping_mul(factor) ^ toggle) & mask;
            v = ((scrambled << 1) & mask) | (scrambled >> (bits - 1));
        }
        let factor = (rng.next_u64() & mask) | 1;
        let toggle = rng.next_u64() & mask;
        let from_top = size - 1 - v;
        if from_top <= mask {
            let scrambled = (from_top.wrapping_mul(factor) ^ toggle) & mask;
            v = size - 1 - (((scrambled << 1) & mask) | (scrambled >> (bits - 1)));
        }
        let shift = rng.up_to(size - 1);
        // Both are under size <= 2^63, so the sum fits.
        v = (v + shift) % size;
    }
    v.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_agree_with_pgbench() {
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(murmur2(-1, 0), 4_219_408_603_045_787_357);
        assert_eq!(fnv1a(0, 0), -6_284_781_860_667_377_211);
    }

    #[test]
    fn permute_agrees_with_pgbench() {
        let size = 9_223_372_036_854_775_797;
        assert_eq!(permute(size - 3, size, 5432), 447_293_596_416_496_998);
        assert_eq!(permute(size - 4, size, 5432), 916_527_772_266_572_956);
        assert_eq!(permute(size - 6, size, 5432), 8_648_551_549_198_294_572);
        assert_eq!(permute(-1, 10, 5), 1);
    }

    #[test]
    fn permute_is_a_bijection_at_every_small_size() {
        for size in 1..200 {
            let mut images: Vec<i64> = (0..size).map(|v| permute(v, size, 77)).collect();
            images.sort_unstable();
            assert_eq!(images, (0..size).collect::<Vec<_>>());
        }
    }
}
