import { EVM_FORKS, type EvmFork } from '../config/forks.ts'

/*
 * Every opcode once (yellow paper, appendix H, and later EIPs). From this table come the rows of the module in WebAssembly and the names in
 * its source (`npm run build:wasm`), the names and operands of tracers, and the generators of test programs.
 */

/** Part of the price that does not depend on operands, from each fork on; the first one is the fork that has the opcode. */
type Price = number | Partial<Readonly<Record<EvmFork, number>>>

interface Traits {
  /** Number of operands on which the price depends: they must exist before the gas is checked. */
  readonly priced?: number
  /** Fails in a static frame; CALL only with a value. */
  readonly writes?: true
  /** Items below the top of a slot's key, of an account, of the target of a call. */
  readonly slot?: number
  readonly account?: number
  readonly target?: number
}

type Row = readonly [op: number, name: string, takes: number, puts: number, price: Price, traits?: Traits]

const range = (from: number, count: number, row: (i: number) => readonly [string, number, number, Price, Traits?]) =>
  Array.from({ length: count }, (_, i): Row => [from + i, ...row(i)])

const BALANCE: Price = { frontier: 20, tangerineWhistle: 400, istanbul: 700, berlin: 0 }
const CODE: Price = { frontier: 20, tangerineWhistle: 700, berlin: 0 }
const CODE_HASH: Price = { constantinople: 400, istanbul: 700, berlin: 0 }
const CALL = { frontier: 40, tangerineWhistle: 700, berlin: 0 }

const ROWS: readonly Row[] = [
  [0x00, 'STOP', 0, 0, 0],
  [0x01, 'ADD', 2, 1, 3],
  [0x02, 'MUL', 2, 1, 5],
  [0x03, 'SUB', 2, 1, 3],
  [0x04, 'DIV', 2, 1, 5],
  [0x05, 'SDIV', 2, 1, 5],
  [0x06, 'MOD', 2, 1, 5],
  [0x07, 'SMOD', 2, 1, 5],
  [0x08, 'ADDMOD', 3, 1, 8],
  [0x09, 'MULMOD', 3, 1, 8],
  [0x0a, 'EXP', 2, 1, 10, { priced: 2 }],
  [0x0b, 'SIGNEXTEND', 2, 1, 5],
  [0x10, 'LT', 2, 1, 3],
  [0x11, 'GT', 2, 1, 3],
  [0x12, 'SLT', 2, 1, 3],
  [0x13, 'SGT', 2, 1, 3],
  [0x14, 'EQ', 2, 1, 3],
  [0x15, 'ISZERO', 1, 1, 3],
  [0x16, 'AND', 2, 1, 3],
  [0x17, 'OR', 2, 1, 3],
  [0x18, 'XOR', 2, 1, 3],
  [0x19, 'NOT', 1, 1, 3],
  [0x1a, 'BYTE', 2, 1, 3],
  [0x1b, 'SHL', 2, 1, { constantinople: 3 }],
  [0x1c, 'SHR', 2, 1, { constantinople: 3 }],
  [0x1d, 'SAR', 2, 1, { constantinople: 3 }],
  [0x1e, 'CLZ', 1, 1, { osaka: 5 }],
  [0x20, 'KECCAK256', 2, 1, 30, { priced: 2 }],
  [0x30, 'ADDRESS', 0, 1, 2],
  [0x31, 'BALANCE', 1, 1, BALANCE, { priced: 1, account: 0 }],
  [0x32, 'ORIGIN', 0, 1, 2],
  [0x33, 'CALLER', 0, 1, 2],
  [0x34, 'CALLVALUE', 0, 1, 2],
  [0x35, 'CALLDATALOAD', 1, 1, 3],
  [0x36, 'CALLDATASIZE', 0, 1, 2],
  [0x37, 'CALLDATACOPY', 3, 0, 3, { priced: 3 }],
  [0x38, 'CODESIZE', 0, 1, 2],
  [0x39, 'CODECOPY', 3, 0, 3, { priced: 3 }],
  [0x3a, 'GASPRICE', 0, 1, 2],
  [0x3b, 'EXTCODESIZE', 1, 1, CODE, { priced: 1, account: 0 }],
  [0x3c, 'EXTCODECOPY', 4, 0, CODE, { priced: 4, account: 0 }],
  [0x3d, 'RETURNDATASIZE', 0, 1, { byzantium: 2 }],
  [0x3e, 'RETURNDATACOPY', 3, 0, { byzantium: 3 }, { priced: 3 }],
  [0x3f, 'EXTCODEHASH', 1, 1, CODE_HASH, { priced: 1, account: 0 }],
  [0x40, 'BLOCKHASH', 1, 1, 20],
  [0x41, 'COINBASE', 0, 1, 2],
  [0x42, 'TIMESTAMP', 0, 1, 2],
  [0x43, 'NUMBER', 0, 1, 2],
  [0x44, 'PREVRANDAO', 0, 1, 2],
  [0x45, 'GASLIMIT', 0, 1, 2],
  [0x46, 'CHAINID', 0, 1, { istanbul: 2 }],
  [0x47, 'SELFBALANCE', 0, 1, { istanbul: 5 }],
  [0x48, 'BASEFEE', 0, 1, { london: 2 }],
  [0x49, 'BLOBHASH', 1, 1, { cancun: 3 }],
  [0x4a, 'BLOBBASEFEE', 0, 1, { cancun: 2 }],
  [0x50, 'POP', 1, 0, 2],
  [0x51, 'MLOAD', 1, 1, 3, { priced: 1 }],
  [0x52, 'MSTORE', 2, 0, 3, { priced: 1 }],
  [0x53, 'MSTORE8', 2, 0, 3, { priced: 1 }],
  [0x54, 'SLOAD', 1, 1, { frontier: 50, tangerineWhistle: 200, istanbul: 800, berlin: 0 }, { priced: 1, slot: 0 }],
  [0x55, 'SSTORE', 2, 0, 0, { priced: 2, writes: true, slot: 0 }],
  [0x56, 'JUMP', 1, 0, 8],
  [0x57, 'JUMPI', 2, 0, 10],
  [0x58, 'PC', 0, 1, 2],
  [0x59, 'MSIZE', 0, 1, 2],
  [0x5a, 'GAS', 0, 1, 2],
  [0x5b, 'JUMPDEST', 0, 0, 1],
  [0x5c, 'TLOAD', 1, 1, { cancun: 100 }],
  [0x5d, 'TSTORE', 2, 0, { cancun: 100 }],
  [0x5e, 'MCOPY', 3, 0, { cancun: 3 }, { priced: 3 }],
  [0x5f, 'PUSH0', 0, 1, { shanghai: 2 }],
  ...range(0x60, 32, i => [`PUSH${i + 1}`, 0, 1, 3]),
  ...range(0x80, 16, i => [`DUP${i + 1}`, i + 1, i + 2, 3]),
  ...range(0x90, 16, i => [`SWAP${i + 1}`, i + 2, i + 2, 3]),
  ...range(0xa0, 5, i => [`LOG${i}`, i + 2, 0, 375 * (i + 1), { priced: 2, writes: true }]),
  [0xf0, 'CREATE', 3, 1, 32_000, { priced: 3, writes: true }],
  [0xf1, 'CALL', 7, 1, CALL, { priced: 7, target: 1 }],
  [0xf2, 'CALLCODE', 7, 1, CALL, { priced: 7, target: 1 }],
  [0xf3, 'RETURN', 2, 0, 0, { priced: 2 }],
  [0xf4, 'DELEGATECALL', 6, 1, { homestead: 40, tangerineWhistle: 700, berlin: 0 }, { priced: 6, target: 1 }],
  [0xf5, 'CREATE2', 4, 1, { constantinople: 32_000 }, { priced: 4, writes: true }],
  [0xfa, 'STATICCALL', 6, 1, { byzantium: 700, berlin: 0 }, { priced: 6, target: 1 }],
  [0xfd, 'REVERT', 2, 0, { byzantium: 0 }, { priced: 2 }],
  [0xfe, 'INVALID', 0, 0, {}],
  [0xff, 'SELFDESTRUCT', 1, 0, { frontier: 0, tangerineWhistle: 5_000 }, { priced: 1, writes: true, account: 0 }],
]

