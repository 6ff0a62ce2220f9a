import { bigintToBytes, EMPTY_BYTES, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { CouncilMember } from '../../config/genesis/genesis.ts'
import { COUNCIL_ADDRESS } from '../../config/networks.ts'
import { COUNCIL_BOUNDS } from '../../config/protocol-bounds.ts'
import { decodeOrMalformed, malformed } from '../../primitives/rlp/malformed.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import { RlpCursor, readWholeList } from '../../primitives/rlp/rlp-cursor.ts'
import type { RatedCouncil } from '../../rules/council/council-status.ts'
import { commitRecord, RECORDS_SLOT, type RecordRows } from '../../rules/council/council-storage.ts'
import { hashedKey, readAccount, readSlot } from '../../state/flat-tables.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'

/*
 * Permanent record of the councils, independent of pruned state. After the last block of each cycle (and genesis) a cycle row stores the
 * status of the members and the number of the block whose council row holds them: most cycles change no member.
 */

/** Encodes members: RLP of [name, validator, owner, reward, admission, stake] each, in the contract's order. */
export const encodeCouncil = (members: readonly CouncilMember[]): Uint8Array =>
  encodeRlp(
    members.map(({ name, validator, owner, reward, admission, stakeWei }) => [
      Buffer.from(name),
      hexToBytes(validator),
      hexToBytes(owner),
      hexToBytes(reward),
      uintItem(admission),
      bigintToBytes(stakeWei),
    ]),
  )

/** Decodes strictly. Throws COUNCIL_RECORD_MALFORMED. */
export const decodeCouncil = (row: Uint8Array): readonly CouncilMember[] =>
  decodeOrMalformed('COUNCIL_RECORD_MALFORMED', () => {
    const cursor = new RlpCursor(row)
    const members = readMembers(cursor, readMember)
    cursor.finish()
    return members
  })

const readMember = (cursor: RlpCursor): CouncilMember =>
  cursor.list(() => ({
    name: Buffer.from(cursor.boundedBytes(NAME_BYTES)).toString('utf8'),
    validator: cursor.hex(20),
    owner: cursor.hex(20),
    reward: cursor.hex(20),
    admission: cursor.safeUint(),
    stakeWei: cursor.uint(32),
  }))

/** Longest name as text: an invalid UTF-8 byte becomes a character of three bytes. */
const NAME_BYTES = 3 * COUNCIL_BOUNDS.nameBytes

/** Council after the last block of a cycle, or genesis: it serves in the cycle after the next (docs/design/council.md#cycles). */
export interface CycleRecord extends RatedCouncil<CouncilMember> {
  /** Block whose council row holds the members. */
  readonly councilAt: number
  /** Seed of the cycle that the record serves; of cycle 1 in the record of genesis, which serves cycles 0 and 1. */
  readonly seed: Hex
}

/**
 * Encodes a cycle: RLP of [block of the council row, [[index, silent blocks, out until] ...], [index of a jailed member ...], seed, [index
 * of a queued member ...], [index of an unproven member ...], [[index, strikes, rests until] ...]].
 */
export const encodeCycle = (record: CycleRecord): Uint8Array => {
  const { councilAt, members, lapses, jailed, queued, unproven, idle, seed } = record
  const pairsIn = <T>(some: ReadonlyMap<Hex, T>, pair: (value: T) => readonly [number, number]) =>
    members.flatMap(({ validator }, index) => {
      const value = some.get(validator)
      return value === undefined ? [] : [[index, ...pair(value)].map(uintItem)]
    })
  const indexesIn = (some: ReadonlySet<Hex>) =>
    members.flatMap(({ validator }, index) => (some.has(validator) ? [uintItem(index)] : []))
  return encodeRlp([
    uintItem(councilAt),
    pairsIn(lapses, ({ silentBlocks, outUntil }) => [silentBlocks, outUntil]),
    indexesIn(jailed),
    hexToBytes(seed),
    indexesIn(queued),
    indexesIn(unproven),
    pairsIn(idle, ({ strikes, restsUntil }) => [strikes, restsUntil]),
  ])
}

/** Decodes a cycle row strictly: members by their index in the council row it names. Throws COUNCIL_RECORD_MALFORMED. */
export const readCycleRow = (row: Uint8Array) =>
  decodeOrMalformed('COUNCIL_RECORD_MALFORMED', () =>
    readWholeList(row, cursor => ({
      councilAt: cursor.safeUint(),
      lapses: readPairs(cursor, (silentBlocks, outUntil) => ({ silentBlocks, outUntil })),
      jailed: readIndexes(cursor),
      seed: cursor.hex(32),
      queued: readIndexes(cursor),
      unproven: readIndexes(cursor),
      idle: readPairs(cursor, (strikes, restsUntil) => ({ strikes, restsUntil })),
    })),
  )

const readMembers = <T>(cursor: RlpCursor, read: (cursor: RlpCursor) => T): readonly T[] =>
  cursor.items(read, COUNCIL_BOUNDS.members)

const readIndexes = (cursor: RlpCursor): readonly number[] => readMembers(cursor, () => cursor.safeUint())

/** Reads pairs of the index of a member and of what `make` makes of two numbers. */
const readPairs = <T>(cursor: RlpCursor, make: (first: number, second: number) => T) =>
  readMembers(cursor, () =>
    cursor.list((): readonly [number, T] => [cursor.safeUint(), make(cursor.safeUint(), cursor.safeUint())]),
  )

/** Decodes a cycle row; `membersAt` returns the members of the council row of a block. Throws COUNCIL_RECORD_MALFORMED. */
export const decodeCycle = (
  number: number,
  row: Uint8Array,
  membersAt: (number: number) => readonly CouncilMember[],
): CycleRecord => {
  const { councilAt, lapses, jailed, seed, queued, unproven, idle } = readCycleRow(row)
  const members = membersAt(councilAt)
  const validatorOf = (index: number): Hex => {
    const member = members[index]
    if (member === undefined)
      throw malformed('COUNCIL_RECORD_MALFORMED', `a council of ${members.length} has no member ${index}`)
    return member.validator
  }
  return {
    number,
    councilAt,
    members,
    lapses: new Map(lapses.map(([index, inactivity]) => [validatorOf(index), inactivity])),
    jailed: new Set(jailed.map(validatorOf)),
    queued: new Set(queued.map(validatorOf)),
    unproven: new Set(unproven.map(validatorOf)),
    idle: new Map(idle.map(([index, idleness]) => [validatorOf(index), idleness])),
    seed,
  }
}

/** Returns the raw rows of a record; undefined when there is none. */
export const readRecordRows = (store: Pick<Store, 'getSync'>, number: number): RecordRows | undefined => {
  const key = numberKey(number)
  const cycle = store.getSync(BUCKETS.cycle, key)
  return cycle && { number, cycle, council: store.getSync(BUCKETS.council, key) ?? null }
}

/** Returns the faults of the stored councils of a chain, by block. A recorded chain has none. */
export const verifyCouncils = async (
  store: Store,
  head: number,
): Promise<readonly { readonly number: number; readonly problem: string }[]> => {
  const problems: { readonly number: number; readonly problem: string }[] = []
  const committed = committedRecords(store)
  let commitment: Hex = ZERO_HASH
  let newest: RecordRows | undefined
  const membersAt = (number: number) => decodeCouncil(store.getSync(BUCKETS.council, numberKey(number)) ?? EMPTY_BYTES)
  for await (const [key, row] of store.entries(BUCKETS.cycle)) {
    const number = readNumber(key)
    if (number > head) problems.push({ number, problem: 'the record of a cycle beyond the head' })
    try {
      decodeCycle(number, row, membersAt)
    } catch (error) {
      problems.push({ number, problem: `the council of its cycle cannot be read: ${(error as Error).message}` })
    }
    if (committed !== undefined) {
      // The last block of the next cycle commits to the newest record.
      if (newest !== undefined) commitment = commitRecord(commitment, newest)
      newest = { number, cycle: row, council: store.getSync(BUCKETS.council, key) ?? null }
    }
  }
  if (committed !== undefined && commitment !== committed)
    problems.push({ number: head, problem: `council records make ${commitment}, the state commits to ${committed}` })
  return problems
}

/** Returns the commitment in the head's state; undefined without a council contract, as on a recorded chain. */
const committedRecords = (store: Store): Hex | undefined => {
  const owner = hashedKey(COUNCIL_ADDRESS)
  return readAccount(store, owner) && readSlot(store, owner, RECORDS_SLOT)
}
