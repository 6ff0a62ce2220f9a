import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FAUCET_LIMITS } from '../../src/config/limits/faucet.ts'
import { createFaucetLedger, type FaucetLedger } from '../../src/faucet/ledger.ts'
import { ManualClock } from '../support/consensus/manual-clock.ts'
import { withTempDir } from '../support/devnet.ts'
import { ModelChain } from '../support/faucet/model-chain.ts'
import { OPEN_POLICY, openStore, recipient, senderOf } from '../support/faucet/rig.ts'
import { SEED } from '../support/seed.ts'

const DAY = FAUCET_LIMITS.periodMs
const ADDRESSES = 3

type Action =
  | { readonly kind: 'ask'; readonly who: number; readonly times: number }
  | { readonly kind: 'clock'; readonly ms: number }
  | { readonly kind: 'round' | 'mine' | 'losePool' | 'takeNonce' | 'restart' | 'killBeforeSend' }

const action = (): fc.Arbitrary<Action> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        who: fc.nat(ADDRESSES - 1),
        times: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('clock' as const),
        ms: fc.constantFrom(1, 1_000, 20_000, DAY / 2, DAY - 1, DAY, -1, -DAY, -3 * DAY),
      }),
    },
    { weight: 8, arbitrary: fc.constantFrom<Action>({ kind: 'round' }, { kind: 'mine' }) },
    {
      weight: 3,
      arbitrary: fc.constantFrom<Action>(
        { kind: 'losePool' },
        { kind: 'takeNonce' },
        { kind: 'restart' },
        { kind: 'killBeforeSend' },
      ),
    },
  )

/** Faucet over one file, whose process is replaced by every restart. */
class World {
  readonly chain = new ModelChain()
  /** Times of the grants of each address, by the wall clock that never goes back. */
  readonly granted = Array.from({ length: ADDRESSES }, (): number[] => [])
  readonly #path: string
  #wallMs = 1_900_000_000_000
  #highestMs = 0
  #store
  #ledger
  #sender

  constructor(path: string) {
    this.#path = path
    this.#store = openStore(path)
    this.#ledger = this.#openLedger()
    this.#sender = this.#openSender()
  }

  async run(step: Action): Promise<void> {
    if (step.kind === 'ask') for (let n = 0; n < step.times; n++) this.#ask(step.who)
    else if (step.kind === 'clock') this.#wallMs += step.ms
    else if (step.kind === 'round') await this.#sender.round()
    else if (step.kind === 'mine') this.chain.mine()
    else if (step.kind === 'losePool') this.chain.losePool()
    else if (step.kind === 'takeNonce') this.chain.takeNonce()
    else if (step.kind === 'restart') this.#restart()
    else await this.#killBeforeSend()
  }

  /** Pays what is left; every grant must have one transfer then. */
  async finish(): Promise<void> {
    for (let n = 0; n < 8; n++) {
      // Sent again only after a while.
      this.#wallMs += FAUCET_LIMITS.rebroadcastMs
      await this.#sender.round()
      this.chain.mine()
    }
    await this.#sender.round()
    expect(this.#store.unsettled()).toBe(0)
  }

  close(): void {
    this.#store.close()
  }

  #ask(who: number): void {
    this.#highestMs = Math.max(this.#highestMs, this.#wallMs)
    try {
      this.#ledger.reserve({ address: recipient(who), client: 'c', hasWork: false })
    } catch {
      return
    }
    this.granted[who]?.push(this.#highestMs)
  }

  #restart(): void {
    this.#store.close()
    this.#store = openStore(this.#path)
    this.#ledger = this.#openLedger()
    this.#sender = this.#openSender()
    // Times that no grant has are forgotten with the process.
    this.#highestMs = this.#store.latestMs()
  }

  async #killBeforeSend(): Promise<void> {
    const { send } = this.chain
    this.chain.send = () => Promise.reject(new Error('killed'))
    await this.#sender.round().catch(() => undefined)
    this.chain.send = send
    this.#restart()
  }

  #openLedger(): FaucetLedger {
    return createFaucetLedger(this.#store, OPEN_POLICY, { nowMs: () => this.#wallMs })
  }

  #openSender() {
    const manual = new ManualClock()
    const clock = { nowMs: () => this.#wallMs, schedule: manual.schedule.bind(manual) }
    return senderOf({ store: this.#store, node: this.chain, clock })
  }
}

test('whatever restarts, clocks and lost transactions do, an address has one transfer a grant and one grant in 24 hours', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action(), { maxLength: 40 }), actions =>
      withTempDir(async dir => {
        const world = new World(`${dir}/grants.sqlite`)
        try {
          for (const step of actions) await world.run(step)
          await world.finish()
        } finally {
          world.close()
        }
        world.granted.forEach((times, who) => {
          expect(world.chain.paidTo(recipient(who))).toBe(times.length)
          const gaps = times.slice(1).map((ms, index) => ms - (times[index] as number))
          expect(gaps.filter(ms => ms < DAY)).toEqual([])
        })
      }),
    ),
    { seed: SEED, numRuns: 60 },
  )
})
