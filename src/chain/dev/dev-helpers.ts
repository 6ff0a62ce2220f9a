import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { defined } from '@tandem/base/defined.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import { keccak256 } from '../../crypto/hash.ts'
import type { Header } from '../../primitives/header.ts'
import { hashedKey } from '../../state/flat-tables.ts'
import type { AccountEdit } from '../../state/world/account-edit.ts'
import type { WorldState } from '../../state/world/world-state.ts'
import type { Store } from '../../storage/store.ts'
import { isEndOfWork } from '../block/block-fault.ts'
import type { BlockChoices, ExecutedBlock } from '../block/block-work.ts'
import type { Chain } from '../chain.ts'
import type { DevMiner, MineOptions, MinerError, MiningMode } from './dev-miner.ts'
import { DevSnapshots } from './dev-snapshots.ts'
import { checkNext, checkNotTooLate, type DevTime } from './dev-time.ts'
import type { DevWriter } from './dev-writer.ts'
import { dumpState } from './dump-state.ts'
import { Impersonation } from './impersonation.ts'
import type { NextBlockSettings } from './next-block.ts'
import { parseState } from './parse-state.ts'
import type { RewindTarget } from './rewind.ts'

/** Transaction pool, as the development helpers use it. */
interface DevPool {
  /** Adopts the current head, independent of the previous one. */
  reset(head: Header): void
  /** Drops transactions; returns false when none was there. */
  drop(hashes: readonly Hex[]): Promise<boolean>
  /** Drops everything, also transactions of reverted blocks; returns false when nothing was waiting. */
  clear(): Promise<boolean>
  /** Returns all waiting transactions. */
  waiting(): readonly { readonly hash: Hex; readonly raw: Uint8Array; readonly gasLimit: bigint }[]
  submit(raw: Uint8Array): Promise<Hex>
}

interface DevHelpersOptions {
  readonly chain: Pick<Chain, 'headBlock'>
  readonly store: Store
  readonly world: Pick<WorldState, 'pin'>
  readonly writer: DevWriter
  readonly miner: DevMiner
  readonly time: DevTime
  readonly choices: NextBlockSettings
  readonly pool: DevPool
  readonly logger: Logger
  /** Sending a transaction fails when it fails in its block. */
  readonly throwsOnRevert: boolean
  /** Runs the work while no engine runs, then starts one on the resulting head. */
  readonly withoutEngine: (work: () => Promise<void>) => Promise<void>
  readonly trial: (choices: TrialChoices) => Promise<ExecutedBlock>
}

/** A block on the head that is never committed, as a client decides it. */
interface TrialChoices extends Required<Pick<BlockChoices, 'env'>>, Pick<BlockChoices, 'vanity'> {
  readonly timestamp: number
  /** From the pool if omitted. */
  readonly raws?: readonly Uint8Array[]
}

/** Fields of an account to set; omitted ones are kept. */
interface DevAccountChange {
  readonly balance?: bigint
  readonly nonce?: Nonce
  readonly code?: Uint8Array
  readonly slot?: { readonly slot: Hex; readonly word: Hex }
}

/** Operations of development tools on a chain of their own (docs/dev-helpers.md). Effects are visible at once. */
export class DevHelpers {
  readonly impersonation = new Impersonation()
  readonly #options: DevHelpersOptions
  readonly #devSnapshots = new DevSnapshots()

  constructor(options: DevHelpersOptions) {
    this.#options = options
  }

  get throwsOnRevert(): boolean {
    return this.#options.throwsOnRevert
  }

