import { CodedError } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { recoverUnknownSenders } from '../../../../src/crypto/recovery/known-senders.ts'
import { type RecoveredSender, recoverSender } from '../../../../src/crypto/recovery/recover-sender.ts'
import { eachType } from '../signed.ts'

const raws = Object.values(await eachType())
/** Recovered once: each recovery costs about a millisecond, and the test asks for thousands. */
const senders = new Map(raws.map(raw => [raw, recoverSender(raw)]))
const senderOf = (raw: Uint8Array): RecoveredSender => senders.get(raw) as RecoveredSender

const counting = () => {
  const asked: Uint8Array[] = []
  return {
    asked,
    async recoverMany(given: readonly Uint8Array[]) {
      asked.push(...given)
      return given.map(senderOf)
    },
  }
}

test('whatever is known, the answers are those of a recovery, and only the rest is recovered', async () => {
  for (let known = 0; known < 1 << raws.length; known++) {
    const isKnown = (raw: Uint8Array) => (known >> raws.indexOf(raw)) % 2 === 1
    const recovery = counting()
    const answers = await recoverUnknownSenders(recovery, raws, raw => (isKnown(raw) ? senderOf(raw) : undefined))
    expect(answers).toEqual(raws.map(senderOf))
    // By place: a deep comparison of tens of kilobytes takes milliseconds.
    expect(recovery.asked.map(raw => raws.indexOf(raw))).toEqual(
      [...raws.keys()].filter(at => !isKnown(raws[at] as Uint8Array)),
    )
  }
})

test('one that has no sender keeps its place', async () => {
  const invalid = new CodedError({ code: 'INVALID_SENDER', reason: 'malformed RLP' } as const)
  const one: RecoveredSender = { hash: '0x01', from: '0x02' }
  const [first, second] = raws as [Uint8Array, Uint8Array]
  const recovery = { recoverMany: async () => [invalid] }
  expect(await recoverUnknownSenders(recovery, [first, second], raw => (raw === second ? one : undefined))).toEqual([
    invalid,
    one,
  ])
})
