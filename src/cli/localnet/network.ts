import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import { peerUrl } from '../../network/identity/peer-url.ts'
import { quorumOf } from '../../rules/council/quorum.ts'
import type { LocalnetFolder, PreparedNode } from './folder.ts'
import { type Ended, NodeProcess, type NodeUrls } from './node-process.ts'
import { logFileOf, type NodeArgs, type NodePorts, startArgs } from './plan.ts'
import type { LocalnetEvent } from './report/events.ts'
import { type Health, type NodeStatus, statusesFromObservations } from './report/status.ts'

/** Returns the /health of a node; undefined when it does not answer in time, or not in this node's format. */
const queryHealth = async (url: string): Promise<Health | undefined> => {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(LOCALNET_LIMITS.answerMs) })
    return readHealth(await response.json())
  } catch {
    // Not listening, too slow or not JSON: shown as silent.
    return undefined
  }
}

/** Returns the hash of a node's block; throws when it does not return one. */
const queryBlockHash = async (url: string, number: number): Promise<Hex> => {
  const params = [toQuantity(number), false]
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params }),
    signal: AbortSignal.timeout(LOCALNET_LIMITS.hashMs),
  })
  const answer = (await response.json()) as { readonly result?: { readonly hash?: Hex } | null }
  const hash = answer.result?.hash
  if (hash === undefined) throw new Error(`${url} does not return block ${number}.`)
  return hash
}

const readHealth = (answer: unknown): Health | undefined => {
  if (typeof answer !== 'object' || answer === null) return undefined
  const { number, hash, syncing, mode, round, peers } = answer as Record<string, unknown>
  if (typeof number !== 'number' || typeof round !== 'number' || typeof peers !== 'number') return undefined
  if (typeof hash !== 'string' || typeof mode !== 'string') return undefined
  return { number, hash: hash as Hex, syncing: syncing === true, mode, round, peers }
}

interface Witness {
  readonly node: string
  readonly hash: Hex
}

/** Heads seen on nodes: two of one number and of different hashes are a fork. */
export class ForkDetector {
  readonly #seen = new Map<number, Witness>()

  /** Returns both sides of the first fork among these heads and recent ones; undefined: they agree. */
  check(nodes: readonly NodeStatus[]): { readonly number: number; readonly hashes: readonly Witness[] } | undefined {
    for (const { name, number, hash } of nodes) {
      if (number === null || hash === null) continue
      const first = this.#seen.get(number)
      if (first === undefined) {
        this.#seen.set(number, { node: name, hash })
        if (this.#seen.size > LOCALNET_LIMITS.comparedBlocks)
          this.#seen.delete(this.#seen.keys().next().value as number)
      } else if (first.hash !== hash) return { number, hashes: [first, { node: name, hash }] }
    }
    return undefined
  }
}

export interface LocalnetNode {
  readonly plan: PreparedNode
  readonly process: NodeProcess
  readonly operator: string
  urls: NodeUrls | undefined
  /** Last response of its /health, and whether the last request was answered. */
  health: Health | undefined
  answers: boolean
}

interface LocalnetOptions {
  readonly folder: LocalnetFolder
  readonly ports: readonly NodePorts[]
  readonly flags: NodeArgs
  readonly tell: (event: LocalnetEvent) => void
  /** Called when a node ended by itself, or the chain forked: the test conditions no longer hold. */
  readonly onTrouble: () => void
}

/** Processes of a localnet and their status. */
export class Localnet {
  readonly nodes: readonly LocalnetNode[]
  readonly #options: LocalnetOptions
  readonly #forkDetector = new ForkDetector()
  #isForked = false
  #stopped: Promise<readonly string[]> | undefined
  #looking: Promise<readonly NodeStatus[]> | undefined