  /** Takes a snapshot; returns its id. Throws TOO_MANY_SNAPSHOTS. */
  snapshot(): Promise<number> {
    const { miner, writer, time, choices, pool, world } = this.#options
    return miner.run(async () => {
      const waiting = pool.waiting().map(({ raw }) => raw)
      const id = this.#devSnapshots.add({
        target: writer.position(),
        time: time.save(),
        choices: choices.current,
        waiting,
      })
      world.pin(this.#devSnapshots.oldest())
      return id
    })
  }

  /** Reverts to a snapshot and deletes it with all later ones; returns false when the id is unknown. */
  revert(id: number): Promise<boolean> {
    const { miner, time, choices, pool } = this.#options
    return miner.run(async () => {
      const state = this.#devSnapshots.get(id)
      if (state === undefined) return false
      await this.#goBack(state.target)
      this.#devSnapshots.dropFrom(id)
      time.restore(state.time)
      choices.restore(state.choices)
      await this.#settle()
      for (const raw of state.waiting) {
        try {
          await pool.submit(raw)
        } catch (error) {
          // A transaction replaced or evicted since may not be accepted again.
          if (!isCoded(error)) throw error
        }
      }
      return true
    })
  }

  /** Reverts to genesis and the settings at start. */
  reset(): Promise<void> {
    const { miner, time, choices } = this.#options
    return miner.run(async () => {
      await this.#goBack({ number: 0, edits: 0 })
      this.#devSnapshots.clear()
      this.impersonation.clear()
      time.reset()
      choices.restore({})
      await this.#settle()
      miner.resetMode()
    })
  }

  mine(options: MineOptions): Promise<void> {
    return this.#options.miner.mine(options)
  }

  /** Builds a block on the head and commits nothing. Throws PARENT_NOT_HEAD, NO_BLOCK after a time, and what the block breaks. */
  trial(parentHash: Hex, choices: TrialChoices): Promise<ExecutedBlock> {
    const { miner, chain, trial } = this.#options
    const checkParent = () => {
      const { hash: head } = chain.headBlock
      if (head !== parentHash) throw new CodedError<MinerError>({ code: 'PARENT_NOT_HEAD', head })
    }
    return miner.run(async () => {
      checkParent()
      checkNext(choices.timestamp, chain.headBlock.header.timestamp)
      try {
        return await trial(choices)
      } catch (error) {
        if (!isEndOfWork(error)) throw error
        // Another validator of this chain may have decided a block.
        checkParent()
        throw new CodedError<MinerError>({ code: 'NO_BLOCK', timeoutMs: DEV_LIMITS.mineMs })
      }
    })
  }

  get mode(): MiningMode {
    return this.#options.miner.mode
  }

  setMode(mode: Partial<MiningMode>): void {
    this.#options.miner.setMode(mode)
  }

  /** Returns the seconds by which the chain's time is now ahead of the wall clock. Throws TIMESTAMP_TOO_LATE. */
  increaseTime(seconds: number): number {
    const { time, miner } = this.#options
    time.increase(seconds)
    miner.setMode({})
    return time.offsetSeconds
  }

  /** Returns the same as `increaseTime`. Throws TIMESTAMP_TOO_LATE. */
  setTime(nowMs: number): number {
    const { time, miner } = this.#options
    time.set(nowMs)
    miner.setMode({})
    return time.offsetSeconds
  }

  /** Throws TIMESTAMP_TOO_EARLY or TIMESTAMP_TOO_LATE. */
  setNextTimestamp(timestamp: number): Promise<void> {
    const { miner, time, chain } = this.#options
    // Between blocks: one that is being made would use it up.
    return miner.run(async () => time.setNext(timestamp, chain.headBlock.header.timestamp))
  }

  /** undefined ends it. Returns true when one was set before. Throws TIMESTAMP_TOO_LATE. */
  setTimestampInterval(seconds: number | undefined): boolean {
    const { time, chain, miner } = this.#options
    if (seconds !== undefined) checkNotTooLate(chain.headBlock.header.timestamp + seconds)
    const had = time.setInterval(seconds)
    miner.setMode({})
    return had
  }

  /** Base fee of the next block, wei. */
  setNextBaseFee(baseFeePerGas: bigint): void {
    this.#options.choices.set({ baseFeePerGas })
    this.#lookAgain()
  }

  setCoinbase(miner: Hex): void {
    this.#options.choices.set({ miner })
    this.#lookAgain()
  }

  setGasLimit(gasLimit: bigint): void {
    const { choices, pool, logger } = this.#options
    choices.set({ gasLimit })
    for (const { hash, gasLimit: gas } of pool.waiting())
      if (gas > gasLimit)
        logger.warn({ hash, gas, limit: gasLimit }, 'transaction waits: its gas is above the limit of blocks')
    this.#lookAgain()
  }

  edit(address: Hex, { balance, nonce, code, slot }: DevAccountChange): Promise<void> {
    return this.#edit([
      {
        key: hashedKey(address),
        ...defined({ balance, nonce, code }),
        ...(slot !== undefined && { storage: [[keccak256(hexToBytes(slot.slot)), slot.word]] }),
        preimages: slot === undefined ? [address] : [address, slot.slot],
      },
    ])
  }

  dropTransactions(hashes: readonly Hex[]): Promise<boolean> {
    return this.#options.pool.drop(hashes)
  }

  dropAllTransactions(): Promise<boolean> {
    return this.#options.pool.clear()
  }

  /** Returns the head's state as JSON (parse-state.ts), or gzip of it. Throws STATE_TOO_LARGE. */
  async dump(form: 'json' | 'gzip'): Promise<Uint8Array> {
    const { miner, store, chain } = this.#options
    const text = await miner.run(() => dumpState(store, chain.headBlock.header))
    return form === 'gzip' ? promisify(gzip)(text) : Buffer.from(text)
  }

  /** Replaces accounts by those of a dumped state; other accounts are kept. Throws STATE_MALFORMED or STATE_TOO_LARGE. */
  async load(bytes: Uint8Array): Promise<void> {
    const { time } = this.#options
    const { edits, timestamp } = await parseState(bytes)
    await this.#edit(edits)
    if (timestamp * 1_000 > time.nowMs()) time.set(timestamp * 1_000)
  }

  /** Updates the pool and the pending block after the settings of the next block changed. */
  #lookAgain(): void {
    const { pool, chain, miner } = this.#options
    pool.reset(chain.headBlock.header)
    miner.onPending()
  }

  #edit(edits: readonly AccountEdit[]): Promise<void> {
    const { miner, writer, chain } = this.#options
    return miner.run(async () => {
      const { number } = chain.headBlock.header
      // A reset reverts to genesis as it was.
      await writer.edit(edits, number === 0 || this.#devSnapshots.hasAt(number))
      miner.onPending()
    })
  }

  async #goBack(target: RewindTarget): Promise<void> {
    const { chain, writer, withoutEngine } = this.#options
    const rewind = () => writer.rewind(target)
    if (target.number === chain.headBlock.header.number) await rewind()
    else await withoutEngine(rewind)
  }

  async #settle(): Promise<void> {
    const { pool, chain, world } = this.#options
    world.pin(this.#devSnapshots.oldest())
    await pool.clear()
    pool.reset(chain.headBlock.header)
  }
}
