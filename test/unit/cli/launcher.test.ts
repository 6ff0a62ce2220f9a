import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import launch from '../../../bin/launch.json' with { type: 'json' }
import { explainSystemError } from '../../../src/cli/shared/explain-error.ts'
import { withTempDir } from '../../support/devnet.ts'

interface Launcher {
  readonly root: string
  /** Runs it to its end; returns what it said. */
  readonly start: () => Promise<string>
  readonly spawn: (more?: NodeJS.ProcessEnv) => ChildProcess
  readonly install: (name: string) => void
}

const PACKAGES = ['fastify', '@scope/later']

/** The launcher in a folder of its own, with a program that only says that it ran, and an npm that runs `npm` and says what it was told. */
const withLauncher = (npm: string, use: (launcher: Launcher) => Promise<void>): Promise<void> =>
  withTempDir(async root => {
    const write = (path: string, text: string, mode = 0o600): void => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text, { mode })
    }
    cpSync('bin', join(root, 'bin'), { recursive: true })
    const dependencies = Object.fromEntries(PACKAGES.map(name => [name, '1.0.0']))
    write('package.json', JSON.stringify({ type: 'module', dependencies }))
    write('src/cli/main.ts', "process.stdout.write('started')")
    write('tools/npm', `#!/bin/sh\necho "npm $*" >&2\n${npm}\n`, 0o700)
    const env = {
      ...process.env,
      PATH: `${join(root, 'tools')}${delimiter}${process.env['PATH']}`,
      NODE_COMPILE_CACHE: '',
    }
    const begin = (more: NodeJS.ProcessEnv = {}): ChildProcess =>
      spawn(process.execPath, [join(root, 'bin', 'tandem.mjs')], { env: { ...env, ...more } })
    await use({
      root,
      spawn: begin,
      start: () => saidBy(begin()),
      install: name => write(join('node_modules', name, 'package.json'), '{}'),
    })
  })

const saidBy = async (child: ChildProcess): Promise<string> => {
  let said = ''
  for (const stream of [child.stderr, child.stdout]) stream?.on('data', data => (said += String(data)))
  await once(child, 'close')
  return said
}

test('what is missing of the installation is installed, also where most of it is there', () =>
  withLauncher('', async ({ start, install }) => {
    expect(await start()).toMatch(/^Installing what the node needs .*\nnpm ci --omit=dev .*\nstarted$/)
    install('fastify')
    expect(await start(), 'cut short, or of older source').toMatch(/\nnpm ci --omit=dev .*\nstarted$/)
    install('@scope/later')
    expect(await start()).toBe('started')
  }))

test.runIf(process.platform === 'linux')('of two first starts one installs, and the other waits for its end', () => {
  // Packages stand in their folders before npm has ended, and npm ends when the test says so.
  const npm = `cd "$(dirname "$0")/.."
for name in ${PACKAGES.join(' ')}; do mkdir -p node_modules/$name; echo '{}' > node_modules/$name/package.json; done
touch installing
while [ ! -e go ]; do sleep 0.05; done
touch node_modules/.package-lock.json`
  return withLauncher(npm, async ({ root, spawn }) => {
    const first = spawn()
    const firstSaid = saidBy(first)
    await expect.poll(() => existsSync(join(root, 'installing'))).toBe(true)
    const second = spawn()
    const secondSaid = saidBy(second)
    await once(second.stderr as Readable, 'data')
    expect(first.exitCode).toBeNull()
    writeFileSync(join(root, 'go'), '')
    expect(await firstSaid).toMatch(/^Installing .*\nnpm ci .*\nstarted$/)
    expect(await secondSaid).toBe('Another start is installing what the node needs; waiting for it ...\nstarted')
  })
})

test('version and texts of a package need no other Node and no flags', () =>
  withLauncher('', async ({ root }) => {
    rmSync(join(root, 'src'), { recursive: true })
    writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', version: '1.2.3' }))
    mkdirSync(join(root, 'lib'))
    writeFileSync(join(root, 'lib', 'tandem.cjs'), 'process.stdout.write(JSON.stringify(process.execArgv))')
    const said = (...args: string[]) =>
      execFileSync(process.execPath, [join(root, 'bin', 'tandem.mjs'), ...args], { encoding: 'utf8' })
    expect(said('--version')).toBe('1.2.3\n')
    for (const args of [['--help'], ['devnet', '-h'], ['completion', 'bash']]) expect(said(...args)).toBe('[]')
    expect(JSON.parse(said('devnet'))).toEqual(launch.flags)
  }))

test('a missing package says what to run', () => {
  const error = Object.assign(new Error("Cannot find package 'ws' imported from a.ts"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  expect(explainSystemError(error)).toMatch(/^Cannot find package 'ws' .*: run "npm ci"/)
})

test('a file of the data folder that a failing disk does not open says what to do', () => {
  const error = Object.assign(new Error('EROFS'), { code: 'EROFS', errno: -30, syscall: 'open', path: '/d/wal' })
  expect(explainSystemError(error)).toBe(
    'Opening /d/wal failed: read-only file system. Free disk space or mend the disk, then start again; nothing acknowledged is lost.',
  )
})

test('V8 takes code that was compiled without the flags of the package, as that of its own modules was', () => {
  const run = (flags: readonly string[], program: string) =>
    execFileSync(process.execPath, [...flags, '-p', program], { encoding: 'utf8' }).trim()
  const code = run([], "new vm.Script('1').createCachedData().toString('base64')")
  const isRejected = (flags: readonly string[]) =>
    run(flags, `new vm.Script('1', { cachedData: Buffer.from('${code}', 'base64') }).cachedDataRejected`)
  expect(isRejected(['--heap-growing-percent=30'])).toBe('true')
  expect(isRejected(launch.flags)).toBe('false')
})

test('a host name is its IPv4 address: --host localhost listens where clients of 127.0.0.1 look, also where ::1 comes first', () => {
  const order = execFileSync(process.execPath, [...launch.flags, '-p', 'dns.getDefaultResultOrder()'], {
    encoding: 'utf8',
  })
  expect(order).toBe('ipv4first\n')
})

test.runIf(process.platform !== 'win32')(
  'a signal opens no debugger, through which every user of the machine could read keys',
  () =>
    withLauncher('', async ({ root, start, install }) => {
      for (const name of PACKAGES) install(name)
      const program = `import { url } from 'node:inspector'
process.kill(process.pid, 'SIGUSR1')
setTimeout(() => process.stdout.write(String(url())), 500)`
      writeFileSync(join(root, 'src', 'cli', 'main.ts'), program)
      expect(await start()).toBe('undefined')
    }),
)

test.runIf(process.platform !== 'win32')(
  'where the launcher stays the parent of the node, a signal that ended the node is its exit status',
  () =>
    withLauncher('', async ({ root, spawn, install }) => {
      for (const name of PACKAGES) install(name)
      // As on a host whose own Node.js is too old to give way to another program.
      const withoutExec = { NODE_OPTIONS: '--import=data:text/javascript,process.execve=undefined' }
      for (const [signal, status] of [
        ['SIGKILL', 137],
        ['SIGTERM', 143],
        ['SIGINT', 130],
      ] as const) {
        writeFileSync(
          join(root, 'src', 'cli', 'main.ts'),
          `process.kill(process.pid, '${signal}')\nsetTimeout(() => {}, 60_000)`,
        )
        expect(await once(spawn(withoutExec), 'close'), signal).toEqual([status, null])
      }
    }),
)
