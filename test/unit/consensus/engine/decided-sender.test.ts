import { expect, test } from 'vitest'
import { CONSENSUS_LIMITS } from '../../../../src/config/limits/consensus.ts'
import { DecidedSender } from '../../../../src/consensus/engine/driver.ts'
import type { DecidedBlock } from '../../../../src/consensus/ports.ts'
import { Ledger } from '../../../support/consensus/ledger.ts'

/** A database that answers when told. */
class SlowLedger extends Ledger {
  readonly asked: number[] = []
  readonly gate = Promise.withResolvers<DecidedBlock | undefined>()

  override decided(number: number): Promise<DecidedBlock | undefined> {
    this.asked.push(number)
    return this.gate.promise
  }
}

test('neighbours that ask while they are being answered, or too many at once, cost nothing more', async () => {
  const ledger = new SlowLedger()
  const sent: string[] = []
  const decidedSender = new DecidedSender(ledger, to => sent.push(to))
  const work = Array.from({ length: 100 }, (_, at) => decidedSender.sendDecided(`peer ${at % 50}`, 1))
  expect(ledger.asked).toHaveLength(CONSENSUS_LIMITS.answers)
  expect(decidedSender.size).toBe(CONSENSUS_LIMITS.answers)
  ledger.gate.resolve({} as DecidedBlock)
  await Promise.all(work)
  expect(new Set(sent).size).toBe(CONSENSUS_LIMITS.answers)
  await decidedSender.sendDecided('peer 49', 1)
  expect(sent.at(-1)).toBe('peer 49')
})

test('a block missing in the database is not sent, and a failed read does not block later requests', async () => {
  const ledger = new SlowLedger()
  const sent: string[] = []
  const decidedSender = new DecidedSender(ledger, to => sent.push(to))
  const work = decidedSender.sendDecided('a', 1)
  ledger.gate.reject(new Error('disk'))
  await expect(work).rejects.toThrow('disk')
  expect([decidedSender.size, sent.length]).toEqual([0, 0])
})
