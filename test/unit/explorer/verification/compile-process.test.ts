import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { compileContracts } from '@tandem/explorer/verification/compiler/compile-process.ts'
import type { CompilerBuild } from '@tandem/explorer/verification/compiler/compiler-list.ts'
import { parseStandardInput, standardInput } from '@tandem/explorer/verification/input/standard-input.ts'
import { VerificationQueue } from '@tandem/explorer/verification/jobs/verification-queue.ts'
import { expect, test, vi } from 'vitest'
import { withTempDir } from '../../../support/devnet.ts'
import { buildOf, compileAnew, inputOf } from './verified-contracts.ts'

// The priority of compilations is low: a busy machine leaves them little time.
vi.setConfig({ testTimeout: 600_000 })

const LIMITS = EXPLORER_LIMITS.verification
const HEAD = '// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n'

const compile = async (source: string, limits = {}, settings = {}) =>
  compileContracts(
    await buildOf(),
    inputOf(settings, { 'a.sol': HEAD + source }),
    { path: 'a.sol', name: 'A' },
    { ...LIMITS, ...limits },
  )

/** A compiler of our own, instead of the real one. */
const withCompiler = (script: string, use: (build: CompilerBuild) => Promise<void>): Promise<void> =>
  withTempDir(async folder => {
    const file = join(folder, 'soljson.js')
    writeFileSync(file, script)
    await use({ version: 'test', file, sha256: undefined })
  })

test('a compilation that does not end is killed, with an answer', async () => {
  const bodies = Array.from(
    { length: 1_500 },
    (_, i) =>
      `function f${i}(uint256 a) public returns (uint256) { for (uint256 i; i < a; i++) s += f${(i + 1) % 1_500}(a * i + s); return s; }`,
  )
  await expect(
    compile(`contract A { uint256 s; ${bodies.join('\n')} }`, { compileCpuSeconds: 1 }, { viaIR: true }),
  ).rejects.toMatchObject({ detail: { code: 'COMPILER_FAILED', message: 'compiling took longer than 1 s' } })
})

test('time in which a compiler waits for the processor is not counted', async () => {
  const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)'
  const answer = JSON.stringify({ errors: [{ severity: 'error', message: 'done' }] })
  await withCompiler(`module.exports = { cwrap: () => () => { ${wait}; return '${answer}' } }`, async build => {
    const task = (limits: object) =>
      compileContracts(build, inputOf(), { path: null, name: 'A' }, { ...LIMITS, ...limits })
    await expect(task({ compileCpuSeconds: 1 })).rejects.toMatchObject({
      detail: { message: 'the sources do not compile: done' },
    })
    await expect(task({ compileMs: 1_000 })).rejects.toMatchObject({
      detail: { message: 'compiling took longer than 1 s' },
    })
  })
})

test('sources nested too deep end the compiler, and nothing else', async () => {
  const deep = `${'('.repeat(50_000)}1${')'.repeat(50_000)}`
  await expect(compile(`contract A { uint256 a = ${deep}; }`)).rejects.toMatchObject({ code: 'COMPILER_FAILED' })
})

test('memory and output have bounds', async () => {
  // The compiler's memory begins with 16 MiB.
  await expect(compile('contract A {}', { wasmPages: 128 })).rejects.toMatchObject({ code: 'COMPILER_FAILED' })
  await expect(compile('contract A {}', { outputBytes: 100 })).rejects.toMatchObject({
    detail: { message: "the compiler's output has more than 100 bytes" },
  })
})

/** Compiles as a process whose own program is at another path. */
const compileWith = async (program: string): Promise<unknown> => {
  const own = process.execPath
  process.execPath = program
  try {
    return await compile('contract A {}')
  } finally {
    process.execPath = own
  }
}

test('a compiler that cannot be started is no fault of the sources', async () => {
  const refusal = {
    detail: {
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^the compiler could not be started: .*restart the/),
    },
  }
  await withTempDir(async folder => {
    const file = join(folder, 'node')
    await expect(compileWith(file)).rejects.toMatchObject(refusal)
    writeFileSync(file, '', { mode: 0o600 })
    await expect(compileWith(file)).rejects.toMatchObject(refusal)
    const build = { version: 'test', file: join(folder, 'soljson.js'), sha256: undefined }
    await expect(compileContracts(build, inputOf(), { path: null, name: 'A' })).rejects.toMatchObject(refusal)
  })
})

test('the exit code of a compiler that ends in no known way is for the log', () =>
  withCompiler('process.exit(77)', build =>
    expect(compileContracts(build, inputOf(), { path: null, name: 'A' })).rejects.toMatchObject({
      code: 'COMPILER_FAILED',
      cause: { message: 'the compiler ended with 77' },
    }),
  ))

