import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import {
  dockerFile,
  dockerYaml,
  expressions,
  type ImageRoot,
  installImage,
  metricsIn,
  notInRoot,
} from '../support/containers.ts'
import { rpc } from '../support/devnet.ts'
import { eventually, freePort, type Ready, ROOT } from '../support/node-process.ts'
import { PROXIES } from '../support/proxies.ts'

/*
 * The image of docker/Dockerfile as a root that has its files and nothing else: no Node, no packages, no shell, no /proc. In it the image's user runs
 * the network of docker/compose.yaml, with health check, explorer and faucet, and the executable by itself.
 */

const NAMES = ['validator-1', 'validator-2', 'validator-3', 'validator-4', 'full-1', 'full-2'] as const

/** Key of the first account of the localnet's mnemonic. */
const FIRST_KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

let dir: string
let image: ImageRoot

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-containers-'))
  image = await installImage(dir)
}, 600_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Environment = Readonly<Record<string, string>>
const runIn = (args: readonly string[], env?: Environment, file?: string) => run(...image.command(args, env, file))

const has = (program: string) => spawnSync(program, ['--version']).status === 0
const noEngine = notInRoot ?? (has('buildah') ? undefined : 'buildah is not installed')

test.skipIf(noEngine !== undefined)(
  `an engine leaves folders of their owners and the health check${noEngine === undefined ? '' : ` (skipped: ${noEngine})`}`,
  async () => {
    const [, last = ''] = dockerFile('Dockerfile').split(/^(?=FROM scratch$)/m)
    writeFileSync(join(dir, 'Containerfile'), `FROM scratch AS build\nCOPY image /image\nCOPY built /built\n${last}`)
    const buildah = async (...args: string[]) => {
      const storage = ['--storage-driver', 'vfs', '--root', join(dir, 'storage'), '--runroot', join(dir, 'storage-run')]
      const { code, stdout, stderr } = await run('buildah', [...storage, ...args], { cwd: dir })
      expect(code, stderr).toBe(0)
      return stdout.trim()
    }
    // Added for chroot (test/support/containers.ts); the storage of buildah is no part of the build either.
    writeFileSync(join(dir, 'ignored'), '*\n!built\n!image\nimage/data\nimage/dev\nimage/etc\n')
    const files = ['--ignorefile', 'ignored', '-f', 'Containerfile', '-t', 'tandem:local', '.']
    await buildah('bud', '--format', 'docker', '--layers=false', ...files)
    const root = await buildah('mount', await buildah('from', '--pull-never', 'tandem:local'))
    try {
      expect(statSync(join(root, 'data'))).toMatchObject({ uid: 10_001, gid: 10_001 })
      expect(statSync(join(root, 'tmp'))).toMatchObject({ uid: 0, mode: 0o41777 })
      expect(statSync(join(root, 'app/tandem'))).toMatchObject({ uid: 0, mode: 0o100755 })
      const { config } = JSON.parse(await buildah('inspect', '--type', 'image', 'tandem:local')).Docker
      expect(config).toMatchObject({
        ...{ User: '10001:10001', Entrypoint: ['/app/tandem'], Volumes: { '/data': {} } },
        Healthcheck: { Test: ['CMD', '/app/tandem', 'health.cjs'] },
      })
    } finally {
      await buildah('umount', '--all')
    }
  },
)

const children: ChildProcess[] = []

/** Starts a program of the image and waits for its ready line. */
const startReady = async (args: readonly string[], env?: Environment, file?: string): Promise<Ready> => {
  const child = spawn(...image.command(args, env, file), { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let log = ''
  child.stderr.on('data', chunk => {
    log += String(chunk)
  })
  return await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      if (line.startsWith('{"ready"')) resolve(JSON.parse(line) as Ready)
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`${args.join(' ')} ended with ${code}: ${log}`)))
  })
}

const stopAll = async (): Promise<void> => {
  await Promise.all(
    children.splice(0).map(child => {
      const gone = new Promise(resolve => child.once('close', resolve))
      child.kill('SIGKILL')
      return child.exitCode === null && child.signalCode === null ? gone : undefined
    }),
  )
}

