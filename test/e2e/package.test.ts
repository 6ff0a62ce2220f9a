import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parse as parseScript } from 'acorn'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { parse } from 'yaml'
import { run } from '../support/command.ts'
import { rpc } from '../support/devnet.ts'
import { eventually, freePort, type Ready, ROOT } from '../support/node-process.ts'

/* The package of npm: built, packed, installed into an empty folder, and run from there. */

let dir: string
let installed: string

/** Hash of every file by its path. */
const contentOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(path => statSync(join(folder, path)).isFile())
      .sort()
      .map(path => [
        path,
        createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex'),
      ]),
  )

const succeed = async (program: string, args: readonly string[], cwd: string): Promise<string> => {
  const { code, stdout, stderr } = await run(program, args, { cwd, timeoutMs: 280_000 })
  expect(code, stderr).toBe(0)
  return stdout
}

const build = (name: string) => succeed(process.execPath, [join(ROOT, 'scripts/build.ts'), join(dir, name)], ROOT)

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-package-'))
  await build('first')
  await succeed('npm', ['pack', join(dir, 'first'), '--silent'], dir)
  const app = join(dir, 'app')
  mkdirSync(app)
  const [tarball = ''] = readdirSync(dir).filter(name => name.endsWith('.tgz'))
  await succeed(
    'npm',
    ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', join(dir, tarball)],
    app,
  )
  installed = join(app, 'node_modules')
}, 300_000)

afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('two builds in two folders are equal to the byte', async () => {
  await build('second')
  expect(contentOf(join(dir, 'second'))).toEqual(contentOf(join(dir, 'first')))
})

test('few packages are installed, the own one is small, and nothing of development is in it', () => {
  const names = readdirSync(installed).filter(name => !name.startsWith('.'))
  expect(names.length, names.join(' ')).toBeLessThanOrEqual(40)
  const files = readdirSync(join(installed, 'tandem'), { recursive: true, encoding: 'utf8' })
  const sizes = files.map(path => statSync(join(installed, 'tandem', path))).filter(stat => stat.isFile())
  expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(25 * 1024 * 1024)
  expect(files.filter(path => /\.ts$|test|devtools/.test(path) && !path.endsWith('.d.ts'))).toEqual([])
  expect(existsSync(join(installed, 'tandem/src'))).toBe(false)
  expect(readFileSync(join(installed, 'tandem/THIRD-PARTY-LICENSES'), 'utf8')).toContain('fastify 5')
})

/** Starts a devnet with the program of an installed command, and ends it after `use`. */
const withDevnet = async (
  command: readonly string[],
  use: (ready: Ready) => Promise<unknown>,
  env: NodeJS.ProcessEnv = {},
): Promise<void> => {
  const [program = '', ...args] = command
  const child = spawn(program, [...args, 'devnet', '--port', '0', '--block-time', '0', '--json'], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', data => (log += String(data)))
  const closed = new Promise(resolve => child.once('close', resolve))
  try {
    const ready = await new Promise<Ready>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', line => resolve(JSON.parse(line) as Ready))
      void closed.then(code => reject(new Error(`ended with ${code}: ${log}`)))
    })
    await use(ready)
  } finally {
    child.kill('SIGTERM')
    await closed
  }
}

