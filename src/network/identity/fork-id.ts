import { crc32 } from 'node:zlib'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { type Fork, isEvmFork } from '../../config/forks.ts'

/** Value that two nodes compare to check that they follow the same forks (EIP-2124). */
interface ForkId {
  /** 4 bytes. */
  readonly hash: Hex
  /** Number of the next fork; 0: none is known. */
  readonly next: number
}

/** Forks known to this node, and its check of other nodes. */
export type ForkFilter = ReturnType<typeof createForkFilter>

/** Creates the fork filter: main-chain forks by number; those of the proof chain in the first checksum, as heights are independent. */
export const createForkFilter = (genesisHash: Hex, forks: readonly Fork[]) => {
  const heightsOf = (wanted: (fork: Fork) => boolean): readonly number[] => {
    const heights = forks.filter(wanted).map(({ height }) => height ?? 0)
    return [...new Set(heights)].filter(height => height > 0).sort((a, b) => a - b)
  }
  const numbers = heightsOf(({ name }) => isEvmFork(name))
  const proofHeights = heightsOf(({ name }) => !isEvmFork(name))
  /** After genesis, and after each fork. */
  const sums: number[] = [proofHeights.reduce(extend, crc32(hexToBytes(genesisHash)))]
  for (const number of numbers) sums.push(extend(sums.at(-1) as number, number))
  const hashes = sums.map(hexOf)
  const passed = (head: number): number => numbers.filter(number => number <= head).length
  const idAfter = (count: number): ForkId => ({ hash: hashes[count] as Hex, next: numbers[count] ?? 0 })
  return {
    at: (head: number): ForkId => idAfter(passed(head)),
    /** Returns true when a node with this id can be on the same chain, seen from a head (EIP-2124, validation rules). */
    accepts(remote: ForkId, head: number): boolean {
      const here = passed(head)
      const there = hashes.indexOf(remote.hash)
      // The same forks, unless it knows a next fork that is already past here.
      if (there === here) return remote.next === 0 || remote.next > head
      // It has not passed all forks of this node yet: it must know which comes next.
      if (there >= 0 && there < here) return remote.next === numbers[there]
      // It is further, along forks known here.
      return there > here
    },
  }
}

const extend = (sum: number, height: number): number => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(height))
  return crc32(bytes, sum)
}

const hexOf = (sum: number): Hex => `0x${sum.toString(16).padStart(8, '0')}`
