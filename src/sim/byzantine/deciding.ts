import { encodeFrame } from '../envelope.ts'
import { forgedCertificate, withOtherBody } from './forgeries.ts'
import type { Script } from './script.ts'

/* Blocks nobody decided, and blocks with the body of another: what a liar sends where no signature of its own is asked for. */

/** Decisions of an open height, valid and invalid blocks, with certificates that are none. */
export const forgesDecisions: Script = {
  onStatus(liar, { number }) {
    const height = liar.heightAt(number)
    if (height === undefined || !liar.random.chance(0.05)) return
    const known = liar.blocksAt(number)
    const isNew = known.length === 0 || liar.random.chance(0.5)
    const block = isNew ? liar.makeBlock(height, { isValid: liar.random.chance(0.5) }) : liar.random.pick(known)
    const certificate = forgedCertificate(liar, number, block.hash)
    liar.post([liar.random.pick(liar.others)], encodeFrame({ type: 'decided', block, certificate }))
  },
}

/** What honest members said and decided, with another body under the same header. */
export const swapsBodies: Script = {
  onProposal(liar, proposal) {
    if (!liar.random.chance(0.3)) return
    const swapped = { ...proposal, block: withOtherBody(liar, proposal.block) }
    liar.post(
      liar.others.filter(() => liar.random.chance(0.7)),
      encodeFrame(swapped),
    )
  },
  onStatus(liar, { number, wanted }) {
    const next = liar.heightAt(number + 1)
    const decided = next && liar.blocksAt(number).find(({ hash }) => hash === next.parent.hash)
    const asked = wanted === null ? undefined : liar.blocksAt(number).find(({ hash }) => hash === wanted)
    const certificate = next?.parent.certificate
    // Whoever asks is not named in a status: it goes to all.
    if (decided !== undefined && certificate && liar.random.chance(0.2))
      liar.post(liar.others, encodeFrame({ type: 'decided', block: withOtherBody(liar, decided), certificate }))
    if (asked !== undefined) liar.post(liar.others, encodeFrame({ type: 'body', block: withOtherBody(liar, asked) }))
  },
}

const FLOOD = 4

/** Bodies that nobody asked for. */
export const floodsBodies: Script = {
  onStatus(liar, { number }) {
    const height = liar.heightAt(number)
    if (height === undefined || !liar.random.chance(0.05)) return
    for (let count = 0; count < FLOOD; count++)
      liar.post(liar.others, encodeFrame({ type: 'body', block: liar.makeBlock(height) }))
  },
}
