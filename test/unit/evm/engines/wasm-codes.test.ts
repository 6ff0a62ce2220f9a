import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import type { EngineMessage } from '../../../../src/evm/engine.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { StateReader } from '../../../../src/state/state-reader.ts'
import { asm, loop, program, push } from '../../../worst-case/assembler.ts'
import { type MemoryState, memoryAccount } from '../../state/memory-state.ts'
import { env, funded, key, messageTo, paramsAt, withCode } from '../world.ts'

/*
 * Codes beyond the pages that the engine in WebAssembly has for them: others lose their place, the message goes on where it is, once, and
 * with the result of the interpreter.
 */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const FIRST = 0xc0de_0000_0000n
const addressOf = (index: number): Hex => `0x${(FIRST + BigInt(index)).toString(16).padStart(40, '0')}`

/** `body`, then bytes that no other code has, up to `size`. */
const codeOf = (body: Uint8Array, index: number, size = 24_576): Uint8Array => {
  const code = new Uint8Array(size).fill(0x5b)
  code.set(body)
  code.set([0x62, index >> 16, (index >> 8) & 255, index & 255], body.byteLength)
  return code
}

const contracts = (count: number, code: (index: number) => Uint8Array): MemoryState => {
  const state = funded([sender])
  for (let i = 0; i < count; i++) withCode(state, addressOf(i), code(i), 1n)
  return state
}

const MESSAGE = messageTo(TARGET, 100_000_000n, sender)

const run = async (base: MemoryState, code: Uint8Array, codePages?: number, sent: Partial<EngineMessage> = {}) => {
  const state = withCode(base, TARGET, code, 10n ** 18n)
  const message = { ...MESSAGE, ...sent }
  const block = env({ params: paramsAt('prague') })
  let [elsewhere, codesRead] = [0, 0]
  const reader: StateReader = {
    ...{
      storageVersion: 0,
      account: address => state.account(address),
      storage: (address, slot) => state.storage(address, slot),
    },
    code(address) {
      codesRead++
      return state.code(address)
    },
  } as StateReader
  const oracle = createInterpreter()
  const fallback = () => {
    elsewhere++
    return oracle
  }
  const engine = createWasmEngine(fallback, codePages)
  const outcome = async (ran: typeof engine, under: StateReader) => {
    const journal = new Journal(under)
    const { gasUsed, failure, output } = await ran.run(journal, block, message)
    const { accounts } = journal.changes()
    return { gasUsed, failure, output: Buffer.from(output).toString('hex'), changed: [...accounts] }
  }
  const found = await outcome(engine, reader)
  const read = codesRead
  return { found, expected: await outcome(oracle, state), elsewhere, read }
}

