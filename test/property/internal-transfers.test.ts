import { bytesToHex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  encodeInternalTransfers,
  INTERNAL_KINDS,
  readInternalTransfers,
} from '../../src/primitives/receipt/internal-transfer.ts'
import { SEED } from '../support/seed.ts'

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytesToHex)
const transfer = fc.record({
  transactionIndex: fc.nat(),
  kind: fc.constantFrom(...INTERNAL_KINDS),
  from: address,
  to: address,
  value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
})

test('internal transfers come back as they were stored', () => {
  fc.assert(
    fc.property(fc.array(transfer), transfers => {
      expect([...readInternalTransfers(encodeInternalTransfers(transfers))]).toEqual(transfers)
    }),
    { seed: SEED },
  )
})

test('bytes that are no such list are refused, and nothing else is thrown', () => {
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      try {
        const decoded = [...readInternalTransfers(bytes)]
        expect(encodeInternalTransfers(decoded)).toEqual(bytes)
      } catch (error) {
        expect(isCoded(error) && error.code).toBeOneOf(['INTERNAL_TRANSFERS_MALFORMED', 'RLP_INVALID'])
      }
    }),
    { seed: SEED },
  )
})
