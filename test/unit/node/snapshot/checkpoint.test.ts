import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { enforceCheckpoint } from '../../../../src/node/stages/core.ts'
import { sealedChain } from '../../../support/consensus/sealed-chain.ts'

const BLOCKS = sealedChain(5, () => [0]).map(({ block }) => block)

/** A chain in memory that holds the first `stored` blocks. */
const chainOf = (stored: number) => {
  const listeners = new Set<(event: never) => void>()
  return {
    parts: {
      blocks: { block: async (number: number) => (number <= stored ? BLOCKS[number - 1] : undefined) },
      chain: {
        onCommitted: (listener: (event: never) => void) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
    } as never,
    commit: (number: number) => {
      for (const listener of listeners) listener({ block: BLOCKS[number - 1], receipts: [] } as never)
    },
  }
}

test('a stored block that contradicts the checkpoint is refused at the start', async () => {
  const { parts } = chainOf(3)
  const guard = (hash: typeof ZERO_HASH) => enforceCheckpoint({ number: 3, hash }, parts, () => {})
  await expect(guard(ZERO_HASH)).rejects.toMatchObject({
    code: 'CHECKPOINT_CONTRADICTED',
    detail: { expected: ZERO_HASH },
  })
  await guard(BLOCKS[2]!.hash)
})

test('the node gives up at the block that contradicts it, and at no other', async () => {
  const { parts, commit } = chainOf(1)
  const errors: Error[] = []
  const end = await enforceCheckpoint({ number: 4, hash: ZERO_HASH }, parts, error => void errors.push(error))
  for (const number of [2, 3]) commit(number)
  expect(errors).toEqual([])
  commit(4)
  expect(errors).toMatchObject([{ code: 'CHECKPOINT_CONTRADICTED' }])
  end()
  commit(4)
  expect(errors).toHaveLength(1)
  await enforceCheckpoint({ number: 5, hash: BLOCKS[4]!.hash }, parts, error => void errors.push(error))
  commit(5)
  expect(errors).toHaveLength(1)
})
