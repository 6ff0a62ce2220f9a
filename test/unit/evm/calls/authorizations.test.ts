import { bigintToBytes, concatBytes, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test, vi } from 'vitest'
import { forksAtGenesis } from '../../../../devtools/ethereum-params.ts'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { keccak256 } from '../../../../src/crypto/hash.ts'
import { sign, signatures } from '../../../../src/crypto/signature.ts'
import type { CallMessage } from '../../../../src/evm/calls/message/call-args.ts'
import type { CallContext } from '../../../../src/evm/calls/message/call-message.ts'
import { call, createAccessList, estimateGas } from '../../../../src/evm/calls/run-call.ts'
import type { CallRequest } from '../../../../src/evm/calls/types.ts'
import { createPrefetchedReader } from '../../../../src/evm/prefetched-reader.ts'
import { encodeRlp } from '../../../../src/primitives/rlp/rlp.ts'
import type { Authorization } from '../../../../src/primitives/transaction/transaction.ts'
import type { AsyncStateReader, StateReader } from '../../../../src/state/state-reader.ts'
import { env, funded, type Key, key, withCode } from '../world.ts'

const [alice, bob] = [key(1), key(2)] as const
const CONTRACT: Hex = `0x${'0d'.repeat(20)}`
/** Answers what stands in slot 0, and its own address. */
const CODE = Uint8Array.of(0x5f, 0x54, 0x5f, 0x52, 0x30, 0x60, 0x20, 0x52, 0x60, 0x40, 0x5f, 0xf3)
const engine = createInterpreter()
const prague = {
  ...NETWORKS.devnet,
  calldataGasPerByte: null,
}

/** Authorization that an account signs to delegate to the code at `address` (EIP-7702). */
const authorization = ({ secret }: Key, address: Hex, nonce = 0n): Authorization => {
  const chainId = BigInt(prague.chainId)
  const signed = encodeRlp([bigintToBytes(chainId), hexToBytes(address), bigintToBytes(nonce)])
  const signature = sign(keccak256(concatBytes(Uint8Array.of(5), signed)), secret)
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)]
  return { chainId, address, nonce, yParity: signature[64] as number, r, s }
}

const world = (): StateReader => {
  const state = withCode(funded([alice, bob]), CONTRACT, CODE)
  state.accounts.get(bob.address)?.storage.set(toWord(0n), toWord(7n))
  return state
}
const context = (more: Partial<CallContext> = {}): CallContext => ({
  reader: world(),
  prefetch: undefined,
  env: env({ params: prague }),
  engine,
  interrupt: undefined,
  ...more,
})
const request = (message: Partial<CallMessage>): CallRequest => ({
  number: 1_000,
  message: { from: alice.address, to: bob.address, value: 0n, data: EMPTY_BYTES, ...message },
})
const delegating = request({ authorizationList: [authorization(bob, CONTRACT)] })
const OWN_SLOT = concatBytes(hexToBytes(toWord(7n)), hexToBytes(toWord(BigInt(bob.address))))

test('a call sees the accounts that it delegates, and later calls do not', async () => {
  const { output, gasUsed } = await call(context(), delegating)
  expect(output).toEqual(OWN_SLOT)
  // 25,000 for the authorization, of which an account that exists gets back a fifth of all at most.
  expect(gasUsed).toBeGreaterThan(36_000n)
  expect((await call(context(), request({}))).output).toEqual(EMPTY_BYTES)
})

test('an estimate counts them, whether or not they hold', async () => {
  const unsigned = { ...authorization(bob, CONTRACT), s: Uint8Array.of(1) }
  expect(await estimateGas(context(), request({}))).toBe(21_000n)
  expect(await estimateGas(context(), request({ authorizationList: [unsigned] }))).toBe(46_000n)
  const gas = await estimateGas(context(), delegating)
  expect((await call(context(), { ...delegating, message: { ...delegating.message, gas } })).output).toEqual(OWN_SLOT)
  await expect(call(context(), { ...delegating, message: { ...delegating.message, gas: gas - 1n } })).rejects.toThrow()
})

test('an estimate recovers each signer once, however many times it runs the call', async () => {
  const recover = vi.spyOn(signatures(), 'recover')
  const authorizationList = [authorization(bob, CONTRACT, 8n), authorization(alice, CONTRACT, 8n)]
  await estimateGas(context(), request({ ...delegating.message, authorizationList }))
  await estimateGas(context(), request({ ...delegating.message, authorizationList }))
  expect(recover).toHaveBeenCalledTimes(2)
  recover.mockRestore()
})

test('one for another nonce gives no code', async () => {
  const { output } = await call(context(), request({ authorizationList: [authorization(bob, CONTRACT, 5n)] }))
  expect(output).toEqual(EMPTY_BYTES)
})

test('they have no effect before Prague', async () => {
  const cancun = context({ env: env({ params: { ...prague, forks: forksAtGenesis('cancun') } }) })
  expect(await call(cancun, delegating)).toEqual({ output: EMPTY_BYTES, gasUsed: 21_000n })
})

test('a state that is read with promises answers the same', async () => {
  const reader = world()
  const source: AsyncStateReader = {
    account: async address => reader.account(address),
    storage: async (address, slot) => reader.storage(address, slot),
    code: async address => reader.code(address),
    release: () => {},
  }
  const later = () => context(createPrefetchedReader(source))
  expect(await call(later(), delegating)).toEqual(await call(context(), delegating))
  expect(await estimateGas(later(), delegating)).toBe(await estimateGas(context(), delegating))
  expect(await createAccessList(later(), delegating)).toEqual(await createAccessList(context(), delegating))
})
