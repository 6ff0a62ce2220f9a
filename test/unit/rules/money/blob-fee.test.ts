import { createBlockHeader } from '@ethereumjs/block'
import { createCustomCommon, Hardfork, Mainnet } from '@ethereumjs/common'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ETHEREUM_BLOBS, nextExcessBlobGas } from '../../../../devtools/ethereum-params.ts'
import { GAS_PER_BLOB } from '../../../../src/config/forks.ts'
import { blobBaseFee } from '../../../../src/rules/money/blob-fee.ts'
import { SEED } from '../../../support/seed.ts'

const { cancun, prague, osaka } = ETHEREUM_BLOBS

describe('the price of blob gas', () => {
  // The step to 2 and the figure for ten mebigas are those of the EIP's own test vectors.
  test.each([
    [0n, 1n],
    [2_314_057n, 1n],
    [2_314_058n, 2n],
    [10n * 1024n * 1024n, 23n],
  ])('at an excess of %d', (excess, price) => {
    expect(blobBaseFee(excess, cancun)).toBe(price)
  })

  test('a wider fraction moves it more slowly', () => {
    expect(blobBaseFee(10n * 1024n * 1024n, prague)).toBe(8n)
  })

  test('it is not computed beyond the largest possible balance', () => {
    const last = 177n * cancun.baseFeeUpdateFraction
    expect(blobBaseFee(last, cancun)).toBeLessThan(2n ** 256n)
    expect(blobBaseFee(last, cancun)).toBeGreaterThan(2n ** 254n)
    for (const excess of [last + 1n, 2n ** 64n - 1n, 2n ** 256n - 1n]) {
      expect(blobBaseFee(excess, cancun)).toBe(2n ** 256n - 1n)
    }
  })
})

describe('the excess of the next block', () => {
  test('the first block with blobs has none', () => {
    expect(nextExcessBlobGas({}, cancun, false)).toBe(0n)
  })

  test('it grows by what is used above the target, and never below zero', () => {
    const at = (excess: bigint, blobs: bigint) =>
      nextExcessBlobGas({ excessBlobGas: excess, blobGasUsed: blobs * GAS_PER_BLOB }, cancun, false) / GAS_PER_BLOB
    expect([at(0n, 0n), at(0n, 3n), at(0n, 6n), at(7n * GAS_PER_BLOB, 0n), at(7n * GAS_PER_BLOB, 5n)]).toEqual([
      0n,
      0n,
      3n,
      4n,
      9n,
    ])
  })

  test.each([
    ['cancun', cancun, Hardfork.Cancun],
    ['prague', prague, Hardfork.Prague],
    ['osaka', osaka, Hardfork.Osaka],
  ] as const)('as another implementation has it: %s', (_, blobs, hardfork) => {
    const common = createCustomCommon({ chainId: 1 }, Mainnet, { hardfork })
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 60_000_000n }),
        fc.nat(blobs.max),
        fc.oneof(fc.bigInt({ min: 7n, max: 10n ** 12n }), fc.bigInt({ min: 7n, max: 1_000n })),
        (excessBlobGas, used, baseFeePerGas) => {
          const parent = { excessBlobGas, blobGasUsed: BigInt(used) * GAS_PER_BLOB, baseFeePerGas }
          const header = createBlockHeader(parent, { common, skipConsensusFormatValidation: true })
          expect(nextExcessBlobGas(parent, blobs, hardfork === Hardfork.Osaka)).toBe(
            header.calcNextExcessBlobGas(header.common),
          )
        },
      ),
      { seed: SEED, numRuns: 300 },
    )
  })
})
