import type { Hex } from '@tandem/base/bytes.ts'
import { asm, deploying, loop, program, push, repeat, unrolled } from '../assembler.ts'
import { CONTRACT, callOf, family, RICH, type Setup } from '../family.ts'

/* Calls and creations: what each costs by itself, and what it costs after many logs, creations and self-destructs. */

const CALLS = ['CALL', 'STATICCALL', 'DELEGATECALL', 'CALLCODE'] as const
const GAS_LEFT = 30_000n
const HELPER: Hex = `0x${'be'.repeat(20)}`

/** Code of the account that is called. */
const CALLEES: Readonly<Record<string, Uint8Array>> = {
  nothing: new Uint8Array(0),
  stop: asm('STOP'),
  return: asm('32 0 RETURN'),
  revert: asm('0 0 REVERT'),
  fail: asm('INVALID'),
  underflow: asm('POP'),
  log: asm('0 0 LOG0'),
  'log and revert': asm('0 0 LOG0 0 0 REVERT'),
  jump: program(push(4), asm('JUMP STOP JUMPDEST')),
  write: asm('CALLER 0 SSTORE'),
  'write and revert': asm('GAS 0 SSTORE 0 0 REVERT'),
  'transient and revert': asm('GAS 0 TSTORE 0 0 REVERT'),
}
const targets = [...Object.keys(CALLEES), 'precompile', 'self'] as const

const addressOf = (target: string): Hex => {
  if (target === 'precompile') return '0x0000000000000000000000000000000000000004'
  return target === 'self' ? CONTRACT : HELPER
}

const helper = (callee: string): readonly Setup[] => {
  const code = CALLEES[callee]
  return code === undefined || code.byteLength === 0 ? [] : [{ address: HELPER, code, balance: 1n }]
}

/** op(gas, target, [value], 0, input, 0, output), the answer dropped. */
const call = (op: string, who: Hex, { input = 0, output = 0, value = 0, gas = 'GAS' } = {}): Uint8Array => {
  const wei = op === 'CALL' || op === 'CALLCODE' ? `${value}` : ''
  return asm(`${output} 0 ${input} 0 ${wei} ${who} ${gas} ${op} POP`)
}

const plainCalls = family({
  kind: 'calls',
  name: 'calls',
  axes: {
    op: CALLS,
    target: targets,
    input: [0, 32, 4_096, 100_000],
    output: [0, 32, 4_096, 100_000],
    value: [0, 1],
    gas: ['GAS', '0', '2300', '100000'],
  },
  build({ op, target, input, output, value, gas }) {
    const isRecursive = target === 'self'
    const body = call(op, addressOf(target), { input, output, value, gas: isRecursive ? 'GAS' : gas })
    return callOf(program(loop(unrolled(body), GAS_LEFT)), helper(target))
  },
})

/** Frames that each hold memory of their own while the next one runs. */
const deepCalls = family({
  kind: 'deep frames',
  name: 'deep frames',
  axes: {
    op: ['CALL', 'STATICCALL', 'DELEGATECALL'],
    memory: [0, 32, 1_024, 8_192, 8_224, 32_768, 131_072],
    answer: [0, 32, 8_192, 32_768],
    ending: ['STOP', '0 0 REVERT', 'INVALID', '0 0 RETURN'],
    writes: ['', 'GAS 0 SSTORE', 'GAS GAS TSTORE', '0 0 LOG0'],
  },
  build({ op, memory, answer, ending, writes }) {
    const grow = memory === 0 ? '' : `1 ${memory - 32} MSTORE`
    const work = op === 'STATICCALL' ? '' : writes
    const ends = ending.startsWith('0 0') ? `${answer} ${ending.slice(2)}` : ending
    const inner = program(asm(`${grow} ${work}`), call(op, HELPER), asm(ends))
    return callOf(program(loop(call('CALL', HELPER), GAS_LEFT)), [{ address: HELPER, code: inner, balance: 1n }])
  },
})

