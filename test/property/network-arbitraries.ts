import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { NETWORK_LIMITS } from '../../src/config/limits/network.ts'
import { PROOF_BOUNDS } from '../../src/config/protocol-bounds.ts'
import { DISCONNECT_REASONS, type DisconnectReason } from '../../src/network/core/disconnect-reasons.ts'
import type { PeerHead } from '../../src/network/messages/control-messages.ts'
import type { MessageName, Payload } from '../../src/network/messages/messages.ts'
import type { Prepare, RoundChangePayload, Vote } from '../../src/primitives/consensus/vote.ts'
import { encodeRlp } from '../../src/primitives/rlp/rlp.ts'
import { certificate } from './block-arbitraries.ts'

// A payload by chance for every message of the network: the type fails when one is missing.

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
const hash: fc.Arbitrary<Hex> = bytes(32).map(bytesToHex)
const address: fc.Arbitrary<Hex> = bytes(20).map(bytesToHex)
const number = fc.oneof(fc.nat(300), fc.maxSafeNat())
const bitmap = fc.uint8Array({ maxLength: 16 })
const head: fc.Arbitrary<PeerHead> = fc.record({ number, hash })
/** Anything that is a list: what stands in it is for others. */
const block = fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 4 }).map(items => encodeRlp(items))
const raw = fc.uint8Array({ minLength: NETWORK_LIMITS.leastTransactionBytes, maxLength: 200 })

const signed = { number, round: number, sender: fc.nat(127), signature: bytes(65) }
const prepared = fc.option(fc.record({ round: number, blockHash: hash }), { nil: null })
const prepare: fc.Arbitrary<Prepare> = fc.record({ type: fc.constant('prepare'), blockHash: hash, ...signed })
const payload: fc.Arbitrary<RoundChangePayload> = fc.record({ type: fc.constant('roundChange'), prepared, ...signed })
const prepares = fc.array(prepare, { maxLength: 4 })
const vote: fc.Arbitrary<Vote> = fc.oneof(
  prepare,
  fc.record({ type: fc.constant('commit' as const), blockHash: hash, ...signed }),
  fc.tuple(payload, prepares).map(([change, proof]) => ({ ...change, prepares: proof })),
)
const sealed = fc.record({ block, certificate })
const ping = fc.record({ head, earliest: number })
const hashes = fc.array(hash, { maxLength: 8 })
const parts = fc.array(
  fc.record({ prefix: fc.uint8Array({ maxLength: 64 }), reference: bytes(32).map(item => encodeRlp(item)) }),
  { maxLength: 4 },
)

export const PAYLOADS: { readonly [Name in MessageName]: fc.Arbitrary<Payload<Name>> } = {
  hello: fc.record({
    version: number,
    chainId: number,
    genesisHash: hash,
    forkHash: bytes(4).map(bytesToHex),
    forkNext: number,
    nodeId: hash.map(id => id.slice(2)),
    instance: bytes(8).map(bytesToHex),
    client: fc.string({ unit: 'grapheme-ascii', maxLength: 128 }),
    head,
    earliest: number,
    record: fc.uint8Array({ maxLength: 300 }),
    proof: fc.option(fc.record({ address, signature: bytes(65) }), { nil: null }),
  }),
  ready: fc.constant(null),
  disconnect: fc.constantFrom(...(Object.keys(DISCONNECT_REASONS) as DisconnectReason[])),
  ping,
  pong: ping,
  delegation: fc.record({ number: fc.maxSafeNat(), address, signature: bytes(65) }),
  getRecords: fc.constant(null),
  records: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }),
  links: fc.array(address, { maxLength: 20 }),
  vote,
  status: fc.record({
    type: fc.constant('status'),
    number,
    round: number,
    hasProposal: fc.boolean(),
    prepares: bitmap,
    commits: bitmap,
    roundChanges: bitmap,
    wanted: fc.option(hash, { nil: null }),
  }),
  proposal: fc.record({
    head: fc.record({
      type: fc.constant('proposal'),
      blockHash: hash,
      roundChanges: fc.array(payload, { maxLength: 4 }),
      prepares,
      ...signed,
    }),
    block,
  }),
  body: block,
  decided: sealed,
  newBlockHash: fc.record({ number, hash, certificate }),
  newBlock: sealed,
  evidence: fc.uint8Array({ maxLength: 300 }),
  proofHeader: fc.uint8Array({ maxLength: 320 }),
  getBlocks: fc.record({ from: number, count: fc.integer({ min: 1, max: 128 }) }),
  blocks: fc.array(sealed, { maxLength: 4 }),
  getReceipts: hashes,
  receipts: fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 4 }),
  getManifest: fc.constant(null),
  manifest: fc.option(
    fc.record({
      format: number,
      header: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }).map(items => encodeRlp(items)),
      certificate,
      records: hashes,
      proofState: fc.uint8Array({ maxLength: PROOF_BOUNDS.stateBytes }),
      accounts: parts,
      storages: fc.array(fc.record({ owner: bytes(32), parts }), { maxLength: 3 }),
    }),
    { nil: null },
  ),
  getChunk: fc.record({ snapshot: hash, index: fc.nat(65_535) }),
  chunk: fc.uint8Array({ maxLength: 300 }),
  getCodes: hashes,
  codes: fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 4 }),
  transactionHashes: hashes,
  newTransactions: fc.array(raw, { maxLength: 4 }),
  getTransactions: hashes,
  transactions: fc.array(raw, { maxLength: 4 }),
}
