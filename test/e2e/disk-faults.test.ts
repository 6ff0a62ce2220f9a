import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { tandem } from '../support/command.ts'
import { rpc, startDevnet, withTempDir } from '../support/devnet.ts'
import { type DiskError, FailingDisk, whyNoFailingDisk } from '../support/disk/failing-disk.ts'
import { recipient } from '../support/faucet/rig.ts'
import { deployToken, type LoadTarget, startLoad, type Token } from '../support/load.ts'
import { eventually, type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'
import { SEED } from '../support/seed.ts'
import { Witness } from '../support/witness.ts'

/** `PLACES=200 npx vitest run --project e2e disk-faults`: the long form, all places together; a few in CI. */
const PLACES = Number(process.env['PLACES'] ?? 4)
const API = 'eth,net,rpc,native,txpool'
const FAULT_TEXT = /no space left|input\/output error|i\/o error|read-only|disk is full|disk I\/O|readonly/i
const GRANT = 10n * 10n ** 18n
/** The first operations open the folder; a node does some twenty for each block. */
const OPERATIONS = 900
const ERRORS: readonly DiskError[] = ['ENOSPC', 'ENOSPC', 'EIO', 'EROFS']

const VALIDATOR_KEY = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
const VALIDATOR = '0x2c7536e3605d9c16a7a3d7b1898e529396a65c23'

type Account = LoadTarget['accounts'][number]

/** Command of a lone validator with everything that writes: log, journal, explorer, faucet, snapshots. */
const validatorCommand = (dir: string, accounts: readonly Account[]): readonly string[] => {
  const [genesis, key, faucetKey] = ['genesis.json', 'key', 'faucet-key'].map(name => join(dir, name)) as [
    string,
    string,
    string,
  ]
  const funded = accounts.map(({ address }) => [address.toLowerCase(), { balance: (10n ** 24n).toString() }])
  writeFileSync(key, VALIDATOR_KEY)
  writeFileSync(faucetKey, accounts.at(-1)?.privateKey.slice(2) as string)
  const content = {
    format: 'tandem/1',
    network: 'devnet',
    timestamp: 1_735_689_600,
    council: [{ name: 'alone', validator: VALIDATOR, reward: VALIDATOR, stake: (35n * 10n ** 18n).toString() }],
    foundation: VALIDATOR,
    alloc: Object.fromEntries(funded),
    params: { blockTimeMs: 200, rewards: { cycleBlocks: 6 } },
  }
  writeFileSync(genesis, JSON.stringify(content))
  const faucet = ['--explorer', '--faucet', '--faucet-key', faucetKey]
  return [
    'start',
    '--network',
    'devnet',
    '--genesis',
    genesis,
    '--validator-key',
    key,
    ...faucet,
    '--snapshot-interval',
    '6',
  ]
}

const devnetCommand = (): readonly string[] => ['devnet', '--block-time', '0.2']

/** One chain whose disk fails again and again, and all that it ever acknowledged. */
class Victim {
  readonly witness = new Witness()
  readonly #disk: FailingDisk
  readonly #dataDir: string
  readonly #random: Random
  readonly #args: readonly string[]
  readonly #accounts: readonly Account[]
  /** Addresses whose balance was set, with what was acknowledged (devnet). */
  readonly #edited = new Map<Hex, Hex>()
  /** Addresses whose grant was acknowledged. */
  readonly #granted: Hex[] = []
  /** Addresses that asked for one. */
  readonly #asked: Hex[] = []
  #token: Token | undefined
  /** Runs that ended by themselves, and those that got over the fault. */
  readonly counts = { ended: 0, survived: 0, failedOperations: 0 }

  constructor(dataDir: string, command: readonly string[], accounts: readonly Account[], random: Random) {
    this.#dataDir = dataDir
    this.#random = random
    this.#accounts = accounts
    this.#disk = new FailingDisk(dataDir)
    const api = command[0] === 'devnet' ? `${API},hardhat` : API
    this.#args = [...command, '--port', '0', '--datadir', dataDir, '--http-api', api]
  }

  async round(): Promise<void> {
    const error = ERRORS[this.#random.below(ERRORS.length)] as DiskError
    const isMoment = error !== 'EROFS' && this.#random.chance(0.5)
    const count = isMoment ? 1 + this.#random.below(3) : 0
    const whileStarting = this.#token !== undefined && this.#random.chance(0.15)
    const node = spawnNode(this.#args, { env: this.#disk.env })
    const skipped = this.#random.below(whileStarting ? 80 : OPERATIONS)
    const what = `${error} after ${skipped} operations${isMoment ? `, ${count} times` : ''}`
    if (whileStarting) this.#disk.fail(error, skipped, count)
    try {
      const ready = await node.ready.catch(() => undefined)
      if (ready !== undefined) await this.#underLoad(node, ready, () => this.#disk.fail(error, skipped, count))
      await this.#end(node, what)
    } finally {
      this.counts.failedOperations += this.#disk.failed
      this.#disk.mend()
      await node.kill()
    }
  }

  /** Starts on a sound disk and holds the node to all it has acknowledged. */
  async inspect(isLast = false): Promise<void> {
    const { stdout } = await tandem(['db', 'verify', '--datadir', this.#dataDir, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [] })
    const node = spawnNode(this.#args)
    const ready = await node.ready
    expect(await this.witness.forgotten(ready.http)).toEqual([])
    expect(await this.witness.lost(ready.http)).toEqual([])
    await this.#checkGrants(ready, isLast)
    for (const [address, balance] of this.#edited)
      expect(await rpc<Hex>(ready.http, 'eth_getBalance', [address, 'latest']), address).toBe(balance)
    if (isLast) await this.#checkIndex(ready)
    expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
  }

  remove(): void {
    this.#disk.remove()
  }

  async #underLoad(node: NodeProcess, ready: Ready, arm: () => void): Promise<void> {
    const accounts = this.#accounts.slice(0, 4)
    const target = { http: ready.http, chainId: ready.chainId, accounts }
    this.#token ??= await deployToken(target)
    let stopped = false
    const watching = this.witness.watch(ready.http, () => stopped)
    const load = startLoad({
      node: target,
      token: this.#token,
      random: this.#random.next,
      pauseMs: 30,
      onSent: tx => this.witness.sent(tx),
      onAcknowledged: tx => this.witness.acknowledge(tx),
      onRefused() {},
    })
    const granting = this.#askForGrants(ready, () => stopped)
    const editing = this.#isDevnet ? this.#edit(ready, () => stopped) : undefined
    arm()
    const untilMs = performance.now() + 40_000
    while (!hasEnded(node) && this.#disk.failed === 0 && performance.now() < untilMs) await sleep(20)
    // A node that gets over it goes on for a while.
    const laterMs = performance.now() + 1_500
    while (!hasEnded(node) && performance.now() < laterMs) await sleep(20)
    stopped = true
    await Promise.all([load.stop(), watching, granting, editing])
  }

  get #isDevnet(): boolean {
    return this.#args[0] === 'devnet'
  }

  /** Sets balances without a block: a failed one is an error to its caller alone. */
  async #edit({ http }: Ready, isStopped: () => boolean): Promise<void> {
    for (let count = this.#edited.size; !isStopped(); count++) {
      const address: Hex = `0x${(0xed17_0000 + count).toString(16).padStart(40, '0')}`
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'hardhat_setBalance', params: [address, '0x7'] })
      try {
        const response = await fetch(http, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        if (((await response.json()) as { readonly result?: boolean }).result === true) this.#edited.set(address, '0x7')
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
        return
      }
      await sleep(10)
    }
  }

  async #askForGrants({ faucet }: Ready, isStopped: () => boolean): Promise<void> {
    while (!isStopped() && faucet !== undefined) {
      const address = recipient(this.#asked.length)
      this.#asked.push(address)
      try {
        const init = {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ address }),
        }
        const response = await fetch(faucet, init)
        if (response.status === 200) this.#granted.push(address)
        await response.body?.cancel()
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        return
      }
      await sleep(150)
    }
  }

  async #end(node: NodeProcess, what: string): Promise<void> {
    if (!hasEnded(node)) {
      this.counts.survived++
      this.#disk.mend()
      const { code } = await node.end('SIGTERM')
      expect(code, `${what}: it gets over it, and stops when it is told`).not.toBe('stuck')
      return
    }
    this.counts.ended++
    expect(await node.exited, what).toBe(1)
    const text = node.stderr() + node.stdout()
    expect(text, what).toMatch(FAULT_TEXT)
    expect(text, `${what}: it says what to do`).toMatch(/Free disk space/)
  }

  /** Every acknowledged grant is paid, and none twice. */
  async #checkGrants({ http }: Ready, isLast: boolean): Promise<void> {
    const balanceOf = async (address: Hex) => BigInt(await rpc<Hex>(http, 'eth_getBalance', [address, 'latest']))
    for (const address of this.#asked) expect(await balanceOf(address), address).toBeOneOf([0n, GRANT])
    if (!isLast) return
    for (const address of this.#granted)
      await eventually(`the grant of ${address}`, async () => ((await balanceOf(address)) === GRANT ? true : undefined))
    for (const address of this.#asked) expect(await balanceOf(address), address).toBeOneOf([0n, GRANT])
  }

  /** The index reaches the head. */
  async #checkIndex({ http, explorer }: Ready): Promise<void> {
    const head = Number(await rpc<Hex>(http, 'eth_blockNumber'))
    await eventually('the index', async () => {
      const response = await fetch(`${explorer}/blocks/${head}`)
      await response.body?.cancel()
      return response.status === 200 ? true : undefined
    })
  }
}

const hasEnded = ({ child }: NodeProcess): boolean => child.exitCode !== null || child.signalCode !== null

const why = whyNoFailingDisk()
describe.skipIf(why !== undefined)(`a disk that fails${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  test.each(['devnet', 'validator'])(
    '%s: nothing acknowledged is missing at the next start, and no grant is paid twice',
    { timeout: 60_000 + PLACES * 60_000 },
    async subject => {
      const devnet = await startDevnet(['--execution', 'wasm'])
      const { accounts } = devnet
      await devnet.kill()
      await withTempDir(async dir => {
        const command = subject === 'devnet' ? devnetCommand() : validatorCommand(dir, accounts)
        const victim = new Victim(
          join(dir, 'data'),
          command,
          accounts,
          createRandom(SEED + (subject === 'devnet' ? 0 : 1)),
        )
        try {
          for (let place = 0; place < PLACES / 2; place++) {
            await victim.round()
            await victim.inspect()
          }
          await victim.inspect(true)
        } finally {
          victim.remove()
        }
        const { ended, survived, failedOperations } = victim.counts
        expect(failedOperations).toBeGreaterThan(0)
        if (PLACES > 4)
          process.stdout.write(
            `${JSON.stringify({ subject, ended, survived, failedOperations, acknowledged: victim.witness.acknowledged })}\n`,
          )
      })
    },
  )

  test.each([
    ['faucet', 'ENOSPC', 6],
    ['faucet', 'EIO', 14],
    ['explorer', 'ENOSPC', 6],
    ['explorer', 'EROFS', 1],
  ] as const)(
    'a %s of its own ends with the name of its file: %s after %i operations',
    async (kind, error, skipped) => {
      const node = await startDevnet(['--execution', 'wasm', '--block-time', '0.2'])
      try {
        await withTempDir(async dir => {
          const [disk, dataDir, key] = [new FailingDisk(join(dir, 'data')), join(dir, 'data'), join(dir, 'key')]
          writeFileSync(key, (node.accounts.at(-1) as Account).privateKey.slice(2), { mode: 0o600 })
          const own =
            kind === 'faucet'
              ? ['--rpc', node.http, '--key', key, '--chain-id', String(node.chainId)]
              : ['--node', node.ws]
          disk.fail(error, skipped)
          const program = spawnNode([kind, ...own, '--datadir', dataDir, '--port', '0'], { env: disk.env })
          program.ready.catch(() => undefined)
          expect(await program.exited).toBe(1)
          disk.remove()
          expect(program.stderr() + program.stdout()).toMatch(
            /Writing to \S+\/(grants|index)\.sqlite(\.lock)? failed: .*(Free disk space).*nothing acknowledged is lost/,
          )
        })
      } finally {
        await node.kill()
      }
    },
  )
})
