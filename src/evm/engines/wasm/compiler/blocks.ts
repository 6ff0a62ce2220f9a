import type { OpcodeRow } from '../opcodes.ts'

/*
 * Basic blocks of a code. Gas and stack are checked once at the head of a block, so a block ends where either could depend on what the
 * code did before, or where the interpreter takes over.
 */

/** Opcodes that work on the stack in memory, each in a block of its own: operation, items taken and put. */
export const STEPS = {
  10: ['powerAt', 2, 1],
  32: ['hashAt', 2, 1],
  49: ['balanceAt', 1, 1],
  55: ['copyInputAt', 3, 0],
  57: ['copyCodeAt', 3, 0],
  59: ['codeSizeAt', 1, 1],
  62: ['copyReturnAt', 3, 0],
  84: ['loadSlotAt', 1, 1],
  85: ['storeSlotAt', 2, 0],
  92: ['loadTransientAt', 1, 1],
  93: ['storeTransientAt', 2, 0],
  94: ['copyMemoryAt', 3, 0],
  160: ['log0At', 2, 0],
  161: ['log1At', 3, 0],
  162: ['log2At', 4, 0],
  163: ['log3At', 5, 0],
  164: ['log4At', 6, 0],
} as const

export const isStep = (op: number): op is keyof typeof STEPS => Object.hasOwn(STEPS, op)

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)
/** Opcodes compiled in line, or to a call of a pure function. */
const INLINE = new Set([
  ...range(0x01, 0x09),
  0x0b,
  ...range(0x10, 0x1e),
  0x30,
  ...range(0x32, 0x36),
  0x38,
  0x3a,
  0x3d,
  ...range(0x41, 0x48),
  0x4a,
  ...range(0x50, 0x53),
  ...range(0x58, 0x5b),
  ...range(0x5f, 0x9f),
])
export const JUMP = 0x56
export const JUMPI = 0x57
const JUMPDEST = 0x5b
/** STOP, RETURN, REVERT, INVALID, SELFDESTRUCT. */
const ENDS = new Set([0x00, 0xf3, 0xfd, 0xfe, 0xff])

/** Limits of a block, for its share of a time slice and its number of locals. */
const MAX_GAS = 5_000
const MAX_OPS = 200
const MAX_WORDS = 48

export interface BasicBlock {
  readonly start: number
  /** End of its opcodes, exclusive. */
  readonly end: number
  /** Fixed gas of its opcodes. */
  readonly gas: number
  /** Items that the stack must have at its start, and by how many it grows at most. */
  readonly need: number
  readonly growth: number
  readonly ops: number
  /** The opcode at `end` is left to the interpreter. */
  readonly leaves: boolean
}

export type OpcodePrices = ReadonlyMap<number, OpcodeRow>

export const pushSize = (op: number): number => (op >= 0x60 && op <= 0x7f ? op - 0x5f : 0)

/** Stack effect of an opcode that is compiled. */
const puts = (op: number, takes: number): number => {
  if (op >= 0x80 && op <= 0x9f) return op < 0x90 ? takes + 1 : takes
  if (op === 0x50 || op === 0x52 || op === 0x53 || op === JUMP || op === JUMPI || op === JUMPDEST) return 0
  return isStep(op) ? STEPS[op][2] : 1
}

class BlockScan {
  readonly #code: Uint8Array
  readonly #table: OpcodePrices
  gas = 0
  need = 0
  growth = 0
  ops = 0
  height = 0

  constructor(code: Uint8Array, table: OpcodePrices) {
    this.#code = code
    this.#table = table
  }

  /** Adds an opcode; returns false when it would exceed a limit. */
  add(op: number): boolean {
    const { price, least } = this.#table.get(op) as OpcodeRow
    const takes = least / 32
    const need = Math.max(this.need, takes - this.height)
    if (this.ops > 0 && (this.ops === MAX_OPS || this.gas + price > MAX_GAS || need + this.height > MAX_WORDS))
      return false
    this.ops++
    this.gas += price
    this.need = need
    this.height += puts(op, takes) - takes
    this.growth = Math.max(this.growth, this.height)
    return true
  }

  run(start: number): BasicBlock {
    const code = this.#code
    let pc = start
    let leaves = false
    while (pc < code.length) {
      const op = code[pc] as number
      if (op === JUMPDEST && pc > start) break
      const isJump = op === JUMP || op === JUMPI
      if (isStep(op) && this.#table.has(op)) {
        if (pc > start) break
        this.add(op)
        pc++
        break
      }
      if (!this.#table.has(op) || !(isJump || INLINE.has(op))) {
        leaves = true
        break
      }
      if (!this.add(op)) break
      pc += 1 + pushSize(op)
      if (isJump) break
    }
    if (pc >= code.length && this.lastOp(start, pc) !== JUMP) leaves = true
    const { gas, need, growth, ops } = this
    return { start, end: pc, gas, need, growth, ops, leaves }
  }

  lastOp(start: number, end: number): number {
    let op = 0
    for (let pc = start; pc < end; pc += 1 + pushSize(op)) op = this.#code[pc] as number
    return op
  }
}

/** Valid jump destinations of a code. */
export const destinationsOf = (code: Uint8Array): ReadonlySet<number> => {
  const found = new Set<number>()
  for (let pc = 0; pc < code.length; pc++) {
    const op = code[pc] as number
    if (op === JUMPDEST) found.add(pc)
    pc += pushSize(op)
  }
  return found
}

/** Returns the blocks that can be reached, in order. The table is that of the fork. */
export const blocksOf = (code: Uint8Array, table: OpcodePrices): readonly BasicBlock[] => {
  const blocks: BasicBlock[] = []
  let isReachable = true
  let pc = 0
  while (pc < code.length) {
    const op = code[pc] as number
    if (!isReachable && op !== JUMPDEST) {
      pc += 1 + pushSize(op)
      continue
    }
    const scan = new BlockScan(code, table)
    const block = scan.run(pc)
    if (block.ops > 0) blocks.push(block)
    pc = block.end
    isReachable = true
    if (block.leaves) {
      // The interpreter goes on here, and returns to compiled code after it where it can.
      const left = code[pc] ?? 0
      isReachable = table.has(left) && !ENDS.has(left)
      pc += 1 + pushSize(left)
    } else if (block.ops > 0 && scan.lastOp(block.start, block.end) === JUMP) isReachable = false
  }
  return blocks
}
