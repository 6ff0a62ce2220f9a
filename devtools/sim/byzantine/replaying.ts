import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import { encodeEnvelope } from '../network/envelope.ts'
import type { ByzantineNode, Script } from './byzantine-node.ts'

/** Statuses after which a height is sent again, so that a member that lags for other reasons is not flooded. */
const EACH = 0.5

/** Sends to the members it has cut off what others said at the height they ask about, without their own votes: no vote shows that they had one. */
const sendHeight = (node: ByzantineNode, to: number, number: number): void => {
  const index = node.committee(number).members.indexOf(node.options.keys.addresses[to] ?? '0x')
  const archived = node.archivedAt(number)
  const send = (message: ConsensusMessage) => node.post([to], encodeEnvelope(message))
  for (const message of archived) if (message.sender !== index) send(message)
  // The body of its own proposal, once it has a quorum of commits.
  node.later(node.options.roundTimeoutMs / 4, () => {
    for (const message of archived) if (message.type === 'proposal') send({ type: 'body', block: message.block })
  })
}

/** Keeps all that is said, and sends old heights again to a member that knows no newer ones. */
export const replaysHeights: Script = {
  archives: true,
  onStatus(node, { number }, from) {
    if (!node.options.isEclipsed(from) || !node.random.chance(EACH)) return
    if (node.heightAt(number + 1) !== undefined) sendHeight(node, from, number)
  },
}
