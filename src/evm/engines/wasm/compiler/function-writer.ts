import { ByteWriter } from './byte-writer.ts'
import { I, IMPORTS, type ImportName, T, V, VOID } from './instructions.ts'

/** Local variable of 64 bits that holds a part of a word; free when nothing refers to it. */
export class Local {
  readonly index: number
  uses = 1

  constructor(index: number) {
    this.index = index
  }
}

/** 64 bits of a word: known, or in a local variable that is never assigned again. */
export type Limb = bigint | Local

/** Parameters and registers of a compiled function by index. */
export const R = {
  frame: 0,
  pauseAt: 1,
  // i32
  sp: 2,
  /** PC relative to the start of the function's part of the code. */
  label: 3,
  base: 4,
  data: 5,
  code: 6,
  jumps: 7,
  /** Address of the lowest word that the current block uses. */
  bottom: 8,
  address: 9,
  answer: 10,
  // i64
  gas: 11,
  memorySize: 12,
  number: 13,
  /** Gas below which a block does not start. */
  floor: 14,
  // v128
  vector: 15,
} as const
const REGISTERS = [
  [9, T.i32],
  [4, T.i64],
  [1, T.v128],
] as const
const FIRST_FREE = 16

const IMPORT_INDEX = Object.fromEntries(IMPORTS.map(([name], i) => [name, i])) as Record<ImportName, number>
const REVERSED = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

/** Writes the body of one function. */
export class FunctionWriter {
  readonly out = new ByteWriter()
  readonly #free: number[] = []
  #locals = 0

  op(...codes: readonly number[]): void {
    for (const code of codes) this.out.byte(code)
  }
  get(index: number): void {
    this.out.byte(I.localGet)
    this.out.unsigned(index)
  }
  set(index: number): void {
    this.out.byte(I.localSet)
    this.out.unsigned(index)
  }
  tee(index: number): void {
    this.out.byte(I.localTee)
    this.out.unsigned(index)
  }
  const32(value: number): void {
    this.out.byte(I.const32)
    this.out.signed(value | 0)
  }
  const64(value: bigint): void {
    this.out.byte(I.const64)
    this.out.signed64(value)
  }
  /** Load or store with a constant offset; alignment is not promised. */
  memory(op: number, offset: number): void {
    this.out.byte(op)
    this.out.byte(0)
    this.out.unsigned(offset)
  }
  vectorMemory(op: number, offset: number): void {
    this.out.byte(V.prefix)
    this.memory(op, offset)
  }
  /** Reverses the bytes of the vector on the stack. */
  reverse(): void {
    const { vector } = R
    this.tee(vector)
    this.get(vector)
    this.op(V.prefix, V.shuffle, ...REVERSED)
  }
  lane(op: number, lane: number): void {
    this.op(V.prefix, op, lane)
  }
  call(name: ImportName): void {
    this.out.byte(I.call)
    this.out.unsigned(IMPORT_INDEX[name])
  }
  branch(depth: number): void {
    this.out.byte(I.br)
    this.out.unsigned(depth)
  }
  return(answer: number): void {
    this.const32(answer)
    this.op(I.return)
  }
  /** Opens an `if` without a result. */
  if(): void {
    this.op(I.if, VOID)
  }
  end(): void {
    this.op(I.end)
  }

  limb(limb: Limb): void {
    if (typeof limb === 'bigint') this.const64(limb)
    else this.get(limb.index)
  }
  /** Pops a value into a new local variable. */
  take(): Local {
    const local = this.reserve()
    this.set(local.index)
    return local
  }
  reserve(): Local {
    const index = this.#free.pop()
    return new Local(index ?? FIRST_FREE + this.#locals++)
  }
  share(limb: Limb): Limb {
    if (typeof limb !== 'bigint') limb.uses++
    return limb
  }
  release(limb: Limb): void {
    if (typeof limb !== 'bigint' && --limb.uses === 0) this.#free.push(limb.index)
  }

  /** The function with its local variables and size. */
  finish(): Uint8Array {
    const groups = [...REGISTERS, ...(this.#locals > 0 ? [[this.#locals, T.i64] as const] : [])]
    const head = new ByteWriter()
    head.unsigned(groups.length)
    for (const [count, type] of groups) {
      head.unsigned(count)
      head.byte(type)
    }
    const whole = new ByteWriter()
    whole.unsigned(head.length + this.out.length)
    whole.append(head.finish())
    whole.append(this.out.finish())
    return whole.finish()
  }
}