const requestGrant = async (faucet: string): Promise<void> => {
  const body = JSON.stringify({ address: `0x${'ab'.repeat(20)}` })
  const grant = await fetch(faucet, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(grant.ok, await grant.text()).toBe(true)
}

describe('the network of compose.yaml', () => {
  const hosts: Record<string, { host: string; http: number; metrics: number; p2p: number }> = {}
  const { services } = dockerYaml<{
    services: Record<string, { command: readonly string[]; environment?: Environment }>
  }>('compose.yaml')
  /** Arguments of a service, with the paths of its volume. */
  const argsOf = (name: string): readonly string[] =>
    (services[name]?.command ?? []).map(arg => (arg.startsWith('/') ? image.inside(arg) : arg))
  const dataFile = (name: string) => image.outside(`/data/${name}`)

  beforeAll(async () => {
    const made = await runIn(argsOf('setup'))
    expect(made.code, made.stderr).toBe(0)
    expect(JSON.parse(made.stdout)).toMatchObject({ nodes: NAMES })
    // By a name, as in compose.yaml, not by an address.
    for (const name of NAMES)
      hosts[name] = { host: 'localhost', http: await freePort(), metrics: await freePort(), p2p: await freePort() }
    const genesis = readFileSync(dataFile('genesis.json'), 'utf8')
    writeFileSync(dataFile('hosts.json'), JSON.stringify(hosts))
    expect(await runIn(argsOf('setup'))).toMatchObject({ code: 0, stdout: made.stdout })
    expect(readFileSync(dataFile('genesis.json'), 'utf8'), 'a second setup keeps the chain').toBe(genesis)
    await Promise.all(NAMES.map(name => startReady(argsOf(name), services[name]?.environment)))
  })
  afterAll(stopAll)

  test('a setup without a folder is refused', async () => {
    expect(await runIn(['setup.cjs'])).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
  })

  const check = (port = 0) => runIn(['health.cjs'], { TANDEM_HEALTH_URL: `http://127.0.0.1:${port}/health` })

  test('every node becomes healthy by the health check, which fails where nothing answers', async () => {
    for (const name of NAMES)
      await eventually(name, async () => ((await check(hosts[name]?.http)).code === 0 ? true : undefined), {
        withinMs: 60_000,
        everyMs: 500,
      })
    expect((await check(hosts['full-1']?.http)).stdout).toMatch(/^healthy at block \d+\n$/)
    expect(await check(await freePort())).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('does not answer'),
    })
  })

  test('addons stand in the image: an engine lets no program run from /tmp', () => {
    expect(existsSync(image.outside('/tmp/tandem-10001'))).toBe(false)
  })

  test('a full node serves the explorer, and explorer and faucet run as processes of their own', async () => {
    const url = `http://127.0.0.1:${hosts['full-1']?.http}`
    const served = async (address: string) => {
      const { status, headers } = await fetch(address)
      return [status, headers.get('content-type')?.split(';')[0]]
    }
    expect(await served(`${url}/explorer`)).toEqual([200, 'text/html'])
    expect(await served(`${url}/api/stats`)).toEqual([200, 'application/json'])
    const folder = (name: string) => ['--datadir', image.inside(`/data/${name}`), '--port', '0', '--json']
    const node = `${url.replace('http', 'ws')}/ws`
    const explorer = await startReady(['explorer', '--node', node, ...folder('explorer')])
    expect(await served(explorer.pages ?? '')).toEqual([200, 'text/html'])
    writeFileSync(dataFile('faucet.key'), FIRST_KEY)
    const key = image.inside('/data/faucet.key')
    const { faucet = '' } = await startReady([
      ...['faucet', '--rpc', url, '--chain-id', '1998999', '--key', key, ...folder('faucet')],
    ])
    await requestGrant(faucet)
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
})

describe(`the executable alone${notInRoot === undefined ? '' : ` (skipped: ${notInRoot})`}`, () => {
  /** The executable without its addons beside it, which has only its folder for temporary files. */
  const ALONE = '/tandem'
  const FOLDER = '/tmp/tandem-10001'
  const startAlone = (args: readonly string[]) => startReady([...args, '--port', '0', '--json'], {}, ALONE)

  beforeAll(() => linkSync(image.outside('/app/tandem'), image.outside(ALONE)))
  afterAll(stopAll)

  test.skipIf(notInRoot)('says its version, and names a folder for addons that another user holds', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await runIn(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
    const taken = image.outside('/tmp/taken')
    mkdirSync(taken, { mode: 0o777 })
    mkdirSync(join(taken, 'tandem-10001'))
    const args = ['devnet', '--port', '0', '--datadir', '/tmp/data']
    expect(await runIn(args, { TMPDIR: '/tmp/taken' }, ALONE)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/tmp/taken/tandem-10001 is no folder of this user alone'),
    })
  })

  test.skipIf(notInRoot)(
    'the devnet of the recipe for testcontainers serves calls of threads, explorer and faucet',
    async () => {
      const page = readFileSync(join(ROOT, 'docs/testing-with-tandem.md'), 'utf8')
      const [, words = ''] = /\.withCommand\(\[(.*)\]\)/.exec(page) ?? []
      const command = words.split(', ').map(word => word.slice(1, -1))
      expect(command).toContain('0.0.0.0')
      const { http, pages = '', faucet = '', accounts } = await startAlone(command)
      const waits = await fetch(`http://localhost:${new URL(http).port}/health`)
      expect(waits.status, await waits.text()).toBe(200)
      expect(await rpc(http, 'eth_chainId')).toBe('0x1e8097')
      expect(await rpc(http, 'eth_call', [{ to: accounts[0]?.address }, 'latest'])).toBe('0x')
      // Moves the store to the disk.
      expect(await rpc(http, 'eth_getLogs', [{ fromBlock: '0x0' }])).toEqual([])
      await requestGrant(faucet)
      await eventually('a page of the explorer, with the transaction', async () => {
        const page = await fetch(pages)
        return page.ok && (await page.text()).includes('</html>') ? true : undefined
      })
      const { style = '' } = /(?<style>\/[^"]*style[^"]*\.css)/.exec(await (await fetch(pages)).text())?.groups ?? {}
      expect((await fetch(new URL(style, pages))).headers.get('content-type')).toContain('text/css')
    },
  )

  test.skipIf(notInRoot)('the nodes of a localnet are the same file', async () => {
    const { nodes } = (await startAlone(['localnet'])) as Ready & { readonly nodes: readonly Ready[] }
    expect(nodes).toHaveLength(4)
    for (const { http } of nodes)
      await eventually('a block', async () =>
        BigInt((await rpc(http, 'eth_blockNumber')) as string) > 1n ? true : undefined,
      )
  })

  test.skipIf(notInRoot)('addons are files of the user alone, and a changed one is written again', async () => {
    const folder = image.outside(FOLDER)
    expect(statSync(folder)).toMatchObject({ uid: 10_001, mode: 0o40700 })
    const [name = ''] = readdirSync(folder).filter(file => file.startsWith('classic-level-'))
    const content = readFileSync(join(folder, name))
    writeFileSync(join(folder, name), 'something else')
    await startAlone(['localnet'])
    expect(readFileSync(join(folder, name)).equals(content)).toBe(true)
  })
})