const STACK_LIMIT = 1024

interface Opcode extends Traits {
  readonly op: number
  readonly name: string
  readonly takes: number
  readonly puts: number
}

/** Every opcode of any fork, by number. */
export const OPCODES = ROWS.map(([op, name, takes, puts, , traits]): Opcode => ({ ...traits, op, name, takes, puts }))

export interface OpcodeShape extends Opcode {
  /** Smallest and largest height of the stack before it. */
  readonly least: number
  readonly most: number
}

const undefinedOpcode = (op: number): Opcode => ({
  op,
  name: `opcode 0x${op.toString(16)} not defined`,
  takes: 0,
  puts: 0,
})

const known = new Map(OPCODES.map(opcode => [opcode.op, opcode]))

/** By number; every byte has one. */
export const SHAPES: readonly OpcodeShape[] = Array.from({ length: 256 }, (_, op) => {
  const opcode = known.get(op) ?? undefinedOpcode(op)
  return { ...opcode, least: opcode.takes, most: STACK_LIMIT - Math.max(0, opcode.puts - opcode.takes) }
})

/** Fixed price of an opcode under the rules of a fork; undefined: the fork does not have it. */
const priceAt = (price: Price, place: number): number | undefined =>
  typeof price === 'number'
    ? price
    : EVM_FORKS.slice(0, place + 1).reduce<number | undefined>((last, fork) => price[fork] ?? last, undefined)

/** Returns the opcodes of a fork with their fixed prices. */
export const opcodesOf = (fork: EvmFork): readonly { readonly op: number; readonly price: number }[] => {
  const place = EVM_FORKS.indexOf(fork)
  return ROWS.flatMap(([op, , , , prices]) => {
    const price = priceAt(prices, place)
    return price === undefined ? [] : [{ op, price }]
  })
}
