import { bytesToHex, EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import { createEthereumJsEngine } from '../../../../src/evm/engines/ethereumjs/engine.ts'
import { create2Address } from '../../../../src/primitives/receipt/address.ts'
import { engine, PRESTATE, traceAll } from '../../../support/trace.ts'
import { env, funded, key, signed, withCode } from '../world.ts'

const CREATOR: Hex = `0x${'ce'.repeat(20)}`
/** CREATE2 of no init code, with no value and salt 0. */
const CREATES = Uint8Array.of(0x5f, 0x5f, 0x5f, 0x5f, 0xf5, 0x00)
const TAKEN = create2Address(CREATOR, ZERO_HASH, keccak256Hex(EMPTY_BYTES))
const THERE = Uint8Array.of(0x60, 0x01)

test.each([
  ['wasm', engine],
  ['ethereumjs', createEthereumJsEngine()],
])('the code of a contract that CREATE2 meets is in the state before (%s)', async (_, tracing) => {
  const alice = key(1)
  const state = withCode(withCode(funded([alice]), CREATOR, CREATES), TAKEN, THERE)
  const call = signed(alice, { to: CREATOR })
  const [traced] = await traceAll(state, env(), [call], PRESTATE, tracing)
  expect(traced?.json).toMatchObject({ [TAKEN]: { code: bytesToHex(THERE) } })
})
