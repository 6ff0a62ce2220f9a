import { keccak256 } from '../crypto/hash.ts'
import { assert } from '../util/assert.ts'
import { concatBytes, type Hex } from '../util/bytes.ts'

/** The validators of one cycle in proposer order. A member's index here is its index in bitmaps and messages. */
export interface Committee {
  readonly members: readonly Hex[]
}

/** Members that may be faulty without harm: f = floor((n-1)/3). */
export const faultsOf = (size: number): number => Math.floor((size - 1) / 3)

/** ceil(2n/3): two quorums share at least f+1 members for every n (reference/consensus.md 1.1). */
export const quorumOf = (size: number): number => Math.ceil((2 * size) / 3)

/** Index of the proposer of (number, round): rotation by both, so that a round moves the turn on (DESIGN 4). */
export const proposerIndex = (size: number, number: number, round: number): number => (number + round) % size

export const proposerOf = (committee: Committee, number: number, round: number): Hex =>
  committee.members[proposerIndex(committee.members.length, number, round)] as Hex

/** The members as they would propose in rounds 0, 1, ... of a height. */
export const proposerOrder = (committee: Committee, number: number): readonly Hex[] => {
  const first = proposerIndex(committee.members.length, number, 0)
  return [...committee.members.slice(first), ...committee.members.slice(0, first)]
}

/**
 * The committee of a cycle from its council: a Fisher-Yates shuffle of the council sorted by address, cut at `committeeSize`.
 * Small councils serve whole, in the shuffled order.
 */
export const drawCommittee = (council: readonly Hex[], committeeSize: number, seed: Uint8Array): Committee => {
  assert(new Set(council).size === council.length, 'council members are distinct')
  const members = [...council].sort()
  const words = randomWords(seed, 'committee')
  const wanted = Math.min(committeeSize, members.length)
  for (let i = 0; i < wanted; i++) {
    const j = i + words.below(members.length - i)
    ;[members[i], members[j]] = [members[j] as Hex, members[i] as Hex]
  }
  return { members: members.slice(0, wanted) }
}

/** Uniform numbers below a bound: words keccak256(seed, domain, counter), those of the last incomplete range rejected. */
export const randomWords = (seed: Uint8Array, domain: string): { below(bound: number): number } => {
  const prefix = concatBytes(seed, new TextEncoder().encode(domain))
  let counter = 0
  return {
    below(bound) {
      assert(bound >= 1 && bound <= 2 ** 32, 'bound of a random number')
      const limit = 2 ** 48 - (2 ** 48 % bound)
      for (;;) {
        const word = keccak256(concatBytes(prefix, u64(counter++)))
        const value = Buffer.from(word.buffer, word.byteOffset, 6).readUIntBE(0, 6)
        if (value < limit) return value % bound
      }
    },
  }
}

const u64 = (value: number): Uint8Array => {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, BigInt(value))
  return out
}
