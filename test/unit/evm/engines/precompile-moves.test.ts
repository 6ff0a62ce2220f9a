import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { sha256 } from 'ethereum-cryptography/sha256.js'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import type { MovedPrecompiles } from '../../../../src/evm/moved-precompiles.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { code, env, funded, key, withCode } from '../world.ts'

const sender = key(1)
const SHA256: Hex = `0x${'02'.padStart(40, '0')}`
const ELSEWHERE: Hex = `0x${'12'.repeat(20)}`
const INPUT = Uint8Array.of(0x12, 0x34)
const DIGEST = bytesToHex(sha256(INPUT))
/** One word: 0x2a. */
const CODE = code(0x60, '2a', 0x5f, 0x52, 0x60, '20', 0x5f, 0xf3)
const engine = createInterpreter()

const ask = async (to: Hex, moves?: MovedPrecompiles, state = funded([sender])): Promise<Hex> => {
  const message = { from: sender.address, to, value: 0n, data: INPUT, gas: 100_000n, gasPrice: 0n, accessList: [] }
  const { output } = await engine.run(new Journal(state), env(), message, moves === undefined ? {} : { moves })
  return bytesToHex(output)
}

test('a precompile answers where it was moved to, and code where it was', async () => {
  const moves = new Map([
    [ELSEWHERE, SHA256],
    [SHA256, null],
  ])
  expect(await ask(ELSEWHERE, moves)).toBe(DIGEST)
  expect(await ask(SHA256, moves)).toBe('0x')
  expect(BigInt(await ask(SHA256, moves, withCode(funded([sender]), SHA256, CODE)))).toBe(42n)
  // The next message, on the same instance, knows nothing of it.
  expect(await ask(SHA256)).toBe(DIGEST)
  expect(await ask(ELSEWHERE)).toBe('0x')
})
