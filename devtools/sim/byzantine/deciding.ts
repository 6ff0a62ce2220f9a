import { encodeEnvelope } from '../network/envelope.ts'
import type { Script } from './byzantine-node.ts'
import { forgedCertificate, withOtherBody } from './forgeries.ts'

/* Undecided blocks, and blocks with another body: forgeries that need no signature of the node's own. */

/** Decisions of an open height, of valid and invalid blocks, with invalid certificates. */
export const forgesDecisions: Script = {
  onStatus(byzantineNode, { number }) {
    const height = byzantineNode.heightAt(number)
    if (height === undefined || !byzantineNode.random.chance(0.05)) return
    const known = byzantineNode.blocksAt(number)
    const isNew = known.length === 0 || byzantineNode.random.chance(0.5)
    const block = isNew
      ? byzantineNode.makeBlock(height, { isValid: byzantineNode.random.chance(0.5) })
      : byzantineNode.random.pick(known)
    const certificate = forgedCertificate(byzantineNode, number, block.hash)
    byzantineNode.post(
      [byzantineNode.random.pick(byzantineNode.others)],
      encodeEnvelope({ type: 'decided', block, certificate }),
    )
  },
}

/** Messages and decisions of honest members with another body under the same header. */
export const swapsBodies: Script = {
  onProposal(byzantineNode, proposal) {
    if (!byzantineNode.random.chance(0.3)) return
    const swapped = { ...proposal, block: withOtherBody(byzantineNode, proposal.block) }
    byzantineNode.post(
      byzantineNode.others.filter(() => byzantineNode.random.chance(0.7)),
      encodeEnvelope(swapped),
    )
  },
  onStatus(byzantineNode, { number, wanted }) {
    const next = byzantineNode.heightAt(number + 1)
    const decided = next && byzantineNode.blocksAt(number).find(({ hash }) => hash === next.parent.hash)
    const asked = wanted === null ? undefined : byzantineNode.blocksAt(number).find(({ hash }) => hash === wanted)
    const certificate = next?.parent.certificate
    // A status does not name its requester: the response goes to all.
    if (decided !== undefined && certificate && byzantineNode.random.chance(0.2))
      byzantineNode.post(
        byzantineNode.others,
        encodeEnvelope({ type: 'decided', block: withOtherBody(byzantineNode, decided), certificate }),
      )
    if (asked !== undefined)
      byzantineNode.post(
        byzantineNode.others,
        encodeEnvelope({ type: 'body', block: withOtherBody(byzantineNode, asked) }),
      )
  },
}

const FLOOD = 4

/** Unrequested bodies. */
export const floodsBodies: Script = {
  onStatus(byzantineNode, { number }) {
    const height = byzantineNode.heightAt(number)
    if (height === undefined || !byzantineNode.random.chance(0.05)) return
    for (let count = 0; count < FLOOD; count++)
      byzantineNode.post(byzantineNode.others, encodeEnvelope({ type: 'body', block: byzantineNode.makeBlock(height) }))
  },
}
