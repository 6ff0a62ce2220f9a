import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { type ReadyLine, ROOT, rpc } from '../support/devnet.ts'
import { eventually } from '../support/node-process.ts'

/* The executable of one file, in a root that has its libraries and nothing else: no Node, no packages, no /proc, one writable folder. */

/** Files that the system's loader takes for a program. */
const librariesOf = (program: string): readonly string[] => {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)
}

/** Makes a root in which a program has its libraries, a folder for temporary files and the null device, and nothing else. Only root can. */
const makeRoot = (root: string, program: string): void => {
  const add = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    copyFileSync(from, join(root, to))
  }
  add(program, '/tandem')
  for (const path of librariesOf(program)) add(path, path)
  for (const folder of ['dev', 'tmp']) mkdirSync(join(root, folder))
  chmodSync(root, 0o755)
  chmodSync(join(root, 'tmp'), 0o1777)
  const { status, stderr } = spawnSync('mknod', ['-m', '666', join(root, 'dev/null'), 'c', '1', '3'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
}

/** User without rights, of the image too. */
const NOBODY = '10001:10001'

/** Program and arguments that run the program of a root as a user without rights, to whom its root is read-only but for /tmp. */
const inRoot = (root: string, args: readonly string[]): [program: string, args: string[]] => [
  'chroot',
  [`--userspec=${NOBODY}`, root, '/tandem', ...args],
]

const FILE = `tandem-linux-${process.arch}`
const why = process.platform !== 'linux' ? 'only for Linux' : process.getuid?.() !== 0 ? 'chroot needs root' : undefined

let dir: string
let root: string
const children: ChildProcess[] = []

beforeAll(async () => {
  if (why !== undefined) return
  dir = mkdtempSync(join(tmpdir(), 'tandem-executable-'))
  const args = [join(ROOT, 'scripts/build-executable.ts'), join(dir, 'out')]
  const { code, stderr } = await run(process.execPath, args, { timeoutMs: 580_000 })
  expect(code, stderr).toBe(0)
  root = join(dir, 'root')
  mkdirSync(root)
  makeRoot(root, join(dir, 'out', FILE))
}, 600_000)

afterAll(async () => {
  await Promise.all(
    children.map(child => {
      const closed = new Promise(resolve => child.once('close', resolve))
      child.kill('SIGKILL')
      return child.exitCode === null && child.signalCode === null ? closed : undefined
    }),
  )
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true })
})

const start = (args: readonly string[]): Promise<ReadyLine> => {
  const child = spawn(...inRoot(root, args), { env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let log = ''
  child.stderr.on('data', data => (log += String(data)))
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', line => resolve(JSON.parse(line) as ReadyLine))
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`ended with ${code}: ${log}`)))
  })
}

test.skipIf(why !== undefined)('says its version, and names a folder for addons that another user holds', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(await run(...inRoot(root, ['--version']), { env: { TMPDIR: '/tmp' } })).toMatchObject({
    code: 0,
    stdout: `${version}\n`,
  })
  const taken = join(root, 'tmp', 'taken')
  mkdirSync(taken, { mode: 0o777 })
  mkdirSync(join(taken, 'tandem-10001'))
  const refused = await run(...inRoot(root, ['devnet', '--port', '0', '--datadir', '/tmp/data']), {
    env: { TMPDIR: '/tmp/taken' },
  })
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('/tmp/taken/tandem-10001 is no folder of this user alone'),
  })
})

test.skipIf(why !== undefined)('the devnet serves calls of threads, explorer and faucet', async () => {
  const {
    http,
    pages = '',
    faucet = '',
    accounts,
  } = await start(['devnet', '--port', '0', '--block-time', '0', '--json'])
  expect(await rpc(http, 'eth_chainId')).toBe('0x1e8097')
  expect(await rpc(http, 'eth_call', [{ to: accounts[0]?.address }, 'latest'])).toBe('0x')
  // Moves the store to the disk.
  expect(await rpc(http, 'eth_getLogs', [{ fromBlock: '0x0' }])).toEqual([])
  const body = JSON.stringify({ address: `0x${'ab'.repeat(20)}` })
  const grant = await fetch(faucet, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(grant.ok, await grant.text()).toBe(true)
  await eventually('a page of the explorer, with the transaction', async () => {
    const page = await fetch(pages)
    return page.ok && (await page.text()).includes('</html>') ? true : undefined
  })
  const { style } = (/(?<style>\/[^"]*style[^"]*\.css)/.exec(await (await fetch(pages)).text())?.groups ?? {}) as {
    style?: string
  }
  expect((await fetch(new URL(style ?? '', pages))).headers.get('content-type')).toContain('text/css')
})

test.skipIf(why !== undefined)('the nodes of a localnet are the same file', async () => {
  const { nodes } = (await start(['localnet', '--port', '0', '--json'])) as unknown as {
    nodes: readonly { http: string }[]
  }
  expect(nodes).toHaveLength(4)
  for (const { http } of nodes)
    await eventually('a block', async () =>
      BigInt((await rpc(http, 'eth_blockNumber')) as string) > 1n ? true : undefined,
    )
})

test.skipIf(why !== undefined)('addons are files of the user alone, and a changed one is written again', async () => {
  const folder = join(root, 'tmp', 'tandem-10001')
  expect(statSync(folder)).toMatchObject({ uid: 10_001, mode: 0o40700 })
  const [name = ''] = readdirSync(folder).filter(file => file.startsWith('classic-level-'))
  const content = readFileSync(join(folder, name))
  writeFileSync(join(folder, name), 'something else')
  await start(['localnet', '--port', '0', '--json'])
  expect(readFileSync(join(folder, name)).equals(content)).toBe(true)
})
