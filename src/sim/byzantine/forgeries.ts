import type { Block } from '../../primitives/block.ts'
import { type Certificate, certificateOf } from '../../primitives/consensus/certificate.ts'
import type { Prepare, SignedPart } from '../../primitives/consensus/vote.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Liar } from './byzantine-node.ts'

/* Things that a liar makes up without the keys they take. */

const SIGNATURE_BYTES = 65

/** A signature that nobody made. */
export const noSignature = (liar: Liar): Uint8Array => new Uint8Array(SIGNATURE_BYTES).fill(liar.random.below(100))

/** Committee indexes, this node's first. */
const signers = (liar: Liar, number: number, count: number): readonly number[] => {
  const own = liar.indexAt(number)
  const others = liar.committee(number).members.map((_, index) => index)
  return [...new Set([...(own < 0 ? [] : [own]), ...others])].slice(0, count)
}

/** A certificate for a block that no quorum sealed: too few seals, those of others, votes of another kind, or nobody's. */
export const forgedCertificate = (liar: Liar, number: number, blockHash: Hex): Certificate => {
  const { random } = liar
  const size = liar.committee(number).members.length
  const round = random.below(3)
  const own = liar.sign({ type: 'commit', number, round, blockHash })
  const sealed = (seal: (index: number) => Uint8Array, count = liar.quorum(number)) =>
    certificateOf(round, size, new Map(signers(liar, number, count).map(index => [index, seal(index)])))
  const known = (votes: readonly SignedPart[]) => {
    const bySender = new Map(votes.map(({ sender, signature }) => [sender, signature]))
    return sealed(index => bySender.get(index) ?? own)
  }
  return random.pick([
    () => sealed(() => own),
    () => sealed(() => own, 1),
    () => sealed(() => noSignature(liar)),
    () => known(liar.preparesAt(number)),
    () => known(liar.commitsAt(number)),
    () => liar.heightAt(number)?.parent.certificate ?? sealed(() => own, 0),
  ])()
}

/** A quorum of prepares that the others did not sign: own signatures in their names, nobody's, or too few. */
export const forgedPrepares = (liar: Liar, number: number, round: number, blockHash: Hex): readonly Prepare[] => {
  const vote = { type: 'prepare', number, round, blockHash } as const
  const own = liar.sign(vote)
  const from = (sender: number, signature: Uint8Array): Prepare => ({ ...vote, sender, signature })
  const quorum = signers(liar, number, liar.quorum(number))
  return liar.random.pick([
    () => quorum.map(sender => from(sender, own)),
    () => quorum.map(sender => from(sender, sender === liar.indexAt(number) ? own : noSignature(liar))),
    () => quorum.slice(0, 1).map(sender => from(sender, own)),
    () => quorum.map(() => from(Math.max(0, liar.indexAt(number)), own)),
    () => [],
  ])()
}

/** The same header over a body that it does not name. */
export const withOtherBody = (liar: Liar, block: Block): Block => ({
  ...block,
  evidence: [...block.evidence, Uint8Array.of(1, liar.random.below(256))],
})
