import { EVM_FORKS, type EvmFork } from '../../../config/forks.ts'

/*
 * Opcodes of the WebAssembly interpreter: stack items taken and put, the first fork, and the part of the price that does not depend on
 * operands. The other part is beside the opcode in assembly/.
 */

/** A price, or the prices by first fork, the oldest first. */
type Price = number | readonly (readonly [EvmFork, number])[]
type Row = readonly [op: number, takes: number, puts: number, price: Price, since?: EvmFork]

const range = (from: number, count: number, row: (i: number) => readonly [number, number, Price, EvmFork?]): Row[] =>
  Array.from({ length: count }, (_, i) => [from + i, ...row(i)] as const)

const all = (ops: readonly number[], takes: number, puts: number, price: Price, since?: EvmFork): Row[] =>
  ops.map(op => (since === undefined ? [op, takes, puts, price] : [op, takes, puts, price, since]))

const CALL_PRICE: Price = [
  ['frontier', 40],
  ['tangerineWhistle', 700],
  ['berlin', 0],
]
const CODE_PRICE: Price = [
  ['frontier', 20],
  ['tangerineWhistle', 700],
  ['berlin', 0],
]

const ROWS: readonly Row[] = [
  [0x00, 0, 0, 0],
  ...all([0x01, 0x03], 2, 1, 3),
  ...all([0x02, 0x04, 0x05, 0x06, 0x07, 0x0b], 2, 1, 5),
  ...all([0x08, 0x09], 3, 1, 8),
  [0x0a, 2, 1, 10],
  ...all([0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a], 2, 1, 3),
  ...all([0x15, 0x19], 1, 1, 3),
  ...all([0x1b, 0x1c, 0x1d], 2, 1, 3, 'constantinople'),
  [0x1e, 1, 1, 5, 'osaka'],
  [0x20, 2, 1, 30],
  ...all([0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a], 0, 1, 2),
  [
    0x31,
    1,
    1,
    [
      ['frontier', 20],
      ['tangerineWhistle', 400],
      ['istanbul', 700],
      ['berlin', 0],
    ],
  ],
  [0x35, 1, 1, 3],
  ...all([0x37, 0x39], 3, 0, 3),
  [0x3b, 1, 1, CODE_PRICE],
  [0x3c, 4, 0, CODE_PRICE],
  [0x3d, 0, 1, 2, 'byzantium'],
  [0x3e, 3, 0, 3, 'byzantium'],
  [
    0x3f,
    1,
    1,
    [
      ['constantinople', 400],
      ['istanbul', 700],
      ['berlin', 0],
    ],
    'constantinople',
  ],
  [0x40, 1, 1, 20],
  ...all([0x41, 0x42, 0x43, 0x44, 0x45], 0, 1, 2),
  [0x46, 0, 1, 2, 'istanbul'],
  [0x47, 0, 1, 5, 'istanbul'],
  [0x48, 0, 1, 2, 'london'],
  [0x49, 1, 1, 3, 'cancun'],
  [0x4a, 0, 1, 2, 'cancun'],
  [0x50, 1, 0, 2],
  [0x51, 1, 1, 3],
  ...all([0x52, 0x53], 2, 0, 3),
  [
    0x54,
    1,
    1,
    [
      ['frontier', 50],
      ['tangerineWhistle', 200],
      ['istanbul', 800],
      ['berlin', 0],
    ],
  ],
  [0x55, 2, 0, 0],
  [0x56, 1, 0, 8],
  [0x57, 2, 0, 10],
  ...all([0x58, 0x59, 0x5a], 0, 1, 2),
  [0x5b, 0, 0, 1],
  [0x5c, 1, 1, 100, 'cancun'],
  [0x5d, 2, 0, 100, 'cancun'],
  [0x5e, 3, 0, 3, 'cancun'],
  [0x5f, 0, 1, 2, 'shanghai'],
  ...range(0x60, 32, () => [0, 1, 3]),
  ...range(0x80, 16, i => [i + 1, i + 2, 3]),
  ...range(0x90, 16, i => [i + 2, i + 2, 3]),
  ...range(0xa0, 5, i => [i + 2, 0, 375 * (i + 1)]),
  [0xf0, 3, 1, 32_000],
  ...all([0xf1, 0xf2], 7, 1, CALL_PRICE),
  [0xf3, 2, 0, 0],
  [0xf4, 6, 1, CALL_PRICE, 'homestead'],
  [0xf5, 4, 1, 32_000, 'constantinople'],
  [0xfa, 6, 1, CALL_PRICE, 'byzantium'],
  [0xfd, 2, 0, 0, 'byzantium'],
  [
    0xff,
    1,
    0,
    [
      ['frontier', 0],
      ['tangerineWhistle', 5_000],
    ],
  ],
]

const WORD_BYTES = 32
const STACK_LIMIT = 1024

/** Row of the interpreter's table; heights in bytes of the stack. */
interface OpcodeRow {
  readonly op: number
  readonly price: number
  readonly least: number
  readonly most: number
}

const priceAt = (price: Price, place: number): number =>
  typeof price === 'number' ? price : (price.findLast(([fork]) => EVM_FORKS.indexOf(fork) <= place)?.[1] ?? 0)

/** Returns the opcodes of a fork. */
export const opcodesOf = (fork: EvmFork): readonly OpcodeRow[] => {
  const place = EVM_FORKS.indexOf(fork)
  return ROWS.filter(([, , , , since = 'frontier']) => EVM_FORKS.indexOf(since) <= place).map(
    ([op, takes, puts, price]) => ({
      op,
      price: priceAt(price, place),
      least: takes * WORD_BYTES,
      most: (STACK_LIMIT - Math.max(0, puts - takes)) * WORD_BYTES,
    }),
  )
}
