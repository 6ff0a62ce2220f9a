import { type FunctionWriter, type Limb, type Local, R } from './function-writer.ts'
import { I } from './instructions.ts'
import { anyBits, type Limbs, limbsOf } from './words.ts'

/** Word of the stack during a block: in local variables, or still in memory at its place. */
export class Word {
  limbs: Limbs | undefined
  /** Items from the top at the start of the block (1: the uppermost), where the word stands in memory. */
  readonly place: number | undefined
  uses = 1

  constructor(limbs: Limbs | undefined, place?: number) {
    this.limbs = limbs
    this.place = place
  }
}

export const WORD_BYTES = 32

/**
 * Stack of one block. Memory keeps the stack of the block's start until `flush`. `need`: words below the top at the start that the block
 * uses; the register `bottom` points to the lowest of them.
 */
export class BlockStack {
  readonly #writer: FunctionWriter
  readonly #need: number
  readonly #words: Word[] = []
  #below = 0

  constructor(writer: FunctionWriter, need: number) {
    this.#writer = writer
    this.#need = need
  }

  pushLimbs(limbs: Limbs): void {
    this.#words.push(new Word(limbs))
  }
  pushConstant(value: bigint): void {
    this.pushLimbs(limbsOf(value))
  }

  /** Returns a word that the caller releases. */
  pop(): Word {
    this.#reach(1)
    return this.#words.pop() as Word
  }
  duplicate(depth: number): void {
    this.#reach(depth)
    const word = this.#words[this.#words.length - depth] as Word
    word.uses++
    this.#words.push(word)
  }
  swap(depth: number): void {
    this.#reach(depth + 1)
    const words = this.#words
    const top = words.length - 1
    const word = words[top] as Word
    words[top] = words[top - depth] as Word
    words[top - depth] = word
  }

  #reach(count: number): void {
    while (this.#words.length < count) this.#words.unshift(new Word(undefined, ++this.#below))
  }

  /** Offset from `bottom` of a word in memory. */
  offsetOf(place: number): number {
    return (this.#need - place) * WORD_BYTES
  }

  /** Limbs of a word, loaded where they are still in memory. They belong to the word. */
  limbs(word: Word): Limbs {
    word.limbs ??= this.#load(this.offsetOf(word.place as number))
    return word.limbs
  }
  #load(offset: number): Limbs {
    return loadLimbs(this.#writer, R.bottom, offset)
  }

  release(...words: readonly Word[]): void {
    for (const word of words) {
      if (--word.uses > 0 || word.limbs === undefined) continue
      for (const limb of word.limbs) this.#writer.release(limb)
    }
  }

  /** Writes the words to memory and moves the stack pointer; the block's stack is empty afterwards. */
  flush(): void {
    const w = this.#writer
    const words = this.#words.splice(0)
    const lowest = this.#need - this.#below
    const isAtHome = (word: Word, i: number): boolean =>
      word.place !== undefined && this.#need - word.place === lowest + i
    for (const [i, word] of words.entries()) if (!isAtHome(word, i)) this.limbs(word)
    for (const [i, word] of words.entries()) {
      if (!isAtHome(word, i)) {
        for (const [j, limb] of this.limbs(word).entries()) {
          w.get(R.bottom)
          w.limb(limb)
          w.memory(I.store64, (lowest + i) * WORD_BYTES + j * 8)
        }
      }
    }
    this.release(...words)
    const moved = (words.length - this.#below) * WORD_BYTES
    if (moved !== 0) {
      w.get(R.sp)
      w.const32(moved)
      w.op(I.add32)
      w.set(R.sp)
    }
    this.#below = 0
  }
}

/** Loads a word from a register with an address. */
export const loadLimbs = (w: FunctionWriter, register: number, offset: number): Limbs => {
  const load = (i: number): Local => {
    w.get(register)
    w.memory(I.load64, offset + i * 8)
    return w.take()
  }
  return [load(0), load(1), load(2), load(3)] satisfies [Limb, Limb, Limb, Limb]
}

/** Largest number of 64 bits: no memory or code reaches it. */
export const BEYOND_MEMORY = 0xffff_ffff_ffff_ffffn

/** Leaves on the stack (i64) a word where it fits 64 bits, else the largest number. */
export const toSize = (w: FunctionWriter, [low, ...high]: Limbs): void => {
  w.limb(low)
  if (high.every(limb => limb === 0n)) return
  w.const64(BEYOND_MEMORY)
  anyBits(w, high)
  w.op(I.eqz64, I.select)
}
