import { concatBytes } from '@tandem/base/bytes.ts'
import { asm, LOAD_INPUT, loop, program, push, unrolled } from '../assembler.ts'
import { callOf, family } from '../family.ts'

/*
 * Loops over opcodes that touch nothing but stack, memory and warm state. Under the loop lie words of several sizes, which a piece
 * takes copies of; every piece leaves the stack as it found it.
 */

const GAS_LEFT = 5_000n
const MAX = 2n ** 256n - 1n
/** From the top: DUP1 is the caller of nothing, DUP8 the largest word. */
const WORDS = [MAX, MAX / 3n, 2n ** 255n, 2n ** 128n + 12_345n, 2n ** 64n - 59n, 0xc0dec0den, 255n, 7n]

const pairs = (ops: string): string[] =>
  ops.split(' ').flatMap(op => ['DUP8 DUP8', 'DUP4 DUP8', 'DUP2 DUP8'].map(operands => `${operands} ${op} POP`))

const ARITHMETIC = [
  ...pairs('ADD MUL SUB DIV SDIV MOD SMOD EXP SIGNEXTEND LT GT SLT SGT EQ AND OR XOR BYTE SHL SHR SAR'),
  'DUP8 ISZERO POP',
  'DUP8 NOT POP',
  'DUP8 CLZ POP',
  'DUP7 DUP8 DUP8 ADDMOD POP',
  'DUP7 DUP8 DUP8 MULMOD POP',
  'DUP4 DUP8 DUP8 MULMOD POP',
]
const CONTROL = [
  'JUMPDEST',
  'PC POP',
  'GAS POP',
  'MSIZE POP',
  'DUP1 POP',
  'DUP8 POP',
  'SWAP1 SWAP1',
  'SWAP7 SWAP7',
  '0 POP',
  '1 POP',
  `${2n ** 48n} POP`,
  `${MAX} POP`,
  `${MAX / 7n} ${MAX / 11n} POP POP`,
]
const ENVIRONMENT = [
  'ADDRESS ORIGIN CALLER CALLVALUE CALLDATASIZE CODESIZE GASPRICE RETURNDATASIZE COINBASE TIMESTAMP',
  'NUMBER PREVRANDAO GASLIMIT CHAINID SELFBALANCE BASEFEE BLOBBASEFEE',
]
  .flatMap(names => names.split(' '))
  .map(name => `${name} POP`)
  .concat([
    '0 BLOBHASH POP',
    '1 NUMBER SUB BLOCKHASH POP',
    'DUP1 BLOCKHASH POP',
    '0 CALLDATALOAD POP',
    '5 CALLDATALOAD POP',
  ])
const MEMORY = [
  'DUP8 0 MSTORE',
  'DUP1 0 MSTORE',
  'DUP8 31 MSTORE',
  'DUP8 7 MSTORE8',
  '0 MLOAD POP',
  '31 MLOAD POP',
  '64 MLOAD POP',
  ...[0, 1, 32, 100, 1_024].flatMap(size => [
    `${size} 0 0 CALLDATACOPY`,
    `${size} 0 0 CODECOPY`,
    `${size} 32 0 MCOPY`,
    `${size} 0 0 ADDRESS EXTCODECOPY`,
    `${size} 0 KECCAK256 POP`,
  ]),
  '0 0 0 RETURNDATACOPY',
]
const WARM = [
  '7 SLOAD POP',
  'DUP8 SLOAD POP',
  '7 TLOAD POP',
  'DUP8 TLOAD POP',
  'DUP8 7 TSTORE',
  '0 7 TSTORE',
  'DUP8 DUP8 TSTORE',
  'GAS GAS TSTORE',
  'GAS TLOAD POP',
  'DUP8 DUP8 SSTORE',
  'GAS DUP8 SSTORE',
  '0 9 SSTORE 1 9 SSTORE',
  'ADDRESS BALANCE POP',
  'ADDRESS EXTCODESIZE POP',
  'ADDRESS EXTCODEHASH POP',
  'COINBASE BALANCE POP',
]

const soup = (kind: string, pieces: readonly string[]) =>
  family({
    kind,
    name: kind,
    axes: { a: pieces, b: ['', ...pieces], c: ['', ...pieces] },
    build({ a, b, c }) {
      const body = asm(`${a} ${b} ${c}`)
      const words = concatBytes(...WORDS.map(push))
      return callOf(program(LOAD_INPUT, words, loop(unrolled(body), GAS_LEFT)), [], new Uint8Array(64).fill(0xab))
    },
  })

export const OPCODE_FAMILIES = [
  soup('arithmetic', ARITHMETIC),
  soup('stack and jumps', CONTROL),
  soup('environment', ENVIRONMENT),
  soup('memory words and copies', MEMORY),
  soup('warm state', WARM),
]
