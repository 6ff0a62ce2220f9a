/*
 * Names of all opcodes with the numbers of stack items taken and put (yellow paper, appendix H, and later EIPs). Traces report an
 * underflow before the opcode runs, and opcodes that the fork does not have yet.
 */

/** Name, items taken, items put. */
type Row = readonly [op: number, name: string, takes: number, puts: number]

const range = (from: number, count: number, row: (i: number) => readonly [string, number, number]): Row[] =>
  Array.from({ length: count }, (_, i) => [from + i, ...row(i)] as const)

const ROWS: readonly Row[] = [
  [0x00, 'STOP', 0, 0],
  ...['ADD', 'MUL', 'SUB', 'DIV', 'SDIV', 'MOD', 'SMOD'].map((name, i): Row => [0x01 + i, name, 2, 1]),
  [0x08, 'ADDMOD', 3, 1],
  [0x09, 'MULMOD', 3, 1],
  [0x0a, 'EXP', 2, 1],
  [0x0b, 'SIGNEXTEND', 2, 1],
  ...['LT', 'GT', 'SLT', 'SGT', 'EQ'].map((name, i): Row => [0x10 + i, name, 2, 1]),
  [0x15, 'ISZERO', 1, 1],
  ...['AND', 'OR', 'XOR'].map((name, i): Row => [0x16 + i, name, 2, 1]),
  [0x19, 'NOT', 1, 1],
  ...['BYTE', 'SHL', 'SHR', 'SAR'].map((name, i): Row => [0x1a + i, name, 2, 1]),
  [0x1e, 'CLZ', 1, 1],
  [0x20, 'KECCAK256', 2, 1],
  [0x30, 'ADDRESS', 0, 1],
  [0x31, 'BALANCE', 1, 1],
  ...['ORIGIN', 'CALLER', 'CALLVALUE'].map((name, i): Row => [0x32 + i, name, 0, 1]),
  [0x35, 'CALLDATALOAD', 1, 1],
  [0x36, 'CALLDATASIZE', 0, 1],
  [0x37, 'CALLDATACOPY', 3, 0],
  [0x38, 'CODESIZE', 0, 1],
  [0x39, 'CODECOPY', 3, 0],
  [0x3a, 'GASPRICE', 0, 1],
  [0x3b, 'EXTCODESIZE', 1, 1],
  [0x3c, 'EXTCODECOPY', 4, 0],
  [0x3d, 'RETURNDATASIZE', 0, 1],
  [0x3e, 'RETURNDATACOPY', 3, 0],
  [0x3f, 'EXTCODEHASH', 1, 1],
  [0x40, 'BLOCKHASH', 1, 1],
  ...['COINBASE', 'TIMESTAMP', 'NUMBER', 'PREVRANDAO', 'GASLIMIT', 'CHAINID', 'SELFBALANCE', 'BASEFEE'].map(
    (name, i): Row => [0x41 + i, name, 0, 1],
  ),
  [0x49, 'BLOBHASH', 1, 1],
  [0x4a, 'BLOBBASEFEE', 0, 1],
  [0x50, 'POP', 1, 0],
  [0x51, 'MLOAD', 1, 1],
  [0x52, 'MSTORE', 2, 0],
  [0x53, 'MSTORE8', 2, 0],
  [0x54, 'SLOAD', 1, 1],
  [0x55, 'SSTORE', 2, 0],
  [0x56, 'JUMP', 1, 0],
  [0x57, 'JUMPI', 2, 0],
  ...['PC', 'MSIZE', 'GAS'].map((name, i): Row => [0x58 + i, name, 0, 1]),
  [0x5b, 'JUMPDEST', 0, 0],
  [0x5c, 'TLOAD', 1, 1],
  [0x5d, 'TSTORE', 2, 0],
  [0x5e, 'MCOPY', 3, 0],
  ...range(0x5f, 33, i => [`PUSH${i}`, 0, 1]),
  ...range(0x80, 16, i => [`DUP${i + 1}`, i + 1, i + 2]),
  ...range(0x90, 16, i => [`SWAP${i + 1}`, i + 2, i + 2]),
  ...range(0xa0, 5, i => [`LOG${i}`, i + 2, 0]),
  [0xf0, 'CREATE', 3, 1],
  [0xf1, 'CALL', 7, 1],
  [0xf2, 'CALLCODE', 7, 1],
  [0xf3, 'RETURN', 2, 0],
  [0xf4, 'DELEGATECALL', 6, 1],
  [0xf5, 'CREATE2', 4, 1],
  [0xfa, 'STATICCALL', 6, 1],
  [0xfd, 'REVERT', 2, 0],
  [0xfe, 'INVALID', 0, 0],
  [0xff, 'SELFDESTRUCT', 1, 0],
]

export const STACK_LIMIT = 1024

interface OpcodeShape {
  readonly name: string
  /** Smallest and largest height of the stack before it. */
  readonly least: number
  readonly most: number
}

const undefinedShape = (op: number): OpcodeShape => ({
  name: `opcode 0x${op.toString(16)} not defined`,
  least: 0,
  most: STACK_LIMIT,
})

const shapes = new Map(
  ROWS.map(([op, name, takes, puts]) => [op, { name, least: takes, most: STACK_LIMIT + takes - puts }]),
)

/** By opcode; every byte has one. */
export const OPCODES: readonly OpcodeShape[] = Array.from(
  { length: 256 },
  (_, op) => shapes.get(op) ?? undefinedShape(op),
)
