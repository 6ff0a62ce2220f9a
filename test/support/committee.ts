import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256 } from '../../src/crypto/hash.ts'
import { addressOf } from '../../src/crypto/signature.ts'
import { openNodeKey } from '../../src/network/tls/node-key.ts'
import { peerUrl } from '../../src/network/url.ts'
import { bytesToHex, type Hex } from '../../src/util/bytes.ts'
import { tandem } from './command.ts'
import { rpc } from './devnet.ts'
import { eventually, freePort, type NodeProcess, type Ready, spawnNode } from './node-process.ts'

/** Keys of these chains: `funded`, and `validator 0` and so on. */
export const keyOf = (name: string): Uint8Array => keccak256(new TextEncoder().encode(`e2e ${name}`))

/** One node of a committee of real processes; it keeps its folder, its port and its URL over restarts. */
export class NodeOfMany {
  readonly url: string
  readonly #args: readonly string[]
  #process: NodeProcess | undefined
  #ready: Ready | undefined

  constructor(url: string, args: readonly string[]) {
    this.url = url
    this.#args = args
  }

  /** With these others as static peers. */
  async start(others: readonly NodeOfMany[], extra: readonly string[] = []): Promise<void> {
    const peers = others.length === 0 ? [] : ['--peers', others.map(({ url }) => url).join(',')]
    this.#process = spawnNode([...this.#args, ...peers, ...extra])
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

  get log(): string {
    return this.#process?.stderr() ?? ''
  }

  rpc<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    return rpc<T>(this.ready.http, method, params)
  }

  async number(): Promise<number> {
    return Number(await this.rpc<Hex>('eth_blockNumber'))
  }

  async hashAt(number: number): Promise<Hex | undefined> {
    const block = await this.rpc<{ hash: Hex } | null>('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    return block?.hash
  }

  /** Waits for a block and answers its hash. */
  reach(number: number, withinMs = 30_000): Promise<Hex> {
    return eventually(`block ${number}`, () => this.hashAt(number), { withinMs, everyMs: 100 })
  }

  async stop(): Promise<{ readonly code: number | null | 'stuck'; readonly ms: number }> {
    return (await this.#process?.end('SIGTERM')) ?? { code: null, ms: 0 }
  }

  async kill(): Promise<void> {
    await this.#process?.kill()
  }
}

/** A chain of its own in a temporary folder: its genesis by the command, its nodes with keys that are known before they start. */
export class Committee {
  readonly dir = mkdtempSync(join(tmpdir(), 'tandem-committee-'))
  readonly funded = keyOf('funded')
  readonly nodes: NodeOfMany[] = []
  /** The file all nodes start from. */
  readonly genesis = join(this.dir, 'genesis.json')

  /** `params`: of the genesis file, beyond the block time. */
  static async open(
    validators: number,
    blockTimeSeconds: number,
    params: Readonly<Record<string, unknown>> = {},
  ): Promise<Committee> {
    const committee = new Committee()
    const keys = Array.from({ length: validators }, (_, index) => keyOf(`validator ${index}`))
    const made = await tandem([
      ...['genesis', 'new', '--network', 'devnet', '--out', committee.genesis],
      ...['--block-time', String(blockTimeSeconds), '--fund', `${addressOf(committee.funded)}=1000`, '--json'],
      ...keys.flatMap(key => ['--validator', addressOf(key)]),
    ])
    if (made.code !== 0) throw new Error(made.stderr)
    const genesis = JSON.parse(readFileSync(committee.genesis, 'utf8'))
    const text = JSON.stringify({ ...genesis, params: { ...genesis.params, ...params } })
    writeFileSync(committee.genesis, text)
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
    const node = new NodeOfMany(peerUrl({ id, host: '127.0.0.1', port }), [
      ...['start', '--network', 'devnet', '--genesis', this.genesis, '--datadir', dataDir],
      ...['--port', '0', '--operator-port', '0', '--p2p-host', '127.0.0.1', '--p2p-port', String(port)],
      ...['--execution', 'shadow', ...(key === undefined ? [] : ['--validator-key', keyFile])],
    ])
    this.nodes.push(node)
    return node
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(node => node.kill()))
    rmSync(this.dir, { recursive: true, force: true })
  }
}
