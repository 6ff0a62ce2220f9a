import type { Hex } from '@tandem/base/bytes.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { type Certificate, certificateFromSigners } from '../../../src/primitives/consensus/certificate.ts'
import type { Prepare, SignedVote } from '../../../src/primitives/consensus/vote.ts'
import type { ByzantineNode } from './byzantine-node.ts'

/* Forgeries made without the required keys. */

const SIGNATURE_BYTES = 65

/** Invalid signature. */
export const noSignature = (byzantineNode: ByzantineNode): Uint8Array =>
  new Uint8Array(SIGNATURE_BYTES).fill(byzantineNode.random.below(100))

/** Committee indexes, this node's first. */
const signers = (byzantineNode: ByzantineNode, number: number, count: number): readonly number[] => {
  const own = byzantineNode.indexAt(number)
  const others = byzantineNode.committee(number).members.map((_, index) => index)
  return [...new Set([...(own < 0 ? [] : [own]), ...others])].slice(0, count)
}

/**
 * Certificate for a block that no quorum sealed: too few seals, those of others, votes of another kind, or invalid ones.
 */
export const forgedCertificate = (byzantineNode: ByzantineNode, number: number, blockHash: Hex): Certificate => {
  const { random } = byzantineNode
  const size = byzantineNode.committee(number).members.length
  const round = random.below(3)
  const own = byzantineNode.sign({ type: 'commit', number, round, blockHash })
  const sealed = (seal: (index: number) => Uint8Array, count = byzantineNode.quorum(number)) =>
    certificateFromSigners(
      round,
      size,
      new Map(signers(byzantineNode, number, count).map(index => [index, seal(index)])),
    )
  const known = (votes: readonly SignedVote[]) => {
    const bySender = new Map(votes.map(({ sender, signature }) => [sender, signature]))
    return sealed(index => bySender.get(index) ?? own)
  }
  return random.pick([
    () => sealed(() => own),
    () => sealed(() => own, 1),
    () => sealed(() => noSignature(byzantineNode)),
    () => known(byzantineNode.preparesAt(number)),
    () => known(byzantineNode.commitsAt(number)),
    () => byzantineNode.heightAt(number)?.parent.certificate ?? sealed(() => own, 0),
  ])()
}

/** Quorum of prepares that the others did not sign: own signatures in their names, invalid ones, or too few. */
export const forgedPrepares = (
  byzantineNode: ByzantineNode,
  number: number,
  round: number,
  blockHash: Hex,
): readonly Prepare[] => {
  const vote = { type: 'prepare', number, round, blockHash } as const
  const own = byzantineNode.sign(vote)
  const from = (sender: number, signature: Uint8Array): Prepare => ({ ...vote, sender, signature })
  const quorum = signers(byzantineNode, number, byzantineNode.quorum(number))
  return byzantineNode.random.pick([
    () => quorum.map(sender => from(sender, own)),
    () =>
      quorum.map(sender => from(sender, sender === byzantineNode.indexAt(number) ? own : noSignature(byzantineNode))),
    () => quorum.slice(0, 1).map(sender => from(sender, own)),
    () => quorum.map(() => from(Math.max(0, byzantineNode.indexAt(number)), own)),
    () => [],
  ])()
}

/** Block with the same header and a body that does not match it. */
export const withOtherBody = (byzantineNode: ByzantineNode, block: Block): Block => ({
  ...block,
  evidence: [...block.evidence, Uint8Array.of(1, byzantineNode.random.below(256))],
})
