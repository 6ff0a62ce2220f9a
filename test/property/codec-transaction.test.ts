import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createTxFromRLP } from '@ethereumjs/tx'
import { bytesToHex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { MAX_UINT64, uint64FromBigint } from '@tandem/base/uint64.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recoverTransaction } from '../../devtools/state-test/transaction-sender.ts'
import { type DecodedTransaction, decodeTransaction } from '../../src/primitives/transaction/transaction.ts'
import {
  encodeTransaction,
  signingPayload,
  type UnsignedTransaction,
} from '../../src/primitives/transaction/transaction-encoding.ts'
import { signedBy } from '../support/signed-by.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

const hex = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map(bytesToHex)
const amount = (bits: bigint) =>
  fc.oneof(fc.constantFrom(0n, 1n, 127n, 128n, 2n ** bits - 1n), fc.bigInt({ min: 0n, max: 2n ** bits - 1n }))
const address = hex(20)
const accessList = fc.array(fc.record({ address, storageKeys: fc.array(hex(32), { maxLength: 3 }) }), { maxLength: 3 })
const common = {
  // EthereumJS knows no chain id of two kinds at once; ours are all below 2^53.
  chainId: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(20_250_217, 1_998_991, 3_503_995_874_084_926)),
  nonce: fc.oneof(fc.nat(300), fc.maxSafeNat(), amount(64n).map(uint64FromBigint)),
  gasLimit: amount(64n),
  value: amount(256n),
  data: fc.uint8Array({ maxLength: 80 }),
}
const legacy = fc
  .record({
    ...common,
    price: amount(96n),
    to: fc.option(address),
    chainId: fc.option(common.chainId, { nil: undefined }),
  })
  .map(
    ({ price, ...rest }): UnsignedTransaction => ({
      ...rest,
      type: 0,
      maxFeePerGas: price,
      maxPriorityFeePerGas: price,
      accessList: [],
    }),
  )
const withList = fc.record({ ...common, price: amount(96n), to: fc.option(address), accessList }).map(
  ({ price, ...rest }): UnsignedTransaction => ({
    ...rest,
    type: 1,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price,
  }),
)
const dynamic = fc
  .record({ ...common, fees: fc.tuple(amount(96n), amount(96n)), to: fc.option(address), accessList })
  .map(
    ({ fees, ...rest }): UnsignedTransaction => ({
      ...rest,
      type: 2,
      // EthereumJS refuses a tip above the cap already when it decodes; here the pool does.
      maxFeePerGas: fees[0] > fees[1] ? fees[0] : fees[1],
      maxPriorityFeePerGas: fees[0] > fees[1] ? fees[1] : fees[0],
    }),
  )
const word = fc.uint8Array({ minLength: 1, maxLength: 32 }).filter(bytes => bytes[0] !== 0)
const authorization = fc.record({
  chainId: fc.constantFrom(0n, 1n, 20_250_217n),
  address,
  nonce: amount(64n),
  yParity: fc.constantFrom(0, 1),
  r: word,
  s: word,
})
const setCode = fc
  .record({
    ...common,
    fee: amount(96n),
    to: address,
    accessList,
    authorizationList: fc.array(authorization, { minLength: 1, maxLength: 3 }),
  })
  .map(({ fee, ...rest }): UnsignedTransaction => ({ ...rest, type: 4, maxFeePerGas: fee, maxPriorityFeePerGas: 0n }))
const unsigned = fc.oneof(legacy, withList, dynamic, setCode)
const key = fc.bigInt({ min: 1n, max: 2n ** 255n }).map(n => Buffer.from(n.toString(16).padStart(64, '0'), 'hex'))

const chains = new Map<number, Common>()
const commonOf = (chainId: number): Common => {
  const known = chains.get(chainId)
  if (known !== undefined) return known
  const chain = new Common({ chain: { ...Mainnet, chainId }, hardfork: Hardfork.Prague })
  chains.set(chainId, chain)
  return chain
}

test('what we sign is what we decode, and what EthereumJS reads: fields, hash and sender', () => {
  fc.assert(
    fc.property(unsigned, key, (fields, privateKey) => {
      const tx = recoverTransaction(signedBy(fields, privateKey))
      expect(tx).toMatchObject(fields)
      expect(signingPayload(tx)).toEqual(signingPayload(fields))
      // Its own bounds on the product of gas and price are not those of the encoding.
      if (fields.gasLimit * fields.maxFeePerGas >= 2n ** 256n || fields.nonce === MAX_UINT64) return
      const reference = createTxFromRLP(tx.raw, {
        common: commonOf(fields.chainId ?? 1),
        allowUnlimitedInitCodeSize: true,
      })
      expect(bytesToHex(reference.hash())).toBe(tx.hash)
      expect(reference.getSenderAddress().toString()).toBe(tx.from)
      expect(reference.nonce).toBe(BigInt(tx.nonce))
      expect(reference.gasLimit).toBe(tx.gasLimit)
      expect(reference.value).toBe(tx.value)
      expect(bytesToHex(reference.data)).toBe(bytesToHex(tx.data))
      expect(reference.to?.toString() ?? null).toBe(tx.to)
    }),
    { seed, numRuns: 400 },
  )
})

test('whatever is accepted has this one serialisation', () => {
  const damaged = fc
    .tuple(unsigned, key, fc.nat(), fc.nat(255), fc.constantFrom('change', 'cut', 'add'))
    .map(([fields, privateKey, where, byte, how]) => {
      const raw = [...signedBy(fields, privateKey).raw]
      const at = where % raw.length
      if (how === 'change') raw[at] = byte
      else if (how === 'cut') raw.splice(at, 1)
      else raw.splice(at, 0, byte)
      return Uint8Array.from(raw)
    })
  let refused = 0
  fc.assert(
    fc.property(damaged, raw => {
      let tx: DecodedTransaction
      try {
        tx = decodeTransaction(raw)
      } catch (error) {
        if (!isCoded(error) || error.code !== 'TRANSACTION_MALFORMED') throw error
        refused++
        return
      }
      const yParity = Number(tx.type === 0 ? (tx.v + 1n) & 1n : tx.v) as 0 | 1
      expect(encodeTransaction(tx, { yParity, r: tx.r, s: tx.s }).raw).toEqual(raw)
    }),
    { seed, numRuns: 2_000 },
  )
  expect(refused).toBeGreaterThan(100)
})