test('the installed devnet serves calls, WebSocket, health, explorer and faucet', () =>
  withDevnet([join(installed, '.bin/tandem')], async ({ http, ws, pages = '', faucet = '', accounts }) => {
    expect(await rpc(http, 'eth_chainId')).toBe('0x1e8097')
    // Runs in a worker thread.
    expect(await rpc(http, 'eth_call', [{ to: accounts[0]?.address }, 'latest'])).toBe('0x')
    // Moves the store to the disk.
    expect(await rpc(http, 'eth_getLogs', [{ fromBlock: '0x0' }])).toEqual([])
    const closing = await new Promise<number | undefined>((resolve, reject) => {
      get(`${http}/health`, { agent: false, headers: { connection: 'close' } }, response => {
        response.resume().once('end', () => resolve(response.statusCode))
      }).once('error', reject)
    })
    expect(closing).toBe(200)
    const socket = new WebSocket(ws)
    const answer = new Promise(resolve => socket.once('message', data => resolve(JSON.parse(String(data)))))
    socket.once('open', () => socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'))
    expect(await answer).toMatchObject({ result: '0x0' })
    socket.close()
    const body = JSON.stringify({ address: `0x${'ab'.repeat(20)}` })
    const grant = await fetch(faucet, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(grant.ok, await grant.text()).toBe(true)
    await eventually('a page of the explorer', async () => {
      const page = await fetch(pages)
      return page.ok && (await page.text()).includes('</html>') ? true : undefined
    })
  }))

test('the command starts the Node of the package on a host that has none, through links and beside its packages', () => {
  const tools = join(dir, 'tools')
  mkdirSync(tools)
  for (const name of ['readlink', 'uname']) symlinkSync(`/usr/bin/${name}`, join(tools, name))
  const link = join(dir, 'a link')
  symlinkSync(join(installed, '.bin/tandem'), link)
  for (const command of [join(installed, '.bin/tandem'), join(installed, 'tandem/bin/tandem'), link])
    expect(execFileSync(command, ['--version'], { env: { PATH: tools }, encoding: 'utf8' })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    )
})

describe('hosts of older Node.js', () => {
  const HOSTS = [16, 18, 20, 22, 24] as const
  const platform = `node-linux-${process.arch}`
  const binOf = (host: number) => join(dir, 'hosts/node_modules', `host-${host}`, 'bin')

  beforeAll(async () => {
    mkdirSync(join(dir, 'hosts'))
    const packages = HOSTS.map(host => `host-${host}@npm:${platform}@${host}`)
    const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
    await succeed('npm', ['install', ...quiet, ...packages], join(dir, 'hosts'))
  }, 300_000)

  test.each(HOSTS)('Node %i hands over to that of the package, and says version and texts', async host => {
    const command = [join(binOf(host), 'node'), join(installed, 'tandem/bin/tandem.mjs')] as const
    const [node, launcher] = command
    expect(await succeed(node, ['--version'], dir)).toMatch(`v${host}.`)
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await succeed(node, [launcher, '--version'], dir)).toBe(`${version}\n`)
    expect(await succeed(node, [launcher, 'devnet', '--help'], dir)).toContain('--block-time')
    await withDevnet(command, async ({ http }) => {
      expect(await rpc(http, 'web3_clientVersion')).toContain('/node26.')
    })
  })

  test.each(HOSTS)('Node %i makes a chain inside itself from 22 on, and is told so before', async host => {
    const path = join(dir, 'app', 'host.cjs')
    writeFileSync(
      path,
      `require('tandem/devnet').createDevnet().then(async chain => {
  await chain.mine(2)
  console.log(await chain.provider.request({ method: 'eth_blockNumber' }))
  await chain.close()
}, error => console.log(error.message))`,
    )
    const said = await succeed(join(binOf(host), 'node'), [path], dir)
    expect(said).toMatch(host < 22 ? /^tandem\/devnet needs Node 22 or newer; this is v\d+/ : /^0x2\n$/)
  })
})

test('the next start takes the code that the first one compiled', async () => {
  const cache = join(dir, 'cache')
  const command = [join(installed, '.bin/tandem')]
  const kept = () => (existsSync(cache) ? readdirSync(cache) : []).filter(name => name.startsWith('start-'))
  const env = { NODE_COMPILE_CACHE: cache }
  await withDevnet(command, () => eventually('compiled code', async () => kept()[0]), env)
  const [name = ''] = kept()
  await withDevnet(
    command,
    async ({ http }) => {
      expect(await rpc(http, 'eth_blockNumber')).toBe('0x0')
    },
    env,
  )
  expect(kept()).toEqual([name])
})

describe('recipes for CI', () => {
  const action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'))
  const [step] = action.runs.steps

  /** Runs the step of the action as a runner does; returns its outputs. */
  const runAction = async (inputs: Readonly<Record<'version' | 'args' | 'timeout', string>>) => {
    const outputs = join(dir, 'outputs')
    writeFileSync(outputs, '')
    const env = Object.fromEntries(
      Object.entries(step.env as Record<string, string>).map(([name, text]) => [
        name,
        text.replace(/^\$\{\{ inputs\.(\w+) \}\}$/, (_, input: keyof typeof inputs) => inputs[input]),
      ]),
    )
    const script = join(dir, 'step.sh')
    writeFileSync(script, step.run)
    const runner = { RUNNER_TEMP: dir, GITHUB_OUTPUT: outputs, GITHUB_ACTION_PATH: ROOT }
    // No npm is above a runner: what npm has started ends half a second after the shell of the step does.
    const noNpm = { npm_lifecycle_event: undefined }
    const result = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      cwd: dir,
      env: { ...env, ...runner, ...noNpm },
    })
    const lines = readFileSync(outputs, 'utf8').trim().split('\n')
    return { ...result, outputs: Object.fromEntries(lines.map(line => line.split(/=(.*)/))) as Record<string, string> }
  }
  const packed = () => join(dir, readdirSync(dir).find(name => name.endsWith('.tgz')) as string)

  test.each([
    ['the packed file', packed],
    ['its own source', () => ''],
  ])('the action serves from %s, and later steps find URL, log and process', async (_, version) => {
    const args = '--port 0 --block-time 0 --unlock'
    const { code, stdout, stderr, outputs } = await runAction({ version: version(), args, timeout: '120' })
    expect(code, stdout + stderr).toBe(0)
    try {
      const log = () => readFileSync(outputs['log'] as string, 'utf8')
      expect(log()).toMatch(/^\{"ready"/)
      const accounts = rpc<string[]>(outputs['rpc-url'] as string, 'eth_accounts').catch(error => {
        throw new Error(`the node wrote: ${log()}`, { cause: error })
      })
      expect(await accounts).toHaveLength(10)
      const named = [...JSON.stringify(action.outputs).matchAll(/steps\.start\.outputs\.([\w-]+)/g)].map(
        ([, name]) => name,
      )
      expect(Object.keys(outputs)).toEqual(named)
    } finally {
      process.kill(Number(outputs['pid']))
    }
  })

  test('the action fails when the devnet does not serve, and shows its log', async () => {
    const refused = await runAction({ version: '', args: '--no-such-option', timeout: '120' })
    expect(refused.code).toBe(1)
    expect(refused.stdout).toMatch(/::error::[\s\S]*unknown option '--no-such-option'/)
    const late = await runAction({ version: '', args: '--port 0', timeout: '0' })
    expect(late).toMatchObject({ code: 1, stdout: expect.stringContaining('::error::') })
  })

  test('the steps of the page for GitLab install, start, wait and find the chain', async () => {
    const page = readFileSync(join(ROOT, 'docs', 'testing-with-tandem.md'), 'utf8')
    const snippet = /^GitLab:\n\n((?: {4}.*\n)+)/m.exec(page)?.[1] as string
    const { before_script: steps } = parse(snippet).test as { readonly before_script: readonly string[] }
    const port = await freePort()
    const script = [...steps, `curl -sf http://127.0.0.1:${port}/health`, 'kill $(jobs -p)']
      .join('\n')
      .replaceAll('8545', String(port))
      .replace('devnet --', `devnet --port ${port} --`)
      .replace(/tandem@[\d.]+/, `--ignore-scripts --no-audit --no-fund '${packed()}'`)
    const cwd = join(dir, 'gitlab')
    mkdirSync(cwd)
    const { code, stdout, stderr } = await run('bash', ['-eo', 'pipefail', '-c', script], { cwd })
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('"healthy":true')
  })
})

