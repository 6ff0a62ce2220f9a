import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { bigintToBytes, bytesToHex, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { onTestFinished } from 'vitest'
import { keccak256 } from '../../../src/crypto/hash.ts'
import type { Journal } from '../../../src/state/journal/journal.ts'
import { TrieRows } from '../../../src/state/trie/trie-rows.ts'
import { TrieService } from '../../../src/state/trie/trie-service.ts'
import type { StateUpdate } from '../../../src/state/update/state-update.ts'
import { WorldState, type WorldStateOptions } from '../../../src/state/world/world-state.ts'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { numberKey } from '../../../src/storage/keys.ts'
import { Store } from '../../../src/storage/store.ts'
import { temporaryDirectory } from '../storage/temp-store.ts'
import { fakeHeader } from './fake-header.ts'
import type { MemoryState } from './memory-state.ts'

/** A world state on a store of its own, and the chain's part in a commit: a header row and the batch. */
export class TestWorld {
  readonly store: Store
  readonly world: WorldState

  private constructor(store: Store, world: WorldState) {
    this.store = store
    this.world = world
  }

  static async open(path: string, options: Partial<WorldStateOptions> = {}): Promise<TestWorld> {
    const store = await Store.open(path)
    const trie = await TrieService.open({ worker: false })
    try {
      return new TestWorld(store, await WorldState.open({ store, trie, logger: silentLogger, ...options }))
    } catch (error) {
      await trie.close()
      await store.close()
      throw error
    }
  }

  async commit(journal: Journal): Promise<StateUpdate> {
    const { store, world } = this
    const number = world.number + 1
    const update = await world.computeUpdate(journal.changes(), world.root)
    const batch = store.batch()
    batch.put(BUCKETS.header, numberKey(number), fakeHeader(update.root))
    await world.write(batch, number, update)
    await batch.write()
    await world.committed(number, update)
    return update
  }

  async close(): Promise<void> {
    await this.world.close()
    await this.store.close()
  }
}

/** Makes the next opening build the rows of the trie anew. */
export const forgetTrie = async (path: string): Promise<void> => {
  const store = await Store.open(path)
  await new TrieRows(store).forget()
  await store.close()
}

/** A world that goes with the test. */
export const temporaryWorld = async (options?: Partial<WorldStateOptions>): Promise<TestWorld> => {
  const world = await TestWorld.open(await temporaryDirectory(), options)
  onTestFinished(() => world.close())
  return world
}

const trieRoot = async (entries: Iterable<readonly [Hex, Uint8Array]>): Promise<Uint8Array> => {
  const trie = await createMPT()
  for (const [key, value] of entries) await trie.put(keccak256(hexToBytes(key)), value)
  return trie.root()
}

/** The state root by the reference trie. */
export const referenceRoot = async (state: MemoryState): Promise<Hex> => {
  const leaves: [Hex, Uint8Array][] = []
  for (const [key, { nonce, balance, codeHash, storage }] of state.accounts) {
    const words = [...storage].map(([slot, word]) => [slot, RLP.encode(bigintToBytes(BigInt(word)))] as const)
    const root = await trieRoot(words)
    const nonceBytes = nonce === 0 ? EMPTY_BYTES : bigintToBytes(BigInt(nonce))
    leaves.push([key, RLP.encode([nonceBytes, bigintToBytes(balance), root, hexToBytes(codeHash)])])
  }
  return bytesToHex(await trieRoot(leaves))
}
