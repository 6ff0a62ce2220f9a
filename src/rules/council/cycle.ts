import { assert } from '@tandem/base/assert.ts'

/*
 * Cycle of a block: cycle c has the blocks c * cycleBlocks + 1 .. (c + 1) * cycleBlocks, and ends with the block that pays the
 * rewards (docs/design/council.md#cycles, docs/design/money.md#minting). Genesis counts as part of cycle 0.
 */

export const cycleOf = (number: number, cycleBlocks: number): number => {
  assert(number >= 0 && cycleBlocks > 0, 'a block number and a cycle length')
  return number === 0 ? 0 : Math.floor((number - 1) / cycleBlocks)
}

export const firstOfCycle = (cycle: number, cycleBlocks: number): number => cycle * cycleBlocks + 1

export const lastOfCycle = (cycle: number, cycleBlocks: number): number => (cycle + 1) * cycleBlocks

/**
 * Block after which the council of a cycle was read: the last one two cycles before, so that a committee is known a whole cycle
 * ahead; genesis for the first two (docs/design/council.md#cycles).
 */
export const councilBlockOf = (cycle: number, cycleBlocks: number): number => Math.max(0, cycle - 1) * cycleBlocks

/** Returns true for a block that pays the rewards of its cycle. */
export const endsCycle = (number: number, cycleBlocks: number): boolean => number > 0 && number % cycleBlocks === 0
