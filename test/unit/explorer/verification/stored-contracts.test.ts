import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isCoded } from '@tandem/base/errors.ts'
import { openContractFile } from '@tandem/explorer/store/open-contracts.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { CompilerList } from '@tandem/explorer/verification/compiler/compiler-list.ts'
import { createdCode } from '@tandem/explorer/verification/verification.ts'
import { expect, onTestFinished, test } from 'vitest'
import { FailingDisk, whyNoFailingDisk } from '../../../support/disk/failing-disk.ts'
import { ROOT } from '../../../support/node-process.ts'
import { RandomBlocks } from '../random-blocks.ts'
import { storedContract } from '../stored-contract.ts'

const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-contracts-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const CONTRACT = storedContract()

/** Writes three contracts, one after the other, and prints which were acknowledged. */
const PROGRAM = `
const [store, support] = process.argv.slice(1)
const { openContractFile } = await import(store)
const { storedContract } = await import(support)
const contracts = openContractFile(process.env.FAILING_DISK_FOLDER + '/contracts.sqlite')
const outcomes = []
for (const digit of process.env.CONTRACTS) {
  const writing = contracts.writeContract(storedContract({ address: '0x' + digit.repeat(40) }))
  outcomes.push(await writing.then(() => 'written', error => error.path ?? error.message))
}
process.stdout.write(JSON.stringify(outcomes))
process.exit()`

const why = whyNoFailingDisk()
test.skipIf(why !== undefined)(
  `after an error of the disk none is acknowledged until the file is opened anew${why === undefined ? '' : ` (skipped: ${why})`}`,
  async () => {
    const dir = folder()
    const disk = new FailingDisk(dir)
    onTestFinished(() => disk.remove())
    const modules = ['packages/explorer/store/open-contracts.ts', 'test/unit/explorer/stored-contract.ts']
    const run = (digits: string): readonly string[] => {
      const args = ['--input-type=module', '-e', PROGRAM, ...modules.map(name => join(ROOT, name))]
      const env = { ...process.env, ...disk.env, CONTRACTS: digits }
      return JSON.parse(spawnSync(process.execPath, args, { env, encoding: 'utf8' }).stdout) as readonly string[]
    }
    expect(run('1')).toEqual(['written'])
    const first = disk.seen
    expect(run('2')).toEqual(['written'])
    // The same operations again, and one more that fails.
    disk.fail('EIO', disk.seen - first, 1)
    const path = join(dir, 'contracts.sqlite')
    expect(run('345')).toEqual(['written', path, path])
    const contracts = openContractFile(path)
    for (const digit of [1, 2, 3]) expect(await contracts.contract(`0x${String(digit).repeat(40)}`)).toBeDefined()
    await contracts.close()
  },
)

test('verified contracts survive restarts and an index that is built again', async () => {
  const dir = folder()
  const [indexPath, path] = [join(dir, 'index.sqlite'), join(dir, 'contracts.sqlite')]
  const first = openContractFile(path)
  await first.writeContract(CONTRACT)
  await first.close()
  const index = new SqlIndex(new SqliteDatabase({ path: indexPath }))
  await index.append(new RandomBlocks({ seed: 1 }).chain(5))
  await index.rollback(-1)
  await index.close()
  rmSync(indexPath)
  const again = openContractFile(path)
  expect(await again.contract(CONTRACT.address)).toEqual(CONTRACT)
  expect(await again.contractName(CONTRACT.address)).toBe('A')
  expect(await again.contractCount()).toBe(1)
  await again.close()
})

test("an operator's compilers are those of the list beside them, with the hashes it names", async () => {
  const dir = folder()
  const solc = createRequire(import.meta.url).resolve('solc/soljson.js')
  const names = ['0.8.24+commit.e11b9ed9', '0.8.23+commit.f704f362', '0.8.22+commit.4fc1097e']
  for (const name of names) symlinkSync(solc, join(dir, `soljson-v${name}.js`))
  writeFileSync(join(dir, 'soljson-latest.js'), '')
  const all = new CompilerList(dir)
  expect(all.versions).toEqual(expect.arrayContaining(names))
  expect((await all.find(`v${names[0]}`)).file).toBe(join(dir, `soljson-v${names[0]}.js`))
  const sha256 = `0x${createHash('sha256').update(readFileSync(solc)).digest('hex')}`
  const builds = [
    { path: `soljson-v${names[0]}.js`, sha256 },
    { path: `soljson-v${names[1]}.js`, sha256: `0x${'00'.repeat(32)}` },
  ]
  writeFileSync(join(dir, 'list.json'), JSON.stringify({ builds }))
  const listed = new CompilerList(dir)
  expect(listed.versions).not.toContain(names[2])
  await expect(listed.find(names[0] as string)).resolves.toMatchObject({ version: names[0] })
  const refusal = await listed.find(names[1] as string).catch((error: unknown) => error)
  expect(isCoded(refusal) && String(JSON.stringify(refusal.detail))).toContain('has not the hash it must have')
})

test('the creation inside a transaction is the last one that took effect', async () => {
  const [contract, transaction] = [CONTRACT.address, CONTRACT.codeHash]
  const answering = (result: unknown) => ({ rpc: async () => JSON.stringify({ jsonrpc: '2.0', id: 1, result }) })
  const find = (result: unknown) => createdCode(answering(result), transaction, contract)
  const made = (input: string, more: object = {}) => ({ type: 'CREATE2', to: contract, input, ...more })
  const call = (...calls: readonly object[]) => ({ type: 'CALL', to: `0x${'11'.repeat(20)}`, input: '0x', calls })
  expect(await find(call(made('0x01'), call(made('0x02')), made('0x03', { error: 'execution reverted' })))).toEqual(
    Uint8Array.of(2),
  )
  expect(await find({ ...call(made('0x01')), error: 'execution reverted' })).toBeUndefined()
  for (const strange of [null, undefined, 7, 'x', [], call(made('no hex')), { calls: { length: 2 } }])
    expect(await find(strange), JSON.stringify(strange)).toBeUndefined()
  const refusing = { rpc: async () => '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"not available"}}' }
  expect(await createdCode(refusing, transaction, contract)).toBeUndefined()
})
