/*
 * Memory layout. A field element is ten limbs of 26 bits in 48 bytes (the last two are zero, for SIMD); towers are their parts in
 * sequence. BLOCK is the state of a computation between two parts; scratch memory of a call is in it too, since no call is
 * interrupted. CONSTANTS are written once.
 */
export const FP: usize = 48;
export const FP2: usize = 96;
export const FP6: usize = 288;
export const FP12: usize = 576;
export const G1_SIZE: usize = 144;
export const G2_SIZE: usize = 288;

export const CONSTANTS: usize = memory.data(864, 16);
/** R^2 mod p, to convert numbers to Montgomery form. */
export const R_SQUARED: usize = CONSTANTS;
export const ONE: usize = CONSTANTS + FP;
/** 3, the constant of G1's curve. */
export const B: usize = CONSTANTS + 2 * FP;
/** 3 / xi, the constant of G2's curve, and three times that. */
export const B_TWIST: usize = CONSTANTS + 3 * FP;
export const B3_TWIST: usize = B_TWIST + FP2;
/** xi^(i (p - 1) / 6) for i = 1 to 5: the factors of the powers of w under the map x -> x^p. */
export const GAMMA: usize = B3_TWIST + FP2;
/** A cube root of 1. */
export const BETA: usize = GAMMA + 5 * FP2;

export const BLOCK_SIZE: usize = 12288;
export const BLOCK: usize = memory.data(12288, 16);

export const INPUT: usize = BLOCK;
export const OUTPUT: usize = BLOCK + 192;
/** Number of queued pairs, at most PAIRS. */
export const WAITING: usize = BLOCK + 256;
export const PAIRS: u32 = 4;
/** Queued pair: G2's running point (projective) and its start (affine), G1's point (affine). */
export const PAIR_SIZE: usize = 576;
export const PAIR_Q: usize = G2_SIZE;
export const PAIR_P: usize = G2_SIZE + 2 * FP2;
export const PAIR: usize = BLOCK + 272;
/** Product of all Miller loops so far, and that of the queued pairs. */
export const TOTAL: usize = PAIR + 4 * PAIR_SIZE;
export const MILLER: usize = TOTAL + FP12;
/** Line through the points of a step: three parts of an otherwise empty Fp12. */
export const LINE: usize = MILLER + FP12;
/** Scratch memory of each layer, used by no other layer. */
export const FIELD_SCRATCH: usize = LINE + 3 * FP2;
export const FP2_SCRATCH: usize = FIELD_SCRATCH + 4 * FP;
export const FP6_SCRATCH: usize = FP2_SCRATCH + 4 * FP2;
export const FP12_SCRATCH: usize = FP6_SCRATCH + 10 * FP2;
export const CURVE_SCRATCH: usize = FP12_SCRATCH + 6 * FP6;
/** Points: a table of sixteen of G1, or a few of G2; elements of the final exponentiation. */
export const WORK: usize = CURVE_SCRATCH + 8 * FP2;
/** Factors of two products at once, interleaved. */
export const LANES_SCRATCH: usize = memory.data(384, 16);