test('the code is of syntax that the oldest Node.js of tandem/devnet knows', () => {
  const lib = join(installed, 'tandem/lib')
  for (const name of readdirSync(lib).filter(name => name.endsWith('.cjs')))
    parseScript(readFileSync(join(lib, name), 'utf8'), { ecmaVersion: 2024, sourceType: 'commonjs' })
})

test.each([
  ['chain.mjs', "import { createDevnet } from 'tandem/devnet'"],
  ['chain.cjs', "const { createDevnet } = require('tandem/devnet')"],
])('a program makes a chain inside itself, with calls, threads and a port: %s', async (name, load) => {
  const path = join(dir, 'app', name)
  writeFileSync(
    path,
    `${load}
const run = async () => {
  const chain = await createDevnet()
  const request = (method, ...params) => chain.provider.request({ method, params })
  const [from, to] = chain.accounts.map(({ address }) => address)
  const hash = await request('eth_sendTransaction', { from, to, value: '0x1' })
  const trace = await request('debug_traceTransaction', hash, { tracer: 'callTracer' })
  await chain.mine(300)
  const logs = await request('eth_getLogs', { fromBlock: '0x0' })
  const { http } = await chain.listen()
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}'
  const response = await fetch(http, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  console.log(JSON.stringify([trace.value, logs, (await response.json()).result]))
  await chain.close()
}
run()`,
  )
  // As Node.js before 22.15 is.
  const old = join(dir, 'app', 'without-zstd.cjs')
  writeFileSync(old, "for (const name of ['zstdCompress', 'zstdDecompress']) delete require('node:zlib')[name]")
  const program = ['--require', old, path]
  expect(await succeed(process.execPath, program, dir)).toBe('["0x1",[],"0x12d"]\n')
})

