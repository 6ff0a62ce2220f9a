import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { asm, loop, program, unrolled } from '../../../worst-case/assembler.ts'
import { env, funded, key, messageTo, paramsAt, withCode } from '../world.ts'
import { engineOf } from './engines.ts'

/*
 * Memory is paid once, and passing it on to a precompile costs a hundred gas however long it is: what the precompile does not read, or is
 * not paid for, must not be copied either.
 */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const LONG_BYTES = 1024 * 1024
const GAS = 10_000_000n

const message = messageTo(TARGET, GAS, sender)

/** Processor time, in microseconds, of as many calls with an input of this size as the gas pays for. */
const costOf = async (address: number, gas: number, size: number): Promise<number> => {
  const call = asm(`0 0 ${size} 0 ${address} ${gas} STATICCALL POP`)
  const code = program(asm(`0 ${LONG_BYTES} MSTORE8`), loop(unrolled(call, 200), 400_000n))
  const state = withCode(funded([sender]), TARGET, code)
  const engine = await engineOf('wasm')
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 3; tries++) {
    const start = process.cpuUsage()
    const { failure } = await engine.run(new Journal(state), env({ params: paramsAt('osaka') }), message)
    const { user, system } = process.cpuUsage(start)
    expect(failure).toBeNull()
    least = Math.min(least, user + system)
  }
  return least
}

test.each([
  ['ecrecover', 0x01, 4_000],
  ['sha256', 0x02, 60],
  ['ripemd160', 0x03, 600],
  ['modexp without gas', 0x05, 0],
  ['modexp', 0x05, 1_000],
  ['bn254 add', 0x06, 150],
  ['blake2f', 0x09, 0],
  ['bls12-381 g1 add', 0x0b, 1_500],
  ['bls12-381 g2 add', 0x0d, 2_400],
])('a long input costs %s no time', async (_, address, gas) => {
  const short = await costOf(address, gas, 32)
  expect(await costOf(address, gas, LONG_BYTES)).toBeLessThan(3 * short + 60_000)
})
