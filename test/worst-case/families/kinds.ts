import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { asm, deploying, loop, program, repeat, unrolled } from '../assembler.ts'
import { ACCOUNTS } from '../disk.ts'
import { callOf, family } from '../family.ts'
import { GAS_LEFT, HELPER } from './frames.ts'

/* Kinds of work that the other families touch only on the way. */

const transient = family({
  kind: 'transient words',
  name: 'transient words',
  axes: { access: ['GAS GAS TSTORE', 'GAS TLOAD POP', 'GAS 0 TSTORE', 'GAS GAS TSTORE GAS TLOAD POP'] },
  build: ({ access }) => callOf(program(loop(unrolled(asm(access), 20_000), GAS_LEFT))),
})

const keccak = family({
  kind: 'keccak',
  name: 'keccak',
  axes: { size: [32, 0, 64, 136, 200, 1_024, 16_384, 131_072, 1 << 20] },
  build: ({ size }) => callOf(program(loop(unrolled(asm(`${size} 0 KECCAK256 POP`)), GAS_LEFT))),
})

const returnData = family({
  kind: 'return data copies',
  name: 'return data copies',
  axes: { size: [1_024, 32, 16_384, 131_072, 1 << 20], calls: [0, 1] },
  build({ size, calls }) {
    const call = asm(`0 0 0 0 ${HELPER} GAS STATICCALL POP`)
    const copy = asm(`${size} 0 0 RETURNDATACOPY`)
    const body = calls === 1 ? program(call, copy) : copy
    return callOf(program(call, loop(unrolled(body), GAS_LEFT)), [{ address: HELPER, code: asm(`${size} 0 RETURN`) }])
  },
})

const blockHashes = family({
  kind: 'block hashes',
  name: 'block hashes',
  axes: { body: ['1 NUMBER SUB BLOCKHASH POP', '256 NUMBER SUB BLOCKHASH POP', '0 BLOCKHASH POP'] },
  build: ({ body }) => callOf(program(loop(unrolled(asm(body)), GAS_LEFT))),
})

const delegation = (to: Hex): Uint8Array => hexToBytes(`0xef0100${to.slice(2)}`)
const DELEGATE: Hex = `0x${'de'.repeat(20)}`

const delegations = family({
  kind: 'delegated accounts',
  name: 'delegated accounts',
  axes: {
    op: ['CALL', 'STATICCALL', 'DELEGATECALL', 'EXTCODESIZE', 'EXTCODEHASH'],
    code: ['STOP', '0 0 REVERT', 'INVALID'],
  },
  build({ op, code }) {
    const wei = op === 'CALL' ? '0' : ''
    const body = op.startsWith('EXT') ? `${DELEGATE} ${op} POP` : `0 0 0 0 ${wei} ${DELEGATE} 1000 ${op} POP`
    const accounts = [
      { address: DELEGATE, code: delegation(HELPER) },
      { address: HELPER, code: asm(code) },
    ]
    return { ...callOf(program(loop(unrolled(asm(body)), GAS_LEFT)), accounts), fork: 'prague' }
  },
})

const selfDestructs = family({
  kind: 'self-destructs',
  name: 'self-destructs',
  axes: { heir: ['ADDRESS', 'CALLER', 'ORIGIN', 'GAS'], created: [0, 1], value: [0, 1] },
  build({ heir, created, value }) {
    const dying = asm(`${heir} SELFDESTRUCT`)
    if (created === 0) {
      const call = asm(`0 0 0 0 ${value} ${HELPER} GAS CALL POP`)
      return callOf(program(loop(unrolled(call), GAS_LEFT)), [{ address: HELPER, code: dying, balance: 1n }])
    }
    const init = deploying(dying)
    const size = init.byteLength
    const copy = asm(`${size} 0 0 ${HELPER} EXTCODECOPY`)
    const create = asm(`0 0 0 0 0 ${size} 0 ${value} CREATE GAS CALL POP`)
    return callOf(program(copy, loop(create, GAS_LEFT * 10n)), [{ address: HELPER, code: init }])
  },
})

/** Frames too poor for the cold access that they try. */
const unpaid = family({
  kind: 'accesses that are not paid',
  name: 'accesses that are not paid',
  onDisk: true,
  axes: {
    access: [
      'BALANCE',
      'EXTCODESIZE',
      '0 0 0 0 SWAP4 GAS STATICCALL',
      '0 0 0 0 1 SWAP5 GAS CALL',
      'SLOAD',
      'SELFDESTRUCT',
    ],
    gas: [60, 500, 2_000, 2_599],
  },
  build({ access, gas }) {
    const body = asm(`DUP1 0 MSTORE 0 0 32 0 0 ${HELPER} ${gas} CALL POP 1 ADD`)
    const code = program(asm(`${ACCOUNTS.first}`), loop(unrolled(body), GAS_LEFT))
    return callOf(code, [{ address: HELPER, code: asm(`0 CALLDATALOAD ${access} STOP`) }])
  },
})

/** Contracts whose only work is to find the jump behind much push data. */
const jumpAnalysis = family({
  kind: 'jump destinations',
  name: 'jump destinations',
  axes: { filling: [0x5b, 0x60, 0x7f], op: ['CREATE', 'CREATE2'] },
  build({ filling, op }) {
    const size = 49_152
    const init = new Uint8Array(size).fill(filling)
    init.set(program(Uint8Array.of(0x61, (size - 2) >> 8, (size - 2) & 255), asm('JUMP')))
    init.set(program(repeat(33, asm('JUMPDEST')), asm('STOP')), size - 34)
    const fill = asm(`24576 0 0 ${HELPER} EXTCODECOPY 24576 0 24576 ${CONTRACT_TAIL} EXTCODECOPY`)
    const create = asm(`${op === 'CREATE2' ? 'GAS ' : ''}${size} 0 0 ${op} POP`)
    return callOf(program(fill, loop(create, GAS_LEFT * 60n)), [
      { address: HELPER, code: init.slice(0, 24_576) },
      { address: CONTRACT_TAIL, code: init.slice(24_576) },
    ])
  },
})
const CONTRACT_TAIL: Hex = `0x${'7a'.repeat(20)}`

export const KIND_FAMILIES = [
  transient,
  keccak,
  returnData,
  blockHashes,
  delegations,
  selfDestructs,
  unpaid,
  jumpAnalysis,
]
