import type { Mutant } from './mutants.ts'

const mutant = (file: string, find: string, replace: string): Mutant => ({
  patches: [{ file: `evm/engines/wasm/compiler/${file}`, find, replace }],
})

/** A compiler with a fault each (docs/design/evm-engine.md#checks). */
export const COMPILER_MUTANTS: Readonly<Record<string, Mutant>> = {
  'a block that does not pay its last gas': mutant('blocks.ts', 'this.gas += price', 'this.gas += Math.min(price, 9)'),
  'a stack one word short': mutant('blocks.ts', 'takes - this.height)', 'takes - this.height - 1)'),
  'a stack of any height': mutant('blocks.ts', 'Math.max(this.growth, this.height)', '0'),
  'a destination in push data': mutant(
    'blocks.ts',
    '    pc += pushSize(op)\n  }\n  return found',
    '  }\n  return found',
  ),
  'GAS at the start of its block': mutant('block-writer.ts', 'BigInt(this.#gasAfter)', '0n'),
  'PC of the next opcode': mutant('block-writer.ts', 'BigInt(pc)', 'BigInt(pc + 1)'),
  'a known offset without its size': mutant('memory-opcodes.ts', 'value + BigInt(size)', 'value + 1n'),
  'a known memory size rounded too far': mutant('memory-opcodes.ts', '(end + 31n) & ~31n', '(end + 63n) & ~31n'),
  'an offset by its lowest limb': mutant(
    'memory-opcodes.ts',
    'words.anyBits(w, high)\n      w.limb(low)',
    'words.anyBits(w, [])\n      w.limb(low)',
  ),
  'halves of a stored word exchanged': mutant('memory-opcodes.ts', 'index === 0 ? 16 : 0', 'index === 0 ? 0 : 16'),
  'another failure when memory is not paid': mutant(
    'memory-opcodes.ts',
    'w.return(ANSWER.noGas)',
    'w.return(ANSWER.invalidJump)',
  ),
  'SHR of a constant by its lowest byte': mutant('word-opcodes.ts', '(a > 255n ? 0n : b >> a)', '(b >> (a & 255n))'),
  'BYTE beyond a word': mutant(
    'word-opcodes.ts',
    'w.const64(32n)\n    w.op(I.lessUnsigned64',
    'w.const64(64n)\n    w.op(I.lessUnsigned64',
  ),
  'a carry lost': mutant('words.ts', 'if (other === undefined) w.op(I.or32)', 'if (other === undefined) w.op(I.and32)'),
  'a borrow lost': mutant('words.ts', 'if (y !== 0n) w.op(I.or32)', 'if (y !== 0n) w.op(I.and32)'),
  'SLT by another limb': mutant('words.ts', 'isSigned && i === 3', 'isSigned && i === 2'),
  'LT that forgets equal limbs': mutant('words.ts', 'w.op(I.eq64, I.and32)', 'w.op(I.ne64, I.and32)'),
  'EQ of the last limbs that differ': mutant(
    'words.ts',
    'if (count++ > 0) w.op(I.or64)',
    'if (count++ > 0) w.op(I.and64)',
  ),
  'shifts by less than a half limb': mutant('words.ts', 'BigInt(bits & 63)', 'BigInt(bits & 31)'),
  'SIGNEXTEND of the next limb': mutant('words.ts', '(size - 1) >> 3', 'size >> 3'),
  'BYTE from below': mutant('words.ts', '3 - (position >> 3)', 'position >> 3'),
  'CLZ one less': mutant('words.ts', 'w.const64(192n)', 'w.const64(191n)'),
  'words that moved are not written': mutant(
    'stack.ts',
    'word.place !== undefined && this.#need - word.place === lowest + i',
    'word.place !== undefined && this.#need - word.place <= lowest + i',
  ),
  'a local reused while it is needed': mutant('stack.ts', '--word.uses > 0', '--word.uses > 1'),
  'code that never pauses': mutant(
    'part-writer.ts',
    '    w.get(R.pauseAt)\n    w.const64(0n)\n    w.get(R.pauseAt)\n    w.const64(0n)\n    w.op(I.notLess64, I.select)',
    '    w.const64(0n)',
  ),
  'memory that a hash has grown not seen': mutant('part-writer.ts', 'op !== 0x20 && puts === 1', 'puts === 1'),
  'JUMPI on an odd condition': mutant(
    'jump-writer.ts',
    'w.const64(0n)\n    w.op(I.ne64)\n    w.set(R.answer)',
    'w.const64(1n)\n    w.op(I.and64)\n    w.const64(0n)\n    w.op(I.ne64)\n    w.set(R.answer)',
  ),
  'a jump to any PC of the code': mutant(
    'jump-writer.ts',
    'if (!this.#code.destinations.has(pc))',
    'if (pc >= this.#code.bytes.length)',
  ),
  'a jump to where no JUMPDEST is': mutant(
    'jump-writer.ts',
    'w.op(I.and32, I.eqz32)',
    'w.op(I.and32)\n    w.const32(2)\n    w.op(I.eq32)',
  ),
  'the stack of the caller': mutant('part-writer.ts', 'STACK_WORDS - growth - need', 'STACK_WORDS - growth'),
  'another word of the environment': mutant('layout.ts', '65: 2', '65: 3'),
}
