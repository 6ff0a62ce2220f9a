import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import { OPCODES, opcodesOf } from '../../../src/evm/opcodes.ts'
import type { Random } from '../executor-plans.ts'

/*
 * Random programs that keep account of the stack, so that most of them run far: arithmetic on words as bugs like them, memory, storage,
 * jumps forward and loops, logs, calls and creations with values, precompiles, and now and then a byte that belongs nowhere.
 */

/** Opcodes of the first rows that take so many words. */
const arithmetic = (count: number): readonly number[] =>
  OPCODES.filter(({ op, takes }) => op > 0 && op < 0x20 && takes === count).map(({ op }) => op)
const BINARY = arithmetic(2)
const TERNARY = arithmetic(3)
const UNARY = arithmetic(1)
const NULLARY = OPCODES.filter(({ op, takes, puts }) => op < 0x60 && takes === 0 && puts === 1).map(({ op }) => op)
const PRECOMPILES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0x100]

const known = new Map<EvmFork, ReadonlySet<number>>()
const opsOf = (fork: EvmFork): ReadonlySet<number> => {
  const found = known.get(fork) ?? new Set(opcodesOf(fork).map(({ op }) => op))
  known.set(fork, found)
  return found
}

export class Program {
  readonly #random: Random
  readonly #addresses: readonly Hex[]
  readonly #fork: EvmFork
  readonly #depth: number
  readonly code: number[] = []
  #height = 0

  constructor(random: Random, addresses: readonly Hex[], fork: EvmFork, depth = 0) {
    this.#random = random
    this.#addresses = addresses
    this.#fork = fork
    this.#depth = depth
  }

  build(): Uint8Array {
    const { int } = this.#random
    for (let i = int(6); i > 0; i--) this.#word()
    for (let steps = 5 + int(60); steps > 0; steps--) this.#step()
    this.#end()
    return Uint8Array.from(this.code)
  }