  constructor(options: LocalnetOptions) {
    const { folder, ports, flags } = options
    this.#options = options
    const portsOf = (index: number) => ports[index] as NodePorts
    const urls = folder.nodes.map(({ id }, index) => peerUrl({ id, host: '127.0.0.1', port: portsOf(index).p2p }))
    this.nodes = folder.nodes.map((plan, index) => {
      const peers = urls.filter((_, other) => other !== index)
      const args = startArgs(plan, portsOf(index), { genesis: folder.genesisFile, peers, flags })
      const process = new NodeProcess({ plan, args, onDeath: ended => void this.#onDeath(plan, ended) })
      const operator = `http://127.0.0.1:${portsOf(index).operator}`
      return { plan, process, operator, urls: undefined, health: undefined, answers: false }
    })
  }

  /** Resolves when the first node has a new block or, without interval, all are connected. false: a node ended, or `signal` came. */
  async start(signal: AbortSignal): Promise<boolean> {
    const { startPollMs, readyMs } = LOCALNET_LIMITS
    const began = performance.now()
    await Promise.all(this.nodes.map(node => this.begin(node)))
    const first = this.nodes[0] as LocalnetNode
    let from: number | undefined
    let isTold = false
    for (;;) {
      if (signal.aborted || this.nodes.some(({ process }) => process.state !== 'running')) return false
      await this.look()
      from ??= first.health?.number
      const runs =
        this.#options.folder.localnetSettings.blockTime > 0
          ? (first.health?.number ?? 0) > (from ?? 0)
          : this.nodes.every(({ health }) => health?.peers === this.nodes.length - 1)
      if (from !== undefined && runs) return true
      const elapsedMs = performance.now() - began
      const quarantined = this.#blocking()
      if (!isTold && (elapsedMs > readyMs || quarantined.length > 0)) {
        isTold = true
        this.#options.tell({ event: 'slow', seconds: Math.round(elapsedMs / 1_000), quarantined })
      }
      await sleep(startPollMs)
    }
  }

  /** Returns the validators in quarantine where the others are too few to decide blocks; else none. */
  #blocking(): readonly string[] {
    const validators = this.nodes.filter(({ plan }) => plan.isValidator)
    const names = validators.flatMap(({ plan, health }) => (health?.mode === 'quarantined' ? [plan.name] : []))
    return validators.length - names.length < quorumOf(validators.length) ? names : []
  }

  /** Starts one node; returns false when it ended before it was ready. */
  async begin(node: LocalnetNode): Promise<boolean> {
    node.urls = (await node.process.start()) ?? node.urls
    return node.process.state === 'running'
  }

  /** Queries the status of all nodes; concurrent callers share the result. */
  look(): Promise<readonly NodeStatus[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /** Returns true when all nodes have the same block of this number; reports their hashes. Called when they all reached it. */
  async agreeOn(number: number): Promise<boolean> {
    const { tell } = this.#options
    const hashes = await Promise.all(
      this.nodes.map(async ({ plan, operator }) => ({ node: plan.name, hash: await queryBlockHash(operator, number) })),
    )
    const [first] = hashes as [(typeof hashes)[number]]
    const isOne = hashes.every(({ hash }) => hash === first.hash)
    tell(isOne ? { event: 'reached', number, hash: first.hash } : { event: 'fork', number, hashes })
    return isOne
  }

  /** Ends all processes within two seconds, once; returns the names of those that were killed. */
  stop(): Promise<readonly string[]> {
    this.#stopped ??= Promise.all(
      this.nodes.map(async ({ plan, process }) => ((await process.stop('SIGTERM')) ? [plan.name] : [])),
    ).then(killed => killed.flat())
    return this.#stopped
  }

  /** Kills all processes immediately. */
  async kill(): Promise<void> {
    await Promise.all(this.nodes.map(({ process }) => process.stop('SIGKILL')))
  }

  async #look(): Promise<readonly NodeStatus[]> {
    await Promise.all(
      this.nodes.map(async node => {
        const health = node.process.state === 'running' ? await queryHealth(node.operator) : undefined
        node.answers = health !== undefined
        node.health = health ?? node.health
      }),
    )
    const statuses = statusesFromObservations(
      this.nodes.map(({ plan, process, answers, health }) => ({
        name: plan.name,
        isValidator: plan.isValidator,
        process: process.state,
        answers,
        health,
      })),
    )
    const fork = this.#isForked ? undefined : this.#forkDetector.check(statuses)
    if (fork !== undefined) {
      this.#isForked = true
      this.#options.tell({ event: 'fork', ...fork })
      this.#options.onTrouble()
    }
    return statuses
  }

  async #onDeath(plan: PreparedNode, { code, signal }: Ended): Promise<void> {
    // A terminal's Ctrl-C reaches the nodes too, and may end a new one before this process handles the signal.
    if (signal !== null) await sleep(LOCALNET_LIMITS.signalMs)
    if (this.#stopped !== undefined) return
    const node = this.nodes.find(other => other.plan === plan) as LocalnetNode
    this.#options.tell({
      event: 'died',
      node: plan.name,
      code,
      signal,
      log: logFileOf(plan),
      lines: node.process.tail(),
    })
    this.#options.onTrouble()
  }
}
