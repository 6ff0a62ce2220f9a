import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { asm, loop, program, push, unrolled } from '../assembler.ts'
import { ACCOUNTS, CODES, STORE } from '../disk.ts'
import { CONTRACT, callOf, family } from '../family.ts'
import { GAS_LEFT, HELPER } from './frames.ts'

/* State: cold reads from disk, writes up to the root of the state after them, rollback of frames, logs and their filters. */

/** Does the body with a number that grows, on top of the stack when it begins and when it ends. */
const counting = (first: bigint, body: string) => program(push(first), loop(unrolled(asm(`${body} 1 ADD`)), GAS_LEFT))

const coldAccounts = family({
  kind: 'cold accounts on disk',
  name: 'cold accounts on disk',
  onDisk: true,
  axes: {
    read: [
      'DUP1 BALANCE POP',
      'DUP1 EXTCODEHASH POP',
      'DUP1 EXTCODESIZE POP',
      '0 0 0 DUP4 EXTCODECOPY',
      '0 0 0 0 0 DUP6 0 CALL POP',
      '0 0 0 0 1 DUP6 0 CALL POP',
      '0 0 0 0 DUP5 GAS STATICCALL POP',
    ],
    exist: ['yes', 'no'],
  },
  build: ({ read, exist }) => callOf(counting(exist === 'yes' ? ACCOUNTS.first : 1n << 100n, read)),
})

const coldCode = family({
  kind: 'cold code on disk',
  name: 'cold code on disk',
  onDisk: true,
  axes: {
    read: [
      'DUP1 EXTCODESIZE POP',
      'DUP1 EXTCODEHASH POP',
      '1 0 0 DUP4 EXTCODECOPY',
      '24576 0 0 DUP4 EXTCODECOPY',
      '0 0 0 0 DUP5 GAS STATICCALL POP',
      '0 0 0 0 0 DUP6 GAS CALL POP',
    ],
    perTransaction: [960, 1_900, 3_800],
  },
  build({ read, perTransaction }, gas) {
    const body = loop(unrolled(asm(`${read} 1 ADD`)), GAS_LEFT)
    // Each transaction has a warm set of its own, and begins behind the one before.
    const count = Math.max(1, Math.ceil(Number(gas) / (perTransaction * 2_600)))
    const data = (i: number) => hexToBytes(toWord(CODES.first + BigInt((i * perTransaction) % (CODES.count - 960))))
    return {
      ...callOf(program(asm('0 CALLDATALOAD'), body)),
      transactions: Array.from({ length: count }, (_, i) => ({ to: CONTRACT, data: data(i) })),
    }
  },
})

const coldSlots = family({
  kind: 'cold slots on disk',
  name: 'cold slots on disk',
  onDisk: true,
  axes: {
    access: ['DUP1 SLOAD POP', '7 DUP2 SSTORE', '0 DUP2 SSTORE', 'DUP1 SLOAD DUP2 SSTORE'],
    exist: ['yes', 'no'],
  },
  build({ access, exist }) {
    const code = counting(exist === 'yes' ? 0n : 1n << 100n, access)
    return { accounts: [{ address: STORE.address, code }], transactions: [{ to: STORE.address }] }
  },
})

const writes = family({
  kind: 'state written',
  name: 'state written',
  axes: {
    write: [
      '1 DUP2 SSTORE',
      'DUP1 DUP2 SSTORE',
      '0 0 0 0 1 DUP6 0 CALL POP',
      '1 DUP2 SSTORE 0 DUP2 SSTORE',
      '0 0 0 CREATE POP',
    ],
    first: [0n, 1n << 200n].map(String),
  },
  build: ({ write, first }) => callOf(counting(BigInt(first), write)),
})

/** One contract's frames change things and fail, or open frames that do. */
const rollback = family({
  kind: 'rollback',
  name: 'rollback',
  axes: {
    change: [
      'GAS 0 SSTORE',
      'GAS GAS SSTORE',
      'GAS 0 TSTORE',
      'GAS GAS TSTORE',
      'GAS SLOAD POP',
      'GAS BALANCE POP',
      '0 0 LOG0',
      '0 0 0 CREATE POP',
    ],
    times: [1, 8, 64, 256],
    ending: ['0 0 REVERT', 'INVALID'],
    gas: ['GAS', '1000000', '100000'],
  },
  build({ change, times, ending, gas }) {
    const failing = program(asm(`${change} `.repeat(times)), asm(ending))
    const body = loop(asm(`0 0 0 0 0 ${HELPER} ${gas} CALL POP`), GAS_LEFT)
    return callOf(program(body), [{ address: HELPER, code: failing }])
  },
})

const logs = family({
  kind: 'logs',
  name: 'logs',
  axes: { topics: [0, 1, 2, 3, 4], size: [0, 1, 32, 1_024, 32_768], topic: ['1', 'GAS'] },
  build({ topics, size, topic }) {
    return callOf(program(loop(unrolled(asm(`${`${topic} `.repeat(topics)} ${size} 0 LOG${topics}`)), GAS_LEFT)))
  },
})

/** Frames that grow memory by steps, or once each. */
const memory = family({
  kind: 'memory growth',
  name: 'memory growth',
  axes: {
    step: [32, 1_024, 8_192, 65_536, 1 << 20],
    bytes: [8_192, 65_536, 262_144, 1 << 20, 4 << 20],
    write: ['MSTORE', 'MSTORE8'],
    answer: [0, 1],
  },
  build({ step, bytes, write, answer }) {
    const steps = Math.min(2_000, Math.max(1, Math.floor(bytes / step)))
    const grow = program(...Array.from({ length: steps }, (_, i) => asm(`1 ${(i + 1) * step - 1} ${write}`)))
    const inner = program(grow, asm(answer === 1 ? 'MSIZE 0 RETURN' : 'STOP'))
    const call = asm(`0 0 0 0 0 ${HELPER} GAS CALL POP`)
    return callOf(program(loop(call, GAS_LEFT)), [{ address: HELPER, code: inner }])
  },
})

const PAYEE: Hex = `0x${'9a'.repeat(20)}`

/** Blocks of many small transactions, and what stands around their messages. */
const transactions = family({
  kind: 'transactions',
  name: 'transactions',
  axes: {
    gas: [21_000, 30_000, 100_000, 1_000_000],
    to: ['account', 'stop', 'fail', 'creation'],
    listed: [0, 1, 16, 256],
    data: [0, 100, 1_000, 10_000],
  },
  build({ gas, to, listed, data }, total) {
    const least = 21_000 + (to === 'creation' ? 34_000 : 0) + listed * 1_900 + (listed > 0 ? 2_400 : 0) + data * 100
    const gasLimit = BigInt(Math.max(gas, least + 1_000))
    const slots = Array.from({ length: listed }, (_, i): Hex => `0x${(i + 1).toString(16).padStart(64, '0')}`)
    const fields = {
      gasLimit,
      to: to === 'creation' ? null : to === 'account' ? PAYEE : HELPER,
      data: new Uint8Array(data),
      ...(listed > 0 && { type: 1 as const, accessList: [{ address: HELPER, storageKeys: slots }] }),
    }
    const code = to === 'fail' ? asm('INVALID') : asm('STOP')
    return {
      accounts: [{ address: HELPER, code }],
      transactions: Array.from({ length: Math.max(1, Number(total / gasLimit)) }, () => fields),
    }
  },
})

export const STATE_FAMILIES = [coldAccounts, coldCode, coldSlots, writes, rollback, logs, memory, transactions]