/** Effects that a frame may leave, repeated many times before further frames. */
const TRACES: Readonly<Record<string, Uint8Array>> = {
  log: asm('0 0 LOG0'),
  'log of four topics': asm('1 2 3 4 0 0 LOG4'),
  'log of data': asm('1024 0 LOG0'),
  creation: asm('0 0 0 CREATE POP'),
  'self-destruct': program(push(0x5fff), asm('0 MSTORE 2 30 0 CREATE POP')),
  'stored word': asm('1 GAS SSTORE'),
  'transient word': asm('1 GAS TSTORE'),
  'warm slot': asm('GAS SLOAD POP'),
  'warm account': asm('GAS BALANCE POP'),
  'payment to a new account': asm('0 0 0 0 1 GAS 0 CALL POP'),
}

const afterwards = family({
  kind: 'frames after effects',
  name: 'frames after effects',
  axes: {
    trace: Object.keys(TRACES),
    op: [...CALLS, 'CREATE'],
    target: ['stop', 'revert', 'nothing', 'log and revert', 'write and revert', 'fail'],
    share: [50, 20, 80],
  },
  build({ trace, op, target, share }, gas) {
    const frame = op === 'CREATE' ? asm('0 0 0 CREATE POP') : call(op, HELPER, { gas: '30000' })
    const first = loop(unrolled(TRACES[trace] as Uint8Array), (gas * BigInt(100 - share)) / 100n)
    return callOf(program(first, loop(unrolled(frame), GAS_LEFT)), helper(target))
  },
})

/** Creations of init code of every size: read from memory, hashed, analysed, run, its answer stored. */
const INIT_BODIES: Readonly<Record<string, (size: number) => Uint8Array>> = {
  stops: size => new Uint8Array(size),
  'jump over pushes': size => jumpOver(size, 0x60),
  'jump over wide pushes': size => jumpOver(size, 0x7f),
  'jump over destinations': size => jumpOver(size, 0x5b),
  'code of zeros': size => program(push(Math.min(size, 24_576)), asm('0 RETURN')),
  'small code': () => deploying(asm('STOP')),
  reverting: () => asm('0 0 REVERT'),
}

const jumpOver = (size: number, filling: number): Uint8Array => {
  const code = new Uint8Array(Math.max(size, 8)).fill(filling)
  const end = code.byteLength - 1
  code.set(program(Uint8Array.of(0x61, end >> 8, end & 255), asm('JUMP')))
  // Behind the widest push: no data.
  code.fill(0x5b, Math.max(4, end - 33))
  return code
}

const creations = family({
  kind: 'creations',
  name: 'creations',
  axes: {
    op: ['CREATE', 'CREATE2'],
    init: Object.keys(INIT_BODIES),
    size: [32, 1, 0, 1_024, 8_192, 24_576, 49_152],
    value: [0, 1],
  },
  build({ op, init, size, value }) {
    const code = (INIT_BODIES[init] as (size: number) => Uint8Array)(size)
    const salt = op === 'CREATE2' ? 'GAS' : ''
    const create = asm(`${salt} ${code.byteLength} 0 ${value} ${op} POP`)
    const copy = asm(`${code.byteLength} 0 0 ${HELPER} EXTCODECOPY`)
    return callOf(program(copy, loop(create, GAS_LEFT * 60n)), [{ address: HELPER, code }])
  },
})

/** Each frame creates the next one before it ends. */
const nested = family({
  kind: 'nested creations',
  name: 'nested creations',
  axes: { ending: ['0 0 RETURN', '0 0 REVERT', 'INVALID', '0 SELFDESTRUCT'], padding: [0, 64, 1_024] },
  build({ ending, padding }) {
    const init = program(
      asm('CODESIZE 0 0 CODECOPY CODESIZE 0 0 CREATE POP'),
      asm(ending),
      repeat(padding, asm('STOP')),
    )
    const size = init.byteLength
    const start = asm(`${size} 0 0 ${HELPER} EXTCODECOPY`)
    return callOf(program(start, loop(asm(`${size} 0 0 CREATE POP`), GAS_LEFT)), [{ address: HELPER, code: init }])
  },
})

export const FRAME_FAMILIES = [plainCalls, deepCalls, afterwards, creations, nested]
export { GAS_LEFT, HELPER, RICH }
