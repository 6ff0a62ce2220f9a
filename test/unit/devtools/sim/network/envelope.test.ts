import { ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import { emptyBlock } from '../../../../../devtools/sim/block.ts'
import { stubKeys } from '../../../../../devtools/sim/keys.ts'
import { decodeEnvelope, encodeEnvelope } from '../../../../../devtools/sim/network/envelope.ts'
import type { ConsensusMessage } from '../../../../../src/primitives/consensus/message.ts'

const block = emptyBlock(
  { number: 3, parentHash: ZERO_HASH, timestamp: 9 },
  { proposer: ZERO_ADDRESS, parentCertificate: null },
)
const { signers, recover, addresses } = stubKeys(300)
const signature = signers[1]!.sign(new Uint8Array(32).fill(7))
const vote = { type: 'prepare', number: 3, round: 2, sender: 1, blockHash: block.hash, signature } as const
const bitmap = Uint8Array.of(3)

const MESSAGES: readonly ConsensusMessage[] = [
  vote,
  { ...vote, type: 'commit' },
  {
    type: 'roundChange',
    number: 3,
    round: 3,
    sender: 1,
    signature,
    prepared: { round: 2, blockHash: block.hash },
    prepares: [vote],
  },
  { type: 'proposal', number: 3, round: 0, sender: 1, signature, block, roundChanges: [], prepares: [] },
  { type: 'body', block },
  { type: 'decided', block, certificate: { round: 1, bitmap, seals: [signature, signature] } },
  {
    type: 'status',
    number: 3,
    round: 1,
    hasProposal: true,
    prepares: bitmap,
    commits: bitmap,
    roundChanges: bitmap,
    wanted: null,
  },
]

test.each(MESSAGES)('a $type arrives as it was sent, as bytes of its own', message => {
  const envelope = encodeEnvelope(message)
  const heard = decodeEnvelope({ ...envelope, bytes: envelope.bytes.slice() })
  expect(heard).toEqual(message)
  expect(heard).not.toBe(message)
  // Receivers of the same frame share one decoded envelope.
  expect(decodeEnvelope(envelope)).toBe(decodeEnvelope(envelope))
})

test('bytes that are no message are refused and nothing else happens', () => {
  const random = createRandom(1)
  let refused = 0
  for (let count = 0; count < 2_000; count++) {
    const { type, bytes } = encodeEnvelope(random.pick(MESSAGES))
    const changed = bytes.slice()
    changed[random.below(changed.length)] = random.below(256)
    if (
      decodeEnvelope({
        type,
        bytes: changed.subarray(0, random.chance(0.5) ? changed.length : random.below(changed.length)),
      }) === undefined
    )
      refused++
  }
  expect(refused).toBeGreaterThan(900)
})

test('a stub signature recovers its signer from its digest only', () => {
  const digest = new Uint8Array(32).fill(7)
  expect(recover(digest, signers[299]!.sign(digest))).toBe(addresses[299])
  expect(recover(new Uint8Array(32).fill(8), signature)).toBeUndefined()
})
