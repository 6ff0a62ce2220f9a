import { pack, scale, tidy, unpack } from "./field";
import { FIELD_SCRATCH, FP } from "./memory";

/*
 * 1 / a by Kaliski's almost inverse (1995): a binary Euclid on four words that gives 2^k / a. In Montgomery form the input is a R and
 * the output R / a = R^2 / (a R), and R^2 is 2^520: so 520 - k doublings remain. Invariants: a r = -u 2^k and a s = v 2^k modulo p, or
 * the reverse while `swapped`, and u s + v r = p.
 */
const AT: usize = FIELD_SCRATCH + 3 * FP;
const EXPONENT: u32 = 520;

const P0: u64 = 0x3c208c16d87cfd47;
const P1: u64 = 0x97816a916871ca8d;
const P2: u64 = 0xb85045b68181585d;
const P3: u64 = 0x30644e72e131a029;

/** out = 1 / a; 0 for 0. */
export function inverse(out: usize, a: usize): void {
  pack(AT, a);
  let u0 = P0, u1 = P1, u2 = P2, u3 = P3;
  let v0 = load<u64>(AT), v1 = load<u64>(AT, 8), v2 = load<u64>(AT, 16), v3 = load<u64>(AT, 24);
  let r0: u64 = 0, r1: u64 = 0, r2: u64 = 0, r3: u64 = 0;
  let s0: u64 = 1, s1: u64 = 0, s2: u64 = 0, s3: u64 = 0;
  if ((v0 | v1 | v2 | v3) == 0) {
    memory.fill(out, 0, FP);
    return;
  }
  let k: u32 = 0;
  let swapped = false;
  while (true) {
    // Removes the factors of two from v and adds as many to r.
    while ((v0 & 1) == 0) {
      const shift = min<u64>(ctz(v0), 63);
      const rest = 64 - shift;
      v0 = (v0 >> shift) | (v1 << rest); v1 = (v1 >> shift) | (v2 << rest); v2 = (v2 >> shift) | (v3 << rest); v3 >>= shift;
      r3 = (r3 << shift) | (r2 >> rest); r2 = (r2 << shift) | (r1 >> rest); r1 = (r1 << shift) | (r0 >> rest); r0 <<= shift;
      k += <u32>shift;
    }
    // From here on both are odd; the greater one minus the other is even.
    let borrow: u64, difference: u64, carry: u64;
    const d0 = v0 - u0; borrow = u64(v0 < u0);
    difference = v1 - u1; const d1 = difference - borrow; borrow = u64(v1 < u1) | u64(difference < borrow);
    difference = v2 - u2; const d2 = difference - borrow; borrow = u64(v2 < u2) | u64(difference < borrow);
    difference = v3 - u3; const d3 = difference - borrow; borrow = u64(v3 < u3) | u64(difference < borrow);
    if ((d0 | d1 | d2 | d3) == 0) break;
    const t0 = r0 + s0; carry = u64(t0 < s0);
    let sum = r1 + s1; const t1 = sum + carry; carry = u64(sum < s1) | u64(t1 < carry);
    sum = r2 + s2; const t2 = sum + carry; carry = u64(sum < s2) | u64(t2 < carry);
    const t3 = r3 + s3 + carry;
    if (borrow == 0) {
      v0 = d0; v1 = d1; v2 = d2; v3 = d3;
      s0 = t0; s1 = t1; s2 = t2; s3 = t3;
      continue;
    }
    // u was greater: u - v replaces v, and both pairs are swapped, so that the loop has one case.
    const w0 = v0, w1 = v1, w2 = v2, w3 = v3;
    v0 = 0 - d0; carry = u64(d0 != 0);
    v1 = 0 - d1 - carry; carry = u64((d1 | carry) != 0);
    v2 = 0 - d2 - carry; carry = u64((d2 | carry) != 0);
    v3 = 0 - d3 - carry;
    swapped = !swapped;
    u0 = w0; u1 = w1; u2 = w2; u3 = w3;
    r0 = s0; r1 = s1; r2 = s2; r3 = s3;
    s0 = t0; s1 = t1; s2 = t2; s3 = t3;
  }
  store<u64>(AT, swapped ? r0 : s0, 0);
  store<u64>(AT, swapped ? r1 : s1, 8);
  store<u64>(AT, swapped ? r2 : s2, 16);
  store<u64>(AT, swapped ? r3 : s3, 24);
  unpack(out, AT);
  let doublings = EXPONENT - k;
  for (; doublings >= 4; doublings -= 4) {
    scale(out, out, 16);
    tidy(out, out);
  }
  scale(out, out, 1 << doublings);
  tidy(out, out);
}