  #op(op: number, takes: number, puts: number): void {
    // Mostly only what the fork has.
    if (!opsOf(this.#fork).has(op) && !this.#random.chance(200)) {
      for (let i = 0; i < takes && this.#height > 0; i++, this.#height--) this.code.push(0x50)
      for (let i = 0; i < puts; i++) this.#number(1)
      return
    }
    // One in many runs into an empty stack.
    while (this.#height < takes && !this.#random.chance(400)) this.#word()
    this.code.push(op)
    this.#height = Math.max(0, this.#height - takes) + puts
  }

  #push(bytes: readonly number[]): void {
    this.code.push(0x5f + bytes.length, ...bytes)
    this.#height++
  }
  #number(value: number): void {
    if (value < 256) this.#push([value])
    else if (value < 65_536) this.#push([value >> 8, value & 255])
    else this.#push([(value >> 24) & 255, (value >> 16) & 255, (value >> 8) & 255, value & 255])
  }
  #word(): void {
    const { int, word, bytes } = this.#random
    const kind = int(5)
    if (kind === 0) this.#push([...bytes(1 + int(32))])
    else if (kind < 4) this.#push([...hexToBytes(`0x${word().toString(16).padStart(64, '0')}`)])
    else this.#number(int(70))
  }
  /** Mostly within a kilobyte, rarely far beyond what can be paid. */
  #offset(): void {
    if (this.#random.chance(500)) this.#word()
    else this.#number(this.#random.int(this.#random.chance(10) ? 5_000 : 300))
  }
  #size(): void {
    if (this.#random.chance(500)) this.#word()
    else this.#number(this.#random.int(this.#random.chance(8) ? 700 : 100))
  }
  #address(): void {
    const random = this.#random
    if (random.chance(12)) this.#word()
    else if (random.chance(7)) this.#op(0x30, 0, 1)
    else this.#push([...hexToBytes(random.pick(this.#addresses))])
  }
  #value(): void {
    this.#number(this.#random.chance(3) ? this.#random.int(4) : 0)
    if (this.#random.chance(40)) this.#word()
  }

  #step(): void {
    const { int, pick, chance } = this.#random
    const kind = int(34)
    if (kind < 9) this.#op(pick(BINARY), 2, 1)
    else if (kind < 10) this.#op(pick(TERNARY), 3, 1)
    else if (kind < 11) this.#op(pick(UNARY), 1, 1)
    else if (kind < 13) this.#op(pick(NULLARY), 0, 1)
    else if (kind < 14) this.#stack()
    else if (kind < 18) this.#memory()
    else if (kind < 22) this.#storage()
    else if (kind < 24) this.#copy()
    else if (kind < 25) this.#log()
    else if (kind < 27) this.#jump()
    else if (kind < 29) this.#look()
    else if (kind < 32) this.#call()
    else if (kind < 33) this.#create()
    else if (chance(60)) this.code.push(int(256))
    else this.#word()
  }

  #stack(): void {
    const depth = 1 + this.#random.int(16)
    if (this.#random.chance(2)) this.#op(0x7f + depth, depth, depth + 1)
    else this.#op(0x8f + depth, depth + 1, depth + 1)
    if (this.#random.chance(3)) this.#op(0x50, 1, 0)
  }
  #memory(): void {
    const kind = this.#random.int(5)
    if (kind === 4) {
      this.#size()
      this.#offset()
      this.#op(0x20, 2, 1)
      return
    }
    this.#offset()
    if (kind === 0) this.#op(0x51, 1, 1)
    else this.#op(kind === 1 ? 0x53 : 0x52, 2, 0)
  }
  #storage(): void {
    const { int, chance } = this.#random
    if (chance(3)) this.#value()
    this.#number(int(5))
    const transient = chance(4)
    if (chance(3)) this.#op(transient ? 0x5c : 0x54, 1, 1)
    else this.#op(transient ? 0x5d : 0x55, 2, 0)
  }
  #copy(): void {
    this.#size()
    this.#offset()
    this.#offset()
    const op = this.#random.pick([0x37, 0x39, 0x3e, 0x5e, 0x3c])
    if (op === 0x3e && !this.#random.chance(100) && opsOf(this.#fork).has(op)) {
      // Within what there is.
      this.code.push(0x50, 0x50, 0x50, 0x3d, 0x60, 0, 0x60, 0)
    }
    if (op === 0x3c) this.#address()
    this.#op(op, op === 0x3c ? 4 : 3, 0)
  }
  #log(): void {
    const topics = this.#random.int(5)
    this.#size()
    this.#offset()
    this.#op(0xa0 + topics, 2 + topics, 0)
  }
  #jump(): void {
    const { int, chance } = this.#random
    if (chance(3)) {
      this.#loop()
      return
    }
    if (chance(2)) {
      // Over a few bytes of anything, if the word on the stack says so.
      if (this.#height === 0) this.#word()
      const skipped = int(6)
      const target = this.code.length + 4 + skipped + (chance(200) ? 1 : 0)
      this.code.push(0x61, target >> 8, target & 255, 0x57)
      this.#height--
      for (let i = 0; i < skipped; i++) this.code.push(0x5b)
      this.code.push(0x5b)
      return
    }
    const target = this.code.length + 4
    this.code.push(0x61, target >> 8, target & 255, 0x56, 0x5b)
  }
  /** A counter in memory counts down; the body leaves the stack as it was. */
  #loop(): void {
    const { int } = this.#random
    const cell = 0x300
    this.code.push(0x60, 1 + int(12), 0x61, cell >> 8, cell & 255, 0x52)
    const start = this.code.length
    this.code.push(0x5b, 0x5a, 0x60, int(4), 0x55, 0x60, int(30), 0x60, int(200), 0x53)
    this.code.push(0x60, 1, 0x61, cell >> 8, cell & 255, 0x51, 0x03, 0x80, 0x61, cell >> 8, cell & 255, 0x52)
    this.code.push(0x61, start >> 8, start & 255, 0x57)
  }
  #look(): void {
    const op = this.#random.pick([0x31, 0x31, 0x3b, 0x3f, 0x40, 0x49, 0x35])
    if (op === 0x40) this.#number(990 + this.#random.int(14) - (this.#random.chance(4) ? 260 : 0))
    else if (op === 0x49 || op === 0x35) this.#number(this.#random.int(60))
    else this.#address()
    this.#op(op, 1, 1)
  }
  #call(): void {
    const { int, pick, chance } = this.#random
    const op = pick([0xf1, 0xf1, 0xf1, 0xf2, 0xf4, 0xfa])
    this.#size()
    this.#offset()
    this.#size()
    this.#offset()
    if (op === 0xf1 || op === 0xf2) this.#value()
    if (chance(4)) this.#number(pick(PRECOMPILES))
    else this.#address()
    if (chance(8)) this.#op(0x5a, 0, 1)
    else this.#number(int(chance(3) ? 60_000 : 6_000))
    this.#op(op, op === 0xf1 || op === 0xf2 ? 7 : 6, 1)
    if (chance(3)) {
      // Stored, so that a difference in the answer shows in the state.
      this.#number(int(5))
      this.#op(0x55, 2, 0)
    }
  }
  #create(): void {
    const { int, chance, bytes } = this.#random
    const init =
      this.#depth < 2 && !chance(3)
        ? new Program(this.#random, this.#addresses, this.#fork, this.#depth + 1).build().subarray(0, 400)
        : bytes(int(12))
    // The init code stands in the code and is jumped over.
    const at = this.code.length + 4
    const target = at + init.byteLength
    this.code.push(0x61, target >> 8, target & 255, 0x56, ...init, 0x5b)
    this.#number(init.byteLength)
    this.#number(at)
    this.#number(0)
    this.#op(0x39, 3, 0)
    const salted = chance(2)
    if (salted) this.#number(int(3))
    this.#number(chance(15) ? int(60_000) : init.byteLength)
    this.#number(0)
    this.#value()
    this.#op(salted ? 0xf5 : 0xf0, salted ? 4 : 3, 1)
    if (chance(2)) {
      // The new contract is called.
      this.code.push(0x60, 0, 0x60, 0, 0x60, 0, 0x60, 0, 0x60, 0, 0x85, 0x5a, 0xf1)
      this.#height++
    }
  }
  #end(): void {
    const { int, chance } = this.#random
    if (chance(12)) {
      this.#address()
      this.code.push(0xff)
      return
    }
    if (chance(10)) return
    // The stack is shown, so that a wrong result cannot hide on it.
    let shown = 0
    for (; this.#height > 0 && shown < 16; shown++) {
      this.#number(shown * 32)
      this.#op(0x52, 2, 0)
    }
    this.#number(shown * 32 + int(100))
    this.#number(0)
    this.code.push(chance(6) ? 0xfd : 0xf3)
  }
}

/** Bytes out of which most are opcodes. */
export const randomBytesProgram = ({ int, bytes, chance }: Random): Uint8Array => {
  const code = bytes(1 + int(200))
  if (chance(2)) for (let i = 0; i < code.length; i += 2) code[i] = 0x60
  return code
}

/** A few bytes of a code changed, dropped or doubled. */
export const mutated = (code: Uint8Array, { int, bytes }: Random): Uint8Array => {
  const out = [...code]
  for (let i = 1 + int(3); i > 0; i--) {
    const at = int(out.length)
    const kind = int(3)
    if (kind === 0) out.splice(at, 1)
    else if (kind === 1) out.splice(at, 0, ...bytes(1 + int(3)))
    else out[at] = int(256)
  }
  return Uint8Array.from(out)
}
