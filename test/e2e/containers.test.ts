import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { dockerFile, dockerYaml, expressions, installImage, metricsIn } from '../support/containers.ts'
import { ROOT } from '../support/devnet.ts'
import { eventually, freePort } from '../support/node-process.ts'
import { PROXIES } from '../support/proxies.ts'

/*
 * The network of docker/compose.yaml as plain processes of the image's user, from the image's files in an otherwise empty folder: its
 * entry point, its health check, its explorer and faucet, its metrics and its alert rules.
 */

const NAMES = ['validator-1', 'validator-2', 'validator-3', 'validator-4', 'full-1', 'full-2'] as const
/** The image's user where the test may become it; else its own, which has no rights over the files either when they are read-only. */
const USER = process.getuid?.() === 0 ? { uid: 10_001, gid: 10_001 } : {}

/** Key of the first account of the localnet's mnemonic. */
const FIRST_KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

let dir: string
let app: string
let data: string
/** The Node of the installed packages, since the user may not reach the one that runs this. */
let program: string
const inImage = (path: string) => join(app, path)
const environment = (env: NodeJS.ProcessEnv = {}) => ({
  ...{ NODE_ENV: 'production', NODE_COMPILE_CACHE: join(dir, 'tmp'), HOME: join(dir, 'tmp') },
  ...env,
})
const node = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  run(program, args, { ...USER, cwd: app, env: environment(env) })

const hosts: Record<string, { host: string; http: number; metrics: number; p2p: number }> = {}
const children: ChildProcess[] = []

/** Starts a program of the image and waits for its ready line. */
const startReady = async (
  name: string,
  args: readonly string[],
): Promise<{ readonly pages?: string; readonly faucet?: string }> => {
  const env = { ...process.env, ...environment() }
  const child = spawn(program, args, { ...USER, cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let log = ''
  child.stderr?.on('data', chunk => {
    log += String(chunk)
  })
  return await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => {
      if (line.startsWith('{"ready"')) resolve(JSON.parse(line))
    })
    child.once('exit', code => reject(new Error(`${name} ended with ${code}: ${log}`)))
  })
}

/** Options that compose.yaml gives to a node. */
const optionsOf = (name: string): readonly string[] =>
  dockerYaml<{ services: Record<string, { command: readonly string[] }> }>('compose.yaml').services[name]?.command ?? []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-containers-'))
  chmodSync(dir, 0o755)
  app = await installImage(dir)
  program = join(app, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  data = join(dir, 'data')
  for (const folder of [data, join(dir, 'tmp')]) {
    mkdirSync(folder)
    if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid)
  }
  const made = await node([inImage('docker/network.ts'), 'setup', data])
  expect(made.code, made.stderr).toBe(0)
  expect(JSON.parse(made.stdout)).toMatchObject({ nodes: NAMES })
  // By a name, as in compose.yaml, not by an address.
  for (const name of NAMES)
    hosts[name] = { host: 'localhost', http: await freePort(), metrics: await freePort(), p2p: await freePort() }
  writeFileSync(join(data, 'hosts.json'), JSON.stringify(hosts))
  await Promise.all(
    NAMES.map(name => startReady(name, [inImage('docker/network.ts'), 'start', data, name, ...optionsOf(name)])),
  )
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
  node([inImage('docker/health.mjs')], { TANDEM_HEALTH_URL: `http://127.0.0.1:${hosts[name]?.http}/health` })

test('a second setup changes nothing, and wrong arguments are named', async () => {
  const before = readFileSync(join(data, 'genesis.json'), 'utf8')
  expect((await node([inImage('docker/network.ts'), 'setup', data])).code).toBe(0)
  expect(readFileSync(join(data, 'genesis.json'), 'utf8')).toBe(before)
  expect(await node([inImage('docker/network.ts'), 'start'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('usage:'),
  })
})

test('every node becomes healthy by the health check, which fails where nothing answers', async () => {
  for (const name of NAMES)
    await eventually(name, async () => ((await check(name)).code === 0 ? true : undefined), {
      withinMs: 60_000,
      everyMs: 500,
    })
  expect((await check('full-1')).stdout).toMatch(/^healthy at block \d+\n$/)
  const closed = await node([inImage('docker/health.mjs')], {
    TANDEM_HEALTH_URL: `http://127.0.0.1:${await freePort()}/health`,
  })
  expect(closed).toMatchObject({ code: 1, stdout: expect.stringContaining('does not answer') })
})

test('a full node serves the explorer, and explorer and faucet run as processes of their own', async () => {
  const url = `http://127.0.0.1:${hosts['full-1']?.http}`
  const served = async (address: string) => {
    const { status, headers } = await fetch(address)
    return [status, headers.get('content-type')?.split(';')[0]]
  }
  expect(await served(`${url}/explorer`)).toEqual([200, 'text/html'])
  expect(await served(`${url}/api/stats`)).toEqual([200, 'application/json'])
  const command = inImage('bin/tandem.mjs')
  const explorer = await startReady('explorer', [
    ...[
      command,
      'explorer',
      '--node',
      `${url.replace('http', 'ws')}/ws`,
      '--datadir',
      join(data, 'explorer'),
      '--port',
      '0',
      '--json',
    ],
  ])
  expect(await served(explorer.pages ?? '')).toEqual([200, 'text/html'])
  const key = join(data, 'faucet.key')
  writeFileSync(key, FIRST_KEY)
  if (USER.uid !== undefined) chownSync(key, USER.uid, USER.gid)
  const { faucet = '' } = await startReady('faucet', [
    ...[command, 'faucet', '--rpc', url, '--chain-id', '1998999', '--key', key, '--datadir', join(data, 'faucet')],
    ...['--port', '0', '--json'],
  ])
  const body = JSON.stringify({ address: `0x${'ab'.repeat(20)}` })
  const grant = await fetch(faucet, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(grant.ok, await grant.text()).toBe(true)
})

const nginx = PROXIES.find(({ name }) => name === 'nginx')

test.skipIf(nginx?.why !== undefined)(
  'behind nginx a client keeps its filters: all its calls reach one node',
  async () => {
    const upstreams = ['full-1', 'full-2'].map(name => `127.0.0.1:${hosts[name]?.http}`)
    const proxy = await nginx?.begin(dir, upstreams, await freePort())
    const call = async (method: string, params: readonly unknown[] = []) => {
      const request = { jsonrpc: '2.0', id: 1, method, params }
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(proxy?.url ?? '', { method: 'POST', headers, body: JSON.stringify(request) })
      return (await response.json()) as { readonly result?: unknown; readonly error?: unknown }
    }
    try {
      const { result: filter } = await call('eth_newBlockFilter')
      for (let calls = 0; calls < 20; calls++)
        expect(await call('eth_getFilterChanges', [filter])).toMatchObject({ result: expect.any(Array) })
    } finally {
      await proxy?.stop()
    }
  },
)

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
    await eventually('targets that answer', async () => {
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
