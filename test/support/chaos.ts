import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import { proposalHead } from '../../src/primitives/consensus/proposal.ts'
import type { Committee, NodeOfMany } from './committee.ts'
import { ConsensusMemory } from './consensus/log-on-disk.ts'
import { deployToken, type RunningLoad, startLoad, type Token } from './load.ts'
import { eventually, sleep } from './node-process.ts'
import { Witness } from './witness.ts'

const LOAD_PAUSE_MS = 100
/** Blocks below the head that a client of a restarted node asks for again at once; all of them at the end. */
const RECENT_BLOCKS = 20

/** One validator that is killed again and again, the client that uses it, and what its log said each time. */
class Victim {
  readonly node: NodeOfMany
  readonly witness = new Witness()
  readonly memory: ConsensusMemory
  load: RunningLoad | undefined
  watching: Promise<void> | undefined
  isWatched = false

  constructor(node: NodeOfMany, memory: ConsensusMemory) {
    this.node = node
    this.memory = memory
  }
}

/**
 * Restarts all over a tapped committee under load: any number of its nodes are killed at once, at any moment, also while they start.
 * Each node has clients of its own, who remember all they were told; what was said on the wire and what stands in the logs go to the
 * tap's testimony.
 */
export class Chaos {
  readonly committee: Committee
  readonly refusals = new Map<string, number>()
  readonly problems: string[] = []
  /** From the start of a process to the first statement of its validator that the others heard. */
  readonly votingMs: number[] = []
  kills = 0
  readonly #random: Random
  readonly #victims: readonly Victim[]
  #token: Token | undefined

  constructor(committee: Committee, random: Random) {
    this.committee = committee
    this.#random = random
    const { testimony } = committee.tap
    this.#victims = committee.nodes.map(
      node =>
        new Victim(
          node,
          new ConsensusMemory(committee.domain, message =>
            testimony.hear(message.type === 'proposal' ? proposalHead(message) : message),
          ),
        ),
    )
  }

  get acknowledged(): number {
    return this.#sum(({ witness }) => witness.acknowledged)
  }

  /** Acknowledged and not yet seen in a block. */
  get waiting(): number {
    return this.#sum(({ witness }) => witness.waiting)
  }

  /** To be called once, with all nodes running. */
  async begin(): Promise<void> {
    const { accounts, nodes } = this.committee
    const [first] = nodes as [NodeOfMany]
    const { http, chainId } = first.ready
    this.#token = await deployToken({ http, chainId, accounts })
    await Promise.all(nodes.map(async node => node.reach(await first.number())))
    for (const victim of this.#victims) this.#use(victim)
  }

  /** Kills some and starts them again, with everything that can be looked at meanwhile. */
  async round(): Promise<void> {
    await sleep(100 + this.#random.below(1_000))
    const count = this.#random.chance(0.15) ? this.#victims.length : 1 + this.#random.below(2)
    const chosen = this.#shuffled().slice(0, count)
    await Promise.all(chosen.map(victim => this.#restart(victim, this.#random.below(800), this.#random.chance(0.2))))
  }

  /** No more load; answers when every acknowledged transaction is in a block of every node. */
  async end(): Promise<void> {
    await Promise.all(this.#victims.map(victim => this.#leave(victim)))
    const isEmpty = async (node: NodeOfMany): Promise<boolean> => {
      const { pending, queued } = await node.operator<{ pending: Hex; queued: Hex }>('txpool_status')
      return Number(pending) + Number(queued) === 0
    }
    for (const { node } of this.#victims)
      await eventually(`an empty pool of ${node.name}`, async () => (await isEmpty(node)) || undefined, {
        withinMs: 60_000,
        everyMs: 100,
      })
  }

  /** Every client asks every node for all it was ever told. */
  async audit(): Promise<readonly string[]> {
    const ask = async (node: NodeOfMany, { witness }: Victim): Promise<void> => {
      await node.reach(witness.highest)
      this.#report(node, await witness.forgotten(node.ready.http))
      this.#report(node, await witness.lost(node.ready.http))
    }
    for (const victim of this.#victims) await Promise.all(this.committee.nodes.map(node => ask(node, victim)))
    return [...this.problems, ...this.committee.tap.testimony.contradictions]
  }

  async #restart(victim: Victim, awayMs: number, againWhileStarting: boolean): Promise<void> {
    const { node } = victim
    await node.kill()
    this.kills++
    await this.#leave(victim)
    await this.#readLog(victim)
    await sleep(awayMs)
    const { counts } = this.committee.tap.testimony
    const said = counts.get(node.validator) ?? 0
    const began = performance.now()
    const starting = node.start(this.committee.others(node))
    if (againWhileStarting) {
      await Promise.race([starting.catch(() => {}), sleep(100 + awayMs / 2)])
      await this.#restart(victim, 0, false)
      await starting.catch(() => {})
      return
    }
    await starting
    await eventually(`a vote of ${node.name}`, async () => (counts.get(node.validator) ?? 0) > said || undefined, {
      withinMs: 60_000,
    })
    this.votingMs.push(performance.now() - began)
    const { http } = node.ready
    await node.reach(victim.witness.highest)
    this.#report(node, await victim.witness.forgotten(http, victim.witness.highest - RECENT_BLOCKS))
    this.#report(node, await victim.witness.lost(http))
    this.#use(victim)
  }

  #use(victim: Victim): void {
    const { node, witness } = victim
    const { http, chainId } = node.ready
    const { accounts } = this.committee
    const share = Math.floor(accounts.length / this.#victims.length)
    const from = share * this.#victims.indexOf(victim)
    victim.isWatched = true
    victim.watching = witness.watch(http, () => !victim.isWatched)
    victim.load = startLoad({
      node: { http, chainId, accounts: accounts.slice(from, from + share) },
      token: this.#token as Token,
      random: this.#random.next,
      pauseMs: LOAD_PAUSE_MS,
      onSent: tx => witness.sent(tx),
      onAcknowledged: tx => witness.acknowledge(tx),
      onRefused: (_, message) => this.refusals.set(message, (this.refusals.get(message) ?? 0) + 1),
    })
  }

  async #leave(victim: Victim): Promise<void> {
    victim.isWatched = false
    await Promise.all([victim.load?.stop(), victim.watching])
  }

  async #readLog({ node, memory }: Victim): Promise<void> {
    this.#report(node, await memory.read(join(node.dataDir, 'consensus')))
    if (node.log.includes('"level":"error"')) this.problems.push(`${node.name}: ${errorsIn(node.log)}`)
  }

  #report(node: NodeOfMany, found: readonly string[]): void {
    for (const problem of found) if (this.problems.length < 50) this.problems.push(`${node.name}: ${problem}`)
  }

  #shuffled(): readonly Victim[] {
    return this.#victims
      .map(victim => ({ victim, key: this.#random.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ victim }) => victim)
  }

  #sum(of: (victim: Victim) => number): number {
    return this.#victims.reduce((sum, victim) => sum + of(victim), 0)
  }
}

const errorsIn = (log: string): string =>
  log
    .split('\n')
    .filter(line => line.includes('"level":"error"'))
    .join(' ')
    .slice(0, 1_000)
