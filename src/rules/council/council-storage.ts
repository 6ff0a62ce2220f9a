import { asBuffer, bytesToHex, concatBytes, type Hex, hexToBytes, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { Lru } from '@tandem/base/lru.ts'
import { withoutTrailing } from '@tandem/base/text.ts'
import type { CouncilMember } from '../../config/genesis/genesis.ts'
import type { CouncilParams } from '../../config/networks.ts'
import { COUNCIL_BOUNDS } from '../../config/protocol-bounds.ts'
import { keccak256, keccak256Hex } from '../../crypto/hash.ts'
import { u64 } from './cycle.ts'

/* Storage layout of contracts/Council.sol: genesis writes it, and nodes read the members from it without running code. */

const MEMBERS = 0n
const REGISTRATIONS = 1n
const MIN_STAKE = 2n
const TERMS = 3n
const VALIDATOR_OF = 4n
const JAILED_AT = 6n
const STATUS_MEMBER = 2n

/** Reads a word of the contract: slot -> word, both 32 bytes. */
export type ReadWord = (slot: Hex) => Hex

interface CouncilSettings extends Pick<CouncilParams, 'openRegistration' | 'unbondingSeconds'> {
  readonly minStakeWei: bigint
}

/** Storage words that genesis writes for its members. Slot -> word, none of them zero. */
export const councilStorage = (members: readonly CouncilMember[], terms: CouncilSettings): ReadonlyMap<Hex, Hex> => {
  const words = new Map<Hex, Hex>()
  const put = (slot: Hex, word: bigint) => {
    if (word !== 0n) words.set(slot, toWord(word))
  }
  put(toWord(MEMBERS), BigInt(members.length))
  put(toWord(MIN_STAKE), terms.minStakeWei)
  const open = terms.openRegistration ? 1n : 0n
  // The members of genesis have the ids and admissions from 1 on.
  const count = BigInt(members.length)
  put(toWord(TERMS), BigInt(terms.unbondingSeconds) | (open << 64n) | (count << 72n) | (count << 128n))
  members.forEach(({ name, validator, owner, reward, admission, stakeWei }, index) => {
    put(memberSlot(index), BigInt(validator))
    const [first, second, third, fourth] = registrationSlots(validator)
    put(first, BigInt(owner) | (STATUS_MEMBER << 160n) | (BigInt(index) << 168n) | (BigInt(index + 1) << 200n))
    put(second, BigInt(reward) | (BigInt(admission) << 224n))
    put(third, stakeWei)
    put(fourth, BigInt(bytesToHex(nameWord(name))))
    put(mappingSlot(owner, VALIDATOR_OF), BigInt(validator))
  })
  return words
}

/** Reads the members from the contract; undefined when it holds no valid council, which only edits of a development chain cause. */
export const readCouncil = (read: ReadWord): readonly CouncilMember[] | undefined => {
  const count = BigInt(read(toWord(MEMBERS)))
  if (count === 0n || count > BigInt(COUNCIL_BOUNDS.members)) return undefined
  const members: CouncilMember[] = []
  for (let index = 0; index < Number(count); index++) {
    const member = readMember(read, addressOf(BigInt(read(memberSlot(index)))))
    if (member === undefined) return undefined
    members.push(member)
  }
  return new Set(members.map(({ validator }) => validator)).size === members.length ? members : undefined
}

const readMember = (read: ReadWord, validator: Hex): CouncilMember | undefined => {
  const [first, second, third, fourth] = registrationSlots(validator)
  const registration = BigInt(read(first))
  if (((registration >> 160n) & 0xffn) !== STATUS_MEMBER || validator === ZERO_ADDRESS) return undefined
  const payment = BigInt(read(second))
  return {
    name: nameOf(hexToBytes(read(fourth))),
    validator,
    owner: addressOf(registration),
    reward: addressOf(payment),
    admission: Number(payment >> 224n),
    stakeWei: BigInt(read(third)),
  }
}

/** Slot, outside the contract's layout, of the commitment to council records of all cycles before the last; zero before the first. */
export const RECORDS_SLOT = keccak256Hex(Buffer.from('tandem.council.records'))

/** Rows of the council after a cycle's last block; `council` is null when its members are those of the previous cycle. */
export interface RecordRows {
  readonly number: number
  readonly cycle: Uint8Array
  readonly council: Uint8Array | null
}

/** Commitment after one more record: keccak256(commitment before, block number as u64, keccak256 of cycle row and of council row or zero). */
export const commitRecord = (before: Hex, { number, cycle, council }: RecordRows): Hex => {
  const members = council === null ? new Uint8Array(32) : keccak256(council)
  return keccak256Hex(concatBytes(hexToBytes(before), u64(number), keccak256(cycle), members))
}

/** Slot with the number of the block whose evidence jailed a validator; zero: none did. */
export const jailedAtSlot = (validator: Hex): Hex =>
  getOrMake(jailedAtSlots, validator, () => mappingSlot(validator, JAILED_AT))
/** Slots of the validators looked up last: each block looks up its proposer's. */
const jailedAtSlots = new Lru<Hex, Hex>(COUNCIL_BOUNDS.members)

const MEMBERS_BASE = BigInt(keccak256Hex(hexToBytes(toWord(MEMBERS))))
const memberSlot = (index: number): Hex => toWord(MEMBERS_BASE + BigInt(index))

const registrationSlots = (validator: Hex): readonly [Hex, Hex, Hex, Hex] => {
  const base = BigInt(mappingSlot(validator, REGISTRATIONS))
  const at = (offset: bigint): Hex => toWord(BigInt.asUintN(256, base + offset))
  return [at(0n), at(1n), at(2n), at(3n)]
}

/** keccak256(key as a word, position as a word). */
const mappingSlot = (key: Hex, position: bigint): Hex =>
  keccak256Hex(concatBytes(hexToBytes(toWord(BigInt(key))), hexToBytes(toWord(position))))

/** Lowest 20 bytes of a word. */
const addressOf = (word: bigint): Hex => `0x${BigInt.asUintN(160, word).toString(16).padStart(40, '0')}`

const nameWord = (name: string): Uint8Array => {
  const word = new Uint8Array(32)
  word.set(Buffer.from(name))
  return word
}

/** Decodes a name, which is chosen by its owner: invalid UTF-8 becomes replacement characters. */
const nameOf = (word: Uint8Array): string => withoutTrailing(asBuffer(word).toString('utf8'), '\0')
