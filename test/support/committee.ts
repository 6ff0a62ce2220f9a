import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { parsePeerUrl, peerUrl } from '../../src/network/identity/peer-url.ts'
import { openNodeKey } from '../../src/network/transport/node-key.ts'
import type { SigningDomain } from '../../src/primitives/consensus/vote.ts'
import { tandem } from './command.ts'
import { Testimony } from './consensus/testimony.ts'
import { rpc } from './devnet.ts'
import type { Account } from './load.ts'
import { Wiretap } from './network/wiretap.ts'
import {
  eventually,
  freePort,
  type NodeProcess,
  PATIENCE_MS,
  type Ready,
  type SpawnOptions,
  spawnNode,
} from './node-process.ts'
import type { Wires } from './wires/wires.ts'

/** Keys of these chains: `funded`, and `validator 0` and so on. */
export const keyOf = (name: string): Uint8Array => keccak256(new TextEncoder().encode(`e2e ${name}`))

interface NodeParts {
  readonly name: string
  readonly url: string
  readonly dataDir: string
  /** The key it votes with. */
  readonly key: Uint8Array | undefined
  readonly args: readonly string[]
  /** The URL under which it finds another one. */
  readonly reach: (other: NodeOfMany) => Promise<string>
}

/** One node of a committee of real processes; it keeps its folder, its port and its URL over restarts. */
export class NodeOfMany {
  readonly #parts: NodeParts
  #process: NodeProcess | undefined
  #ready: Ready | undefined

  constructor(parts: NodeParts) {
    this.#parts = parts
  }

  get name(): string {
    return this.#parts.name
  }

  get url(): string {
    return this.#parts.url
  }

  get dataDir(): string {
    return this.#parts.dataDir
  }

  get key(): Uint8Array | undefined {
    return this.#parts.key
  }

  /** With these others as static peers. */
  async start(others: readonly NodeOfMany[], extra: readonly string[] = [], options: SpawnOptions = {}): Promise<void> {
    const { args, reach } = this.#parts
    const urls = await Promise.all(others.map(reach))
    const peers = urls.length === 0 ? [] : ['--peers', urls.join(',')]
    this.#process = spawnNode([...args, ...peers, ...extra], options)
    this.#ready = await this.#process.ready
  }

