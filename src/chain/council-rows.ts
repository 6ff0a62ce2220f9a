import type { CouncilMember } from '../config/genesis.ts'
import { decodeRlp, encodeRlp, uintItem } from '../primitives/rlp.ts'
import type { Lapse, Service } from '../rules/service.ts'
import { BUCKETS } from '../storage/buckets.ts'
import { numberKey, readNumber } from '../storage/keys.ts'
import type { Store } from '../storage/store.ts'
import { bigintToBytes, bytesToBigint, bytesToHex, EMPTY_BYTES, type Hex, hexToBytes } from '../util/bytes.ts'

/*
 * The council as a chain keeps it for good, whatever becomes of old state. After each cycle's last block (and genesis) a cycle row
 * says how the members stand and names the block whose council row they are in: most cycles change nobody.
 */

/** RLP of [name, validator, owner, reward, admission, stake] for each member, in the contract's order. */
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

type MemberItem = readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array]

export const decodeCouncil = (row: Uint8Array): readonly CouncilMember[] =>
  (decodeRlp(row) as readonly MemberItem[]).map(([name, validator, owner, reward, admission, stake]) => ({
    name: new TextDecoder().decode(name),
    validator: bytesToHex(validator),
    owner: bytesToHex(owner),
    reward: bytesToHex(reward),
    admission: numberOf(admission),
    stakeWei: bytesToBigint(stake),
  }))

/** The council as it stands after a cycle's last block, or genesis: it serves the cycle after the next (DESIGN 4). */
export interface CycleRecord extends Service {
  readonly number: number
  /** The block whose council row holds the members. */
  readonly councilAt: number
  readonly members: readonly CouncilMember[]
}

/** RLP of [block of the council row, [[index, silent blocks, out until] ...], [index of a jailed member ...]]. */
export const encodeCycle = ({ councilAt, members, lapses, jailed }: CycleRecord): Uint8Array => {
  const lapsed = members.flatMap(({ validator }, index) => {
    const lapse = lapses.get(validator)
    return lapse === undefined ? [] : [[uintItem(index), uintItem(lapse.silentBlocks), uintItem(lapse.outUntil)]]
  })
  const locked = members.flatMap(({ validator }, index) => (jailed.has(validator) ? [uintItem(index)] : []))
  return encodeRlp([uintItem(councilAt), lapsed, locked])
}

type LapseItem = readonly [Uint8Array, Uint8Array, Uint8Array]
type CycleItem = readonly [Uint8Array, readonly LapseItem[], readonly Uint8Array[]]

/** `membersAt`: the members of the council row of a block. */
export const decodeCycle = (
  number: number,
  row: Uint8Array,
  membersAt: (number: number) => readonly CouncilMember[],
): CycleRecord => {
  const [at, lapsed, locked] = decodeRlp(row) as unknown as CycleItem
  const councilAt = numberOf(at)
  const members = membersAt(councilAt)
  const validatorOf = (index: Uint8Array): Hex => {
    const member = members[numberOf(index)]
    if (member === undefined) throw new RangeError(`a council of ${members.length} has no member ${numberOf(index)}`)
    return member.validator
  }
  const lapseOf = ([, silent, until]: LapseItem): Lapse => ({
    silentBlocks: numberOf(silent),
    outUntil: numberOf(until),
  })
  return {
    number,
    councilAt,
    members,
    lapses: new Map(lapsed.map(item => [validatorOf(item[0]), lapseOf(item)])),
    jailed: new Set(locked.map(validatorOf)),
  }
}

/** What is wrong with the stored councils of a chain, by block. A recorded chain has none. */
export const verifyCouncils = async (
  store: Store,
  head: number,
): Promise<readonly { readonly number: number; readonly problem: string }[]> => {
  const problems: { readonly number: number; readonly problem: string }[] = []
  const membersAt = (number: number) => decodeCouncil(store.getSync(BUCKETS.council, numberKey(number)) ?? EMPTY_BYTES)
  for await (const [key, row] of store.entries(BUCKETS.cycle)) {
    const number = readNumber(key)
    if (number > head) problems.push({ number, problem: 'the record of a cycle beyond the head' })
    try {
      decodeCycle(number, row, membersAt)
    } catch (error) {
      problems.push({ number, problem: `the council of its cycle cannot be read: ${(error as Error).message}` })
    }
  }
  return problems
}

const numberOf = (bytes: Uint8Array): number => Number(bytesToBigint(bytes))
