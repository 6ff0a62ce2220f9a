import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { ProofHeader, ProofTemplate } from '../../../src/primitives/proof-header.ts'
import { encodeProofHeader } from '../../../src/primitives/proof-header.ts'
import { earliestAnchor, nextProofTarget } from '../../../src/rules/proof/proof-header.ts'
import { proofVersionAt } from '../../../src/rules/proof/proof-target.ts'
import { solveProof } from '../proof/sim-work.ts'
import type { ByzantineNode, OpenHeight, Script } from './byzantine-node.ts'
import { inRoundZero, offer } from './proposing.ts'

/* Scripts about proof headers (docs/design/proof-chain.md#inclusion). */

/** Payee of headers of Byzantine nodes. */
const PAYEE: Hex = `0x${'bb'.repeat(20)}`

/** Work on the final tip with the parent block as its anchor; undefined while the tip is anchored there. */
const workOn = (member: ByzantineNode, { parent, proof }: OpenHeight): ProofTemplate | undefined => {
  const { proofParams } = member.options
  if (parent.number < earliestAnchor(proof)) return undefined
  const height = proof.tipHeight + 1
  return {
    version: proofVersionAt(proofParams, height),
    parentId: proof.tipId,
    height,
    anchorNumber: parent.number,
    anchorHash: parent.hash,
    coinbase: PAYEE,
    target: nextProofTarget(proofParams, proof, parent.number),
    extraNonce: Uint8Array.of(member.random.below(256)),
  }
}

/** A valid block without any header, whatever the others know. */
export const leavesOutProofs = inRoundZero((member, height) => {
  offer(member, member.others, member.makeBlock(height))
})

/** A header that nobody else has seen, in its own block. */
export const includesOwnProofs = inRoundZero((member, height) => {
  const work = workOn(member, height)
  const proofHeaders = work === undefined ? [] : [solveProof(work)]
  offer(member, member.others, member.makeBlock(height, { proofHeaders }))
})

type Change = Partial<ProofTemplate>

/** Anchors that valid work must not have: not committed, of another block, of the parent header, too old. */
const wrongAnchors = (member: ByzantineNode, { number, parent, proof }: OpenHeight): readonly Change[] => {
  const rival = member.blocksAt(number - 1).find(({ hash }) => hash !== parent.hash)
  const { maxAnchorAgeBlocks } = member.options.proofParams.proofChain
  const old = member.heightAt(number - maxAnchorAgeBlocks)?.parent
  return [
    { anchorNumber: number, anchorHash: member.blocksAt(number)[0]?.hash ?? PAYEE_WORD },
    { anchorNumber: number + 1, anchorHash: PAYEE_WORD },
    { anchorHash: rival?.hash ?? PAYEE_WORD },
    { anchorNumber: proof.tipAnchor, anchorHash: member.heightAt(proof.tipAnchor + 1)?.parent.hash ?? PAYEE_WORD },
    ...(old === undefined ? [] : [{ anchorNumber: old.number, anchorHash: old.hash }]),
  ]
}

/** Other changes of valid work that make its header invalid. */
const wrongFields = ({ options }: ByzantineNode, { target, version, height }: ProofTemplate): readonly Change[] => [
  { target: target + 1n },
  { target: target - 1n },
  { target: options.proofParams.proofChain.maxTargetAfter },
  { version: 3 - version },
  { height: height + 1 },
  { parentId: PAYEE_WORD },
  { coinbase: ZERO_ADDRESS },
]

const PAYEE_WORD: Hex = `0x${'bb'.repeat(32)}`

const withoutWork = (header: ProofHeader): ProofHeader => ({ ...header, nonce: new Uint8Array(8).fill(0xbb) })

interface Forgery {
  readonly miner?: Hex
  readonly proofTip?: Hex
  readonly proofHeaders?: readonly ProofHeader[]
}

/** A block with headers that no block may have, a false tip, or a false payee. */
export const forgesProofs = inRoundZero((member, height) => {
  const { random } = member
  const known = height.includedProof
  const work = workOn(member, height)
  const forgeries: (() => Forgery)[] = [() => random.pick([{ miner: PAYEE }, { proofTip: PAYEE_WORD }])]
  if (known !== undefined) forgeries.push(() => ({ proofHeaders: [known] }))
  if (work !== undefined) {
    const good = solveProof(work)
    const lists = [[withoutWork(good)], [good, good], [good, good, good]]
    const changed = (changes: readonly Change[]) => [solveProof({ ...work, ...random.pick(changes) })]
    forgeries.push(
      () => ({ proofHeaders: random.pick(lists) }),
      () => ({ proofHeaders: changed(wrongAnchors(member, height)) }),
      () => ({ proofHeaders: changed(wrongFields(member, work)) }),
    )
  }
  offer(member, member.others, member.makeBlock(height, random.pick(forgeries)()))
})

/** Forged headers and old ones by gossip, and its own valid ones to few. */
export const gossipsForgedProofs: Script = {
  onHeight(member, height) {
    const work = workOn(member, height)
    if (work === undefined) return
    const good = solveProof(work)
    const bad = member.random.pick([...wrongAnchors(member, height), ...wrongFields(member, work)])
    const headers = [good, withoutWork(good), solveProof({ ...work, ...bad }), height.includedProof ?? good]
    for (const header of headers)
      for (const to of member.others)
        if (member.random.chance(0.4)) member.options.postProof(to, encodeProofHeader(header))
    if (member.random.chance(0.3)) member.options.postProof(member.random.pick(member.others), Uint8Array.of(1, 2, 3))
  },
}
