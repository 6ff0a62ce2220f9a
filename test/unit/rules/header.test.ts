import { EMPTY_BYTES, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../src/config/networks.ts'
import { type Block, blockFromParts, hashByteStrings } from '../../../src/primitives/block.ts'
import { certificateFromSigners } from '../../../src/primitives/consensus/certificate.ts'
import { EXTRA_DATA_VERSION, type ExtraData, encodeExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header, ZERO_NONCE } from '../../../src/primitives/header.ts'
import { EMPTY_BLOOM } from '../../../src/primitives/receipt/bloom.ts'
import { type BodyError, checkBody } from '../../../src/rules/body.ts'
import { checkHeader, type HeaderError } from '../../../src/rules/header.ts'

const params = NETWORKS.mainnet
const NOW_MS = 1_700_000_010_400
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

const extra: ExtraData = {
  version: EXTRA_DATA_VERSION,
  vanity: EMPTY_BYTES,
  proposer: ZERO_ADDRESS,
  parentCertificate: certificateFromSigners(0, 1, new Map([[0, new Uint8Array(65)]])),
  proofTip: ZERO_HASH,
  proofHeadersHash: EMPTY_LIST_HASH,
  evidenceRoot: EMPTY_LIST_HASH,
}
const parentHeader: Header = {
  parentHash: ZERO_HASH,
  sha3Uncles: EMPTY_LIST_HASH,
  miner: ZERO_ADDRESS,
  stateRoot: ZERO_HASH,
  transactionsRoot: EMPTY_ROOT,
  receiptsRoot: EMPTY_ROOT,
  logsBloom: EMPTY_BLOOM,
  difficulty: 1n,
  number: 7,
  gasLimit: params.blockGasLimit,
  gasUsed: 0n,
  timestamp: 1_700_000_009,
  extraData: encodeExtraData(extra),
  mixHash: ZERO_HASH,
  nonce: ZERO_NONCE,
  baseFeePerGas: 25_000_000_000n,
}
const bodyless = { transactions: [], proofHeaders: [], evidence: [] }
const parent: Block = blockFromParts(parentHeader, bodyless)
const child: Header = { ...parentHeader, parentHash: parent.hash, number: 8, timestamp: 1_700_000_010 }

const errorOf = (run: () => unknown): HeaderError | BodyError | undefined => {
  try {
    run()
  } catch (error) {
    if (error instanceof CodedError) return error.detail as HeaderError | BodyError
    throw error
  }
  return undefined
}
const check = (change: Partial<Header>) => errorOf(() => checkHeader({ ...child, ...change }, parent, params, NOW_MS))

test('a header that keeps the rules answers its extra data', () => {
  expect(checkHeader(child, parent, params, NOW_MS)).toEqual(extra)
})

test('gas used is bounded by the block limit where that is less, and by execution at exactly its bound', () => {
  const small = { ...params, blockGasLimit: 5_000_000n }
  const header = { ...child, gasLimit: 5_000_000n }
  const used = (gasUsed: bigint) => errorOf(() => checkHeader({ ...header, gasUsed }, parent, small, NOW_MS))
  expect(used(5_000_000n)).toBeUndefined()
  expect(used(5_000_001n)).toEqual({ code: 'HEADER_GAS_USED', have: 5_000_001n, want: 5_000_000n })
  expect(check({ gasUsed: 400_000_000n })).toBeUndefined()
})

test("on a development chain time, base fee, gas limit and beneficiary are the proposer's choice, as far as they are possible", () => {
  const dev = { ...params, devHelpers: true }
  const choose = (change: Partial<Header>) => errorOf(() => checkHeader({ ...child, ...change }, parent, dev, NOW_MS))
  for (const choice of [
    { timestamp: parentHeader.timestamp },
    { timestamp: 4_000_000_000 },
    { baseFeePerGas: 0n },
    { baseFeePerGas: 10n ** 15n },
    { gasLimit: 21_000n },
    { miner: '0x00000000000000000000000000000000000000b0' },
  ] as const)
    expect(choose(choice)).toBeUndefined()
  expect(choose({ timestamp: parentHeader.timestamp - 1 })?.code).toBe('HEADER_TIMESTAMP_TOO_EARLY')
  expect(choose({ gasLimit: 5n, gasUsed: 6n })?.code).toBe('HEADER_GAS_USED')
  expect(choose({ gasUsed: 400_000_001n })?.code).toBe('HEADER_GAS_USED')
  expect(choose({ difficulty: 2n })?.code).toBe('HEADER_DIFFICULTY')
  const { baseFeePerGas: _, ...without } = child
  expect(errorOf(() => checkHeader(without, parent, dev, NOW_MS))?.code).toBe('HEADER_BASE_FEE')
})

describe('a header is refused for', () => {
  test.each<[string, Partial<Header>, HeaderError]>([
    ['its number', { number: 9 }, { code: 'HEADER_NUMBER', have: 9, want: 8 }],
    ['its parent', { parentHash: ZERO_HASH }, { code: 'HEADER_PARENT_HASH', have: ZERO_HASH, want: parent.hash }],
    ['its difficulty', { difficulty: 2n }, { code: 'HEADER_DIFFICULTY', have: 2n, want: 1n }],
    [
      'its nonce',
      { nonce: '0x0000000000000001' },
      { code: 'HEADER_NONCE', have: '0x0000000000000001', want: ZERO_NONCE },
    ],
    ['its mix hash', { mixHash: parent.hash }, { code: 'HEADER_MIX_HASH', have: parent.hash, want: ZERO_HASH }],
    ['uncles', { sha3Uncles: ZERO_HASH }, { code: 'HEADER_UNCLES', have: ZERO_HASH, want: EMPTY_LIST_HASH }],
    [
      'the timestamp of its parent',
      { timestamp: parentHeader.timestamp },
      { code: 'HEADER_TIMESTAMP_TOO_EARLY', have: 1_700_000_009, want: 1_700_000_010 },
    ],
    [
      'a timestamp more than a second ahead',
      { timestamp: 1_700_000_012 },
      { code: 'HEADER_TIMESTAMP_IN_FUTURE', have: 1_700_000_012, want: 1_700_000_011 },
    ],
    [
      'its gas limit',
      { gasLimit: 30_000_000n },
      { code: 'HEADER_GAS_LIMIT', have: 30_000_000n, want: 999_999_999_999n },
    ],
    [
      'more gas used than a block may execute',
      { gasUsed: 400_000_001n },
      { code: 'HEADER_GAS_USED', have: 400_000_001n, want: 400_000_000n },
    ],
    [
      'its base fee',
      { baseFeePerGas: 26_000_000_000n },
      { code: 'HEADER_BASE_FEE', have: 26_000_000_000n, want: 25_000_000_000n },
    ],
    [
      'a member of other chains',
      { requestsHash: ZERO_HASH },
      { code: 'HEADER_FOREIGN_MEMBER', member: 'requestsHash' },
    ],
    [
      'the lack of a certificate',
      { extraData: encodeExtraData({ ...extra, parentCertificate: null }) },
      { code: 'HEADER_EXTRA_DATA', reason: 'no parent certificate' },
    ],
    [
      'extra data of no form',
      { extraData: EMPTY_BYTES },
      { code: 'HEADER_EXTRA_DATA', reason: 'rlp: too few elements' },
    ],
  ])('%s', (_, change, want) => {
    expect(check(change)).toEqual(want)
  })

  test('a missing base fee', () => {
    const { baseFeePerGas: _, ...without } = child
    expect(errorOf(() => checkHeader(without, parent, params, NOW_MS))).toMatchObject({
      code: 'HEADER_BASE_FEE',
      have: null,
    })
  })

  test('a certificate of genesis', () => {
    const genesis = blockFromParts({ ...parentHeader, number: 0 }, bodyless)
    const first = { ...child, number: 1, parentHash: genesis.hash }
    expect(errorOf(() => checkHeader(first, genesis, params, NOW_MS))).toMatchObject({ code: 'HEADER_EXTRA_DATA' })
    const without = { ...first, extraData: encodeExtraData({ ...extra, parentCertificate: null }) }
    expect(errorOf(() => checkHeader(without, genesis, params, NOW_MS))).toBeUndefined()
  })
})

test('one second ahead is let in, and a block time below a second lets timestamps repeat', () => {
  expect(check({ timestamp: 1_700_000_011 })).toBeUndefined()
  const instant = { ...params, blockTimeMs: 0 }
  const again = { ...child, timestamp: parentHeader.timestamp }
  expect(errorOf(() => checkHeader(again, parent, instant, NOW_MS))).toBeUndefined()
})

describe('a body is the one its header names', () => {
  const proofHeaders = [Uint8Array.of(1)]
  const check = (body: Partial<typeof bodyless>, named: Partial<ExtraData>, header: Partial<Header> = {}) =>
    errorOf(() => checkBody({ header: { ...child, ...header }, ...bodyless, ...body }, { ...extra, ...named }))

  test('or refused', () => {
    expect(check({}, {})).toBeUndefined()
    expect(check({ proofHeaders } as object, { proofHeadersHash: hashByteStrings(proofHeaders) })).toBeUndefined()
    expect(check({ proofHeaders } as object, {})).toMatchObject({ code: 'BODY_PROOF_HEADERS', want: EMPTY_LIST_HASH })
    expect(check({}, { evidenceRoot: ZERO_HASH })).toMatchObject({ code: 'BODY_EVIDENCE', want: ZERO_HASH })
    expect(check({}, {}, { transactionsRoot: ZERO_HASH })).toMatchObject({
      code: 'BODY_TRANSACTIONS_ROOT',
      have: EMPTY_ROOT,
    })
  })

  test('or too large', () => {
    const transaction = (bytes: number) => ({ raw: new Uint8Array(bytes) })
    const large = { transactions: [transaction(1), transaction(128 * 1024 + 1)] } as object
    expect(check(large, {})).toMatchObject({ code: 'BODY_TRANSACTION_TOO_LARGE', index: 1 })
    const many = { transactions: Array.from({ length: 33 }, () => transaction(128 * 1024)) } as object
    expect(check(many, {})).toMatchObject({ code: 'BODY_TOO_LARGE' })
  })
})
