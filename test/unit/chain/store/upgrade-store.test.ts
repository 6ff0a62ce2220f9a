import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { explainError } from '../../../../src/cli/shared/explain-error.ts'
import { openChain } from '../../../../src/node/parts/open-chain.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { moveSegment } from '../../../../src/storage/move-segment.ts'
import { FORMER_SCHEMA, metaKey, readIdentity, SCHEMA_VERSION } from '../../../../src/storage/schema.ts'
import { Store } from '../../../../src/storage/store.ts'
import { testGenesis } from '../../../support/chain.ts'
import { putLoggedBlock } from '../../../support/logged-chain.ts'
import { temporaryDirectory, temporaryStore } from '../../storage/temp-store.ts'

const schemaOf = (store: Store): number | undefined => store.getSync(BUCKETS.meta, metaKey('schema'))?.[0]

const writeSchema = async (store: Store, version: number): Promise<void> => {
  const row = Uint8Array.from(store.getSync(BUCKETS.meta, metaKey('schema')) as Uint8Array)
  row[0] = version
  await store.batch().put(BUCKETS.meta, metaKey('schema'), row).write()
}

test('two transactions with the same start of the hash are told apart', async () => {
  const store = await temporaryStore()
  const batch = store.batch()
  for (let number = 1; number <= 2; number++) putLoggedBlock(batch, number, [[], []])
  await batch.write()
  const blocks = new BlockStore(store, { extraOf: () => undefined as never })
  const hashes = await Promise.all([1, 2].map(async number => (await blocks.stored(number))?.transactionHash(0) as Hex))
  // A lookup row that leads to another transaction, as one with the same start would.
  const row = Buffer.concat([hexToBytes(hashes[0] as Hex).subarray(0, 8), Buffer.from('00000000000200000000', 'hex')])
  await store.batch().put(BUCKETS.transactionPlace, row, new Uint8Array(0)).write()
  expect(await blocks.locate(hashes[0] as Hex)).toEqual({ number: 1, index: 0 })
  expect(await blocks.locate(`${(hashes[0] as Hex).slice(0, 18)}${'0'.repeat(48)}` as Hex)).toBeUndefined()
})

test('a store of the former schema is upgraded, also with segments; one of another chain or an older schema is refused', async () => {
  expect(FORMER_SCHEMA).toBe(SCHEMA_VERSION - 1)
  const storePath = await temporaryDirectory()
  const options = { storePath, stateHistory: 1, logger: silentLogger, onFailure: () => {} }
  const genesis = testGenesis()
  const opened = await openChain({ ...options, genesis })
  const { store } = opened
  const identity = await readIdentity(store)
  await writeSchema(store, FORMER_SCHEMA)
  // Commands on a stopped node's folder do not upgrade it.
  expect(await readIdentity(store)).toEqual(identity)
  await opened.world.close()
  await store.close()
  const other = { ...genesis, params: { ...genesis.params, name: 'testnet' as const } }
  await expect(openChain({ ...options, genesis: other })).rejects.toMatchObject({ code: 'NETWORK_MISMATCH' })
  const again = await openChain({ ...options, genesis })
  expect(schemaOf(again.store)).toBe(SCHEMA_VERSION)
  expect(await readIdentity(again.store)).toEqual(identity)
  expect(await again.blocks.block(0)).toBeDefined()
  await writeSchema(again.store, FORMER_SCHEMA - 1)
  await again.world.close()
  await again.store.close()
  const expectRefusal = async (found: number) => {
    const refusal = await openChain({ ...options, genesis }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'SCHEMA_UNKNOWN', detail: { found } })
    expect(explainError((refusal as { detail: never }).detail)).toMatch(
      new RegExp(`schema ${found}, this program knows schema ${SCHEMA_VERSION}.*upgrades schema ${FORMER_SCHEMA}\\.`),
    )
  }
  await expectRefusal(FORMER_SCHEMA - 1)
  const moving = await Store.open(storePath)
  await moveSegment(moving)
  await writeSchema(moving, FORMER_SCHEMA)
  await moving.close()
  const moved = await openChain({ ...options, genesis })
  expect(schemaOf(moved.store)).toBe(SCHEMA_VERSION)
  await moved.world.close()
  await moved.store.close()
})
