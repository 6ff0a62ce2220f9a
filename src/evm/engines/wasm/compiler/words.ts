import type { FunctionWriter, Limb, Local } from './function-writer.ts'
import { I } from './instructions.ts'

/* Operations on words in line. A word is four limbs, the lowest first. Operands stay with the caller; results are new. */

export type Limbs = readonly [Limb, Limb, Limb, Limb]

const MASK = 0xffff_ffff_ffff_ffffn
const isConstant = (limb: Limb): limb is bigint => typeof limb === 'bigint'
export const constantOf = (limbs: Limbs): bigint | undefined =>
  limbs.every(isConstant)
    ? limbs.reduceRight<bigint>((value, limb) => (value << 64n) | BigInt.asUintN(64, limb as bigint), 0n)
    : undefined
export const limbsOf = (value: bigint): Limbs => [
  value & MASK,
  (value >> 64n) & MASK,
  (value >> 128n) & MASK,
  (value >> 192n) & MASK,
]

const four = (make: (i: number) => Limb): Limbs => [make(0), make(1), make(2), make(3)]
const at = (limbs: Limbs, i: number): Limb => limbs[i] as Limb

/** A truth value on the stack (i32) as a word. */
export const truth = (w: FunctionWriter): Limbs => {
  w.op(I.extend)
  return [w.take(), 0n, 0n, 0n]
}

/** a op b as a new limb. */
const combined = (w: FunctionWriter, a: Limb, b: Limb, op: number): Local => {
  w.limb(a)
  w.limb(b)
  w.op(op)
  return w.take()
}

export const add = (w: FunctionWriter, a: Limbs, b: Limbs): Limbs => {
  let carry: Local | undefined
  const result = four(i => {
    const x = at(a, i)
    const y = at(b, i)
    const other = x === 0n ? y : y === 0n ? x : undefined
    if (other !== undefined && carry === undefined) return w.share(other)
    const sum = other === undefined ? combined(w, x, y, I.add64) : (w.share(other) as Limb)
    const limb = carry === undefined ? sum : combined(w, sum, carry, I.add64)
    if (i === 3) {
      if (limb !== sum) w.release(sum)
      return limb
    }
    if (other === undefined) {
      w.limb(sum)
      w.limb(y)
      w.op(I.lessUnsigned64)
    }
    if (carry !== undefined) {
      w.limb(limb)
      w.limb(carry)
      w.op(I.lessUnsigned64)
      if (other === undefined) w.op(I.or32)
    }
    w.op(I.extend)
    const next = w.take()
    if (carry !== undefined) w.release(carry)
    if (limb !== sum) w.release(sum)
    carry = next
    return limb
  })
  if (carry !== undefined) w.release(carry)
  return result
}

export const subtract = (w: FunctionWriter, a: Limbs, b: Limbs): Limbs => {
  let borrow: Local | undefined
  const result = four(i => {
    const x = at(a, i)
    const y = at(b, i)
    if (y === 0n && borrow === undefined) return w.share(x)
    const difference = y === 0n ? w.share(x) : combined(w, x, y, I.subtract64)
    const limb = borrow === undefined ? difference : combined(w, difference, borrow, I.subtract64)
    if (i < 3) {
      if (y !== 0n) {
        w.limb(x)
        w.limb(y)
        w.op(I.lessUnsigned64)
      }
      if (borrow !== undefined) {
        w.limb(difference)
        w.limb(borrow)
        w.op(I.lessUnsigned64)
        if (y !== 0n) w.op(I.or32)
      }
      w.op(I.extend)
      const next = w.take()
      if (borrow !== undefined) w.release(borrow)
      borrow = next
    }
    if (limb !== difference) w.release(difference)
    return limb
  })
  if (borrow !== undefined) w.release(borrow)
  return result
}

const bitwise =
  (op: number, known: (x: Limb, y: bigint) => Limb | undefined, both: (x: bigint, y: bigint) => bigint) =>
  (w: FunctionWriter, a: Limbs, b: Limbs): Limbs =>
    four(i => {
      const x = at(a, i)
      const y = at(b, i)
      if (isConstant(x) && isConstant(y)) return both(x, y)
      const simple = isConstant(y) ? known(x, y) : isConstant(x) ? known(y, x) : undefined
      return simple === undefined ? combined(w, x, y, op) : w.share(simple)
    })

export const and = bitwise(
  I.and64,
  (x, y) => (y === 0n ? 0n : y === MASK ? x : undefined),
  (x, y) => x & y,
)
export const or = bitwise(
  I.or64,
  (x, y) => (y === 0n ? x : y === MASK ? MASK : undefined),
  (x, y) => x | y,
)
export const xor = bitwise(
  I.xor64,
  (x, y) => (y === 0n ? x : undefined),
  (x, y) => x ^ y,
)
export const not = (w: FunctionWriter, a: Limbs): Limbs => xor(w, a, limbsOf((1n << 256n) - 1n))

/** Leaves on the stack (i64) what is zero when the limbs are. */
export const anyBits = (w: FunctionWriter, limbs: readonly Limb[]): void => {
  const present = limbs.filter(limb => limb !== 0n)
  if (present.length === 0) w.const64(0n)
  for (const [i, limb] of present.entries()) {
    w.limb(limb)
    if (i > 0) w.op(I.or64)
  }
}

