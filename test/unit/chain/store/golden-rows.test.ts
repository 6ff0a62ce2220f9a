import { createHash } from 'node:crypto'
import { assert } from '@tandem/base/assert.ts'
import { bigintToBytes, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { emptyBlock } from '../../../../devtools/sim/block.ts'
import { encodeCouncil, encodeCycle } from '../../../../src/chain/council/council-rows.ts'
import { putProofs } from '../../../../src/chain/proof/proof-rows.ts'
import { putEarliestBlock } from '../../../../src/chain/store/earliest-block.ts'
import { PostingsWriter, putLogIndex } from '../../../../src/chain/store/log-index.ts'
import { putBlock } from '../../../../src/chain/store/put-block.ts'
import { putUnsynced } from '../../../../src/chain/store/unsynced-blocks.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { encodeEvidence } from '../../../../src/consensus/evidence/codec.ts'
import { recoverSender } from '../../../../src/crypto/recovery/recover-sender.ts'
import { blockFromParts } from '../../../../src/primitives/block.ts'
import { readExtraData } from '../../../../src/primitives/consensus/extra-data.ts'
import { encodeProofHeader, proofHeaderId } from '../../../../src/primitives/proof-header.ts'
import { bloomFromLogs } from '../../../../src/primitives/receipt/bloom.ts'
import type { Receipt } from '../../../../src/primitives/receipt/receipt.ts'
import { decodeTransaction, withSender } from '../../../../src/primitives/transaction/transaction.ts'
import { firstProofState } from '../../../../src/rules/proof/proof-header.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../../src/state/account.ts'
import { putStateMeta } from '../../../../src/state/state-meta.ts'
import { writeStateUpdate } from '../../../../src/state/update/state-update.ts'
import { putEditedRoot, putEditUndo } from '../../../../src/state/world/account-edit.ts'
import { putPreimage } from '../../../../src/state/world/preimages.ts'
import type { Batch } from '../../../../src/storage/batch.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { putMoved } from '../../../../src/storage/move-segment.ts'
import { putIdentity, SCHEMA_VERSION } from '../../../../src/storage/schema.ts'
import { ACCOUNT_KEYS, signedRaw } from '../../../support/chain.ts'
import { block as named, prepare } from '../../../support/consensus/core-bench.ts'
import { seal } from '../../../support/consensus/sealed-chain.ts'
import { childOf } from '../../../support/powchain/headers.ts'

/*
 * Layout of every table, by the schema's number. A store of another number is refused, so a program never reads rows that it takes for
 * something else: when a hash here changes, raise SCHEMA_VERSION and add a list with the rows that changed, and keep the old ones as they are.
 */
const SCHEMA_4: Readonly<Record<string, string>> = {
  account: '78a1c0241163ffab8e8fa854b9246ba3',
  accountHistory: '16db23e691056537cce0fe0c94500f73',
  blockNumber: '0121d54e9473db59089e0f3522ffb0ca',
  body: '32e7d145642ab22512eb8100729b3ea2',
  certificate: '787e3b9b6bcb0362ea3d34cd34cfb704',
  code: 'cb8e816607d609f56d7e177697ae5655',
  council: '26a4119754d9611a8b8115adfbf16fc2',
  cycle: '47e9869bb59cd9becd43866dba26a68c',
  editUndo: '0ccbfb775160acc2d0a26e9354b27892',
  editedRoot: 'af83b53d369fc116197ea091574bc5a1',
  evidence: 'd4208eb6161d3ab4ad10dd14cc39aedb',
  failedExecutions: 'd95aba9f8b07961e98493a64bd80fe59',
  header: '8931bd44c3c2b573706dcd48a6b67eac',
  historyIndex: '7e6c53d402bf085b5463e347131f3888',
  internalTransfers: '0ab0c758b8df4fa00399a2c496185358',
  logAddress: '33d1a067b11026b11ca18ca76bcfd181',
  logBloom: '2a2091be2c425eb03b5fd779eb964f13',
  meta: '50ecb3fc857baf68fb205cd2d9d0b52f',
  preimage: '5cd69e411c361fd143730f215524eb8e',
  proofHeader: '870599ebf64697d8aa60a389f00de541',
  proofHeight: 'b00de4af5acd6479d5fa094678068831',
  proofState: '17d887e218cdf1ab7e0578022da05ec6',
  receiptPart: '1fece14e9404ee160dc3390e4a1c8aa0',
  receipts: '6e4e0be89bcebce26390079f717cb3d8',
  slot: 'ea9615888a4a06a218d4e9fd1f6978d7',
  slotHistory: 'fb00c4b4c7e0048861491804b13eb091',
  supply: '0ee344fc7ba1569a36a148eb3e111b9a',
  transaction: '933c11c6299a0ccf61919fdd1af4aaa4',
}

const SCHEMA_5: Readonly<Record<string, string>> = {
  ...SCHEMA_4,
  // Coinbases of the newest proof headers.
  meta: '5ee64d9210babb85f9d7c6330024bb34',
  proofState: '0a77815e86761933c3ff1e7c600b947a',
}

const { transaction: _, logBloom: __, logAddress: ___, ...KEPT_OF_5 } = SCHEMA_5

const SCHEMA_6: Readonly<Record<string, string>> = {
  ...KEPT_OF_5,
  // Transactions are found by a part of their hash, logs by lists of places.
  logPostings: '9ddd23f401a0860b2a447a315d57b4c8',
  meta: '72e29bdeac639a29ab3f4aae8b06b441',
  transactionPlace: 'f2f6edfcc4678cb1b573ec07dd905c1c',
}

/** Rows by the schema's number. */
const GOLDEN: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  4: SCHEMA_4,
  5: SCHEMA_5,
  6: SCHEMA_6,
  // Old blocks are in segments, or dropped (storage/move-segment.ts).
  7: { ...SCHEMA_6, meta: '194566619024995b3dadc03b669828b5' },
  // Segments name their chain (storage/segments.ts).
  8: { ...SCHEMA_6, meta: 'ccfa51b27204b422e075e28a937c4c93' },
  // No row is empty (storage/batch.ts).
  9: {
    ...SCHEMA_6,
    accountHistory: 'cf33cb12e095e4ecf2f9f3f322174df3',
    meta: 'bd37be03a150e29f4872919f36a05768',
    transactionPlace: 'dbf225408d8157fc26de9b7518d5aabe',
  },
}

