import { assert } from '@tandem/base/assert.ts'
import { bytesEqual, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { Lru } from '@tandem/base/lru.ts'
import type { CouncilMember } from '../../config/genesis/genesis.ts'
import { COUNCIL_LIMITS } from '../../config/limits/chain.ts'
import { COUNCIL_ADDRESS, type NetworkParams } from '../../config/networks.ts'
import { type Committee, drawCommittee, eligibleMembers } from '../../consensus/committee.ts'
import { nextStatus } from '../../rules/council/council-status.ts'
import {
  commitRecord,
  jailedAtSlot,
  RECORDS_SLOT,
  type ReadWord,
  readCouncil,
} from '../../rules/council/council-storage.ts'
import { councilBlockOf, cycleOf, endsCycle, firstOfCycle, firstSeed, nextSeed } from '../../rules/council/cycle.ts'
import type { CertifiedBlock } from '../../rules/council/proposer-turns.ts'
import { type ValidatorStatus, validatorStatus } from '../../rules/council/validator-activity.ts'
import type { ProofState } from '../../rules/proof/proof-header.ts'
import { PROOF_STATE_SLOT, proofStateHash } from '../../rules/proof/proof-state.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { StateReader } from '../../state/state-reader.ts'
import type { StateUpdate } from '../../state/update/state-update.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { ChainBlock, CouncilMemberStatus } from '../store/types.ts'
import {
  type CycleRecord,
  decodeCouncil,
  decodeCycle,
  encodeCouncil,
  encodeCycle,
  readRecordRows,
} from './council-rows.ts'

interface CouncilOptions {
  readonly params: NetworkParams
  readonly foundation: Hex
  readonly genesisHash: Hex
  readonly store: Pick<Store, 'getSync'>
  readonly blocks: Pick<BlockStore, 'header'>
  /** State of the head. */
  readonly state: Pick<StateReader, 'account' | 'storage'>
}

/** Members and jail of the contract, by its storage root. */
interface ContractContents {
  readonly root: Hex | undefined
  readonly members: readonly CouncilMember[]
  readonly jailed: ReadonlySet<Hex>
}

type ChainHeader = Pick<ChainBlock, 'header' | 'extra'>
type CouncilChanges = Pick<StateUpdate, 'accounts' | 'storage' | 'cleared'>

interface Cycle {
  readonly record: CycleRecord
  readonly qualified: ReadonlySet<Hex>
  readonly committee: Committee
  readonly rewards: ReadonlyMap<Hex, Hex>
}

/** Councils, committees and seeds (docs/design/council.md#council): read after a cycle's last block, stored with it, drawn with the seed. */
export class Council {
  readonly #options: CouncilOptions
  readonly #cycles = new Lru<number, Cycle>(COUNCIL_LIMITS.cachedCycles)
  readonly #firstSeed: Hex
  /** Last one read: most cycles change nothing, and hundreds of members are a thousand storage words. */
  #contents: ContractContents | undefined

  constructor(options: CouncilOptions) {
    this.#options = options
    this.#firstSeed = firstSeed(options.genesisHash)
  }

  /** Returns the committee of a block in proposer order, equal for every round; undefined beyond the cycles known so far. */
  committee(number: number): Committee | undefined {
    return this.#cycleAt(number)?.committee
  }

  /** Returns the seed of a cycle (docs/design/council.md#seed), which must have its council record. */
  seedOf(cycle: number): Hex {
    assert(Number.isSafeInteger(cycle) && cycle >= 0, 'a cycle')
    const seed = cycle === 0 ? this.#firstSeed : this.#cycle(cycle)?.record.seed
    assert(seed !== undefined, 'a requested cycle has its council record')
    return seed
  }

  /** Returns the seed of a cycle, or of the last one before it whose council is known: for simulated blocks, which may lie beyond. */
  latestSeedUpTo(cycle: number): Hex {
    let known = cycle
    while (known > 0 && this.#cycle(known) === undefined) known--
    return this.seedOf(known)
  }

  /** Returns the council that serves at a block; undefined when not known yet. */
  memberStatuses(number: number): readonly CouncilMemberStatus[] | undefined {
    const cycle = this.#cycleAt(number)
    if (cycle === undefined) return undefined
    const { record, qualified } = cycle
    const status = ({ validator }: CouncilMember): ValidatorStatus => {
      if (record.queued.has(validator)) return 'queued'
      const recorded = validatorStatus(validator, record, record.number)
      // Its time as inactive is over, but other members are drawn before it.
      return recorded === 'active' && !qualified.has(validator) ? 'inactive' : recorded
    }
    return record.members.map(member => ({ ...member, status: status(member) }))
  }

  /** Returns who is paid for block `number`: the proposer's reward address, itself if no member, the foundation after evidence. */
  payeeOf(proposer: Hex, number: number): Hex {
    const jailedAt = this.jailedAt(proposer)
    if (jailedAt > 0 && jailedAt < number) return this.#options.foundation
    return this.#cycleAt(number)?.rewards.get(proposer) ?? proposer
  }

  /** Returns the number of the block whose evidence jailed a validator; 0: none up to the head. */
  jailedAt(validator: Hex): number {
    return numberOf(this.#options.state.storage(COUNCIL_ADDRESS, jailedAtSlot(validator)))
  }

  /** Adds the records of the first two cycles, from genesis, to the batch. */
  static writeFirst(batch: Batch, members: readonly CouncilMember[], genesisHash: Hex): void {
    batch.put(BUCKETS.council, numberKey(0), encodeCouncil(members))
    const seed = nextSeed(firstSeed(genesisHash), ZERO_HASH, 1)
    const record = { number: 0, councilAt: 0, members, ...NO_STATUS, seed }
    batch.put(BUCKETS.cycle, numberKey(0), encodeCycle(record))
  }

  /** Adds the record of the cycle that a block ends to the batch; nothing for any other block. */
  async write(batch: Batch, block: ChainHeader, sealed: CouncilChanges): Promise<void> {
    const { number } = block.header
    const { cycleBlocks } = this.#options.params.rewards
    if (!endsCycle(number, cycleBlocks)) return
    const before = this.#recordAt(number - cycleBlocks)
    assert(before, 'the cycle before has its record')
    const { members, jailed } = this.#contentsAfter(sealed, before.members)
    const row = encodeCouncil(members)
    const isSame = bytesEqual(row, encodeCouncil(before.members))
    if (!isSame) batch.put(BUCKETS.council, numberKey(number), row)
    const { council, committeeSize } = this.#options.params
    const { inactiveBlocks } = council
    const blocks = await this.#sealedBlocks(block)
    const record = {
      number,
      councilAt: isSame ? before.councilAt : number,
      members,
      ...nextStatus({ number, members, jailed, before, blocks, cycleBlocks, inactiveBlocks, committeeSize }),
      seed: nextSeed(before.seed, block.extra.proofTip, number / cycleBlocks + 1),
    }
    batch.put(BUCKETS.cycle, numberKey(number), encodeCycle(record))
  }

  /**
   * After the last transaction of a cycle's last block, writes into the contract a commitment to the previous cycle's record: the state
   * root then covers all records but the newest, which follows from them (docs/decisions.md#0022-snapshot-sync); and, once there is a proof
   * header, a commitment to the state of the proof chain after the block. Does nothing in any other block.
   */
  commitRecords(journal: Journal, number: number, proofState: ProofState): void {
    const { params, store } = this.#options
    const { cycleBlocks } = params.rewards
    if (!endsCycle(number, cycleBlocks) || !journal.exists(COUNCIL_ADDRESS)) return
    const rows = readRecordRows(store, number - cycleBlocks)
    assert(rows, 'the cycle before has its record')
    journal.setStorage(
      COUNCIL_ADDRESS,
      RECORDS_SLOT,
      commitRecord(journal.storage(COUNCIL_ADDRESS, RECORDS_SLOT), rows),
    )
    if (proofState.tipId !== ZERO_HASH)
      journal.setStorage(COUNCIL_ADDRESS, PROOF_STATE_SLOT, proofStateHash(proofState))
    journal.endTransaction()
  }

  /** Drops what blocks above the new head said, after a revert. */
  forget(head: number): void {
    const { cycleBlocks } = this.#options.params.rewards
    for (const [cycle] of this.#cycles.entries())
      if (councilBlockOf(cycle, cycleBlocks) > head) this.#cycles.delete(cycle)
  }

  /** Returns the content of the contract after a block that is not written yet. */
  #contentsAfter(sealed: CouncilChanges, otherwise: readonly CouncilMember[]): ContractContents {
    const { state } = this.#options
    const root = (sealed.accounts.get(COUNCIL_ADDRESS)?.after ?? state.account(COUNCIL_ADDRESS))?.storageRoot
    if (root !== undefined && root === this.#contents?.root) return this.#contents
    const read = slotsAfter(state, sealed)
    const found = readCouncil(read)
    // Only edits of a development chain can leave storage that encodes no council: the previous members remain.
    const members = found ?? otherwise
    const validators = members.map(({ validator }) => validator)
    const jailed = new Set(validators.filter(validator => numberOf(read(jailedAtSlot(validator))) > 0))
    const contents = { root, members, jailed }
    if (found !== undefined) this.#contents = contents
    return contents
  }

  /** Returns the blocks whose certificates are in the headers of the cycle that ends with `last`: the one before the cycle, and all but `last`. */
  async #sealedBlocks(last: ChainHeader): Promise<readonly CertifiedBlock[]> {
    const { blocks, params } = this.#options
    const sealed: CertifiedBlock[] = []
    const first = last.header.number - params.rewards.cycleBlocks
    let before = await blocks.header(first)
    for (let number = first; number < last.header.number; number++) {
      const next = number + 1 === last.header.number ? last : await blocks.header(number + 1)
      const committee = this.committee(number)
      assert(before && next && committee, 'the blocks of the running cycle are stored')
      const { parentCertificate: certificate } = next.extra
      if (certificate !== null) sealed.push({ number, proposer: before.extra.proposer, committee, certificate })
      before = next
    }
    return sealed
  }

  #cycleAt(number: number): Cycle | undefined {
    return this.#cycle(cycleOf(number, this.#options.params.rewards.cycleBlocks))
  }

  #cycle(cycle: number): Cycle | undefined {
    const kept = this.#cycles.get(cycle)
    if (kept !== undefined) return kept
    const read = this.#read(cycle)
    if (read !== undefined) this.#cycles.set(cycle, read)
    return read
  }

  #read(cycle: number): Cycle | undefined {
    const { params } = this.#options
    const { cycleBlocks } = params.rewards
    const record = this.#recordAt(councilBlockOf(cycle, cycleBlocks))
    if (record === undefined) return undefined
    const before = this.#recordAt(councilBlockOf(Math.max(0, cycle - 1), cycleBlocks))
    if (before === undefined) return undefined
    const { committeeSize } = params
    const eligible = eligibleMembers(record, before, committeeSize)
    // On chains that can revert blocks a single validator decides, whoever else is registered.
    const drawn = params.devHelpers
      ? eligibleMembers({ ...record, members: this.#membersAt(0) }, before, committeeSize)
      : eligible
    const seed = hexToBytes(cycle === 0 ? this.#firstSeed : record.seed)
    return {
      record,
      qualified: new Set(eligible.map(({ validator }) => validator)),
      committee: drawCommittee(drawn, { committeeSize, seed, first: firstOfCycle(cycle, cycleBlocks) }),
      rewards: new Map(record.members.map(({ validator, reward }) => [validator, reward])),
    }
  }

  #recordAt(number: number): CycleRecord | undefined {
    const row = this.#options.store.getSync(BUCKETS.cycle, numberKey(number))
    return row && decodeCycle(number, row, at => this.#membersAt(at))
  }

  #membersAt(number: number): readonly CouncilMember[] {
    const row = this.#options.store.getSync(BUCKETS.council, numberKey(number))
    assert(row, 'a cycle names a council that is stored')
    return decodeCouncil(row)
  }
}

const NO_STATUS = {
  lapses: new Map(),
  jailed: new Set<Hex>(),
  queued: new Set<Hex>(),
  unproven: new Set<Hex>(),
  idle: new Map(),
}

const numberOf = (word: Hex): number => Number(BigInt(word))

/** Reads the contract's storage after a block that is not written yet. */
const slotsAfter =
  (head: Pick<StateReader, 'storage'>, { storage, cleared }: CouncilChanges): ReadWord =>
  slot =>
    storage.get(COUNCIL_ADDRESS)?.get(slot)?.after ??
    (cleared.has(COUNCIL_ADDRESS) ? ZERO_HASH : head.storage(COUNCIL_ADDRESS, slot))