  get ready(): Ready {
    if (this.#ready === undefined) throw new Error('the node was not started')
    return this.#ready
  }

  get pid(): number {
    const pid = this.#process?.child.pid
    if (pid === undefined) throw new Error('the node was not started')
    return pid
  }

  /** Exit code, once it has ended by itself. */
  get exited(): Promise<number | null> {
    return this.#process?.exited ?? Promise.resolve(null)
  }

  /** Signal that ended its last process; null: none did. */
  get endedBy(): NodeJS.Signals | null {
    return this.#process?.child.signalCode ?? null
  }

  get log(): string {
    return this.#process?.stderr() ?? ''
  }

  /** Address it votes with. */
  get validator(): Hex {
    if (this.#parts.key === undefined) throw new Error(`${this.name} is no validator`)
    return addressFromPrivateKey(this.#parts.key)
  }

  rpc<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    return rpc<T>(this.ready.http, method, params)
  }

  /** On its operator port. */
  operator<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    return rpc<T>(this.ready.operator as string, method, params)
  }

  async number(): Promise<number> {
    return Number(await this.rpc<Hex>('eth_blockNumber'))
  }

  async hashAt(number: number): Promise<Hex | undefined> {
    const block = await this.rpc<{ hash: Hex } | null>('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    return block?.hash
  }

  /** Waits for a block and answers its hash. */
  reach(number: number, withinMs = PATIENCE_MS): Promise<Hex> {
    return eventually(`block ${number}`, () => this.hashAt(number), { withinMs, everyMs: 100 })
  }

  async stop(): Promise<{ readonly code: number | null | 'stuck'; readonly ms: number }> {
    return (await this.#process?.end('SIGTERM')) ?? { code: null, ms: 0 }
  }

  async kill(): Promise<void> {
    await this.#process?.kill()
  }

  /** Stands still, with all that it holds open, until `resume`. */
  pause(): void {
    this.#process?.signal('SIGSTOP')
  }

  resume(): void {
    this.#process?.signal('SIGCONT')
  }
}

export interface CommitteeOptions {
  /** Through these lines nodes find each other; left out: straight. */
  readonly wires?: Wires
  /** Of every node. */
  readonly args?: readonly string[]
  /** A peer of the test receives the members' messages. */
  readonly tapped?: boolean
  /** Accounts with money besides `funded`. */
  readonly accounts?: number
  /** Of the genesis file, beyond the block time. */
  readonly params?: Readonly<Record<string, unknown>>
}

/** A chain of its own in a temporary folder: its genesis by the command, its nodes with keys that are known before they start. */
export class Committee {
  readonly dir = mkdtempSync(join(tmpdir(), 'tandem-committee-'))
  readonly funded = keyOf('funded')
  readonly nodes: NodeOfMany[] = []
  readonly accounts: readonly Account[]
  /** The file all nodes start from. */
  readonly genesis = join(this.dir, 'genesis.json')
  readonly #options: CommitteeOptions
  #domain: SigningDomain | undefined
  #tap: Wiretap | undefined

  private constructor(options: CommitteeOptions) {
    this.#options = options
    this.accounts = Array.from({ length: options.accounts ?? 0 }, (_, index) => {
      const key = keyOf(`account ${index}`)
      return { address: addressFromPrivateKey(key), privateKey: bytesToHex(key) }
    })
  }

  static async open(validators: number, blockTimeSeconds: number, options: CommitteeOptions = {}): Promise<Committee> {
    const committee = new Committee(options)
    const keys = Array.from({ length: validators }, (_, index) => keyOf(`validator ${index}`))
    const made = await tandem([
      ...['genesis', 'new', '--network', 'devnet', '--out', committee.genesis],
      ...['--block-time', String(blockTimeSeconds), '--json'],
      ...[addressFromPrivateKey(committee.funded), ...committee.accounts.map(({ address }) => address)].flatMap(
        address => ['--fund', `${address}=1000000`],
      ),
      ...keys.flatMap(key => ['--validator', addressFromPrivateKey(key)]),
    ])
    if (made.code !== 0) throw new Error(made.stderr)
    const { genesisHash, chainId } = JSON.parse(made.stdout) as SigningDomain
    const domain = { chainId, genesisHash }
    // Other parameters make another chain, whose hash only its nodes know.
    if (options.params === undefined) committee.#domain = domain
    else committee.#setParams(options.params)
    if (options.tapped)
      committee.#tap = new Wiretap(committee.domain, new Testimony(committee.domain, keys.map(addressFromPrivateKey)))
    for (const [index, key] of keys.entries()) await committee.add(`v${index}`, key)
    return committee
  }

  /** Another node; without a key it follows. */
  async add(name: string, key?: Uint8Array): Promise<NodeOfMany> {
    const dataDir = join(this.dir, name)
    const { id } = await openNodeKey(join(dataDir, 'node-key.pem'))
    const port = await freePort()
    const keyFile = join(this.dir, `${name}.key`)
    if (key !== undefined) writeFileSync(keyFile, bytesToHex(key).slice(2), { mode: 0o600 })
    const { wires, args = [] } = this.#options
    const lines = new Map<NodeOfMany, Promise<string>>()
    const lineTo = async (to: NodeOfMany): Promise<string> => {
      if (wires === undefined) return to.url
      const { id, host, port } = parsePeerUrl(to.url)
      return peerUrl({ id, host, port: await wires.between(name, to.name, port) })
    }
    const node = new NodeOfMany({
      name,
      url: peerUrl({ id, host: '127.0.0.1', port }),
      dataDir,
      key,
      args: [
        ...['start', '--network', 'devnet', '--genesis', this.genesis, '--datadir', dataDir],
        ...['--port', '0', '--operator-port', '0', '--p2p-host', '127.0.0.1', '--p2p-port', String(port)],
        ...(args.includes('--execution') ? [] : ['--execution', 'shadow']),
        // Exchanged peer records would bypass the simulated lines.
        ...(wires === undefined ? [] : ['--no-discovery']),
        ...(key === undefined ? [] : ['--validator-key', keyFile]),
        ...(this.#tap === undefined ? [] : ['--relays', this.#tap.id]),
        ...args,
      ],
      reach(to) {
        const line = lines.get(to) ?? lineTo(to)
        lines.set(to, line)
        return line
      },
    })
    this.nodes.push(node)
    void this.#tap?.attach(port)
    return node
  }

  #setParams(params: Readonly<Record<string, unknown>>): void {
    const genesis = JSON.parse(readFileSync(this.genesis, 'utf8'))
    writeFileSync(this.genesis, JSON.stringify({ ...genesis, params: { ...genesis.params, ...params } }))
  }

  /** Of a chain with the usual parameters. */
  get domain(): SigningDomain {
    if (this.#domain === undefined) throw new Error('a chain with other parameters: ask a node')
    return this.#domain
  }

  /** Of a committee that was opened `tapped`. */
  get tap(): Wiretap {
    if (this.#tap === undefined) throw new Error('this committee is not tapped')
    return this.#tap
  }

  /** All at once, each with all others as static peers. */
  async start(extra: readonly string[] = []): Promise<void> {
    await Promise.all(this.nodes.map(node => node.start(this.others(node), extra)))
  }

  others(...nodes: readonly NodeOfMany[]): readonly NodeOfMany[] {
    return this.nodes.filter(other => !nodes.includes(other))
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(node => node.kill()))
    this.#options.wires?.close()
    this.#tap?.close()
    rmSync(this.dir, { recursive: true, force: true })
  }
}
