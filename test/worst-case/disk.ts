import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom } from '@tandem/base/random.ts'
import { memoryShares } from '../../src/config/limits/storage.ts'
import { BLOCK_BOUNDS } from '../../src/config/protocol-bounds.ts'
import type { Journal } from '../../src/state/journal/journal.ts'
import type { StateReader } from '../../src/state/state-reader.ts'
import { TrieService } from '../../src/state/trie/trie-service.ts'
import { cacheLimits, HeadState } from '../../src/state/world/head-state.ts'
import { WorldState } from '../../src/state/world/world-state.ts'
import { Store } from '../../src/storage/store.ts'
import { asm, program, push, repeat } from './assembler.ts'

/*
 * A state on disk with many accounts, slots and large codes. Programs count through them: the keys are hashes, so that neighbours lie
 * far apart in the tables.
 */

export const ACCOUNTS = { first: 0x0acc_0000_0000_0000n, count: 150_000 } as const
export const CODES = { first: 0x0c0d_e000_0000_0000n, count: 4_000 } as const
/** The account whose slots 0 to `count` stand on disk; code is given to it when it is run. */
export const STORE = { address: `0x${'57'.repeat(20)}` as Hex, count: 250_000 } as const

const addressAt = (number: bigint): Hex => `0x${number.toString(16).padStart(40, '0')}`

/**
 * The largest code there can be, different for each index; it jumps over all of it. A third of it is random, in groups of four bytes: what
 * takes LevelDB longest to decompress.
 */
const largeCode = (index: number): Uint8Array => {
  const end = BLOCK_BOUNDS.codeBytes - 2
  const random = createRandom(index)
  const head = program(push(end), asm('JUMP'), push(0x1_0000 + index))
  const groups = Array.from({ length: 2_000 }, () => [
    0x63,
    ...Array.from({ length: 4 }, () => random.below(256)),
    0x5b,
    0x5b,
    0x5b,
    0x5b,
    0x5b,
    0x5b,
    0x5b,
  ])
  return program(head, Uint8Array.from(groups.flat()), at =>
    program(repeat(end - at, asm('JUMPDEST')), asm('JUMPDEST STOP')),
  )
}

type Fill = (journal: Journal, index: number) => void

const FILLS: readonly (readonly [count: number, perBlock: number, fill: Fill])[] = [
  [ACCOUNTS.count, 50_000, (journal, i) => journal.setBalance(addressAt(ACCOUNTS.first + BigInt(i)), BigInt(i + 1))],
  [STORE.count, 50_000, (journal, i) => journal.setStorage(STORE.address, toWord(BigInt(i)), toWord(BigInt(i + 1)))],
  [CODES.count, 250, (journal, i) => journal.setCode(addressAt(CODES.first + BigInt(i)), largeCode(i))],
]

/** Seals and writes blocks of changes over a store of its own; the trie works in this thread, so that its time is counted. */
export class DiskWorld {
  readonly world: WorldState
  readonly #store: Store
  readonly #directory: string

  private constructor(world: WorldState, store: Store, directory: string) {
    this.world = world
    this.#store = store
    this.#directory = directory
  }

  static async create({ isFilled }: { readonly isFilled: boolean }): Promise<DiskWorld> {
    const directory = await mkdtemp(join(tmpdir(), 'worst-case-'))
    const store = await Store.open(join(directory, 'db'))
    const trie = await TrieService.open({ worker: false })
    const disk = new DiskWorld(await WorldState.open({ store, trie, logger: silentLogger }), store, directory)
    await disk.#commit(journal => journal.setNonce(STORE.address, 1))
    if (isFilled) await disk.#fill()
    return disk
  }

  /** The state with nothing of it in memory. */
  coldHead(): HeadState {
    return new HeadState(this.#store, cacheLimits(memoryShares().state))
  }

  /** Root and rows of the block after the head; nothing is stored. */
  async seal(changes: ReturnType<Journal['changes']>): Promise<void> {
    const update = await this.world.computeUpdate(changes, this.world.root)
    await this.world.write(this.#store.batch(), this.world.number + 1, update)
  }

  async close(): Promise<void> {
    await this.world.close()
    await this.#store.close()
    await rm(this.#directory, { recursive: true })
  }

  async #fill(): Promise<void> {
    for (const [count, perBlock, fill] of FILLS) {
      for (let from = 0; from < count; from += perBlock) {
        await this.#commit(journal => {
          for (let i = from; i < Math.min(count, from + perBlock); i++) fill(journal, i)
        })
      }
    }
  }

  async #commit(change: (journal: Journal) => void): Promise<void> {
    const { world } = this
    const journal = world.journal()
    change(journal)
    journal.endTransaction()
    const number = world.number + 1
    const update = await world.computeUpdate(journal.changes(), world.root)
    const batch = this.#store.batch()
    await world.write(batch, number, update)
    await batch.write()
    await world.committed(number, update)
  }
}

/** No accounts at all. */
export const EMPTY_STATE: StateReader = {
  account: () => undefined,
  storage: () => toWord(0n),
  code: () => new Uint8Array(0),
}
