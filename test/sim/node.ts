import type { CoreConfig, CoreState, Effect, Input, WalRecord } from '../../src/consensus/core/types.ts'
import { createCore, step } from '../../src/consensus/core.ts'
import type { ConsensusMessage, SignedMessage } from '../../src/consensus/messages.ts'
import type { DecidedBlock } from '../../src/consensus/ports.ts'
import { ownMessages, positionOf, recordsOf } from '../../src/consensus/recovery.ts'
import { numberOfRecord } from '../../src/consensus/wal-records.ts'
import { comparePositions, type SignPosition } from '../../src/consensus/watermark.ts'
import { assert } from '../../src/util/assert.ts'
import type { Random } from '../support/consensus/random.ts'
import type { EventQueue } from './event-queue.ts'
import { GENESIS, type World } from './world.ts'

export interface SimNetwork {
  broadcast(from: number, message: ConsensusMessage): void
  send(from: number, to: number, message: ConsensusMessage): void
}

export const SIM_CORE = {
  baseTimeoutMs: 400,
  timeoutCapMs: 3_000,
  maxTimeoutExponent: 3,
  retransmitMs: 250,
  futureHeights: 10,
  futureRounds: 8,
  pastRounds: 64,
  bufferedMessages: 1_000,
  heldBlocks: 8,
} as const

const BLOCK_TIME_MS = 100

/** The core with a shell whose disk, clock and network are simulated; it can lose power at any moment. */
export class SimNode {
  readonly index: number
  readonly chain: DecidedBlock[] = []
  readonly #world: World
  readonly #queue: EventQueue
  readonly #network: SimNetwork
  readonly #random: Random
  #core: CoreState | null = null
  /** Counts lives: what belongs to an earlier one is void. */
  #life = 0
  #log: WalRecord[] = []
  #waiting: WalRecord[] = []
  #actions: (() => void)[] = []
  #flushing = false
  readonly #durable = new Set<SignedMessage>()
  #watermark: SignPosition | null = null
  #durableWatermark: SignPosition | null = null
  readonly #timers = new Map<string, number>()

  constructor(index: number, world: World, queue: EventQueue, network: SimNetwork, random: Random) {
    this.index = index
    this.#world = world
    this.#queue = queue
    this.#network = network
    this.#random = random
  }

  get isUp(): boolean {
    return this.#core !== null
  }

  get number(): number {
    return this.chain.length
  }

  get round(): number {
    return this.#core?.height?.round ?? -1
  }

