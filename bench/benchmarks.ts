/**
 * Tables of docs/benchmarks.md: speed of the public benchmark fixtures (execution-spec-tests, benchmark/compute), and most frequent operations of a
 * test suite on the devnet and on anvil, in turn. Load of the machine before and after goes to standard error.
 *   npx node bench/benchmarks.ts [--rounds N] [--tries N] [FOLDER OF FIXTURES]
 */
import { execFileSync, spawn } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rpc, startDevnet } from '../test/support/devnet.ts'
import { findAnvil } from '../test/support/foundry.ts'
import { eventually, freePort, ROOT } from '../test/support/node-process.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '300' }, tries: { type: 'string', default: '3' } },
})
const tries = Number(values.tries)

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] ?? Number.NaN
const print = (...lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)
const printLoad = (): void => void process.stderr.write(`load ${loadavg().map(load => load.toFixed(1))}\n`)

/** Mgas/s of each test in a folder: the fastest of all tries. A block without transactions has no speed. */
const speedsOf = (folder: string): ReadonlyMap<string, number> => {
  const speeds = new Map<string, number>()
  for (let i = 0; i < tries; i++) {
    const args = [join(ROOT, 'bin/tandem.mjs'), 'blocktest', '--bench', folder]
    const text = execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
    for (const line of text.trim().split('\n')) {
      const { name, mgasPerSecond } = JSON.parse(line) as { name: string; mgasPerSecond: number }
      if (mgasPerSecond > 0) speeds.set(name, Math.max(mgasPerSecond, speeds.get(name) ?? 0))
    }
  }
  return speeds
}

/** Prints Mgas/s of each fixture: the median over its sizes (1 to 150 M gas), the slowest and the fastest of them. */
const printFixtures = (folder: string): void => {
  const fixtures = new Map<string, number[]>()
  for (const [name, speed] of speedsOf(folder)) {
    const [, test = ''] = /::test_(\w+)\[/.exec(name) ?? []
    fixtures.set(test, [...(fixtures.get(test) ?? []), speed])
  }
  print('| fixture | Mgas/s | slowest, fastest size |', '|---|---|---|')
  for (const [test, list] of [...fixtures].sort(([, a], [, b]) => median(a) - median(b))) {
    const [middle, least, most] = [median(list), Math.min(...list), Math.max(...list)].map(Math.round)
    print(`| ${test} | ${middle} | ${least}, ${most} |`)
  }
}

interface Chain {
  readonly url: string
  readonly stop: () => unknown
}

const startTandem = async (): Promise<Chain> => {
  const { http: url, stop } = await startDevnet([
    ...['--block-time', '0', '--unlock', '--client-name', 'hardhat', '--accounts', '20', '--execution', 'wasm'],
  ])
  return { url, stop }
}

const startAnvil = async (anvil: string): Promise<Chain> => {
  const port = await freePort()
  const child = spawn(anvil, ['--port', String(port), '--accounts', '20', '--silent'], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  await eventually('anvil', () => rpc(url, 'eth_chainId').catch(() => undefined))
  return { url, stop: () => child.kill() }
}

/** Times of one run in milliseconds, by operation. */
const measure = async (start: () => Promise<Chain>): Promise<Readonly<Record<string, number>>> => {
  const began = performance.now()
  const { url, stop } = await start()
  const startMs = performance.now() - began
  try {
    const args = [join(ROOT, 'bench/dev-helpers.ts'), values.rounds, url]
    const { rounds: _, ...times } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    return { start: startMs, ...times }
  } finally {
    await stop()
  }
}

/** Measures anvil, which in one run of five never mines a transaction that follows a revert: then once more. */
const measureAnvil = async (anvil: string): ReturnType<typeof measure> => {
  const run = () => measure(() => startAnvil(anvil))
  return run().catch(run)
}

const printDevnet = async (anvil: string): Promise<void> => {
  const runs: (readonly [Readonly<Record<string, number>>, Readonly<Record<string, number>>])[] = []
  for (let i = 0; i < tries; i++) runs.push([await measure(startTandem), await measureAnvil(anvil)])
  print('| milliseconds | devnet | anvil |', '|---|---|---|')
  for (const name of Object.keys(runs[0]?.[0] ?? {})) {
    const [ours, theirs] = [0, 1].map(side =>
      Number(median(runs.map(run => run[side]?.[name] ?? Number.NaN)).toPrecision(3)),
    )
    print(`| ${name} | ${ours} | ${theirs} |`)
  }
}

printLoad()
for (const folder of positionals) printFixtures(folder)
const found = findAnvil()
if ('found' in found) await printDevnet(found.found.anvil)
else process.stderr.write(`${found.missing}\n`)
printLoad()
