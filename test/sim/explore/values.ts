import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { emptyBlock } from '../../../devtools/sim/block.ts'
import type { Block } from '../../../src/primitives/block.ts'

/** Two blocks are enough: whatever is not the one decided is the other (consensus never looks into a block). */
export const VALUES = [0, 1] as const
export type Value = (typeof VALUES)[number]

/** The height explored; the one before it has votes of its own, which must not count here. */
export const HEIGHT = 421

export const memberAddress = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`

/** The two blocks, as any member may offer them: one hash each, whoever its header is said to name. */
export interface Values {
  block(value: Value, proposer: number): Block
  valueOf(hash: Hex): Value
  proposerOf(block: Block): Hex | undefined
}

export const createValues = (): Values => {
  const blocks = VALUES.map(blockOf)
  const proposers = new WeakMap<Block, Hex>()
  return {
    block(value, proposer) {
      const block = { ...(blocks[value] as Block) }
      proposers.set(block, memberAddress(proposer))
      return block
    },
    valueOf: hash => (hash === blocks[0]?.hash ? 0 : 1),
    proposerOf: block => proposers.get(block),
  }
}

const blockOf = (value: Value): Block =>
  emptyBlock(
    { number: HEIGHT, parentHash: ZERO_HASH, timestamp: value },
    { proposer: ZERO_ADDRESS, parentCertificate: null },
  )