/**
 * Tables without a layout to keep: chunks are of a staged store, which no node opens, and the trie's rows have a version in their mark
 * (test/unit/state/trie/trie-rows.test.ts): they are built anew.
 */
const NO_LAYOUT = new Set(['snapshotChunk', 'accountTrie', 'storageTrie'])

const address = (digit: number): Hex => `0x${String(digit).repeat(40)}`
const word = (digit: number): Hex => `0x${String(digit).repeat(64)}`

/** A batch that keeps its rows. */
class Recorder {
  readonly rows: (readonly [bucket: number, key: Uint8Array, value: Uint8Array])[] = []

  put(bucket: number, key: Uint8Array, value: Uint8Array): this {
    this.rows.push([bucket, key.slice(), value.slice()])
    return this
  }

  del(): this {
    return this
  }

  get batch(): Batch {
    return this as unknown as Batch
  }

  hashes(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(BUCKETS).flatMap(([name, bucket]) => {
        const hash = createHash('sha256')
        const rows = this.rows.filter(([of]) => of === bucket)
        for (const [, key, value] of rows)
          for (const part of [key, value]) hash.update(numberKey(part.byteLength)).update(part)
        return rows.length === 0 ? [] : [[name, hash.digest('hex').slice(0, 32)]]
      }),
    )
  }
}

const logOf = (data: number) => ({
  address: address(7),
  topics: [word(1), word(2)],
  data: new Uint8Array(data).fill(9),
})

const receiptOf = (type: number, logs: ReturnType<typeof logOf>[], more: Partial<Receipt> = {}): Receipt => ({
  type,
  status: 1,
  cumulativeGasUsed: 21_000n,
  gasUsed: 21_000n,
  effectiveGasPrice: 30_000_000_000n,
  contractAddress: null,
  logsBloom: bloomFromLogs(logs),
  logs,
  ...more,
})

const putSampleBlock = (batch: Batch): void => {
  const [key] = ACCOUNT_KEYS as [Uint8Array]
  const fields = [
    { nonce: 0, value: 5n },
    { nonce: 1, type: 1 as const, accessList: [{ address: address(3), storageKeys: [word(4)] }] },
    { nonce: 2, type: 2 as const, to: null, data: Uint8Array.of(0x5f), gasLimit: 200_000n },
  ]
  const transactions = fields.map(field => {
    const raw = signedRaw(key, field)
    return withSender(decodeTransaction(raw), recoverSender(raw))
  })
  // The last one is longer than a row takes.
  const receipts = [
    receiptOf(0, []),
    receiptOf(1, [logOf(40)], { status: 0 }),
    receiptOf(2, [logOf(1_500_000)], { contractAddress: address(8) }),
  ]
  const proof = encodeProofHeader(sampleProof)
  const evidence = [sampleEvidence()]
  const parent = emptyBlock(
    { number: 6, parentHash: ZERO_HASH, timestamp: 6 },
    { proposer: address(1), parentCertificate: null },
  )
  const parentCertificate = seal({ ...parent, hash: word(6) } as never, [0, 1, 2, 3])
  const { header } = emptyBlock(
    { number: 7, parentHash: word(6), timestamp: 7 },
    { proposer: address(1), parentCertificate },
  )
  const logsBloom = bloomFromLogs(receipts.flatMap(({ logs }) => logs))
  const block = blockFromParts({ ...header, logsBloom }, { transactions, proofHeaders: [proof], evidence })
  const extra = readExtraData(block.header)
  assert(extra !== undefined, 'the sample has extra data')
  putBlock(batch, {
    block: { ...block, extra } as never,
    receipts,
    internal: [{ transactionIndex: 2, kind: 'create', from: address(7), to: address(8), value: 3n }],
    failed: [{ transactionIndex: 1, error: 'execution reverted', output: Uint8Array.of(1, 2) }],
    certificate: seal(block, [0, 1, 2, 3], { round: 2 }),
  })
}

