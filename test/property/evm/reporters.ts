import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { type EvmFork, isForkSince } from '../../../src/config/forks.ts'
import { OPCODES, opcodesOf } from '../../../src/evm/opcodes.ts'
import type { Random } from '../executor-plans.ts'

/*
 * Short programs that show what they see: each statement leaves a word in memory, and all of it is the output. So few opcodes run
 * before the one in question that it runs nearly always, also in static frames and with the storage of another account.
 */

const ENVIRONMENT = [
  0x30, 0x32, 0x33, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x47, 0x48, 0x4a,
  0x58, 0x59, 0x5a,
]
/** The frame's own: what the kinds of calls differ in. */
const FRAME = [0x30, 0x33, 0x34, 0x36]
/** SIGNEXTEND and BYTE, whose first operand is an index, and the shifts. */
const INDEXED = [0x0b, 0x1a, 0x1b, 0x1c, 0x1d]
const ARITHMETIC = OPCODES.map(({ op }) => op).filter(op => op > 0 && op < 0x20 && !INDEXED.includes(op))
const CALLS = [0xf1, 0xf1, 0xf2, 0xf4, 0xfa, 0xfa] as const
/** Mostly those that run other code on the frame's own words. */
const SHARING_CALLS = [0xf1, 0xf2, 0xf4, 0xf4]
const PRECOMPILES = [1, 2, 2, 3, 4, 5, 6, 7, 8, 9]
/** Init codes: ends of every kind, code that is not allowed, contracts that destroy themselves at once or when called. */
const INITS = [
  '30ff',
  '33ff',
  '3033ff',
  '00',
  'fe',
  '5f5ffd',
  '60ef5f5360015ff3',
  '60ef5f5360015ffd',
  '6330ff00005f526004601cf3',
  '6133ff5f526002601ef3',
  '60015f555f5f5f5f6001335af15f555f5ff3',
  '60015f5d60005f5260205ff3',
  '61600160005f5260205ff3',
  '615fff5ff3',
  '6160015ff3',
  'ef00',
]
/** Memory below is scratch; words of the report follow. */
const REPORT = 0x40
const WORDS = 16
/** Keys of words, from 0 on. */
const KEYS = 3
/** Copies go behind the words. */
const COPIES = REPORT + WORDS * 32
const REPORT_END = COPIES + 0x80

class Reporter {
  readonly #random: Random
  readonly #addresses: readonly Hex[]
  readonly #code: number[] = []
  #shown = 0

  constructor(random: Random, addresses: readonly Hex[]) {
    this.#random = random
    this.#addresses = addresses
  }

