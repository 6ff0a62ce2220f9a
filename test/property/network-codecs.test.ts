import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../src/config/limits/network.ts'
import { SNAPSHOT_LIMITS } from '../../src/config/limits/sync.ts'
import { BLOCK_BOUNDS, CONSENSUS_BOUNDS, COUNCIL_BOUNDS, PROOF_BOUNDS } from '../../src/config/protocol-bounds.ts'
import { recordCodec } from '../../src/network/identity/peer-record.ts'
import { parsePeerUrl, peerUrl } from '../../src/network/identity/peer-url.ts'
import { ANSWER_NAMES, MESSAGES, type MessageName, messageSpec } from '../../src/network/messages/messages.ts'
import { PROOF_HEADER_BYTES } from '../../src/primitives/proof-header.ts'
import { encodeRlp } from '../../src/primitives/rlp/rlp.ts'
import { SEED } from '../support/seed.ts'
import { PAYLOADS } from './network-arbitraries.ts'
import { damaged, expectStrict } from './strict-codec.ts'

const NAMES = Object.keys(MESSAGES) as MessageName[]
const run = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => unknown, numRuns = 100) =>
  fc.assert(
    fc.property(arbitrary, value => void check(value)),
    { seed: SEED, numRuns },
  )
const payloadOf = (name: MessageName) => PAYLOADS[name] as fc.Arbitrary<unknown>

describe('messages', () => {
  test.each(NAMES)('%s is read as it was written', name => {
    const { codec, maxBytes } = messageSpec(name)
    run(payloadOf(name), value => {
      const encoded = codec.encode(value)
      expect(encoded.byteLength).toBeLessThanOrEqual(maxBytes)
      expect(codec.decode(encoded)).toEqual(value)
    })
  })

  test.each(NAMES)('%s from a stranger is canonical or refused', name => {
    const { codec } = messageSpec(name)
    let refused = 0
    run(
      damaged(payloadOf(name).map(value => codec.encode(value))),
      input => {
        if (expectStrict(input, codec.decode, codec.encode)) refused++
      },
      300,
    )
    expect(refused).toBeGreaterThan(0)
    run(fc.uint8Array({ maxLength: 100 }), input => expectStrict(input, codec.decode, codec.encode))
  })

  test('have ids, answers and channels of their own', () => {
    const ids = NAMES.map(name => MESSAGES[name].id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [question, answer] of Object.entries(ANSWER_NAMES)) {
      expect(MESSAGES[answer].channel).toBe(MESSAGES[question as MessageName].channel)
      expect(MESSAGES[answer].from).toBe(MESSAGES[question as MessageName].from)
    }
  })

  test('have room for the largest things they carry', () => {
    const hash = `0x${'ab'.repeat(32)}` as const
    const seal = {
      round: 2 ** 40,
      bitmap: new Uint8Array(16).fill(255),
      seals: new Array(128).fill(new Uint8Array(65)),
    }
    const size = <Name extends MessageName>(
      name: Name,
      value: Parameters<(typeof MESSAGES)[Name]['codec']['encode']>[0],
    ) => messageSpec(name).codec.encode(value).byteLength / MESSAGES[name].maxBytes
    const list = <T>(count: number, value: T) => new Array<T>(count).fill(value)
    const block = encodeRlp([new Uint8Array(BLOCK_BOUNDS.bodyBytes)])
    const reference = encodeRlp(new Uint8Array(32))
    const accounts = list(NETWORK_LIMITS.snapshotChunks - 1, { prefix: new Uint8Array(8), reference })
    const fits = [
      size('links', list(COUNCIL_BOUNDS.members, `0x${'ab'.repeat(20)}` as const)),
      size('records', list(NETWORK_LIMITS.recordsPerAnswer, new Uint8Array(NETWORK_LIMITS.recordBytes))),
      size('decided', { block, certificate: seal }),
      size('blocks', [
        ...list(3, { block: encodeRlp([new Uint8Array(NETWORK_LIMITS.answerBytes / 3)]), certificate: seal }),
        { block, certificate: seal },
      ]),
      size('newBlockHash', { number: 2 ** 50, hash, certificate: seal }),
      size('evidence', new Uint8Array(CONSENSUS_BOUNDS.evidenceBytes)),
      size('proofHeader', new Uint8Array(PROOF_HEADER_BYTES)),
      size('getReceipts', list(NETWORK_LIMITS.receiptsPerRequest, hash)),
      ...[accounts, []].map(parts =>
        size('manifest', {
          format: 1,
          header: encodeRlp([new Uint8Array(4_096)]),
          certificate: seal,
          records: [hash],
          proofState: new Uint8Array(PROOF_BOUNDS.stateBytes),
          accounts: parts,
          storages: list(NETWORK_LIMITS.snapshotChunks - 1 - parts.length, {
            owner: new Uint8Array(32).fill(255),
            parts: [{ prefix: new Uint8Array(0), reference }],
          }),
        }),
      ),
      size('getCodes', list(SNAPSHOT_LIMITS.codes, hash)),
      size('chunk', new Uint8Array(NETWORK_LIMITS.chunkBytes)),
      size('transactionHashes', list(NETWORK_LIMITS.announcedHashes, hash)),
      size('getTransactions', list(NETWORK_LIMITS.requestedHashes, hash)),
      size('newTransactions', list(8, new Uint8Array(BLOCK_BOUNDS.transactionBytes))),
    ]
    for (const ratio of fits) expect(ratio).toBeLessThanOrEqual(1)
  })

  test('with one item too many are refused', () => {
    const hash = `0x${'ab'.repeat(32)}` as const
    for (const [name, limit] of [
      ['transactionHashes', NETWORK_LIMITS.announcedHashes],
      ['getTransactions', NETWORK_LIMITS.requestedHashes],
      ['getReceipts', NETWORK_LIMITS.receiptsPerRequest],
      ['getCodes', SNAPSHOT_LIMITS.codes],
    ] as const) {
      const { codec } = MESSAGES[name]
      expect(codec.decode(codec.encode(new Array(limit).fill(hash)))).toHaveLength(limit)
      expect(() => codec.decode(codec.encode(new Array(limit + 1).fill(hash)))).toThrow(/MESSAGE_MALFORMED/)
    }
  })
})

const nodeAddress = fc.record({
  id: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(id => Buffer.from(id).toString('hex')),
  host: fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()),
  port: fc.integer({ min: 1, max: 65_535 }),
})

test('an address of a node is read as it was written, and anything else is refused with what is wanted', () => {
  run(nodeAddress, address => expect(parsePeerUrl(peerUrl(address))).toEqual(address))
  run(
    fc.oneof(
      fc.string(),
      nodeAddress.chain(address => fc.mixedCase(fc.constant(`x${peerUrl(address)}`))),
    ),
    text => {
      try {
        parsePeerUrl(text)
        expect.unreachable()
      } catch (error) {
        expect(isCoded(error) && error.code).toBe('PEER_URL_INVALID')
      }
    },
  )
})

test('a record is canonical or refused', () => {
  const record = fc.record({
    sequence: fc.maxSafeNat(),
    id: nodeAddress.map(({ id }) => id),
    host: fc.oneof(fc.ipV4(), fc.ipV6()),
    port: fc.integer({ min: 1, max: 65_535 }),
    proof: fc.constant(null),
    signature: fc.uint8Array({ minLength: 64, maxLength: 64 }),
  })
  run(record, value => expect(recordCodec.decode(recordCodec.encode(value))).toEqual(value))
  run(
    damaged(record.map(recordCodec.encode)),
    input => expectStrict(input, recordCodec.decode, recordCodec.encode),
    300,
  )
})