test('the types of tandem/devnet fit viem and ethers', async () => {
  const project = join(dir, 'app', 'types')
  mkdirSync(project)
  // The libraries of this repository, beside the installed package.
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(join(installed, 'tandem'), join(project, 'node_modules/tandem'))
  for (const name of ['viem', 'ethers', '@types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
  writeFileSync(
    join(project, 'chain.ts'),
    `import { BrowserProvider } from 'ethers'
import { createDevnet } from 'tandem/devnet'
import { createPublicClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

await using chain = await createDevnet({ hardfork: 'prague', balance: 5n })
export const client = createPublicClient({ transport: custom(chain.provider) })
export const provider = new BrowserProvider(chain.provider)
export const account = privateKeyToAccount(chain.accounts[0]!.privateKey)
// @ts-expect-error No fork of this name.
await createDevnet({ hardfork: 'berlin' })
const { http } = await chain.listen({ port: 0 })
console.log(http, await chain.snapshot())
`,
  )
  const compilerOptions = {
    ...{
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable', 'dom'],
      module: 'nodenext',
      strict: true,
      noEmit: true,
    },
    ...{ types: ['node'], skipLibCheck: true },
  }
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['chain.ts'] }))
  await succeed(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project], project)
})

/** Returns the indented lines after a line of the page for tests, as a user copies them. */
const exampleAfter = (line: RegExp): string => {
  const page = readFileSync(join(ROOT, 'docs', 'testing-with-tandem.md'), 'utf8')
  const [, block = ''] = new RegExp(`^${line.source}\\n\\n((?: {4}.*\\n|\\n(?= {4}))+)`, 'm').exec(page) ?? []
  expect(block, `${line} in the page`).not.toBe('')
  return block.replaceAll(/^ {4}/gm, '')
}

describe('examples of the page for tests run as they stand', () => {
  let project: string
  beforeAll(() => {
    project = join(dir, 'examples')
    mkdirSync(join(project, 'node_modules'), { recursive: true })
    writeFileSync(join(project, 'package.json'), '{"type":"module"}')
    symlinkSync(join(installed, 'tandem'), join(project, 'node_modules/tandem'))
    for (const name of ['@nomicfoundation', 'ethers', 'hardhat', 'prool', 'viem', 'vitest'])
      symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
  })
  const written = (name: string, text: string): string => {
    writeFileSync(join(project, name), text)
    return join(project, name)
  }

  test('node:test, with viem and ethers', async () => {
    const path = written('example.test.mjs', exampleAfter(/`npm install --save-dev tandem`.*:/))
    expect(await succeed(process.execPath, ['--test', path], project)).toMatch(/^.*\b1n\b/m)
  })

  test('Vitest', async () => {
    const page = readFileSync(join(ROOT, 'docs', 'testing-with-tandem.md'), 'utf8')
    const [, fixture = ''] = /^- Vitest: `(.*)`\.$/m.exec(page) ?? []
    written(
      'vitest.test.mjs',
      `import { createDevnet } from 'tandem/devnet'
import { test } from 'vitest'
${fixture}
it('has a chain of its own', async ({ chain, expect }) => {
  await chain.mine(2)
  expect(await chain.provider.request({ method: 'eth_blockNumber' })).toBe('0x2')
})`,
    )
    const cli = join(ROOT, 'node_modules/vitest/vitest.mjs')
    expect(await succeed(process.execPath, [cli, 'run', '--root', project, 'vitest.test'], project)).toContain(
      '1 passed',
    )
  })

  test('Hardhat 3, whose process ends with the chain', async () => {
    written('hardhat.config.ts', exampleAfter(/## Hardhat 3 .*/))
    const path = written('hardhat.mjs', exampleAfter(/Hardhat 3, beside.*:/))
    const cli = join(ROOT, 'node_modules/hardhat/dist/src/cli.js')
    expect(await succeed(process.execPath, [cli, 'run', '--no-compile', path], project)).toBe('0\n')
  })

  test('prool, with a chain for each path', async () => {
    const port = await freePort()
    const use = `for (const id of [1, 2, 1]) {
  const ask = async method => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
    const response = await fetch('http://localhost:8545/' + id, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return (await response.json()).result
  }
  await ask('evm_mine')
  console.log(await ask('eth_blockNumber'), (await ask('eth_accounts')).length)
}
process.exit()`
    const path = written('prool.mjs', `${exampleAfter(/prool, .*:/)}${use}`.replaceAll('8545', String(port)))
    expect(await succeed(process.execPath, ['--no-deprecation', path], project)).toBe('0x1 3\n0x1 3\n0x2 3\n')
  })
})