  /** Messages held, for the bound on memory. */
  get held(): number {
    const height = this.#core?.height
    return (
      (this.#core?.future.size ?? 0) +
      (height ? height.prepares.size + height.commits.size + height.roundChanges.size : 0)
    )
  }

  start(): void {
    assert(this.#core === null, 'down')
    this.#core = createCore({ ...SIM_CORE, proposerOf: this.#world.proposerOf } satisfies CoreConfig)
    for (const record of this.#log) {
      if (record.type === 'decided' && record.block.header.number === this.number + 1) this.#append(record)
    }
    const last = ownMessages(this.#log, () => this.index)
      .map(positionOf)
      .sort(comparePositions)
      .at(-1)
    const behind = this.#durableWatermark
    if (behind !== null && behind.number > this.number) {
      assert(last !== undefined && comparePositions(last, behind) >= 0, 'the log is never behind the watermark')
    }
    if (last !== undefined && (behind === null || comparePositions(last, behind) > 0)) this.#watermark = last
    this.#open(recordsOf(this.#log, this.number + 1))
  }

  /** Power off: of what was being written, a beginning may survive. */
  crash(): void {
    if (this.#core === null) return
    this.#core = null
    this.#life++
    if (this.#flushing) {
      const kept = this.#waiting.slice(0, this.#random.below(this.#waiting.length + 1))
      this.#store(kept)
    }
    this.#waiting = []
    this.#actions = []
    this.#flushing = false
    this.#timers.clear()
    this.#watermark = this.#durableWatermark
  }

  receive(message: ConsensusMessage, from: number): void {
    if (this.#core === null || !this.#world.isSigned(message)) return
    this.#feed({ type: 'message', message, from: String(from), nowMs: this.#queue.nowMs })
  }

  #open(records: readonly WalRecord[]): void {
    const parentHash = this.chain.at(-1)?.block.hash ?? GENESIS
    const earliestMs = this.#queue.nowMs + BLOCK_TIME_MS
    const config = { number: this.number + 1, parentHash, members: this.#world.members, index: this.index, earliestMs }
    this.#feed({ type: 'newHeight', config, records, nowMs: this.#queue.nowMs })
  }

  #feed(input: Input): void {
    const inputs = [input]
    for (let next = inputs.shift(); next !== undefined; next = inputs.shift()) {
      const { effects } = step(this.#core!, next)
      inputs.unshift(...effects.flatMap(effect => this.#perform(effect) ?? []))
    }
    this.#flush()
  }

  #perform(effect: Effect): Input | undefined {
    const { nowMs } = this.#queue
    switch (effect.type) {
      case 'sign': {
        const { number, round, type } = effect.message
        const position = { number, round, step: type }
        assert(
          this.#watermark === null || comparePositions(position, this.#watermark) > 0,
          'the core never asks below the watermark',
        )
        this.#watermark = position
        return { type: 'signed', message: this.#world.sign(effect.message, this.index), nowMs }
      }
      case 'persist':
        this.#waiting.push(effect.record)
        break
      case 'broadcast':
        this.#actions.push(() => {
          this.#check(effect.message)
          this.#network.broadcast(this.index, effect.message)
        })
        break
      case 'send':
        this.#actions.push(() => {
          this.#check(effect.message)
          this.#network.send(this.index, Number(effect.to), effect.message)
        })
        break
      case 'sendDecided': {
        const decided = this.chain[effect.number - 1]
        if (decided) this.#network.send(this.index, Number(effect.to), { type: 'decided', ...decided })
        break
      }
      case 'schedule':
        this.#schedule(effect)
        break
      case 'build': {
        const block = this.#world.makeBlock(effect.number, this.chain.at(-1)?.block.hash ?? GENESIS, this.index)
        this.#later(5, () =>
          this.#feed({ type: 'built', number: effect.number, round: effect.round, block, nowMs: this.#queue.nowMs }),
        )
        break
      }
      case 'validate': {
        const { number, block } = effect
        const verdict = this.#world.isValid(block.hash)
          ? ({ valid: true } as const)
          : ({ valid: false, proven: true, reason: 'invalid' } as const)
        this.#later(5, () =>
          this.#feed({ type: 'verdict', number, blockHash: block.hash, verdict, nowMs: this.#queue.nowMs }),
        )
        break
      }
      case 'decide':
        this.#actions.push(() =>
          this.#later(3, () => {
            this.#append(effect)
            this.#open([])
          }),
        )
        break
      case 'behind':
        break
    }
    return undefined
  }

  #check(message: ConsensusMessage): void {
    const isOwn = 'sender' in message && message.sender === this.index
    this.#world.checkSaid(this.index, message, !isOwn || this.#durable.has(message as SignedMessage))
  }

  #append({ block, certificate }: DecidedBlock): void {
    this.#world.checkDecided(this.index, block, certificate)
    assert(block.header.number === this.number + 1, 'blocks follow one another')
    this.chain.push({ block, certificate })
    this.#log = this.#log.filter(record => numberOfRecord(record) > this.number)
  }

  /** The disk takes its time; the log is durable first, then the watermark, then everything waiting leaves. */
  #flush(): void {
    if (this.#flushing || this.#actions.length === 0) return
    this.#flushing = true
    const records = this.#waiting.length
    const actions = this.#actions
    const watermark = this.#watermark
    this.#actions = []
    this.#later(records === 0 ? 0 : 2, () => {
      const batch = this.#waiting.splice(0, records)
      this.#store(batch)
      this.#later(records === 0 ? 0 : 1, () => {
        this.#durableWatermark = watermark
        this.#flushing = false
        for (const action of actions) action()
        this.#flush()
      })
    })
  }

  #store(records: readonly WalRecord[]): void {
    this.#log.push(...records)
    for (const record of records) {
      if (record.type === 'signed') this.#durable.add(record.vote)
      if (record.type === 'proposal') this.#durable.add(record.proposal)
    }
  }

  #schedule({ timer, number, round, atMs }: Extract<Effect, { type: 'schedule' }>): void {
    const token = (this.#timers.get(timer) ?? 0) + 1
    this.#timers.set(timer, token)
    const life = this.#life
    this.#queue.at(atMs, () => {
      if (this.#life !== life || this.#core === null || this.#timers.get(timer) !== token) return
      this.#feed({ type: 'timeout', timer, number, round, nowMs: this.#queue.nowMs })
    })
  }

  #later(meanMs: number, run: () => void): void {
    const life = this.#life
    this.#queue.at(this.#queue.nowMs + (meanMs === 0 ? 0 : this.#random.next() * 2 * meanMs), () => {
      if (this.#life === life && this.#core !== null) run()
    })
  }
}
