import { concatBytes, type Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stripBlobSidecar } from '../../devtools/recorded/blob-sidecar.ts'
import { decodeChainFile } from '../../devtools/recorded/chain-file.ts'
import { encodeBlock } from '../../src/primitives/block.ts'
import {
  decodeEthereumBody,
  type EthereumBody,
  encodeEthereumBody,
  type Withdrawal,
} from '../../src/primitives/ethereum-body.ts'
import { recordedBytes, recordedGenesis } from '../support/recorded/chain.ts'
import { SEED } from '../support/seed.ts'

const genesis = recordedGenesis().header
const recorded = recordedBytes()
const blocks = decodeChainFile(recorded, genesis)
/** The last blocks have every member and body there is. */
const tail = recorded.subarray(blocks.slice(0, 44).reduce((sum, { size }) => sum + size, 0))

/** Bytes with one changed, one left out or one put in. */
const damaged = fc
  .record({ at: fc.nat(tail.byteLength - 1), byte: fc.nat(255), kind: fc.constantFrom('set', 'drop', 'insert') })
  .map(({ at, byte, kind }) => {
    const put = kind === 'drop' ? new Uint8Array(0) : Uint8Array.of(byte)
    return concatBytes(tail.subarray(0, at), put, tail.subarray(kind === 'insert' ? at : at + 1))
  })

test('damaged blocks are refused in words, or are other blocks with one encoding', () => {
  fc.assert(
    fc.property(damaged, bytes => {
      try {
        expect(concatBytes(...decodeChainFile(bytes, genesis).map(encodeBlock))).toEqual(bytes)
      } catch (error) {
        if (!isCoded(error) || error.code !== 'BLOCK_MALFORMED') throw error
      }
    }),
    { seed: SEED, numRuns: 2_000 },
  )
})

const quantity = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map(bytes => `0x${Buffer.from(bytes).toString('hex')}` as Hex)
const withdrawal: fc.Arbitrary<Withdrawal> = fc.record({
  index: quantity,
  validatorIndex: quantity,
  address,
  amountGwei: quantity,
})
const body: fc.Arbitrary<EthereumBody> = fc.record({
  uncles: fc.array(fc.constantFrom(...blocks.map(({ header }) => header)), { maxLength: 3 }),
  withdrawals: fc.option(fc.array(withdrawal, { maxLength: 20 }), { nil: undefined }),
  totalDifficulty: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
})

test('every body reads back as it was stored', () => {
  fc.assert(
    fc.property(body, value => {
      expect(decodeEthereumBody(encodeEthereumBody(value))).toEqual(value)
    }),
    { seed: SEED, numRuns: 300 },
  )
})

test('whatever is handed in as a transaction with blobs is refused in words', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.constantFrom(0 as const, 1 as const), (bytes, version) => {
      const handedIn = concatBytes(Uint8Array.of(3), bytes)
      expect(() => stripBlobSidecar(handedIn, version)).toThrow(
        expect.objectContaining({ detail: expect.objectContaining({ code: 'TRANSACTION_MALFORMED' }) }),
      )
    }),
    { seed: SEED, numRuns: 2_000 },
  )
})
