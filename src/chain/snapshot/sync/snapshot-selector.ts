import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import type { Network } from '../../../network/network.ts'
import { offeredSnapshots, type ValidManifest } from './choose-snapshot.ts'
import { type BlockPlace, fetchCheckpoint, fetchSealedHeader, type PeerSource } from './fetch-headers.ts'
import {
  type Anchor,
  anchorFromHeader,
  genesisAnchor,
  type SealedHeader,
  type TrustError,
  type TrustRules,
  trustBlock,
} from './skipping-verification.ts'
import type { ChainIdentity, GenesisRows } from './staging.ts'
import type { StagingMethods } from './staging-worker.ts'

/** Block that the operator states to be part of the chain. */
export type Checkpoint = BlockPlace

/** Parts of the node that a sync by snapshot uses. */
export interface SnapshotSyncOptions {
  readonly network: Pick<Network, 'request' | 'reportForgery' | 'peers'>
  /** Worker that imports the snapshot, beside the running node's own store. */
  readonly staging: WorkerClient<StagingMethods>
  readonly identity: ChainIdentity
  /** Genesis as known to this node. */
  readonly genesis: {
    readonly timestamp: number
    readonly validators: readonly Hex[]
    readonly wei: bigint
    readonly rows: GenesisRows
  }
  readonly checkpoint: Checkpoint | undefined
  readonly rules: TrustRules
  /** Head of the running node. */
  readonly head: () => number
  readonly clock: Clock
  readonly logger: Logger
}

/** The snapshot proved false, or is unusable: another may work. */
type SnapshotRejected = { readonly code: 'SNAPSHOT_GONE'; readonly number: number; readonly reason: string }

/** Selects a snapshot whose block is proven to be part of the chain, and remembers those that are not to be used. */
export class SnapshotSelector {
  readonly #options: SnapshotSyncOptions
  /** Ids of snapshots found false, or not provable. */
  readonly #refused = new Set<Hex>()

  constructor(options: SnapshotSyncOptions) {
    this.#options = options
  }

  /** Returns what peers offer beyond the head and the checkpoint, except refused ones. */
  offered(): Promise<readonly ValidManifest[]> {
    const { network, identity, head, checkpoint } = this.#options
    const from = Math.max(head() + 1, checkpoint?.number ?? 0)
    return offeredSnapshots({ network, cycleBlocks: identity.params.rewards.cycleBlocks, refused: this.#refused, from })
  }

  /** Returns the newest offered snapshot whose block is proven to be in the chain; undefined when no peer has one. Throws TrustError. */
  async choose(): Promise<ValidManifest | undefined> {
    const { network, logger } = this.#options
    const offered = await this.offered()
    let unknown: ValidManifest | undefined
    for (const sound of offered) {
      const { header, hash, id, offeredBy } = sound
      const proof = await this.#prove(sound)
      if (proof === 'true') return sound
      logger.warn({ number: header.number, hash, proof, offeredBy }, 'a snapshot of a block that is not proven')
      this.#refused.add(id)
      if (proof === 'false')
        for (const peer of offeredBy) network.reportForgery(peer, `snapshot of another chain, block ${hash}`)
      else unknown ??= sound
    }
    if (unknown === undefined) return undefined
    // A snapshot that cannot be proven now may be later, with other peers.
    this.#refused.clear()
    const anchor = await this.#anchor()
    throw new CodedError<TrustError>({ code: 'TRUST_BROKEN', from: anchor.number, to: unknown.header.number })
  }

  /** Never selects this one again. */
  refuse(id: Hex): void {
    this.#refused.add(id)
  }

  /** Refuses a snapshot that proved false, blames the peers that offered it, and returns the error to throw. */
  reject({ header, id, offeredBy }: ValidManifest, reason: string): Error {
    const { network } = this.#options
    this.refuse(id)
    for (const peer of offeredBy) network.reportForgery(peer, `snapshot ${header.number}: ${reason}`)
    return new CodedError<SnapshotRejected>({ code: 'SNAPSHOT_GONE', number: header.number, reason })
  }

  async #prove({ header, hash }: ValidManifest): Promise<Proof> {
    const { network, checkpoint, rules, clock } = this.#options
    if (checkpoint?.number === header.number) return checkpoint.hash === hash ? 'true' : 'unknown'
    const anchor = await this.#anchor()
    const witnesses = network
      .peers()
      .filter(({ head }) => head.number > header.number)
      .map(({ id }) => id)
    const nowSeconds = Math.floor(clock.nowMs() / 1_000)
    return proveBlock({ number: header.number, hash }, { network, witnesses, anchor, rules, nowSeconds })
  }

  async #anchor(): Promise<Anchor> {
    const { network, checkpoint, genesis, rules } = this.#options
    const known = genesisAnchor(genesis.timestamp, genesis.validators)
    if (checkpoint === undefined || checkpoint.number === 0) return known
    const { header } = await fetchCheckpoint(network, checkpoint)
    // Block 1 names no sealers; genesis does.
    return anchorFromHeader(header, rules) ?? known
  }
}

interface ProveOptions {
  readonly network: PeerSource
  /** Peers that have the child of the block, whose headers are verified one after the other. */
  readonly witnesses: readonly string[]
  readonly anchor: Anchor
  readonly rules: TrustRules
  readonly nowSeconds: number
}

/** `false`: the chain has another block of that number. `unknown`: no peer could prove either. */
type Proof = 'true' | 'false' | 'unknown'

/**
 * Proves that a block is part of the chain, by its child: one that an honest validator sealed has a final parent, and seals of the block
 * itself prove nothing (docs/design/snapshot-sync.md). Each witness is used alone, with all headers between the anchor and the child: a
 * lying witness proves nothing, and does not affect the next. A block is false only when another one of its number is proven. Throws
 * ANCHOR_TOO_OLD.
 */
export const proveBlock = async ({ number, hash }: BlockPlace, options: ProveOptions): Promise<Proof> => {
  for (const witness of options.witnesses.slice(0, SNAPSHOT_LIMITS.witnesses)) {
    const child = await headerOf(witness, number + 1, options)
    if (child !== undefined && (await isTrusted(child, witness, options)))
      return child.header.parentHash === hash ? 'true' : 'false'
  }
  return 'unknown'
}

const headerOf = async (
  witness: string,
  number: number,
  { network }: ProveOptions,
): Promise<SealedHeader | undefined> => {
  try {
    return await fetchSealedHeader(network, number, witness)
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}

const isTrusted = async (
  target: SealedHeader,
  witness: string,
  { network, anchor, rules, nowSeconds }: ProveOptions,
): Promise<boolean> => {
  const fetch = (number: number) => fetchSealedHeader(network, number, witness)
  try {
    await trustBlock(anchor, target, { ...rules, nowSeconds, fetch })
    return true
  } catch (error) {
    if (!isCoded(error) || error.code === 'ANCHOR_TOO_OLD') throw error
    return false
  }
}