describe('codes that exceed their pages', () => {
  test('1,500 codes of 24 KiB are read and read again in one run of the message', async () => {
    const count = 1_500
    const body = asm('1 0 SLOAD ADD 0 SSTORE')
    const state = contracts(count, i => codeOf(program(body, asm('STOP')), i))
    const once = program(asm(`DUP1 ${count} SWAP1 MOD ${FIRST} ADD`), asm('0 0 0 0 0 DUP6 GAS CALL POP POP 1 ADD'))
    // As long as there is gas for another call: each contract is called more than once.
    const code = program(push(0), loop(once, 100_000n), asm('0 SSTORE STOP'))
    const { found, expected, elsewhere, read } = await run(state, code, 1_100)
    expect(elsewhere).toBe(0)
    expect(found).toEqual(expected)
    // Codes lost their place to each other.
    expect(read).toBeGreaterThan(2 * count)
  })

  test('frames go on in codes that were to lose their place', async () => {
    // Each contract calls the next one, jumps to the end of its code and counts there.
    const count = 60
    const end = 24_570
    const state = contracts(count, i => {
      const next = i + 1 < count ? `0 0 0 0 0 ${FIRST + BigInt(i + 1)} GAS CALL POP` : ''
      const code = codeOf(program(asm(next), push(end), asm('JUMP')), i)
      code.set(asm('JUMPDEST 1 0 SSTORE STOP'), end)
      return code
    })
    const code = program(
      ...Array.from({ length: 3 }, () => asm(`0 0 0 0 0 ${FIRST} GAS CALL POP 0 0 0 0 0 ${FIRST + 30n} GAS CALL POP`)),
      asm('STOP'),
    )
    const { found, expected, elsewhere } = await run(state, code, 70)
    expect(elsewhere).toBe(0)
    expect(found).toEqual(expected)
    expect(found.failure).toBeNull()
  })

  test('a frame that fails gives back accounts whose codes have lost their place', async () => {
    const count = 40
    const state = contracts(count, i => codeOf(asm('1 0 SSTORE STOP'), i))
    const each = (from: number, to: number, call: string) =>
      program(
        ...Array.from({ length: to - from }, (_, i) => asm(`0 0 0 0 ${call} ${FIRST + BigInt(from + i)} GAS CALL POP`)),
      )
    // The helper changes accounts, calls the others until the first ones are gone, and fails.
    const helper: Hex = `0x${'dd'.repeat(20)}`
    withCode(state, helper, program(each(0, 10, '1'), each(10, count, '0'), asm('0 0 REVERT')), 10n ** 18n)
    const code = program(
      each(0, 5, '1'),
      asm(`0 0 0 0 0 ${BigInt(helper)} GAS CALL POP`),
      each(0, count, '0'),
      asm('STOP'),
    )
    const { found, expected, elsewhere } = await run(state, code, 8)
    expect(elsewhere).toBe(0)
    expect(found).toEqual(expected)
  })

  test('sizes, hashes and bytes of codes are those of the account, whichever code has the place now', async () => {
    const count = 30
    const state = contracts(count, i => codeOf(asm('STOP'), i, 1_000 + 700 * i))
    const each = Array.from({ length: count * 3 }, (_, i) => {
      const address = FIRST + BigInt((i * 7) % count)
      return asm(`${address} EXTCODESIZE ADD 64 0 0 ${address} EXTCODECOPY 0 MLOAD XOR ${address} EXTCODEHASH XOR`)
    })
    const code = program(push(0), ...each, asm('0 MSTORE 32 0 RETURN'))
    const { found, expected, elsewhere } = await run(state, code, 6)
    expect(elsewhere).toBe(0)
    expect(found).toEqual(expected)
  })

  test('delegated accounts: the designator and the code it names are there at the same time', async () => {
    const count = 24
    const state = contracts(count, i => codeOf(asm('ADDRESS 0 SSTORE STOP'), i))
    for (let i = 0; i < count; i++) {
      const code = hexToBytes(`0xef0100${addressOf(i).slice(2)}`)
      state.accounts.set(addressOf(1_000 + i), memoryAccount({ nonce: 1, balance: 1n, codeHash: keccak256Hex(code) }))
      state.codes.set(keccak256Hex(code), code)
    }
    const each = Array.from({ length: count * 2 }, (_, i) =>
      asm(`0 0 0 0 0 ${FIRST + 1_000n + BigInt((i * 5) % count)} GAS CALL POP`),
    )
    const { found, expected, elsewhere } = await run(state, program(...each, asm('STOP')), 6)
    expect(elsewhere).toBe(0)
    expect(found).toEqual(expected)
  })
})

describe('codes without a page', () => {
  const large = (size: number) => codeOf(program(push(size - 1), asm('JUMP')), 1, size)

  test('as large as a request has them run here', async () => {
    const { found, expected, elsewhere } = await run(funded([sender]), large(2_600_000))
    expect(elsewhere).toBe(0)
    expect(found).toEqual(expected)
    expect(found.failure).toBeNull()
  })

  test('that fill their region run on the other engine', async () => {
    const { found, expected, elsewhere } = await run(funded([sender]), large(5_000_000))
    expect(elsewhere).toBe(1)
    expect(found).toEqual(expected)
    expect(found.failure).toBeNull()
  })

  test('that fill their region end a trace, whose steps are reported', async () => {
    const state = withCode(funded([sender]), TARGET, large(5_000_000), 1n)
    const engine = createWasmEngine(() => Promise.reject(new Error('no other engine')))
    const accesses = { address: () => {}, slot: () => {} }
    const running = Promise.resolve().then(() => engine.run(new Journal(state), env(), MESSAGE, { accesses }))
    await expect(running).rejects.toMatchObject({ code: 'EXECUTION_FAILED' })
  })
})