/** Leaves on the stack (i64) what is zero when the words are equal. */
export const difference = (w: FunctionWriter, a: Limbs, b: Limbs): void => {
  let count = 0
  for (let i = 0; i < 4; i++) {
    const x = at(a, i)
    const y = at(b, i)
    if (x === y) continue
    w.limb(x === 0n ? y : x)
    if (x !== 0n && y !== 0n) {
      w.limb(y)
      w.op(I.xor64)
    }
    if (count++ > 0) w.op(I.or64)
  }
  if (count === 0) w.const64(0n)
}

/** Leaves on the stack (i32) whether a < b. */
export const less = (w: FunctionWriter, a: Limbs, b: Limbs, isSigned: boolean): void => {
  let isFirst = true
  for (let i = 0; i < 4; i++) {
    const x = at(a, i)
    const y = at(b, i)
    if (x === 0n && y === 0n && !(isFirst && i === 3)) continue
    const op = isSigned && i === 3 ? I.less64 : I.lessUnsigned64
    if (isFirst) {
      w.limb(x)
      w.limb(y)
      w.op(op)
    } else {
      // Equal here: the lower limbs decide.
      w.limb(x)
      w.limb(y)
      w.op(I.eq64, I.and32)
      w.limb(x)
      w.limb(y)
      w.op(op, I.or32)
    }
    isFirst = false
  }
}

/** Limbs of the upper and lower parts that meet in a limb of a shifted word. */
const joined = (w: FunctionWriter, high: Limb, low: Limb, left: bigint): Limb => {
  const right = 64n - left
  if (left === 0n) return w.share(high)
  if (isConstant(high) && isConstant(low)) return ((high << left) | (low >> right)) & MASK
  if (high !== 0n) {
    w.limb(high)
    w.const64(left)
    w.op(I.shiftLeft64)
  }
  if (low !== 0n) {
    w.limb(low)
    w.const64(right)
    w.op(I.shiftRight64)
    if (high !== 0n) w.op(I.or64)
  }
  return w.take()
}

export const shiftLeft = (w: FunctionWriter, a: Limbs, bits: number): Limbs => {
  const whole = bits >> 6
  const part = (i: number): Limb => (i < 0 ? 0n : at(a, i))
  return four(i => joined(w, part(i - whole), part(i - whole - 1), BigInt(bits & 63)))
}

/** `fill`: what comes in from above. It stays with the caller. */
const shiftRightWith = (w: FunctionWriter, a: Limbs, bits: number, fill: Limb): Limbs => {
  const whole = bits >> 6
  const right = bits & 63
  const part = (i: number): Limb => (i > 3 ? fill : at(a, i))
  return four(i =>
    right === 0 ? w.share(part(i + whole)) : joined(w, part(i + whole + 1), part(i + whole), BigInt(64 - right)),
  )
}
export const shiftRight = (w: FunctionWriter, a: Limbs, bits: number): Limbs => shiftRightWith(w, a, bits, 0n)
export const shiftRightSigned = (w: FunctionWriter, a: Limbs, bits: number): Limbs => {
  const sign = signOf(w, a[3])
  const result = bits > 255 ? four(() => w.share(sign)) : shiftRightWith(w, a, bits, sign)
  w.release(sign)
  return result
}

const signOf = (w: FunctionWriter, limb: Limb): Limb => {
  if (isConstant(limb)) return BigInt.asIntN(64, limb) < 0n ? MASK : 0n
  w.limb(limb)
  w.const64(63n)
  w.op(I.shiftRightSigned64)
  return w.take()
}

/** Sign of the lowest `size` bytes, 1 to 31. */
export const signExtend = (w: FunctionWriter, a: Limbs, size: number): Limbs => {
  const last = (size - 1) >> 3
  const unused = BigInt(64 - 8 * (((size - 1) & 7) + 1))
  w.limb(at(a, last))
  w.const64(unused)
  w.op(I.shiftLeft64)
  w.const64(unused)
  w.op(I.shiftRightSigned64)
  const top = w.take()
  const sign = signOf(w, top)
  const result = four(i => (i < last ? w.share(at(a, i)) : i === last ? w.share(top) : w.share(sign)))
  w.release(top)
  w.release(sign)
  return result
}

/** Byte at a known position, the highest first. */
export const byteAt = (w: FunctionWriter, a: Limbs, position: number): Limbs => {
  w.limb(at(a, 3 - (position >> 3)))
  w.const64(BigInt(8 * (7 - (position & 7))))
  w.op(I.shiftRight64)
  w.const64(0xffn)
  w.op(I.and64)
  return [w.take(), 0n, 0n, 0n]
}

export const leadingZeros = (w: FunctionWriter, a: Limbs): Limbs => {
  // The first limb from above that is not zero, or the lowest.
  w.limb(a[0])
  w.op(I.clz64)
  w.const64(192n)
  w.op(I.add64)
  for (const i of [1, 2, 3]) {
    w.limb(at(a, i))
    w.op(I.clz64)
    w.const64(BigInt(64 * (3 - i)))
    w.op(I.add64)
    // select takes the second value where the condition is zero.
    w.limb(at(a, i))
    w.op(I.eqz64)
    w.op(I.select)
  }
  return [w.take(), 0n, 0n, 0n]
}