test.each(['/etc/passwd', '../../package.json', 'https://example.org/a.sol'])(
  'an import of %s reads nothing',
  async path => {
    await expect(compile(`import "${path}"; contract A {}`)).rejects.toMatchObject({
      detail: {
        code: 'COMPILER_FAILED',
        message: expect.stringMatching(/File import callback not supported|not found/),
      },
    })
  },
)

test('a process of a compilation has no files, no network, no processes and no threads', async () => {
  // A compiler that tries them all and answers with what it could do.
  await withCompiler(
    `const can = (name, work) => { try { work(); return [name] } catch (e) { return [] } }
       const { readFileSync, writeFileSync } = process.getBuiltinModule('fs')
       const found = [
         ...can('read', () => readFileSync('/etc/hostname')),
         ...can('write', () => writeFileSync(${JSON.stringify(join(tmpdir(), 'tandem-compiler-wrote'))}, 'x')),
         ...can('process', () => process.getBuiltinModule('child_process').execFileSync(process.execPath, ['--version'])),
         ...can('thread', () => new (process.getBuiltinModule('worker_threads').Worker)('1', { eval: true })),
         ...(process.permission.has('net') ? ['network'] : []),
         ...Object.keys(process.env).map(name => 'environment ' + name),
       ]
       module.exports = { cwrap: () => () => JSON.stringify({ errors: [{ severity: 'error', message: 'could: ' + found.join(', ') }] }) }`,
    build =>
      expect(compileContracts(build, inputOf(), { path: null, name: 'A' })).rejects.toMatchObject({
        detail: { message: 'the sources do not compile: could:' },
      }),
  )
})

test('metadata of contracts that a contract creates is found too', async () => {
  const plain = await compileAnew('Plain')
  expect(plain.metadataSections).toHaveLength(2)
  const counter = await compileAnew('Counter')
  expect([...counter.creation.links.keys()]).toEqual(['src/Sums.sol:Sums'])
  expect(counter.runtime.immutables.size).toBe(1)
})

/** As a JSON text has it. */
const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

test('an input is taken apart and only what changes the code is kept', () => {
  const sources = { 'a.sol': { content: 'contract A {}', urls: ['file:///etc/passwd'], keccak256: '0x' } }
  expect(
    standardInput({
      language: 'Solidity',
      sources,
      settings: {
        modelChecker: { engine: 'all' },
        outputSelection: { '*': { '*': ['*'] } },
        viaIR: true,
        stopAfter: 'parsing',
      },
    }),
  ).toEqual({ language: 'Solidity', sources: { 'a.sol': { content: 'contract A {}' } }, settings: { viaIR: true } })
  const refusals: [unknown, RegExp][] = [
    [{ language: 'Vyper', sources }, /must be Solidity/],
    [{ language: 'Solidity', sources: {} }, /no sources/],
    [{ language: 'Solidity', sources: { 'a.sol': { urls: ['x'] } } }, /has no content/],
    [{ language: 'Solidity', sources: { 'a\n.sol': { content: '' } } }, /path/],
    [null, /not an object/],
    ...(['optimizer', 'metadata', 'libraries'] as const).map((name): [unknown, RegExp] => [
      { language: 'Solidity', sources, settings: { [name]: nested(200_000) } },
      new RegExp(`setting ${name} is nested too deep`),
    ]),
  ]
  for (const [input, reason] of refusals)
    expect(() => standardInput(input)).toThrow(
      expect.objectContaining({ detail: { code: 'INVALID_INPUT', message: expect.stringMatching(reason) } }),
    )
  expect(() => parseStandardInput('{')).toThrow(/not JSON/)
  expect(() => parseStandardInput('x'.repeat(LIMITS.sourceBytes + 1))).toThrow(/more than/)
})

test('clients take turns, and each has a few places', async () => {
  const queue = new VerificationQueue({ queued: 4, queuedPerClient: 2 })
  const order: string[] = []
  const ended: Promise<void>[] = []
  const add = (client: string, name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ended.push(promise)
    queue.add(client, async () => {
      await new Promise(setImmediate)
      order.push(name)
      resolve()
    })
  }
  // The first runs at once and takes no place.
  for (const name of ['a1', 'a2', 'a3']) add('a', name)
  expect(() => queue.add('a', async () => {})).toThrow(/QUEUE_FULL/)
  add('b', 'b1')
  add('c', 'c1')
  expect(() => queue.add('d', async () => {})).toThrow(/QUEUE_FULL/)
  await Promise.all(ended)
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})