  build(): Uint8Array {
    for (let i = 1 + this.#random.int(8); i > 0; i--) this.#statement()
    this.#end()
    return Uint8Array.from(this.#code)
  }

  /** Only calls that may leave words changed, and what is left. */
  buildWatcher(): Uint8Array {
    for (let i = 1 + this.#random.int(2); i > 0; i--) this.#watchedCall()
    this.#return()
    return Uint8Array.from(this.#code)
  }

  #add(...bytes: readonly number[]): void {
    this.#code.push(...bytes)
  }
  #push(value: number): void {
    if (value < 256) this.#add(0x60, value)
    else this.#add(0x61, value >> 8, value & 255)
  }
  #bytes(hex: Hex): void {
    const bytes = hexToBytes(hex)
    this.#add(0x5f + bytes.byteLength, ...bytes)
  }
  #word(): void {
    this.#bytes(`0x${this.#random.word().toString(16).padStart(64, '0')}`)
  }
  #address(): void {
    const { int, pick } = this.#random
    const kind = int(8)
    if (kind === 0) this.#add(0x30)
    else if (kind === 1) this.#add(0x33)
    else this.#bytes(pick(this.#addresses))
  }
  /** Moves the word on the stack to the report. */
  #show(): void {
    this.#push(REPORT + (this.#shown++ % WORDS) * 32)
    this.#add(0x52)
  }

  #statement(): void {
    const kind = this.#random.int(12)
    if (kind < 2) this.#environment()
    else if (kind < 4) this.#arithmetic()
    else if (kind < 6) this.#storage()
    else if (kind < 7) this.#call()
    else if (kind < 9) this.#watchedCall()
    else if (kind < 10) this.#create()
    else this.#account()
  }

  #environment(): void {
    const { pick, chance, int } = this.#random
    this.#add(pick(chance(2) ? FRAME : ENVIRONMENT))
    if (chance(3)) {
      this.#push(int(3))
      this.#add(0x55)
    } else this.#show()
  }

  #arithmetic(): void {
    const { pick, chance, int, bytes } = this.#random
    if (chance(2)) {
      const op = pick(INDEXED)
      const isShift = op >= 0x1b
      if (chance(3)) this.#word()
      else this.#add(0x7f, ...bytes(32))
      this.#push(isShift ? int(260) : chance(2) ? 28 + int(6) : int(34))
      this.#add(op)
    } else {
      const op = pick(ARITHMETIC)
      for (let i = op === 8 || op === 9 ? 3 : 2; i > 0; i--) this.#word()
      this.#add(op)
    }
    this.#show()
  }

  #storage(): void {
    const { int, chance } = this.#random
    const transient = chance(2)
    if (chance(2)) this.#write(transient, int(KEYS))
    else this.#read(transient, int(KEYS))
  }
  #write(transient: boolean, key: number): void {
    this.#push(this.#random.int(4))
    this.#push(key)
    this.#add(transient ? 0x5d : 0x55)
  }
  #read(transient: boolean, key: number): void {
    this.#push(key)
    this.#add(transient ? 0x5c : 0x54)
    this.#show()
  }

  /** A call, and the words that a failed frame may have left changed. */
  #watchedCall(): void {
    const { int, chance, pick } = this.#random
    if (chance(3)) this.#write(true, int(KEYS))
    this.#call(pick(SHARING_CALLS))
    for (let key = 0; key < KEYS; key++) {
      this.#read(true, key)
      this.#read(false, key)
    }
  }

  #call(op: number = this.#random.pick(CALLS)): void {
    const { int, pick, chance } = this.#random
    this.#push(int(300))
    this.#push(chance(2) ? COPIES : int(32))
    this.#push(chance(3) ? int(130) : int(8) * 32)
    this.#push(int(96))
    if (op === 0xf1 || op === 0xf2) this.#push(chance(2) ? int(4) : 0)
    if (chance(4)) this.#push(pick(PRECOMPILES))
    else this.#address()
    if (chance(4)) this.#push(int(6_000))
    else this.#add(0x5a)
    this.#add(op)
    this.#show()
    if (chance(2)) this.#returned()
  }

  /** Size of the return data and some of it. */
  #returned(): void {
    const { int, chance } = this.#random
    this.#add(0x3d)
    this.#show()
    if (chance(4)) {
      this.#push(int(64))
      this.#push(int(32))
    } else this.#add(0x3d, 0x60, 0)
    this.#push((chance(2) ? REPORT : COPIES) + int(64))
    this.#add(0x3e)
  }

  #create(): void {
    const { pick, int, chance } = this.#random
    const init = pick(INITS)
    const size = init.length / 2
    this.#add(0x5f + size, ...hexToBytes(`0x${init}`), 0x60, 0, 0x52)
    const salted = chance(2)
    if (salted) this.#push(int(2))
    this.#push(size)
    this.#push(32 - size)
    this.#push(chance(2) ? int(4) : 0)
    this.#add(salted ? 0xf5 : 0xf0)
    if (chance(2)) {
      // Called, with a wei or without.
      this.#add(0x60, 0, 0x60, 0, 0x60, 0, 0x60, 0, 0x60, int(2), 0x85, 0x5a, pick([0xf1, 0xf1, 0xf2]))
      this.#show()
    }
    if (chance(2)) {
      this.#add(0x80, pick([0x31, 0x3b, 0x3f]))
      this.#show()
    }
    this.#show()
  }

  #account(): void {
    const { pick, int } = this.#random
    const op = pick([0x31, 0x3b, 0x3f, 0x3c, 0x3c, 0x35, 0x49, 0x40])
    if (op === 0x35 || op === 0x49) this.#push(int(40))
    else if (op === 0x40) this.#push(990 + int(12))
    else if (op === 0x3c) {
      this.#push(int(64))
      this.#push(int(8))
      this.#push(COPIES + int(64))
      this.#address()
      this.#add(op)
      return
    } else this.#address()
    this.#add(op)
    this.#show()
  }

  #end(): void {
    const { chance, int } = this.#random
    if (chance(10)) {
      this.#address()
      this.#add(0xff)
      return
    }
    if (!chance(4)) {
      this.#return()
      return
    }
    this.#push(chance(4) ? int(700) : REPORT_END)
    this.#push(0)
    this.#add(0xfd)
  }
  #return(): void {
    this.#push(this.#random.chance(6) ? this.#random.int(700) : REPORT_END)
    this.#push(0)
    this.#add(0xf3)
  }
}

/** Program that changes words and then fails, which a caller by DELEGATECALL or CALLCODE may see in its own. */
export const failingProgram = ({ int, chance, pick }: Random, fork: EvmFork): Uint8Array => {
  const hasTransient = isForkSince(fork, 'cancun')
  const writes = Array.from({ length: 1 + int(4) }, () => [
    0x60,
    int(4),
    0x60,
    int(3),
    hasTransient && chance(2) ? 0x5d : 0x55,
  ])
  // All but the first consume the gas of the frame, so that often its caller fails too.
  const end = chance(3) ? pick([[0xfe], [0x50], [0x60, 0, 0x56]]) : [0x60, 0, 0x60, 0, 0xfd]
  return Uint8Array.from([...writes.flat(), ...end])
}

/** Program of this kind with only opcodes of the fork, so that it does not end at one that is not there. */
export const reporterProgram = (random: Random, addresses: readonly Hex[], fork: EvmFork): Uint8Array => {
  const known = new Set(opcodesOf(fork).map(({ op }) => op))
  const watches = random.chance(6)
  const build = (): Uint8Array => {
    const reporter = new Reporter(random, addresses)
    return watches ? reporter.buildWatcher() : reporter.build()
  }
  let code = build()
  for (let tries = 0; tries < 4 && !usesOnly(code, known); tries++) code = build()
  return code
}

const usesOnly = (code: Uint8Array, known: ReadonlySet<number>): boolean => {
  for (let at = 0; at < code.byteLength; at++) {
    const op = code[at] as number
    if (!known.has(op)) return false
    if (op >= 0x60 && op <= 0x7f) at += op - 0x5f
  }
  return true
}
