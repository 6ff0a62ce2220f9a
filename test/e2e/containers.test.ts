import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { dockerFile, expressions, metricsIn } from '../support/containers.ts'
import { ROOT } from '../support/devnet.ts'
import { eventually, freePort } from '../support/node-process.ts'

/* The network of docker/compose.yaml as plain processes: its entry point, its health check, its metrics and its alert rules. */

const NAMES = ['validator-1', 'validator-2', 'validator-3', 'validator-4', 'full-1'] as const
const NETWORK = join(ROOT, 'docker/network.ts')
const node = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => run(process.execPath, args, { env })

let dir: string
const hosts: Record<string, { host: string; http: number; metrics: number; p2p: number }> = {}
const children: ChildProcess[] = []

const startNode = async (name: string): Promise<void> => {
  const child = spawn(process.execPath, [NETWORK, 'start', dir, name], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let log = ''
  child.stderr?.on('data', data => {
    log += String(data)
  })
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => {
      if (line.startsWith('{"ready"')) resolve()
    })
    child.once('exit', code => reject(new Error(`${name} ended with ${code}: ${log}`)))
  })
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-containers-'))
  const made = await node([NETWORK, 'setup', dir])
  expect(made.code, made.stderr).toBe(0)
  expect(JSON.parse(made.stdout)).toMatchObject({ nodes: NAMES })
  // By a name, as in compose.yaml, not by an address.
  for (const name of NAMES)
    hosts[name] = { host: 'localhost', http: await freePort(), metrics: await freePort(), p2p: await freePort() }
  writeFileSync(join(dir, 'hosts.json'), JSON.stringify(hosts))
  await Promise.all(NAMES.map(startNode))
})
afterAll(async () => {
  await Promise.all(
    children.map(child => {
      const gone = new Promise(resolve => child.once('close', resolve))
      child.kill('SIGKILL')
      return child.exitCode === null && child.signalCode === null ? gone : undefined
    }),
  )
  rmSync(dir, { recursive: true, force: true })
})

const check = (name: string) =>
  node([join(ROOT, 'docker/health.mjs')], { TANDEM_HEALTH_URL: `http://127.0.0.1:${hosts[name]?.http}/health` })

test('a second setup changes nothing, and wrong arguments are named', async () => {
  const before = readFileSync(join(dir, 'genesis.json'), 'utf8')
  expect((await node([NETWORK, 'setup', dir])).code).toBe(0)
  expect(readFileSync(join(dir, 'genesis.json'), 'utf8')).toBe(before)
  expect(await node([NETWORK, 'start'])).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
})

test('every node becomes healthy by the health check, which fails where nothing answers', async () => {
  for (const name of NAMES)
    await eventually(name, async () => ((await check(name)).code === 0 ? true : undefined), {
      withinMs: 60_000,
      everyMs: 500,
    })
  expect((await check('full-1')).stdout).toMatch(/^healthy at block \d+\n$/)
  const closed = await node([join(ROOT, 'docker/health.mjs')], {
    TANDEM_HEALTH_URL: `http://127.0.0.1:${await freePort()}/health`,
  })
  expect(closed).toMatchObject({ code: 1, stdout: expect.stringContaining('does not answer') })
})

test('every metric of the dashboard and of the alert rules is one of a node', async () => {
  const texts = await Promise.all(
    ['validator-1', 'full-1'].map(async name =>
      (await fetch(`http://127.0.0.1:${hosts[name]?.metrics}/metrics`)).text(),
    ),
  )
  // Of the scraper itself.
  const known = new Set(['up'])
  for (const [, family] of texts.join('\n').matchAll(/^# TYPE (\S+) /gm))
    for (const suffix of ['', '_bucket', '_sum', '_count']) known.add(`${family}${suffix}`)
  const unknown = expressions().flatMap(([name, expr]) =>
    metricsIn(expr).flatMap(metric => (known.has(metric) ? [] : [`${name}: ${metric}`])),
  )
  expect(unknown).toEqual([])
})

const has = (program: string) => spawnSync(program, ['--version']).status === 0
const why = has('promtool') && has('prometheus') ? undefined : 'prometheus is not installed'

describe(`Prometheus${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  test.skipIf(why !== undefined)('the rules are valid, and their cases hold', async () => {
    const cwd = join(ROOT, 'docker/prometheus')
    for (const args of [
      ['check', 'config', 'prometheus.yaml'],
      ['test', 'rules', 'alerts-test.yaml'],
    ]) {
      const { code, stdout, stderr } = await run('promtool', args, { cwd })
      expect(code, stdout + stderr).toBe(0)
    }
  })

  test.skipIf(why !== undefined)('a real one scrapes every node and evaluates every rule', async () => {
    const folder = join(dir, 'prometheus')
    mkdirSync(folder)
    let config = dockerFile('prometheus/prometheus.yaml').replaceAll('_interval: 5s', '_interval: 1s')
    for (const name of NAMES) config = config.replace(`${name}:6060`, `127.0.0.1:${hosts[name]?.metrics}`)
    writeFileSync(join(folder, 'prometheus.yaml'), config)
    writeFileSync(join(folder, 'alerts.yaml'), dockerFile('prometheus/alerts.yaml'))
    const address = `127.0.0.1:${await freePort()}`
    const args = [`--config.file=${folder}/prometheus.yaml`, `--storage.tsdb.path=${folder}/data`]
    children.push(spawn('prometheus', [...args, `--web.listen-address=${address}`], { stdio: 'ignore' }))
    const ask = async <T>(path: string): Promise<T | undefined> => {
      const response = await fetch(`http://${address}/api/v1/${path}`).catch(() => undefined)
      return response?.ok ? ((await response.json()) as { data: T }).data : undefined
    }
    await eventually('five targets that answer', async () => {
      const found = await ask<{ activeTargets: { health: string }[] }>('targets')
      return found?.activeTargets.filter(({ health }) => health === 'up').length === NAMES.length || undefined
    })
    const rules = await eventually('every rule evaluated', async () => {
      const found = await ask<{ groups: { rules: { name: string; health: string }[] }[] }>('rules')
      const all = found?.groups.flatMap(group => group.rules) ?? []
      return all.length > 0 && all.every(({ health }) => health !== 'unknown') ? all : undefined
    })
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
    expect(rules.length).toBe(10)
  })
})