const sampleEvidence = (): Uint8Array =>
  encodeEvidence({ kind: 'conflict', first: prepare(1, 0, named(1, 1)), second: prepare(1, 0, named(2, 1)) } as never)

const account = (nonce: number) => ({ nonce, balance: 10n ** 18n, storageRoot: EMPTY_ROOT, codeHash: EMPTY_CODE_HASH })

const putSampleState = (batch: Batch): void => {
  const update = {
    parentRoot: word(1),
    root: word(2),
    accounts: new Map([
      [address(1), { before: undefined, after: account(1) }],
      [address(2), { before: account(7), after: { ...account(8), storageRoot: word(5), codeHash: word(6) } }],
    ]),
    storage: new Map([[address(2), new Map([[word(3), { before: word(4), after: `0x${'0'.repeat(62)}01` as Hex }]])]]),
    code: new Map([[word(6), Uint8Array.of(0x5f, 0x5f)]]),
    cleared: new Set<Hex>(),
    dropped: [{ key: new Uint8Array(64).fill(3), before: Uint8Array.of(5) }],
  }
  writeStateUpdate(batch, update as never, { number: 7, hashed: name => hexToBytes(`${name}${'0'.repeat(24)}` as Hex) })
  putStateMeta(batch, { number: 7, root: word(2), oldest: 3 })
  const values = {
    account: new Map([['\u0001\u0002', Uint8Array.of(1)]]),
    slot: new Map([['\u0003', Uint8Array.of(2)]]),
  }
  putEditUndo(batch, 7, 1, values as never)
  putEditedRoot(batch, 7, word(3), word(2))
  putPreimage(batch, address(2))
}

const putSampleCouncil = (batch: Batch): void => {
  const members = [1, 2, 3].map(digit => ({
    name: `Member ${digit}`,
    validator: address(digit),
    owner: address(digit + 3),
    reward: address(digit + 6),
    admission: digit,
    stakeWei: 35n * 10n ** 18n,
  }))
  batch.put(BUCKETS.council, numberKey(6), encodeCouncil(members as never))
  const record = {
    number: 6,
    councilAt: 0,
    members,
    lapses: new Map([[address(1), { silentBlocks: 4, outUntil: 90 }]]),
    jailed: new Set([address(2)]),
    queued: new Set([address(3)]),
    unproven: new Set([address(1)]),
    idle: new Map([[address(3), { strikes: 2, restsUntil: 80 }]]),
    seed: word(7),
  }
  batch.put(BUCKETS.cycle, numberKey(6), encodeCycle(record as never))
  batch.put(BUCKETS.supply, numberKey(7), bigintToBytes(10n ** 20n))
  batch.put(BUCKETS.evidence, hexToBytes(address(2)), sampleEvidence())
}

const sampleProof = { ...childOf(NETWORKS.devnet, firstProofState(NETWORKS.devnet), 3), target: 2n ** 240n }

const putSampleProof = (batch: Batch): void => {
  const id = proofHeaderId(sampleProof)
  const state = {
    tipId: id,
    tipHeight: 1,
    tipAnchor: 3,
    tipTarget: 2n ** 240n,
    coinbase: address(4),
    coinbases: [address(5), address(4)],
    totalWork: 70_000n,
    reference: { height: 1, anchorNumber: 3, target: 2n ** 239n },
  }
  putProofs(batch, 7, [{ id, header: sampleProof, bytes: encodeProofHeader(sampleProof), state }])
}

const putSampleLogIndex = (batch: Batch): void => {
  putLogIndex(batch, { reverts: 2, ranges: [{ id: 3, from: 1, to: 7 }] })
  const writer = new PostingsWriter(3, 1, (key, value) => void batch.put(BUCKETS.logPostings, key, value))
  writer.begin(new Uint8Array(8).fill(5))
  for (const log of [0, 3]) writer.add(2, log)
  // More than one row takes.
  for (let block = 3; block < 2_003; block++) writer.add(block, 200)
  writer.end()
}

test('the layout of every table is that of the number of the schema', () => {
  const recorder = new Recorder()
  const { batch } = recorder
  putIdentity(batch, { network: 'devnet', genesis: word(9) })
  putEarliestBlock(batch, 5)
  putUnsynced(batch, 6)
  putMoved(batch, { moved: 16_384, cleared: 8_192, dropped: 4_096 })
  putSampleBlock(batch)
  putSampleState(batch)
  putSampleCouncil(batch)
  putSampleProof(batch)
  putSampleLogIndex(batch)
  const hashes = recorder.hashes()
  expect(Object.keys(hashes).sort()).toEqual(
    Object.keys(BUCKETS)
      .filter(name => !NO_LAYOUT.has(name))
      .sort(),
  )
  expect(hashes).toEqual(GOLDEN[SCHEMA_VERSION])
})
