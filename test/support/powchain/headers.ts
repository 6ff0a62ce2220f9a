import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { NETWORKS, type NetworkParams } from '../../../src/config/networks.ts'
import { type ProofHeader, type ProofTemplate, proofHeaderId } from '../../../src/primitives/proof-header.ts'
import {
  extendProofState,
  firstProofState,
  nextProofTarget,
  type ProofState,
} from '../../../src/rules/proof/proof-header.ts'
import { proofVersionAt } from '../../../src/rules/proof/proof-target.ts'

export const MINER: Hex = `0x${'33'.repeat(20)}`
export const OTHER_MINER: Hex = `0x${'44'.repeat(20)}`

/** Devnet's rules with another fork height of the proof chain. */
export const paramsWithFork = (height: number | null): NetworkParams => ({
  ...NETWORKS.devnet,
  forks: NETWORKS.devnet.forks.map(fork => (fork.name === 'nativeHash' ? { ...fork, height } : fork)),
})

/** Hash of a main block that exists only by its number. */
export const anchorHashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

/** A header that follows from its parent's state in everything but its work. */
export const childOf = (
  params: NetworkParams,
  state: ProofState,
  anchorNumber: number,
  change: Partial<ProofHeader> = {},
): ProofHeader => {
  const height = state.tipHeight + 1
  const version = proofVersionAt(params, height)
  const template: ProofTemplate = {
    version,
    parentId: state.tipId,
    height,
    anchorNumber,
    anchorHash: anchorHashOf(anchorNumber),
    coinbase: MINER,
    target: nextProofTarget(params, state, anchorNumber),
    extraNonce: EMPTY_BYTES,
  }
  return { ...template, nonce: new Uint8Array(8), mixHash: version === 2 ? new Uint8Array(32) : EMPTY_BYTES, ...change }
}

/** State after so many headers, one every `spacing` main blocks. */
export const grow = (params: NetworkParams, headers: number, spacing = params.proofChain.spacingBlocks): ProofState => {
  let state = firstProofState(params)
  for (let i = 0; i < headers; i++) {
    const header = childOf(params, state, state.tipAnchor + spacing)
    state = extendProofState(params, state, header, proofHeaderId(header))
  }
  return state
}
