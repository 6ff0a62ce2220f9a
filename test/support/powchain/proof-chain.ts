import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { Genesis } from '../../../src/config/genesis/genesis.ts'
import { encodeProofHeader, type ProofHeader, type ProofTemplate } from '../../../src/primitives/proof-header.ts'
import { CHAIN_ID, type TestChain, testGenesis } from '../chain.ts'
import { MINER } from './headers.ts'
import { solve } from './solve.ts'

/** The test chain whose proof chain changes its hash at a height, with cycles of so many blocks. */
export const proofGenesis = (forkHeight: number | null = 20, cycleBlocks = 60, genesis = testGenesis()): Genesis => ({
  ...genesis,
  params: {
    ...genesis.params,
    forks: genesis.params.forks.map(fork => (fork.name === 'nativeHash' ? { ...fork, height: forkHeight } : fork)),
    rewards: { ...genesis.params.rewards, cycleBlocks },
  },
})

/** Work of this chain's pool, solved. */
export const solved = (
  { proofPool }: Pick<TestChain, 'proofPool'>,
  { coinbase = MINER, change = {} }: { readonly coinbase?: Hex; readonly change?: Partial<ProofTemplate> } = {},
): Promise<ProofHeader> => {
  const template = proofPool.template(coinbase, EMPTY_BYTES)
  assert(template !== undefined, 'there is work to do')
  return solve(CHAIN_ID, { ...template, ...change })
}

/** A header mined on this chain and given to its pool, which includes it in the next block. */
export const mineProof = async (chain: TestChain, coinbase: Hex = MINER): Promise<ProofHeader> => {
  const header = await solved(chain, { coinbase })
  const outcome = await chain.proofPool.submit(encodeProofHeader(header), chain.clock.ms)
  assert(outcome === 'added', `a mined header is added: ${outcome}`)
  return header
}
