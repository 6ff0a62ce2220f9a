import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import type { Certificate } from '../../../src/primitives/consensus/certificate.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import type { Prepare, PreparedBlock, RoundChangePayload } from '../../../src/primitives/consensus/vote.ts'
import { encodeEnvelope } from '../network/envelope.ts'
import type { ByzantineNode, Script } from './byzantine-node.ts'
import { noSignature } from './forgeries.ts'

/* Messages of every kind that can be decoded and mean nothing: each field by chance, at its limits as often as near the truth. */

const HUGE = Number.MAX_SAFE_INTEGER
const FAR = [0, 2 ** 31, 2 ** 32, HUGE - 1, HUGE]
/** Longest list of a consensus message, in committee members. */
const LONGEST = 128

/** Near a number, or far from every sensible one. */
const around = (random: Random, number: number): number => {
  if (random.chance(0.15)) return random.pick(FAR)
  const near = number + random.pick([0, 0, 0, 0, 1, 1, 2, 7, 8, 9, 10, 11, 64, 65, -1, -2, -3])
  return Math.max(0, near)
}

/** Draws fields of messages around an open height. */
class Fields {
  readonly number: number
  readonly round: number
  readonly blockHash: Hex
  readonly sender: number
  readonly #node: ByzantineNode

  constructor(node: ByzantineNode, number: number, round: number) {
    const { random } = node
    this.#node = node
    this.number = around(random, number)
    this.round = around(random, round)
    this.blockHash = this.#hash(number)
    const own = node.indexAt(number)
    this.sender = random.pick([own, own, 0, 1, 2, 3, node.options.size, 127].filter(index => index >= 0))
  }

  /** Encodes a message with a valid signature, one over other content, one of another key, or none. */
  signed<Message extends Parameters<ByzantineNode['sign']>[0]>(message: Message): Uint8Array {
    const { random } = this.#node
    if (random.chance(0.6)) return this.#node.sign(message)
    const heard = [...this.#node.preparesAt(message.number), ...this.#node.commitsAt(message.number)]
    if (heard.length > 0 && random.chance(0.5)) return random.pick(heard).signature
    return random.chance(0.5)
      ? noSignature(this.#node)
      : this.#node.sign({ ...message, round: message.round + (message.round < HUGE ? 1 : -1) })
  }

  prepares(): readonly Prepare[] {
    const { random } = this.#node
    const heard = this.#node.preparesAt(this.number)
    if (random.chance(0.3)) return heard
    const vote = { type: 'prepare', number: this.number, round: this.round, blockHash: this.blockHash } as const
    const count = random.pick([0, 1, 3, LONGEST])
    const signature = this.signed(vote)
    return Array.from({ length: count }, (_, at) => ({ ...vote, sender: random.chance(0.5) ? at : 0, signature }))
  }

  prepared(): PreparedBlock | null {
    const { random } = this.#node
    return random.chance(0.4) ? null : { round: around(random, this.round), blockHash: this.blockHash }
  }

  roundChanges(): readonly RoundChangePayload[] {
    const { random } = this.#node
    const change = { type: 'roundChange', number: this.number, round: this.round, prepared: this.prepared() } as const
    const signature = this.signed({ ...change, prepares: [] })
    const count = random.pick([0, 1, 3, LONGEST])
    return Array.from({ length: count }, (_, at) => ({ ...change, sender: random.chance(0.5) ? at : 0, signature }))
  }

  certificate(): Certificate {
    const { random } = this.#node
    const known = this.#node.heightAt(this.number)?.parent.certificate
    const seals = known?.seals ?? [noSignature(this.#node)]
    const count = random.pick([0, 1, seals.length, LONGEST])
    return {
      round: this.round,
      bitmap: this.bitmap(),
      seals: Array.from({ length: count }, (_, at) => seals[at % seals.length] as Uint8Array),
    }
  }

  bitmap(): Uint8Array {
    const { random } = this.#node
    return Uint8Array.from({ length: random.pick([0, 1, 1, 1, 2, 16]) }, () => random.below(256))
  }

  #hash(number: number): Hex {
    const { random } = this.#node
    const known = this.#node.blocksAt(number)
    if (known.length > 0 && random.chance(0.6)) return random.pick(known).hash
    return random.chance(0.5)
      ? `0x${'00'.repeat(32)}`
      : `0x${random
          .below(2 ** 32)
          .toString(16)
          .padStart(64, 'e')}`
  }
}

const votes = (node: ByzantineNode, fields: Fields): ConsensusMessage => {
  const { number, round, blockHash, sender } = fields
  const type = node.random.pick(['prepare', 'commit', 'roundChange'] as const)
  if (type !== 'roundChange') {
    const vote = { type, number, round, blockHash } as const
    return { ...vote, sender, signature: fields.signed(vote) }
  }
  const change = { type, number, round, prepared: fields.prepared(), prepares: fields.prepares() } as const
  return { ...change, sender, signature: fields.signed(change) }
}

/** On a block of the open height, or of a height where it has no place. */
const blocks = (node: ByzantineNode, fields: Fields, height: number): ConsensusMessage | undefined => {
  const open = node.heightAt(height)
  if (open === undefined) return undefined
  const { number, round, sender } = fields
  const known = node.blocksAt(height)
  const block =
    known.length > 0 && node.random.chance(0.6)
      ? node.random.pick(known)
      : node.makeBlock({ ...open, number: node.random.chance(0.5) ? height : Math.max(1, number) })
  const type = node.random.pick(['proposal', 'body', 'decided'] as const)
  if (type === 'body') return { type, block }
  if (type === 'decided') return { type, block, certificate: fields.certificate() }
  const proposal = { type, number, round, block, roundChanges: fields.roundChanges(), prepares: fields.prepares() }
  return { ...proposal, sender, signature: fields.signed(proposal) }
}

const statuses = (node: ByzantineNode, fields: Fields): ConsensusMessage => ({
  type: 'status',
  number: fields.number,
  round: fields.round,
  hasProposal: node.random.chance(0.5),
  prepares: fields.bitmap(),
  commits: fields.bitmap(),
  roundChanges: fields.bitmap(),
  wanted: node.random.chance(0.5) ? fields.blockHash : null,
})

const say = (node: ByzantineNode, number: number, round: number): void => {
  const { random } = node
  for (let count = 1 + random.below(4); count > 0; count--) {
    const fields = new Fields(node, number, round)
    const message = random.pick([votes, blocks, statuses])(node, fields, number)
    if (message === undefined) continue
    const to = node.others.filter(() => random.chance(0.7))
    node.post(to, encodeEnvelope(message))
  }
}

/** Says messages of every kind with fields by chance, whenever it hears of a height. */
export const fuzzesMessages: Script = {
  onStatus: (node, { number, round }) => {
    if (node.random.chance(0.3)) say(node, number, round)
  },
  onProposal: (node, { number, round }) => say(node, number, round),
  onRoundChange: (node, { number, round }) => say(node, number, round),
}
